//! The state that the output ports of a switch share when several threads serve them: the queue lengths that engines
//! read, the packet memory, the random stream of the markers. All of it is read and changed without a lock.
//!
//! Threads that act one after the other get exactly what one thread gets. Threads that act at the same instant may see
//! each other's packets late, as engines of hardware do, but never fill the memory beyond its size: a packet reserves
//! its bytes before it asks for admission.

use std::sync::atomic::{AtomicU64, Ordering};

use weft_core::{PortId, Span, Time};

use crate::single::Insight;

/// Number of latest arrivals remembered for each queue, a power of two; older ones count as visible.
const RECENT: usize = 1024;

/// A packet that joined a queue a short time ago.
#[derive(Debug, Default)]
struct RecentArrival {
    visible_at: AtomicU64,
    /// The engine that sees it at once (none: all ones) and its bytes.
    engine_and_bytes: AtomicU64,
}

/// A queue from the engines' viewpoint.
#[derive(Debug)]
struct QueueLength {
    bytes: AtomicU64,
    arrivals: AtomicU64,
    /// Empty if engines see everything.
    recent: Box<[RecentArrival]>,
}

/// Counts that a port borrows from the switch for one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LentCounts {
    /// Bytes stored, by the switch's count and by that of its sharing rule.
    pub stored: (u64, u64),
    /// Position in the random stream of the markers.
    pub drawn: u64,
}

/// See the file's head.
#[derive(Debug)]
pub struct SharedOutputs {
    queues: usize,
    lengths: Box<[QueueLength]>,
    insight: Option<Insight>,
    /// The difference between the delays of inputs.
    spread: Span,
    stored: AtomicU64,
    counted: AtomicU64,
    drawn: AtomicU64,
}

impl SharedOutputs {
    /// The state of a switch with empty queues; with `insight`, engines see packets late.
    #[must_use]
    pub fn new(ports: usize, queues: usize, insight: Option<Insight>) -> SharedOutputs {
        let recent = if insight.is_some() { RECENT } else { 0 };
        let length = |_| QueueLength {
            bytes: AtomicU64::new(0),
            arrivals: AtomicU64::new(0),
            recent: (0..recent).map(|_| RecentArrival::default()).collect(),
        };
        SharedOutputs {
            queues,
            lengths: (0..ports * queues).map(length).collect(),
            spread: insight.as_ref().map_or(Span::ZERO, Insight::spread),
            insight,
            stored: AtomicU64::new(0),
            counted: AtomicU64::new(0),
            drawn: AtomicU64::new(0),
        }
    }

    /// Bytes stored in the whole switch, if its sharing rule depends on them.
    #[must_use]
    pub fn stored(&self) -> u64 {
        self.stored.load(Ordering::Acquire)
    }

    /// Lends the counts to a port that may store `wire` bytes, which are reserved.
    #[must_use]
    pub fn lend(&self, wire: u64) -> LentCounts {
        LentCounts {
            stored: (
                self.stored.fetch_add(wire, Ordering::AcqRel),
                self.counted.fetch_add(wire, Ordering::AcqRel),
            ),
            drawn: self.drawn.load(Ordering::Acquire),
        }
    }

    /// Takes lent counts back, including the port's changes and unused reservations.
    pub fn take_back(&self, wire: u64, lent: LentCounts, left: LentCounts) {
        let change = |now: u64, before: u64| now.wrapping_sub(before).wrapping_sub(wire);
        self.stored.fetch_add(change(left.stored.0, lent.stored.0), Ordering::AcqRel);
        self.counted.fetch_add(change(left.stored.1, lent.stored.1), Ordering::AcqRel);
        if left.drawn != lent.drawn {
            self.drawn.fetch_add(left.drawn.wrapping_sub(lent.drawn), Ordering::AcqRel);
        }
    }

    /// Records that a queue now holds this many bytes.
    pub fn set_length(&self, port: PortId, queue: usize, bytes: u64) {
        self.lengths[port.index() * self.queues + queue].bytes.store(bytes, Ordering::Release);
    }

    /// Records that a packet of `bytes` from an input has joined a queue, whose length already counts it. Only one
    /// thread at a time may call this for a port.
    pub fn joined(&self, now: Time, (input, bytes): (PortId, u16), (port, queue): (PortId, usize)) {
        let Some(insight) = &self.insight else { return };
        let length = &self.lengths[port.index() * self.queues + queue];
        let number = length.arrivals.load(Ordering::Relaxed);
        let recent = &length.recent[number as usize % RECENT];
        let engine = insight.at_once(input).map_or(u64::MAX << 16, |engine| (engine as u64) << 16);
        recent.visible_at.store((now + insight.after(input)).0, Ordering::Relaxed);
        recent.engine_and_bytes.store(engine | u64::from(bytes), Ordering::Relaxed);
        length.arrivals.store(number + 1, Ordering::Release);
    }

    /// The load of a port that an engine sees at `now`: bytes of its first `classes` queues.
    #[must_use]
    pub fn load(&self, now: Time, port: PortId, (engine, classes): (usize, usize)) -> u64 {
        let first = port.index() * self.queues;
        self.lengths[first..first + classes].iter().map(|length| self.seen(now, length, engine)).sum()
    }

    /// The length of a queue without the packets that an engine cannot see yet.
    fn seen(&self, now: Time, length: &QueueLength, engine: usize) -> u64 {
        let arrivals = length.arrivals.load(Ordering::Acquire);
        let bytes = length.bytes.load(Ordering::Acquire);
        let mut hidden = 0;
        for back in 1..=arrivals.min(length.recent.len() as u64) {
            let recent = &length.recent[(arrivals - back) as usize % RECENT];
            let visible_at = Time(recent.visible_at.load(Ordering::Relaxed));
            if visible_at + self.spread < now {
                break;
            }
            let packed = recent.engine_and_bytes.load(Ordering::Relaxed);
            if visible_at >= now && packed >> 16 != engine as u64 {
                hidden += packed & 0xffff;
            }
        }
        bytes.saturating_sub(hidden)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Visible;
    use weft_core::{Purpose, Random};

    /// Shows the engines of several threads the same as [`Visible`] shows those of one, whatever happens.
    #[test]
    fn engines_see_what_they_would_see_on_one_thread() {
        for (after, own) in [(vec![40, 40, 40], true), (vec![40, 10, 25], true), (vec![40, 10, 25], false)] {
            let insight = Insight::of_inputs(after.iter().copied().map(Span).collect(), own);
            let mut visible = Visible::new(2, true, insight.clone());
            (0..2).for_each(|slot| visible.watch(slot, 0));
            let shared = SharedOutputs::new(2, 1, Some(insight));
            let mut random = Random::new(3, Purpose::Test, 0);
            let (mut now, mut held) = (0, [Vec::new(), Vec::new()]);
            for _ in 0..20_000 {
                now += u64::from(random.below(8));
                let (port, input) = (random.below(2) as usize, random.below(3) as usize);
                if random.below(2) == 0 {
                    let wire = random.below(1500) as u16;
                    held[port].push(wire);
                    visible.enqueued(Time(now), input, port, wire);
                    shared.joined(Time(now), (PortId(input as u16), wire), (PortId(port as u16), 0));
                } else if !held[port].is_empty() {
                    visible.left(port, u64::from(held[port].remove(0)));
                }
                let bytes = held[port].iter().copied().map(u64::from).sum();
                shared.set_length(PortId(port as u16), 0, bytes);
                visible.advance(Time(now));
                for (engine, port) in [(0, 0), (1, 0), (2, 1)] {
                    let seen = shared.load(Time(now), PortId(port), (engine, 1));
                    assert_eq!(seen, visible.get(engine, usize::from(port)), "at {now}");
                }
            }
        }
    }

    #[test]
    fn threads_that_ask_at_once_cannot_overfill_the_memory() {
        let shared = SharedOutputs::new(1, 1, None);
        let size = 10_000;
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100_000 {
                        let lent = shared.lend(100);
                        assert!(lent.stored.0 <= size + 300, "three others have reserved at most one packet");
                        let fits = u64::from(lent.stored.0 + 100 <= size);
                        let stored = (lent.stored.0 + fits * 100, lent.stored.1);
                        shared.take_back(100, lent, LentCounts { stored, ..lent });
                    }
                });
            }
        });
        assert!((size - 300..=size).contains(&shared.stored()), "{}", shared.stored());
    }
}
