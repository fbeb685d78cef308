//! What can happen, and in which order: the written total order of events.
//!
//! An event is named by its kind and one index (a link, a flow, a change, a probe): 32 bits. Its key is
//! `(time, kind, tie, index)`:
//!
//! 1. earlier first;
//! 2. at one instant by kind, in the order of [`Event`]: changes of the network, arrivals (decisions of switches),
//!    departures, timers, flow starts, samples;
//! 3. among equals by a draw: a mix of the run's seed, the instant and the event's own name, so that no sender wins
//!    every tie, and the same one wins on every machine;
//! 4. by index.
//!
//! The key depends on the cause alone, never on the position in a queue, on threads or on the partition.

use std::cmp::Ordering;

use weft_core::random::{Purpose, Random, mix};
use weft_core::{FlowId, LinkId, Time};

/// Something that happens at an instant. The order of the variants is part of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The next change of the network's timeline.
    Change(u32),
    /// The last bit of the first packet in flight reaches the far end of a link.
    Arrive(LinkId),
    /// The last bit of a packet has left the transmitter of a link.
    Transmitted(LinkId),
    /// A timer of a flow's sender.
    SenderWake(FlowId),
    /// A timer of a flow's receiver.
    ReceiverWake(FlowId),
    /// The application hands a flow over.
    FlowStart(FlowId),
    /// Queues are looked at.
    Sample,
}

const INDEX_BITS: u32 = 29;
const INDEX_MASK: u32 = (1 << INDEX_BITS) - 1;

impl Event {
    /// Kind and index in 32 bits.
    #[inline]
    pub(crate) fn pack(self) -> u32 {
        let (kind, index) = match self {
            Event::Change(n) => (0, n),
            Event::Arrive(link) => (1, link.0),
            Event::Transmitted(link) => (2, link.0),
            Event::SenderWake(flow) => (3, flow.0),
            Event::ReceiverWake(flow) => (4, flow.0),
            Event::FlowStart(flow) => (5, flow.0),
            Event::Sample => (6, 0),
        };
        kind << INDEX_BITS | index & INDEX_MASK
    }

    /// The event that [`Event::pack`] packed.
    #[inline]
    pub(crate) fn unpack(word: u32) -> Event {
        let index = word & INDEX_MASK;
        match word >> INDEX_BITS {
            0 => Event::Change(index),
            1 => Event::Arrive(LinkId(index)),
            2 => Event::Transmitted(LinkId(index)),
            3 => Event::SenderWake(FlowId(index)),
            4 => Event::ReceiverWake(FlowId(index)),
            5 => Event::FlowStart(FlowId(index)),
            6 => Event::Sample,
            _ => unreachable!("there are seven kinds"),
        }
    }
}

/// An event with its place in the total order: 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// When.
    pub(crate) time: Time,
    /// Kind, tie and index, in this order of significance.
    rank: u64,
}

impl Entry {
    /// The event itself.
    #[inline]
    pub(crate) fn event(self) -> Event {
        Event::unpack(self.rank as u32)
    }
}

impl Ord for Entry {
    /// By time, then by rank: one comparison of 128 bits, which needs no branch.
    #[inline]
    fn cmp(&self, other: &Entry) -> Ordering {
        let key = |entry: &Entry| u128::from(entry.time.0) << 64 | u128::from(entry.rank);
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Entry {
    #[inline]
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Gives events their place in the order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    key: u64,
}

impl Order {
    /// The order of the run with `seed`.
    pub(crate) fn new(seed: u64) -> Order {
        Order { key: Random::new(seed, Purpose::Ties, 0).bits() }
    }

    /// An event at an instant.
    #[inline]
    pub(crate) fn entry(self, time: Time, event: Event) -> Entry {
        let word = event.pack();
        let instant = (time.0 ^ self.key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let drawn = mix(instant ^ u64::from(word)) as u32 & INDEX_MASK;
        let kind = word & !INDEX_MASK;
        Entry { time, rank: u64::from(kind | drawn) << 32 | u64::from(word) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_sixteen_bytes_and_keeps_its_event() {
        assert_eq!(size_of::<Entry>(), 16);
        let order = Order::new(1);
        let events = [
            Event::Change(3),
            Event::Arrive(LinkId(5)),
            Event::Transmitted(LinkId(7)),
            Event::SenderWake(FlowId(9)),
            Event::ReceiverWake(FlowId(11)),
            Event::FlowStart(FlowId(13)),
            Event::Sample,
        ];
        let entries: Vec<_> = events.iter().map(|event| order.entry(Time(42), *event)).collect();
        for (entry, event) in entries.iter().zip(events) {
            assert_eq!(entry.event(), event);
        }
        assert!(entries.is_sorted(), "at one instant the kinds keep their order");
    }

    /// Two links whose packets always arrive together: each is first about half of the time.
    #[test]
    fn ties_are_fair() {
        for step in [1u64, 800, 1_230_400, 1 << 20] {
            let order = Order::new(step);
            let first = |n: u64| {
                let entry = |link| order.entry(Time(n * step), Event::Arrive(LinkId(link)));
                entry(4) < entry(5)
            };
            let wins = (0..10_000).filter(|n| first(*n)).count() as f64;
            assert!((wins - 5_000.0).abs() < 4.0 * 50.0, "{wins} of 10000 at step {step}");
        }
    }
}
