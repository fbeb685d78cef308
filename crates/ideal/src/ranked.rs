//! Orders that serve one flow at a time, the first by rank, and preempt it when a flow of lower rank arrives: shortest
//! remaining processing time (SRPT, which minimises the mean completion time: Schrage 1968), shortest job first,
//! earliest deadline first (which meets all deadlines if any order does: Liu and Layland 1973), and first come, first
//! served.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use weft_core::{Span, Time};

use crate::{FlowCompletion, LinkDemand, Schedule};

/// How flows are ranked. Equal ranks are served in order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceOrder {
    /// By remaining work.
    ShortestRemaining,
    /// By work on arrival.
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
pub struct RankedLink {
    order: ServiceOrder,
    now: Time,
    arrived: u64,
    open: BinaryHeap<Reverse<Open>>,
}

impl RankedLink {
    /// An idle link.
    #[must_use]
    pub fn new(order: ServiceOrder) -> RankedLink {
        RankedLink { order, now: Time::ZERO, arrived: 0, open: BinaryHeap::new() }
    }

    fn rank(&self, demand: &LinkDemand) -> u64 {
        match self.order {
            ServiceOrder::ShortestRemaining | ServiceOrder::ShortestFirst => demand.work.0,
            ServiceOrder::EarliestDeadline => demand.deadline.0,
            ServiceOrder::FirstCome => self.arrived,
        }
    }

    /// Serves until `until`, or until nothing is left.
    fn serve(&mut self, until: Time, done: &mut Vec<FlowCompletion>) {
        while let Some(mut served) = self.open.peek_mut() {
            let Reverse(first) = &mut *served;
            let end = self.now + first.left;
            if end > until {
                first.left = end.since(until);
                if self.order == ServiceOrder::ShortestRemaining {
                    first.rank = first.left.0;
                }
                break;
            }
            self.now = end;
            done.push((first.flow, end));
            PeekMut::pop(served);
        }
        self.now = self.now.max(until);
    }
}

impl Schedule for RankedLink {
    fn arrive(&mut self, demand: LinkDemand, done: &mut Vec<FlowCompletion>) {
        self.serve(demand.arrival, done);
        let rank = self.rank(&demand);
        self.open.push(Reverse(Open { rank, turn: self.arrived, left: demand.work, flow: demand.flow }));
        self.arrived += 1;
    }

    fn finish(&mut self, done: &mut Vec<FlowCompletion>) {
        while let Some(Reverse(first)) = self.open.pop() {
            self.now += first.left;
            done.push((first.flow, self.now));
        }
    }
}
