//! The packet-level discrete-event engine: it drives switches and hosts and records what they do.
//!
//! Knows no file and no report. In reading order: [`run`] (the loop, the page the tour starts from), `carry` (wires and
//! switches), `host` (network cards and the ends of flows), `event` (the total order), `calendar` (the event list),
//! `setup` and `domain` (the state, built once), `course` (what comes next), `sample`,
//! `flow_series`, `ledger` and `collect` (what is measured).
//!
//! Everything a handler touches belongs to one node or to one end of a link. That is what lets the network be cut into
//! domains, each on a thread of its own: `partition` (the cut), `exchange` (packets that change domains), `parallel`
//! and `barrier` (the threads).

mod barrier;
mod calendar;
mod carry;
mod collect;
mod course;
mod deadlock;
mod domain;
mod ends;
mod event;
mod exchange;
pub mod flow_series;
mod holds;
mod host;
mod labels;
mod ledger;
mod parallel;
mod partition;
mod pause;
mod places;
pub mod run;
mod sample;
mod scout;
mod setup;
mod stranded;
mod tally;
pub mod tap;
mod toll;
mod turns;
mod wire;

pub use flow_series::FlowSampling;
pub use ledger::Sink;
pub use partition::Division;
pub use run::{Progress, Simulation};
pub use setup::{Setup, Storm};
pub use tap::{Seen, Tap};
