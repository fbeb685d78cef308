//! The event list: a wheel of buckets for the near future, a heap for the far one. Entries of a bucket are sorted when
//! it is opened. The order of what comes out is that of [`Order`] alone; bucket width and count change speed, never
//! results.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weft_core::{Span, Time};

use crate::event::{Entry, Event, Order};

/// Words of the map of occupied buckets.
const WORDS: usize = 64;
/// Buckets of the wheel.
const BUCKETS: usize = 64 * WORDS;
/// So far ahead of the open bucket the wheel takes events: the word of the open bucket never holds bits of the next turn.
const REACH: u64 = (BUCKETS - 64) as u64;
/// Entries a bucket holds without allocating; the bucket width aims at half of it.
const ROOM: usize = 16;
/// Behind all buckets.
const NOWHERE: u64 = u64::MAX;

/// Pending events.
pub(crate) struct Calendar {
    order: Order,
    /// Number of the open bucket since time zero; bucket n covers `n << shift ..`. The open bucket is sorted, latest first,
    /// so that the next event is at the end.
    open: u64,
    buckets: Box<[Vec<Entry>; BUCKETS]>,
    /// Closed buckets that hold anything.
    occupied: [u64; WORDS],
    /// By time only: the order among equals is settled when their bucket is opened.
    far: BinaryHeap<Reverse<Entry>>,
    /// From this bucket on, `far` has to be asked.
    far_from: u64,
    /// A bucket is 2^shift picoseconds wide.
    shift: u32,
}

impl Calendar {
    /// An empty calendar with buckets of about `width`.
    pub(crate) fn new(order: Order, width: Span) -> Calendar {
        let buckets: Box<[_]> = (0..BUCKETS).map(|_| Vec::with_capacity(ROOM)).collect();
        Calendar {
            order,
            open: 0,
            buckets: buckets.try_into().expect("as many as were asked for"),
            occupied: [0; WORDS],
            far: BinaryHeap::new(),
            far_from: NOWHERE,
            shift: width.0.max(1).ilog2(),
        }
    }

    /// When the next event is; [`Time::NEVER`] if nothing is pending.
    pub(crate) fn next_time(&self) -> Time {
        if let Some(next) = self.buckets[self.open as usize % BUCKETS].last() {
            return next.time;
        }
        let far = self.far.peek().map_or(Time::NEVER, |Reverse(entry)| entry.time);
        match self.next_occupied() {
            NOWHERE => far,
            near => {
                let times = self.buckets[near as usize % BUCKETS].iter().map(|entry| entry.time);
                times.min().expect("an occupied bucket holds events").min(far)
            }
        }
    }

    /// Adds an event. It must not lie before the last event taken.
    #[inline]
    pub(crate) fn push(&mut self, time: Time, event: Event) {
        let entry = Entry::new(time, event);
        let bucket = time.0 >> self.shift;
        // Wraps around for the open bucket and what lies before it: both are out of reach.
        if bucket.wrapping_sub(self.open + 1) < REACH {
            self.put(bucket, entry);
        } else {
            self.push_aside(bucket, entry);
        }
    }

    /// Takes the next event if it is before `end`.
    #[inline]
    pub(crate) fn pop_before(&mut self, end: Time) -> Option<Entry> {
        let open = &mut self.buckets[self.open as usize % BUCKETS];
        match open.last() {
            None => self.open_next(end),
            Some(next) if next.time < end => open.pop(),
            Some(_) => None,
        }
    }

    #[inline]
    fn put(&mut self, bucket: u64, entry: Entry) {
        let slot = bucket as usize % BUCKETS;
        self.occupied[slot / 64] |= 1 << (slot % 64);
        self.buckets[slot].push(entry);
    }

    /// Adds an event that does not belong into a closed bucket of the wheel.
    #[inline(never)]
    fn push_aside(&mut self, bucket: u64, entry: Entry) {
        if bucket <= self.open {
            let order = self.order;
            let open = &mut self.buckets[self.open as usize % BUCKETS];
            let place = open.partition_point(|other| order.precedes(entry, *other));
            open.insert(place, entry);
        } else {
            self.far.push(Reverse(entry));
            self.far_from = self.far_from.min(bucket - REACH);
        }
    }

    /// Opens the next bucket that holds anything, and takes its first event if it is before `end`. A bucket that begins
    /// later stays closed: events may still come that are before it.
    #[inline]
    fn open_next(&mut self, end: Time) -> Option<Entry> {
        let (mut next, last) = (self.next_occupied(), (end.0 - 1) >> self.shift);
        if next >= self.far_from {
            next = next.min(self.far.peek().map_or(NOWHERE, |Reverse(entry)| entry.time.0 >> self.shift));
        }
        if next > last || next == NOWHERE {
            return None;
        }
        if next >= self.far_from {
            self.fetch_far(next);
        }
        self.open = next;
        let slot = next as usize % BUCKETS;
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        let open = &mut self.buckets[slot];
        sort(self.order, open);
        open.pop_if(|first| first.time < end)
    }

    /// Moves what is within reach of bucket `next`, which is opened now, from the heap into the wheel.
    #[inline(never)]
    fn fetch_far(&mut self, next: u64) {
        self.far_from = NOWHERE;
        while let Some(Reverse(entry)) = self.far.peek().copied() {
            let bucket = entry.time.0 >> self.shift;
            if bucket - next > REACH {
                self.far_from = bucket - REACH;
                break;
            }
            self.far.pop();
            self.put(bucket, entry);
        }
    }

    /// The number of the first closed bucket that holds anything, or [`NOWHERE`].
    #[inline]
    fn next_occupied(&self) -> u64 {
        let (first, word) = (self.open & !63, self.open as usize / 64);
        for ahead in 0..WORDS {
            let bits = self.occupied[(word + ahead) % WORDS];
            if bits != 0 {
                return first + 64 * ahead as u64 + u64::from(bits.trailing_zeros());
            }
        }
        NOWHERE
    }
}

/// Sorts a bucket, latest first. Most hold one event or two, hence by insertion.
#[inline]
fn sort(order: Order, bucket: &mut [Entry]) {
    for end in 1..bucket.len() {
        let mut place = end;
        while place > 0 && order.precedes(bucket[place - 1], bucket[place]) {
            bucket.swap(place - 1, place);
            place -= 1;
        }
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
    use weft_core::{LinkId, Purpose, Random};

    /// Whatever is pushed and popped in between, up to whatever instant, the calendar gives what a sorted list gives.
    #[test]
    fn agrees_with_a_sorted_list() {
        for (seed, width) in [(1, Span(1)), (2, Span(1 << 10)), (3, Span(1 << 16)), (4, Span(1 << 24))] {
            let mut random = Random::new(seed, Purpose::Test, 0);
            let order = Order::new(seed);
            let (mut calendar, mut list) = (Calendar::new(order, width), Vec::<Entry>::new());
            let mut now = Time::ZERO;
            for _ in 0..50_000 {
                let reach = [10, 100_000, 1 << 30, 1 << 40][random.below(4) as usize];
                let time = now + Span(random.bits() % reach);
                if random.chance(0.52) {
                    let event = Event::Arrive(LinkId(random.below(1000)));
                    calendar.push(time, event);
                    let entry = Entry::new(time, event);
                    let place = list.partition_point(|other| order.precedes(entry, *other));
                    list.insert(place, entry);
                } else {
                    let end = if random.chance(0.5) { Time::NEVER } else { Time(time.0 + 1) };
                    let expected = list.pop_if(|entry| entry.time < end);
                    assert_eq!(calendar.pop_before(end), expected);
                    now = expected.map_or(now, |entry| entry.time);
                }
                assert_eq!(calendar.next_time(), list.last().map_or(Time::NEVER, |entry| entry.time));
            }
            while let Some(entry) = list.pop() {
                assert_eq!(calendar.pop_before(Time::NEVER), Some(entry));
            }
            assert!(calendar.pop_before(Time::NEVER).is_none() && calendar.next_time() == Time::NEVER);
        }
    }
}
