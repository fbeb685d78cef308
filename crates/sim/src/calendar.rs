//! The event list: a wheel of buckets for the near future, a heap for the far one. Entries of a bucket are sorted when
//! it is opened. The order of what comes out is that of [`Entry`] alone; bucket width and count change speed, never
//! results.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weft_core::Span;

use crate::event::Entry;

/// Buckets of the wheel, in words of 64.
const BUCKETS: usize = 64 * WORDS;
const WORDS: usize = 64;
/// Entries a bucket holds without allocating; the bucket width aims at half of it.
const ROOM: usize = 16;

/// Pending events.
pub(crate) struct Calendar {
    /// The open bucket, latest first, so that the next event is at the end.
    open: Vec<Entry>,
    /// Number of the open bucket since time zero; bucket n covers `n << shift ..`.
    current: u64,
    buckets: Box<[Vec<Entry>; BUCKETS]>,
    occupied: [u64; WORDS],
    far: BinaryHeap<Reverse<Entry>>,
    /// Bucket of the first entry of `far`; [`NOWHERE`] if there is none.
    far_bucket: u64,
    /// A bucket is 2^shift picoseconds wide.
    shift: u32,
    len: usize,
}

/// Behind all buckets.
const NOWHERE: u64 = u64::MAX;

impl Calendar {
    /// An empty calendar with buckets of about `width`.
    pub(crate) fn new(width: Span) -> Calendar {
        let buckets: Box<[_]> = (0..BUCKETS).map(|_| Vec::with_capacity(ROOM)).collect();
        Calendar {
            open: Vec::with_capacity(ROOM),
            current: 0,
            buckets: buckets.try_into().expect("as many as were asked for"),
            occupied: [0; WORDS],
            far: BinaryHeap::new(),
            far_bucket: NOWHERE,
            shift: width.0.max(1).ilog2(),
            len: 0,
        }
    }

    /// Pending events.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Adds an event. It must not lie before the last event taken.
    #[inline]
    pub(crate) fn push(&mut self, entry: Entry) {
        self.len += 1;
        let bucket = entry.time.0 >> self.shift;
        // Wraps around for the open bucket and what lies before it: both are out of the wheel's reach.
        if bucket.wrapping_sub(self.current + 1) < BUCKETS as u64 - 1 {
            self.put(bucket, entry);
        } else {
            self.push_aside(bucket, entry);
        }
    }

    /// Adds an event that does not belong into a closed bucket of the wheel.
    #[inline(never)]
    fn push_aside(&mut self, bucket: u64, entry: Entry) {
        if bucket <= self.current {
            let place = self.open.partition_point(|other| *other > entry);
            self.open.insert(place, entry);
        } else {
            self.far.push(Reverse(entry));
            self.far_bucket = self.far_bucket.min(bucket);
        }
    }

    /// Takes the next event.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Entry> {
        let next = match self.open.pop() {
            Some(entry) => entry,
            None if self.open_next() => self.open.pop()?,
            None => return None,
        };
        self.len -= 1;
        Some(next)
    }

    #[inline]
    fn put(&mut self, bucket: u64, entry: Entry) {
        let slot = bucket as usize % BUCKETS;
        self.occupied[slot / 64] |= 1 << (slot % 64);
        self.buckets[slot].push(entry);
    }

    /// Opens the next bucket that holds anything; false: there is none.
    fn open_next(&mut self) -> bool {
        let next = self.next_occupied().min(self.far_bucket);
        if next == NOWHERE {
            return false;
        }
        self.current = next;
        let slot = next as usize % BUCKETS;
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        std::mem::swap(&mut self.open, &mut self.buckets[slot]);
        if self.far_bucket - next < BUCKETS as u64 {
            self.fetch_far();
        }
        self.sort_open();
        true
    }

    /// Most buckets hold one event or two.
    fn sort_open(&mut self) {
        match self.open.as_mut_slice() {
            [_] => {}
            [first, second] => {
                if *first < *second {
                    std::mem::swap(first, second);
                }
            }
            many => many.sort_unstable_by(|a, b| b.cmp(a)),
        }
    }

    /// Moves what has come within the wheel's reach from the heap into the wheel.
    #[inline(never)]
    fn fetch_far(&mut self) {
        self.far_bucket = NOWHERE;
        while let Some(Reverse(entry)) = self.far.peek().copied() {
            let bucket = entry.time.0 >> self.shift;
            if bucket - self.current >= BUCKETS as u64 {
                self.far_bucket = bucket;
                return;
            }
            self.far.pop();
            if bucket == self.current {
                self.open.push(entry);
            } else {
                self.put(bucket, entry);
            }
        }
    }

    /// The number of the first occupied bucket after the open one, or [`NOWHERE`].
    fn next_occupied(&self) -> u64 {
        let start = (self.current + 1) as usize % BUCKETS;
        let (mut word, mut ahead) = (start / 64, 0);
        // The open bucket itself is empty, so that the bits before `start` are the farthest ones.
        let mut bits = self.occupied[word] >> (start % 64) << (start % 64);
        for _ in 0..=WORDS {
            if bits != 0 {
                return self.current + 1 + ahead + u64::from(bits.trailing_zeros()) - (start % 64) as u64;
            }
            word = (word + 1) % WORDS;
            ahead += 64;
            bits = self.occupied[word];
        }
        NOWHERE
    }
}

/// A width that puts a handful of events into a bucket when `rate` events happen per second.
pub(crate) fn width_for(rate: f64) -> Span {
    let width = Span::from_seconds_rounded(8.0 / rate.max(1.0));
    width.clamp(Span(1 << 10), Span(1 << 24))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, Order};
    use weft_core::{LinkId, Purpose, Random, Time};

    /// Whatever is pushed and popped in between, the calendar gives what a heap gives.
    #[test]
    fn agrees_with_a_binary_heap() {
        for (seed, width) in [(1, Span(1)), (2, Span(1 << 10)), (3, Span(1 << 16)), (4, Span(1 << 24))] {
            let mut random = Random::new(seed, Purpose::Test, 0);
            let order = Order::new(seed);
            let (mut calendar, mut heap) = (Calendar::new(width), BinaryHeap::new());
            let mut now = Time::ZERO;
            for _ in 0..50_000 {
                if random.chance(0.52) {
                    let reach = [10, 100_000, 1 << 30, 1 << 40][random.below(4) as usize];
                    let time = now + Span(random.bits() % reach);
                    let entry = order.entry(time, Event::Arrive(LinkId(random.below(1000))));
                    calendar.push(entry);
                    heap.push(Reverse(entry));
                } else {
                    let expected = heap.pop().map(|Reverse(entry)| entry);
                    assert_eq!(calendar.pop(), expected);
                    now = expected.map_or(now, |entry| entry.time);
                }
                assert_eq!(calendar.len(), heap.len());
            }
            while let Some(Reverse(entry)) = heap.pop() {
                assert_eq!(calendar.pop(), Some(entry));
            }
            assert_eq!(calendar.pop(), None);
        }
    }
}
