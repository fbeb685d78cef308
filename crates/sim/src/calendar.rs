//! The event list: a wheel of buckets for what happens on links, a heap for everything else. A link has at most one
//! pending arrival and one pending end of a transmission, so that a bucket is a list through one table with a row for
//! each; its entries are sorted when it is opened. The order of what comes out is that of [`Order`] alone; bucket width
//! and count change speed, never results.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weft_core::{LinkId, Span, Time};

use crate::event::{Entry, Event, LinkEvent, Name, Order, Rank};

/// Words of the map of occupied buckets, each with a bit in the map of words.
const WORDS: usize = 64;
/// Buckets of the wheel.
const BUCKETS: usize = 64 * WORDS;
/// So far ahead of the open bucket the wheel takes events: the word of the open bucket never holds bits of the next turn.
const REACH: u64 = (BUCKETS - 64) as u64;
/// Behind all buckets.
const NOWHERE: u64 = u64::MAX;
/// Up to so many entries are sorted by insertion.
const SHORT: usize = 16;
/// The end of a list.
const NONE: u32 = u32::MAX;

/// A pending event of a link.
#[derive(Clone, Copy, Debug)]
struct Row {
    time: Time,
    name: Name,
    /// The next row of the bucket.
    next: u32,
}

impl Row {
    fn entry(self) -> Entry {
        Entry { time: self.time, name: self.name }
    }
}

/// Pending events.
pub(crate) struct Calendar {
    order: Order,
    /// The bucket that is being emptied, latest first, so that the next event is at the end.
    open: Vec<Entry>,
    /// Its number since time zero; bucket n covers `n << shift ..`. What is pushed for this bucket, or for one before it,
    /// goes there too.
    number: u64,
    /// First row of every closed bucket.
    first: Box<[u32; BUCKETS]>,
    rows: Vec<Row>,
    /// Closed buckets that hold anything, and words of this map that hold anything.
    occupied: [u64; WORDS],
    words: u64,
    /// Timers, flow starts, and events of links beyond the wheel's reach.
    heap: BinaryHeap<Reverse<(Time, Rank)>>,
    /// The first of the heap.
    heap_first: Time,
    /// A bucket is 2^shift picoseconds wide.
    shift: u32,
    /// Events from this instant on are left alone.
    end: Time,
    /// Before this instant and up to this bucket the wheel decides alone: the heap has nothing, and the end is behind.
    limit: Time,
    last: u64,
}

impl Calendar {
    /// An empty calendar for so many links with buckets of about `width`.
    pub(crate) fn new(order: Order, links: usize, width: Span) -> Calendar {
        let empty = Row { time: Time::NEVER, name: Name::of(Event::Arrive(LinkId(0))), next: NONE };
        Calendar {
            order,
            open: Vec::with_capacity(64),
            number: 0,
            first: Box::new([NONE; BUCKETS]),
            rows: vec![empty; 2 * links],
            occupied: [0; WORDS],
            words: 0,
            heap: BinaryHeap::new(),
            heap_first: Time::NEVER,
            shift: width.0.max(1).ilog2(),
            end: Time::ZERO,
            limit: Time::ZERO,
            last: 0,
        }
    }

    /// From now on [`Calendar::pop`] gives events before `end`, which is not zero.
    pub(crate) fn set_end(&mut self, end: Time) {
        self.end = end;
        self.set_limit();
    }

    /// Events are given out before this instant.
    pub(crate) fn end(&self) -> Time {
        self.end
    }

    fn set_limit(&mut self) {
        self.limit = self.end.min(self.heap_first);
        self.last = (self.end.0.saturating_sub(1) >> self.shift)
            .min(self.heap_first.0 >> self.shift)
            .min(NOWHERE - 1);
    }

    /// When the next event is; [`Time::NEVER`] if nothing is pending.
    pub(crate) fn next_time(&self) -> Time {
        if let Some(next) = self.open.last() {
            return next.time.min(self.heap_first);
        }
        let mut first = self.heap_first;
        let near = self.next_occupied();
        let mut row = if near == NOWHERE { NONE } else { self.first[near as usize % BUCKETS] };
        while row != NONE {
            let Row { time, next, .. } = self.rows[row as usize];
            (first, row) = (first.min(time), next);
        }
        first
    }

    /// Adds an event of a link, the only one of its kind there. It must not lie before the last event taken.
    #[inline]
    pub(crate) fn push_link(&mut self, time: Time, event: LinkEvent, link: LinkId) {
        let (row, name) = (2 * link.index() + event as usize, event.name(link));
        let bucket = time.0 >> self.shift;
        // Wraps around for the open bucket and what lies before it: both are out of reach.
        if bucket.wrapping_sub(self.number + 1) < REACH {
            self.put(bucket, row, Entry { time, name });
        } else {
            self.push_aside(bucket, Entry { time, name });
        }
    }

    /// Adds any other event.
    pub(crate) fn push(&mut self, time: Time, event: Event) {
        match event {
            Event::Arrive(link) => self.push_link(time, LinkEvent::Arrive, link),
            Event::Transmitted(link) => self.push_link(time, LinkEvent::Transmitted, link),
            _ => self.push_far(Entry::new(time, event)),
        }
    }

    /// Takes the next event before the end.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<Entry> {
        if self.open.is_empty() {
            let next = self.next_occupied();
            if next <= self.last {
                let row = self.take_bucket(next);
                let Row { time, name, next: more } = self.rows[row as usize];
                if more == NONE && time < self.limit {
                    return Some(Entry { time, name });
                }
                self.sort(row);
            }
        }
        self.pop_sorted()
    }

    #[inline]
    fn put(&mut self, bucket: u64, row: usize, entry: Entry) {
        let slot = bucket as usize % BUCKETS;
        self.rows[row] = Row { time: entry.time, name: entry.name, next: self.first[slot] };
        self.first[slot] = row as u32;
        self.occupied[slot / 64] |= 1 << (slot % 64);
        self.words |= 1 << (slot / 64);
    }

    fn push_far(&mut self, entry: Entry) {
        self.heap.push(Reverse((entry.time, self.order.rank(entry))));
        if entry.time < self.heap_first {
            self.heap_first = entry.time;
            self.set_limit();
        }
    }

    /// Adds an event of a link that does not belong into a closed bucket of the wheel.
    #[inline(never)]
    fn push_aside(&mut self, bucket: u64, entry: Entry) {
        if bucket <= self.number {
            insert(self.order, &mut self.open, entry);
        } else {
            self.push_far(entry);
        }
    }

    /// Sorts the rows of a bucket that has been opened.
    #[inline(never)]
    fn sort(&mut self, mut row: u32) {
        while row != NONE && self.open.len() < SHORT {
            let next = self.rows[row as usize];
            insert(self.order, &mut self.open, next.entry());
            row = next.next;
        }
        if row != NONE {
            self.sort_many(row);
        }
    }

    /// Sorts a long bucket.
    #[cold]
    fn sort_many(&mut self, mut row: u32) {
        while row != NONE {
            let next = self.rows[row as usize];
            self.open.push(next.entry());
            row = next.next;
        }
        let order = self.order;
        self.open.sort_unstable_by(|a, b| {
            if order.precedes(*a, *b) { std::cmp::Ordering::Greater } else { std::cmp::Ordering::Less }
        });
    }

    #[inline]
    fn pop_sorted(&mut self) -> Option<Entry> {
        match self.open.last() {
            Some(next) if next.time < self.limit => self.open.pop(),
            _ => self.pop_aside(),
        }
    }

    /// Opens a bucket: its first row.
    #[inline]
    fn take_bucket(&mut self, number: u64) -> u32 {
        self.number = number;
        let slot = number as usize % BUCKETS;
        let left = self.occupied[slot / 64] & !(1 << (slot % 64));
        self.occupied[slot / 64] = left;
        if left == 0 {
            self.words &= !(1 << (slot / 64));
        }
        std::mem::replace(&mut self.first[slot], NONE)
    }

    /// Takes the next event before the end from the open bucket or the heap.
    #[inline(never)]
    fn pop_aside(&mut self) -> Option<Entry> {
        let near = self.open.last().copied();
        let far = self.heap.peek().map(|Reverse((time, rank))| rank.entry(*time));
        match (near, far) {
            (near, Some(far)) if near.is_none_or(|near| self.order.precedes(far, near)) => {
                (far.time < self.end).then(|| self.pop_far(far, near.is_none()))
            }
            (Some(near), _) if near.time < self.end => self.open.pop(),
            _ => None,
        }
    }

    /// Takes the first of the heap; `alone`: the open bucket is empty, and no closed bucket is before this event.
    fn pop_far(&mut self, far: Entry, alone: bool) -> Entry {
        self.heap.pop();
        self.heap_first = self.heap.peek().map_or(Time::NEVER, |Reverse((time, _))| *time);
        self.set_limit();
        if alone {
            self.number = self.number.max(far.time.0 >> self.shift);
        }
        far
    }

    /// The number of the first closed bucket that holds anything, or [`NOWHERE`].
    #[inline]
    fn next_occupied(&self) -> u64 {
        if self.words == 0 {
            return NOWHERE;
        }
        let word = self.number as usize / 64 % WORDS;
        let ahead = self.words.rotate_right(word as u32).trailing_zeros();
        let bits = self.occupied[(word + ahead as usize) % WORDS];
        (self.number & !63) + 64 * u64::from(ahead) + u64::from(bits.trailing_zeros())
    }
}

/// Adds an entry to the open bucket. Most buckets hold one event or two, hence by insertion from the end.
#[inline]
fn insert(order: Order, open: &mut Vec<Entry>, entry: Entry) {
    let mut place = open.len();
    open.push(entry);
    while place > 0 && order.precedes(open[place - 1], entry) {
        open[place] = open[place - 1];
        place -= 1;
    }
    open[place] = entry;
}

/// A width at which there is a bucket for each of `rate` events per second, but so wide that the wheel reaches as far
/// ahead as links do.
pub(crate) fn width_for(rate: f64, ahead: Span) -> Span {
    let width = Span::from_seconds_rounded(1.0 / rate.max(1.0));
    let least = Span((ahead.0 / REACH + 1).next_power_of_two());
    width.clamp(least, least.max(Span(1 << 24)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::{FlowId, Purpose, Random};

    /// A random event that is not pending yet.
    fn event(random: &mut Random, list: &[Entry]) -> Event {
        loop {
            let number = random.below(3_000);
            let event = match random.below(3) {
                0 => Event::Arrive(LinkId(number)),
                1 => Event::Transmitted(LinkId(number)),
                _ => return Event::SenderWake(FlowId(number)),
            };
            if list.iter().all(|entry| entry.name.event() != event) {
                return event;
            }
        }
    }

    /// Whatever is pushed and popped in between, up to whatever instant, the calendar gives what a sorted list gives.
    #[test]
    fn agrees_with_a_sorted_list() {
        for (seed, width) in [(1, Span(1)), (2, Span(1 << 10)), (3, Span(1 << 16)), (4, Span(1 << 24))] {
            let mut random = Random::new(seed, Purpose::Test, 0);
            let order = Order::new(seed);
            let (mut calendar, mut list) = (Calendar::new(order, 3_000, width), Vec::<Entry>::new());
            let mut now = Time::ZERO;
            for _ in 0..20_000 {
                let reach = [10, 100_000, 1 << 30, 1 << 40][random.below(4) as usize];
                let time = now + Span(random.bits() % reach);
                if random.chance(0.51) {
                    let event = event(&mut random, &list);
                    calendar.push(time, event);
                    let entry = Entry::new(time, event);
                    let place = list.partition_point(|other| order.precedes(entry, *other));
                    list.insert(place, entry);
                } else {
                    let end = if random.chance(0.5) { Time::NEVER } else { Time(time.0 + 1) };
                    let expected = list.pop_if(|entry| entry.time < end);
                    calendar.set_end(end);
                    assert_eq!(calendar.pop(), expected);
                    now = expected.map_or(now, |entry| entry.time);
                }
                assert_eq!(calendar.next_time(), list.last().map_or(Time::NEVER, |entry| entry.time));
            }
            calendar.set_end(Time::NEVER);
            while let Some(entry) = list.pop() {
                assert_eq!(calendar.pop(), Some(entry));
            }
            assert!(calendar.pop().is_none() && calendar.next_time() == Time::NEVER);
        }
    }
}
