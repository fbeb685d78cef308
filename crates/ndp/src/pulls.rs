//! The pulls of a receiving host: one queue for all its flows, paced so that the host's link can carry the packets they
//! trigger. Must not depend on more than a flow's number and class; the flow's receiver counts the pulls that it still
//! needs.

use std::collections::VecDeque;

use weft_core::stack::{HostPart, Side};
use weft_core::{Class, FlowId, Span, Time};

/// The flows of a host that wait for a pull.
#[derive(Debug)]
pub struct PullQueue {
    /// The interval between two pulls: the transmission time of a full packet on the host's link.
    pace: Span,
    /// No pull is sent before this instant.
    next_at: Time,
    /// By class; each flow at most once.
    waiting: [VecDeque<FlowId>; Class::COUNT],
}

impl PullQueue {
    /// An empty queue for a host whose link takes `pace` for a full packet.
    #[must_use]
    pub fn new(pace: Span) -> PullQueue {
        PullQueue { pace, next_at: Time::ZERO, waiting: Default::default() }
    }

    /// Queues a flow for its next pull, behind all others of its class.
    pub(crate) fn join(&mut self, flow: FlowId, class: Class) {
        self.waiting[usize::from(class.0) % Class::COUNT].push_back(flow);
    }

    /// Queues a flow in front of all others of its class: it has just had a turn and keeps it.
    pub(crate) fn stay(&mut self, flow: FlowId, class: Class) {
        self.waiting[usize::from(class.0) % Class::COUNT].push_front(flow);
    }
}

impl HostPart for PullQueue {
    fn and(&mut self, other: PullQueue) {
        self.pace = self.pace.max(other.pace);
    }

    fn next(&mut self, now: Time) -> Option<(Side, FlowId)> {
        if now < self.next_at {
            return None;
        }
        let flow = self.waiting.iter_mut().find_map(VecDeque::pop_front)?;
        Some((Side::Receiver, flow))
    }

    fn used(&mut self, now: Time) {
        self.next_at = now + self.pace;
    }

    fn wake(&self) -> Time {
        if self.waiting.iter().all(VecDeque::is_empty) { Time::NEVER } else { self.next_at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Span = Span(100);

    fn turns(queue: &mut PullQueue, times: impl Iterator<Item = u64>) -> Vec<u32> {
        let mut turns = Vec::new();
        for now in times.map(Time) {
            while let Some((_, flow)) = queue.next(now) {
                queue.used(now);
                turns.push(flow.0);
            }
        }
        turns
    }

    #[test]
    fn pulls_keep_the_pace_and_lower_classes_go_first() {
        let mut queue = PullQueue::new(PACE);
        assert_eq!(queue.wake(), Time::NEVER);
        for (flow, class) in [(1, 2), (2, 1), (3, 2), (4, 1)] {
            queue.join(FlowId(flow), Class(class));
        }
        assert_eq!(turns(&mut queue, 0..100), [2], "one in a packet's time");
        assert_eq!(queue.wake(), Time(100));
        assert_eq!(turns(&mut queue, (100..1_000).step_by(50)), [4, 1, 3]);
        queue.join(FlowId(9), Class(1));
        assert_eq!(turns(&mut queue, std::iter::once(5_000)), [9], "an idle queue waits for nothing");
    }

    #[test]
    fn a_turn_that_nobody_uses_costs_no_time() {
        let mut queue = PullQueue::new(PACE);
        queue.join(FlowId(1), Class(1));
        queue.join(FlowId(2), Class(1));
        assert_eq!(queue.next(Time(7)).map(|(_, flow)| flow), Some(FlowId(1)));
        assert_eq!(queue.next(Time(7)).map(|(_, flow)| flow), Some(FlowId(2)));
    }
}
