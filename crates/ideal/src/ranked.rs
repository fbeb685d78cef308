//! Orders that serve one flow at a time, the first by rank, and preempt it when a flow of lower rank arrives: shortest
//! remaining processing time (SRPT, which minimises the mean completion time: Schrage 1968), shortest job first,
//! earliest deadline first (which meets all deadlines if any order does: Liu and Layland 1973), and first come, first
//! served.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weft_core::{Span, Time};

use crate::{Completion, Demand, Schedule};

/// By what flows are ranked. Equal ranks are served in order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By the work that is left.
    ShortestRemaining,
    /// By the work on arrival.
    ShortestFirst,
    /// By deadline.
    EarliestDeadline,
    /// By arrival; nothing is preempted.
    FirstCome,
}

/// A flow with work left, ordered by rank, then arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Open {
    rank: u64,
    turn: u64,
    left: Span,
    flow: u64,
}

/// A link that serves the flow of the lowest rank.
#[derive(Clone, Debug)]
pub struct Ranked {
    order: Order,
    now: Time,
    arrived: u64,
    open: BinaryHeap<Reverse<Open>>,
}

impl Ranked {
    /// An idle link.
    #[must_use]
    pub fn new(order: Order) -> Ranked {
        Ranked { order, now: Time::ZERO, arrived: 0, open: BinaryHeap::new() }
    }

    fn rank(&self, demand: &Demand) -> u64 {
        match self.order {
            Order::ShortestRemaining | Order::ShortestFirst => demand.work.0,
            Order::EarliestDeadline => demand.deadline.0,
            Order::FirstCome => self.arrived,
        }
    }

    /// Serves until `until` or until nothing is left.
    fn serve(&mut self, until: Time, done: &mut Vec<Completion>) {
        while let Some(Reverse(first)) = self.open.pop() {
            let end = self.now + first.left;
            if end > until {
                let left = end.since(until);
                let rank = if self.order == Order::ShortestRemaining { left.0 } else { first.rank };
                self.open.push(Reverse(Open { left, rank, ..first }));
                break;
            }
            self.now = end;
            done.push((first.flow, end));
        }
        self.now = self.now.max(until);
    }
}

impl Schedule for Ranked {
    fn arrive(&mut self, demand: Demand, done: &mut Vec<Completion>) {
        self.serve(demand.arrival, done);
        let rank = self.rank(&demand);
        self.open.push(Reverse(Open { rank, turn: self.arrived, left: demand.work, flow: demand.flow }));
        self.arrived += 1;
    }

    fn finish(&mut self, done: &mut Vec<Completion>) {
        while let Some(Reverse(first)) = self.open.pop() {
            self.now = self.now + first.left;
            done.push((first.flow, self.now));
        }
    }
}
