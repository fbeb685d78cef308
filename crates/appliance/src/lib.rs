//! A router configured by a file (`weft router`): reads the file, runs the workers, and reports.
//!
//! In reading order: [`mod@file`] (text to a checked [`RouterPlan`]), [`plan`] (the parts of a router),
//! [`run`](mod@run) (devices, threads,
//! counters). Must not depend on the command line.

pub mod file;
pub mod plan;
pub mod run;
mod switch;
pub mod watch;

mod outcome;
mod pages;
mod reader;

pub use outcome::{RouterReport, SwitchPortReport, SwitchReport};
pub use plan::{PortDevice, RouterPlan};
pub use run::{ApplianceError, run};
pub use watch::WatchAddress;
