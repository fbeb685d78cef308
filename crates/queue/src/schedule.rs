//! Scheduling: which queue of a port is served next.

use weft_core::{Headers, family};

use crate::ClassQueue;

pub mod drr;
pub mod fifo;
pub mod strict;
pub mod wrr;

/// Chooses among the queues of one port. Called when the transmitter is idle.
pub trait Scheduler {
    /// The index of the queue to serve; `None` if all are empty.
    fn pick(&mut self, queues: &[ClassQueue], headers: &Headers) -> Option<usize>;
}

family! {
    /// All schedulers.
    pub enum AnyScheduler: Scheduler;
    /// The scheduler of a scenario.
    pub enum SchedulerSettings;
    called "scheduler" built at usize;
    members {
        "fifo" => fifo::Fifo(FifoSettings),
        "strict" => strict::Strict(StrictSettings),
        "drr" => drr::Drr(DrrSettings),
        "wrr" => wrr::Wrr(WrrSettings),
    }
    methods {
        fn pick(&mut self, queues: &[ClassQueue], headers: &Headers) -> Option<usize>;
    }
}
