//! The packet-level discrete-event engine: it drives switches and hosts and records what they do.
//!
//! Must not depend on files or reports. In reading order: `run` (the loop; the tour starts there), `devices`
//! (switches), `host` (network cards and the ends of flows), `context` (what both share: time, event list, packets,
//! wires, counts), `wire`, `event` (the total order), `calendar` (the event list), `plan` and `domain` (the state,
//! built once), `change` (failures and new routes), `course` (what comes next), `sample`, `series`, `waits`,
//! `flow_series`, `ledger` and `collect` (what is measured).
//!
//! Everything a handler touches belongs to one node or to one end of a link. That allows the network to be cut into
//! domains, each on its own thread: `partition` (the cut), `outbox` and `exchange` (packets that change domains),
//! `parallel` and the crate `barrier` (the threads).

mod calendar;
mod carried;
mod change;
mod collect;
mod context;
mod course;
mod devices;
mod domain;
mod ends;
mod engine;
mod event;
mod exchange;
mod flow_series;
mod host;
mod ledger;
mod outbox;
mod parallel;
mod partition;
mod pause;
mod plan;
mod run;
mod sample;
mod scout;
mod series;
mod simulation;
mod slots;
mod toll;
mod trace;
mod transmitters;
mod turns;
mod waits;
mod wire;

pub use engine::Packets;
pub use simulation::Simulation;
pub use weft_recorder::tap::{self, Seen, Tap};
