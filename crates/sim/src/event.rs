//! The events, and their total order.
//!
//! An event is named by its kind and one index (a link or a flow): 32 bits. Its key is `(time, kind, tie, index)`:
//!
//! 1. earlier first;
//! 2. at one instant by kind, in the order of [`Event`]: arrivals (decisions of switches), departures, timers, flow
//!    starts, pauses, timers of nodes, jobs; changes of the network come before all of them and samples of queues after
//!    (see `course`);
//! 3. among equals by a draw: a mix of the run's seed, the instant and the event's own name, so that no sender wins
//!    every tie, and the same one wins on every machine;
//! 4. by index.
//!
//! The key depends on the cause alone, never on the position in a queue, threads or the partition.

use weft_core::random::{Purpose, Random, mix};
use weft_core::{FlowId, LinkId, Time};

/// An event at an instant. The order of the variants is part of the results.
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
    /// The application starts a flow.
    FlowStart(FlowId),
    /// A pause begins, ends or must be refreshed at the transmitter of a link.
    Pause(LinkId),
    /// A timer of the node that transmits on a link: a switch port, or the host part that flows share.
    Wake(LinkId),
    /// A timer of a job.
    Job,
}

const INDEX_BITS: u32 = 29;
/// Bits of a draw.
pub(crate) const DRAW_BITS: u32 = INDEX_BITS;
const INDEX_MASK: u32 = (1 << INDEX_BITS) - 1;

/// Kind and index of an event in 32 bits. Kinds are numbered in the order of [`Event`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventName(u32);

impl EventName {
    /// An arrival on the link of this number.
    #[inline]
    pub(crate) fn arrival(link: u32) -> EventName {
        EventName(link & INDEX_MASK)
    }

    /// The end of a transmission on the link of this number.
    #[inline]
    pub(crate) fn transmitted(link: u32) -> EventName {
        EventName(1 << INDEX_BITS | link & INDEX_MASK)
    }

    /// A timer of the node that transmits on the link of this number.
    #[inline]
    pub(crate) fn wake(link: u32) -> EventName {
        EventName(6 << INDEX_BITS | link & INDEX_MASK)
    }

    pub(crate) fn of(event: Event) -> EventName {
        let (kind, index) = match event {
            Event::Arrive(link) => return EventName::arrival(link.0),
            Event::Transmitted(link) => return EventName::transmitted(link.0),
            Event::SenderWake(flow) => (2, flow.0),
            Event::ReceiverWake(flow) => (3, flow.0),
            Event::FlowStart(flow) => (4, flow.0),
            Event::Pause(link) => (5, link.0),
            Event::Wake(link) => return EventName::wake(link.0),
            Event::Job => (7, 0),
        };
        EventName(kind << INDEX_BITS | index & INDEX_MASK)
    }

    /// The event it names.
    #[inline]
    pub(crate) fn event(self) -> Event {
        let index = self.0 & INDEX_MASK;
        match self.0 >> INDEX_BITS {
            0 => Event::Arrive(LinkId(index)),
            1 => Event::Transmitted(LinkId(index)),
            2 => Event::SenderWake(FlowId(index)),
            3 => Event::ReceiverWake(FlowId(index)),
            4 => Event::FlowStart(FlowId(index)),
            5 => Event::Pause(LinkId(index)),
            6 => Event::Wake(LinkId(index)),
            _ => Event::Job,
        }
    }
}

/// An event and its time: 16 bytes. Only [`EventOrder`] decides precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The instant.
    pub(crate) time: Time,
    pub(crate) name: EventName,
}

impl Entry {
    /// An event at an instant.
    #[inline]
    pub(crate) fn new(time: Time, event: Event) -> Entry {
        Entry { time, name: EventName::of(event) }
    }
}

/// The key of an event within its instant: kind, draw and index, most significant first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank(pub(crate) u64);

impl Rank {
    /// The draw among events of its kind and instant.
    #[inline]
    pub(crate) fn draw(self) -> u32 {
        (self.0 >> INDEX_BITS) as u32 & INDEX_MASK
    }

    /// The event with this rank at `time`.
    pub(crate) fn entry(self, time: Time) -> Entry {
        let kind = (self.0 >> 61) as u32;
        Entry { time, name: EventName(kind << INDEX_BITS | self.0 as u32 & INDEX_MASK) }
    }
}

/// The total order of a run's events. Draws are made only for events that nothing else separates: most never need
/// one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventOrder {
    key: u64,
}

impl EventOrder {
    /// The order of the run with `seed`.
    pub(crate) fn new(seed: u64) -> EventOrder {
        EventOrder { key: Random::new(seed, Purpose::Ties, 0).bits() }
    }

    /// Whether `a` comes before `b`.
    #[inline]
    pub(crate) fn precedes(self, a: Entry, b: Entry) -> bool {
        if a.time == b.time { self.settle(a, b) } else { a.time < b.time }
    }

    /// Whether `a` comes before `b` at the same instant: by kind, then by draw, then by index.
    fn settle(self, a: Entry, b: Entry) -> bool {
        let kind = |entry: Entry| entry.name.0 >> INDEX_BITS;
        if kind(a) != kind(b) {
            return kind(a) < kind(b);
        }
        self.wins_draw(a.time, a.name, b.name)
    }

    /// Whether `a` comes before `b` at the same instant, both being of one kind.
    #[inline]
    pub(crate) fn wins_draw(self, time: Time, a: EventName, b: EventName) -> bool {
        (self.draw(time, a), a.0) < (self.draw(time, b), b.0)
    }

    /// The position of an event among those of its instant, and its name.
    #[inline]
    pub(crate) fn rank(self, entry: Entry) -> Rank {
        let (kind, index) = (entry.name.0 >> INDEX_BITS, entry.name.0 & INDEX_MASK);
        Rank(
            u64::from(kind) << 61
                | u64::from(self.draw(entry.time, entry.name)) << INDEX_BITS
                | u64::from(index),
        )
    }

    #[inline]
    fn draw(self, time: Time, name: EventName) -> u32 {
        let instant = (time.0 ^ self.key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mix(instant ^ u64::from(name.0)) as u32 & INDEX_MASK
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_sixteen_bytes_and_keeps_its_event() {
        assert_eq!(size_of::<Entry>(), 16);
        let order = EventOrder::new(1);
        let events = [
            Event::Arrive(LinkId(5)),
            Event::Transmitted(LinkId(7)),
            Event::SenderWake(FlowId(9)),
            Event::ReceiverWake(FlowId(11)),
            Event::FlowStart(FlowId(13)),
            Event::Pause(LinkId(15)),
            Event::Wake(LinkId(17)),
            Event::Job,
        ];
        let entries: Vec<_> = events.iter().map(|event| Entry::new(Time(42), *event)).collect();
        for (entry, event) in entries.iter().zip(events) {
            assert_eq!(entry.name.event(), event);
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
            let order = EventOrder::new(step);
            let first = |n: u64| {
                let entry = |link| Entry::new(Time(n * step), Event::Arrive(LinkId(link)));
                order.precedes(entry(4), entry(5))
            };
            let wins = (0..10_000).filter(|n| first(*n)).count() as f64;
            assert!((wins - 5_000.0).abs() < 4.0 * 50.0, "{wins} of 10000 at step {step}");
        }
    }
}
