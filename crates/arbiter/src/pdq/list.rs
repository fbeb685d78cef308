//! The flows that a PDQ link keeps, the most critical first: earliest deadline, then least remaining time, then key.

use weft_core::scheduling::{FlowKey, SchedulingHeader};
use weft_core::{Rate, Span, Time};

use crate::Passing;

/// A flow of the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListedFlow {
    pub(super) key: FlowKey,
    deadline: Time,
    pub(super) remaining: Span,
    pub(super) round_trip: Span,
    /// The rate it was granted; zero: it is paused.
    pub(super) rate: Rate,
    /// The rate it can use, as far as the arbiters before this one allow.
    demand: Rate,
    /// When its last request passed.
    heard: Time,
}

impl ListedFlow {
    /// A flow as described by its request, without a rate.
    pub(super) fn asking(passing: &Passing, header: &SchedulingHeader) -> ListedFlow {
        let SchedulingHeader { deadline, remaining, round_trip, rate: demand, .. } = *header;
        let (key, heard, rate) = (passing.flow, passing.now, Rate(0));
        ListedFlow { key, deadline, remaining, round_trip, rate, demand, heard }
    }

    /// The sort key: smaller is more critical.
    fn criticality(&self) -> (Time, Span, FlowKey) {
        (self.deadline, self.remaining, self.key)
    }
}

/// The list, most critical flow first.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowList(Vec<ListedFlow>);

impl FlowList {
    /// The position of a flow.
    pub(super) fn find(&self, key: FlowKey) -> Option<usize> {
        self.0.iter().position(|flow| flow.key == key)
    }

    /// The flow at a position.
    pub(super) fn at(&self, position: usize) -> &ListedFlow {
        &self.0[position]
    }

    /// The flows more critical than the one at `position`.
    pub(super) fn before(&self, position: usize) -> &[ListedFlow] {
        &self.0[..position]
    }

    fn rank(&self, flow: &ListedFlow) -> usize {
        self.0.partition_point(|other| other.criticality() < flow.criticality())
    }

    /// Updates the flow at `position`, which keeps its rate. Returns its new position.
    pub(super) fn update(&mut self, position: usize, news: ListedFlow) -> usize {
        let rate = self.0.remove(position).rate;
        let position = self.rank(&news);
        self.0.insert(position, ListedFlow { rate, ..news });
        position
    }

    /// Inserts a flow; removes the least critical if there are then more than `bound`. `None`: the flow is not critical
    /// enough.
    pub(super) fn insert(&mut self, flow: ListedFlow, bound: usize) -> Option<usize> {
        let position = self.rank(&flow);
        if position >= bound {
            return None;
        }
        self.0.insert(position, flow);
        self.0.truncate(bound);
        Some(position)
    }

    pub(super) fn set_rate(&mut self, position: usize, rate: Rate) {
        self.0[position].rate = rate;
    }

    /// Removes a flow, if it is listed.
    pub(super) fn remove(&mut self, key: FlowKey) {
        self.0.retain(|flow| flow.key != key);
    }

    /// Removes flows not heard of for this long.
    pub(super) fn forget(&mut self, now: Time, after: Span) {
        self.0.retain(|flow| now.since(flow.heard) < after);
    }

    /// Number of flows that are not paused.
    pub(super) fn sending(&self) -> usize {
        self.0.iter().filter(|flow| flow.rate > Rate(0)).count()
    }

    /// The rate that all listed flows can use together.
    pub(super) fn demand(&self) -> Rate {
        Rate(self.0.iter().map(|flow| flow.demand.0).sum())
    }

    /// The mean round-trip time; `None` if no flow is listed.
    pub(super) fn mean_round_trip(&self) -> Option<Span> {
        let sum: u64 = self.0.iter().map(|flow| flow.round_trip.0).sum();
        sum.checked_div(self.0.len() as u64).map(Span)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
