//! Scheduling: which queue of a port is served next.

use weft_core::{Headers, family};

use crate::ClassQueue;

mod ahead;
pub mod drr;
pub mod fifo;
pub mod strict;
pub mod strict_drr;
pub mod strict_wrr;
pub mod wrr;

/// Chooses among the queues of one port. Called when the transmitter is idle.
pub trait Scheduler {
    /// Returns the index of the queue to serve next, or `None` if no queue is ready ([`ClassQueue::ready`]): a queue that
    /// holds packets may be paused or shaped. The port then takes a packet from that queue, so that the scheduler may
    /// count it.
    fn pick(&mut self, queues: &[ClassQueue], headers: &Headers) -> Option<usize>;

    /// Takes back what the last pick charged to its queue: the port has dropped the packet, of `wire` bytes, instead of
    /// sending it.
    fn refund(&mut self, queue: usize, wire: u16) {
        let _ = (queue, wire);
    }
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
        "strict-drr" => strict_drr::StrictDrr(StrictDrrSettings),
        "strict-wrr" => strict_wrr::StrictWrr(StrictWrrSettings),
    }
    methods {
        fn pick(&mut self, queues: &[ClassQueue], headers: &Headers) -> Option<usize>;
        fn refund(&mut self, queue: usize, wire: u16);
    }
}

impl SchedulerSettings {
    /// Number of leading queues served in strict priority at a port with `queues` queues; 1 if there is none. With
    /// strict priority above weights, the last of them shares what is left with those behind it.
    #[must_use]
    pub fn in_order(&self, queues: u32) -> u32 {
        let ahead = |first: u32| first.min(queues.saturating_sub(1)) + 1;
        match self {
            SchedulerSettings::Strict(_) => queues,
            SchedulerSettings::StrictDrr(own) => ahead(own.first),
            SchedulerSettings::StrictWrr(own) => ahead(own.first),
            SchedulerSettings::Fifo(_) | SchedulerSettings::Drr(_) | SchedulerSettings::Wrr(_) => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The size of the largest, and a tag: ports with other schedulers pay for none of them.
    #[test]
    fn a_scheduler_takes_no_more_memory_than_deficit_round_robin() {
        assert_eq!(size_of::<AnyScheduler>(), size_of::<drr::Drr>() + align_of::<drr::Drr>());
    }

    #[test]
    fn so_many_queues_are_served_each_before_the_next() {
        let ahead = |first| {
            SchedulerSettings::StrictWrr(strict_wrr::StrictWrrSettings { first, ..Default::default() })
        };
        let strict = SchedulerSettings::Strict(Default::default());
        for (schedule, queues, in_order) in
            [(SchedulerSettings::default(), 4, 1), (strict, 4, 4), (ahead(1), 4, 2), (ahead(7), 4, 4)]
        {
            assert_eq!(schedule.in_order(queues), in_order, "{}", schedule.name());
        }
    }
}
