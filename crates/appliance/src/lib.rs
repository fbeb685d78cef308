//! A router configured by a file (`weft router`): reads the file, runs the workers, and reports.
//!
//! In reading order: [`mod@file`] (text to a checked [`RouterPlan`]), [`plan`] (the parts of a router),
//! [`run`](mod@run) (devices, threads, counters). Must not depend on the command line.

pub mod cluster;
pub mod file;
pub mod plan;
pub mod run;
mod switch;
mod tunnels;
pub mod watch;

mod devices;
mod exclusive;
mod failure;
mod follower;
mod handover;
mod interfaces;
mod keys;
mod links;
pub mod misspelt;
mod narrow;
mod outcome;
mod pages;
mod play;
mod playback;
mod ports;
mod privileges;
mod remarks;
mod routes;

pub use failure::ApplianceError;
pub use outcome::{RouterReport, SwitchPortReport, SwitchReport};
pub use pages::checked_prefix;
pub use plan::{PortDevice, RouterPlan};
pub use privileges::give_up_privileges;
pub use remarks::{remarks, start_problems};
pub use run::run;
pub use watch::WatchAddress;
