//! Clusters of routers, as described by files: one file describes a cluster that is simulated (`weft router
//! simulate`) or runs on real packets (`weft router`), and a table says how many servers a router takes (`weft router
//! plan`).
//!
//! In reading order: [`file`](mod@file) (text to a checked [`Blueprint`]), [`simulated`], [`sized`]. Must not depend on
//! sockets, threads or the command line.

#![forbid(unsafe_code)]

pub mod epoch;
pub mod file;
pub mod simulated;
pub mod sized;

mod changes;
mod clock_rate;

pub use epoch::{is_of_another_model, model_epoch};
pub use file::{Blueprint, PlannedTraffic, TrafficLoad, TrafficPattern, read_blueprint};
