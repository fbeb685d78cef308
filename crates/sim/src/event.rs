//! What can happen, and in which order: the written total order of events.
//!
//! An event is named by its kind and one index (a link or a flow): 32 bits. Its key is `(time, kind, tie, index)`:
//!
//! 1. earlier first;
//! 2. at one instant by kind, in the order of [`Event`]: arrivals (decisions of switches), departures, timers, flow
//!    starts; changes of the network come before all of them and looks at the queues after (see `course`);
//! 3. among equals by a draw: a mix of the run's seed, the instant and the event's own name, so that no sender wins
//!    every tie, and the same one wins on every machine;
//! 4. by index.
//!
//! The key depends on the cause alone, never on the position in a queue, on threads or on the partition.

use weft_core::random::{Purpose, Random, mix};
use weft_core::{FlowId, LinkId, Time};

/// Something that happens at an instant. The order of the variants is part of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
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
}

const INDEX_BITS: u32 = 29;
const INDEX_MASK: u32 = (1 << INDEX_BITS) - 1;

impl Event {
    /// Kind and index in 32 bits.
    #[inline]
    pub(crate) fn pack(self) -> u32 {
        let (kind, index) = match self {
            Event::Arrive(link) => (1, link.0),
            Event::Transmitted(link) => (2, link.0),
            Event::SenderWake(flow) => (3, flow.0),
            Event::ReceiverWake(flow) => (4, flow.0),
            Event::FlowStart(flow) => (5, flow.0),
        };
        kind << INDEX_BITS | index & INDEX_MASK
    }

    /// The event that [`Event::pack`] packed.
    #[inline]
    pub(crate) fn unpack(word: u32) -> Event {
        let index = word & INDEX_MASK;
        match word >> INDEX_BITS {
            1 => Event::Arrive(LinkId(index)),
            2 => Event::Transmitted(LinkId(index)),
            3 => Event::SenderWake(FlowId(index)),
            4 => Event::ReceiverWake(FlowId(index)),
            5 => Event::FlowStart(FlowId(index)),
            _ => unreachable!("there are five kinds"),
        }
    }
}

/// An event and when it happens: 16 bytes. What precedes what, only [`Order`] knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    /// When.
    pub(crate) time: Time,
    /// Kind and index.
    name: u32,
}

impl Entry {
    /// An event at an instant.
    #[inline]
    pub(crate) fn new(time: Time, event: Event) -> Entry {
        Entry { time, name: event.pack() }
    }

    /// The event itself.
    #[inline]
    pub(crate) fn event(self) -> Event {
        Event::unpack(self.name)
    }
}

/// The total order of a run's events. Draws are made only for events that nothing else tells apart: most never need one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    key: u64,
}

impl Order {
    /// The order of the run with `seed`.
    pub(crate) fn new(seed: u64) -> Order {
        Order { key: Random::new(seed, Purpose::Ties, 0).bits() }
    }

    /// Whether `a` comes before `b`.
    #[inline]
    pub(crate) fn precedes(self, a: Entry, b: Entry) -> bool {
        if a.time == b.time { self.settle(a, b) } else { a.time < b.time }
    }

    /// Whether `a` comes before `b` at the same instant: by kind, then by draw, then by index.
    fn settle(self, a: Entry, b: Entry) -> bool {
        let kind = |entry: Entry| entry.name >> INDEX_BITS;
        if kind(a) != kind(b) {
            return kind(a) < kind(b);
        }
        (self.draw(a), a.name) < (self.draw(b), b.name)
    }

    fn draw(self, entry: Entry) -> u32 {
        let instant = (entry.time.0 ^ self.key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mix(instant ^ u64::from(entry.name)) as u32 & INDEX_MASK
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
            Event::Arrive(LinkId(5)),
            Event::Transmitted(LinkId(7)),
            Event::SenderWake(FlowId(9)),
            Event::ReceiverWake(FlowId(11)),
            Event::FlowStart(FlowId(13)),
        ];
        let entries: Vec<_> = events.iter().map(|event| Entry::new(Time(42), *event)).collect();
        for (entry, event) in entries.iter().zip(events) {
            assert_eq!(entry.event(), event);
        }
        assert!(
            entries.is_sorted_by(|a, b| order.precedes(*a, *b)),
            "at one instant the kinds keep their order"
        );
    }

    /// Two links whose packets always arrive together: each is first about half of the time.
    #[test]
    fn ties_are_fair() {
        for step in [1u64, 800, 1_230_400, 1 << 20] {
            let order = Order::new(step);
            let first = |n: u64| {
                let entry = |link| Entry::new(Time(n * step), Event::Arrive(LinkId(link)));
                order.precedes(entry(4), entry(5))
            };
            let wins = (0..10_000).filter(|n| first(*n)).count() as f64;
            assert!((wins - 5_000.0).abs() < 4.0 * 50.0, "{wins} of 10000 at step {step}");
        }
    }
}
