//! The packet-level discrete-event engine: it drives switches and hosts and records what they do.
//!
//! Knows no file and no report. In reading order: [`run`] (the loop, the page the tour starts from), `carry` (wires and
//! switches), `host` (network cards and the ends of flows), `event` (the total order), `calendar` (the event list),
//! `network` (the state, built once), `sample`, `flow_series` and `collect` (what is measured).
//!
//! Everything a handler touches belongs to one node or one link; nothing is shared between nodes but the packet pool
//! and the calendar. That is what lets the parallel engine cut the network into domains.

mod calendar;
mod carry;
mod collect;
mod ends;
mod event;
pub mod flow_series;
mod host;
mod network;
pub mod run;
mod sample;
mod tally;
pub mod tap;
mod wire;

pub use flow_series::FlowSampling;
pub use network::Setup;
pub use run::{Progress, Simulation};
pub use tap::{Seen, Tap};
