//! The event list: a wheel of buckets for what happens on links, a heap for everything else. A link has at most one
//! pending arrival and one pending end of a transmission, so that a bucket is a list through one table with a row for
//! each; a bucket that holds several is put in order when it is opened. The order of what comes out is that of [`Order`]
//! alone; bucket width and count change speed, never results.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use weft_core::{FlowId, LinkId, Span, Time};

use crate::event::{Entry, Event, LinkEvent, Order, Rank};

mod ahead;

/// Buckets of the wheel.
const BUCKETS: usize = 1 << 16;
/// Words of the map of occupied buckets, and of the map of those words that hold anything.
const WORDS: usize = BUCKETS / 64;
const BLOCKS: usize = WORDS / 64;
/// So far ahead the wheel takes events: the word of the open bucket never holds bits of the next turn.
const REACH: u64 = (BUCKETS - 64) as u64;
/// A place further back in the open bucket is not looked for: the event goes to the heap.
const STEPS: u32 = 32;
/// The end of a list.
const NONE: u32 = u32::MAX;
/// Stands for the row of an event that has none.
const FAR: u32 = u32::MAX;

/// A pending event of a link.
#[derive(Clone, Copy, Debug)]
struct Row {
    time: Time,
    /// The next row of the bucket.
    next: u32,
}

/// Pending events.
pub(crate) struct Calendar {
    /// Before this instant the wheel decides alone: the heap has nothing, and the end is behind.
    limit: Time,
    /// The open bucket, since time zero; bucket n covers `n << shift ..`. It is in order, and none before it holds anything.
    number: u64,
    /// A bucket is 2^shift picoseconds wide.
    shift: u32,
    /// Arrivals have the first rows, ends of transmissions the others, by link.
    links: u32,
    rows: Box<[Row]>,
    order: Order,
    /// Events from this instant on are left alone.
    end: Time,
    /// Timers, flow starts, and events of links beyond the wheel's reach.
    heap: BinaryHeap<Reverse<(Time, Rank)>>,
    /// The first of the heap.
    heap_first: Time,
    /// The event without a row that was taken last.
    far: Event,
    wheel: Box<Wheel>,
    /// Reused for sorting.
    several: Vec<(Entry, u32)>,
}

/// The buckets.
struct Wheel {
    /// Buckets that hold anything.
    occupied: [u64; WORDS],
    /// Words of this map that are not zero.
    words: [u64; BLOCKS],
    /// First row of every bucket.
    first: [u32; BUCKETS],
}

impl Calendar {
    /// An empty calendar for so many links with buckets of about `width`.
    pub(crate) fn new(order: Order, links: usize, width: Span) -> Calendar {
        let empty = Row { time: Time::NEVER, next: NONE };
        Calendar {
            limit: Time::ZERO,
            number: 0,
            shift: width.0.max(1).ilog2(),
            links: u32::try_from(links).expect("fewer than 2^32 links"),
            rows: vec![empty; 2 * links].into(),
            order,
            end: Time::ZERO,
            heap: BinaryHeap::new(),
            heap_first: Time::NEVER,
            far: Event::FlowStart(FlowId(0)),
            wheel: Box::new(Wheel { occupied: [0; WORDS], words: [0; BLOCKS], first: [NONE; BUCKETS] }),
            several: Vec::new(),
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

    /// The bucket at hand.
    #[inline]
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    fn set_limit(&mut self) {
        self.limit = self.end.min(self.heap_first);
    }

    /// When the next event is; [`Time::NEVER`] if nothing is pending.
    pub(crate) fn next_time(&self) -> Time {
        let mut first = self.heap_first;
        let mut row = self.first().unwrap_or(NONE);
        while row != NONE {
            let Row { time, next } = *self.row(row);
            (first, row) = (first.min(time), next);
        }
        first
    }

    /// Adds an event of a link, the only one of its kind there. It must not lie before the last event taken.
    #[inline]
    pub(crate) fn push_link(&mut self, time: Time, event: LinkEvent, link: LinkId) {
        let row = event as u32 * self.links + link.0;
        let bucket = time.0 >> self.shift;
        // Wraps around for the open bucket and what lies before it.
        if bucket.wrapping_sub(self.number + 1) < REACH {
            *self.row_mut(row) = Row { time, next: self.wheel.first_of(bucket) };
            self.wheel.put_first(bucket, row);
        } else {
            self.push_aside(bucket, time, row);
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

    /// Takes the next event before the end if the wheel alone decides: its instant and its row. If not, there is still
    /// [`Calendar::pop_aside`].
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<(Time, u32)> {
        if let Some(slot) = self.wheel.occupied_from(self.number) {
            let mut row = self.wheel.first[slot];
            let Row { mut time, mut next } = *self.row(row);
            let bucket = time.0 >> self.shift;
            if next != NONE && bucket != self.number {
                row = self.open(bucket, row);
                Row { time, next } = *self.row(row);
            }
            if time < self.limit {
                self.number = bucket;
                self.wheel.take_first(slot, next);
                return Some((time, row));
            }
        }
        None
    }

    /// The first row of the wheel.
    fn first(&self) -> Option<u32> {
        self.wheel.occupied_from(self.number).map(|slot| self.wheel.first[slot])
    }

    #[inline]
    #[allow(unsafe_code, reason = "3 instructions of every event")]
    fn row(&self, row: u32) -> &Row {
        debug_assert!((row as usize) < self.rows.len(), "rows are those of the network's links");
        // SAFETY: a row is read only if a list names it, and lists name rows that `row_mut` has written before.
        unsafe { self.rows.get_unchecked(row as usize) }
    }

    #[inline]
    #[allow(unsafe_code, reason = "3 instructions of every hop")]
    fn row_mut(&mut self, row: u32) -> &mut Row {
        debug_assert!((row as usize) < self.rows.len(), "rows are those of the network's links");
        // SAFETY: there are two rows for each link. A row that is written is that of a link of the network, which is all
        // that `push_link` is given, or named by a list.
        unsafe { self.rows.get_unchecked_mut(row as usize) }
    }

    /// The link of a row that stands for an arrival.
    #[inline]
    pub(crate) fn arrival(&self, row: u32) -> Option<LinkId> {
        (row < self.links).then_some(LinkId(row))
    }

    /// The event of a row.
    pub(crate) fn event(&self, row: u32) -> Event {
        match self.arrival(row) {
            Some(link) => Event::Arrive(link),
            None if row == FAR => self.far,
            None => Event::Transmitted(LinkId(row - self.links)),
        }
    }

    fn entry(&self, row: u32) -> Entry {
        Entry::new(self.row(row).time, self.event(row))
    }

    /// Adds an event of a link to the open bucket, or beyond the wheel.
    #[inline(never)]
    fn push_aside(&mut self, bucket: u64, time: Time, row: u32) {
        if bucket == self.number {
            self.insert(time, row);
        } else {
            self.push_far(Entry::new(time, self.event(row)));
        }
    }

    /// Adds an event to the open bucket.
    fn insert(&mut self, time: Time, row: u32) {
        let (mut next, mut before) = (self.wheel.first_of(self.number), NONE);
        self.row_mut(row).time = time;
        let entry = self.entry(row);
        let mut steps = 0;
        while next != NONE && self.order.precedes(self.entry(next), entry) {
            (before, next) = (next, self.row(next).next);
            steps += 1;
            if steps == STEPS {
                return self.push_far(entry);
            }
        }
        self.row_mut(row).next = next;
        match before {
            NONE => self.wheel.put_first(self.number, row),
            _ => self.row_mut(before).next = row,
        }
    }

    fn push_far(&mut self, entry: Entry) {
        self.heap.push(Reverse((entry.time, self.order.rank(entry))));
        if entry.time < self.heap_first {
            self.heap_first = entry.time;
            self.set_limit();
        }
    }

    /// Takes the next event before the end, from the wheel or from the heap, after [`Calendar::pop`] has found none.
    #[inline(never)]
    pub(crate) fn pop_aside(&mut self) -> Option<(Time, u32)> {
        let near = self.first();
        let far = self.heap.peek().map(|Reverse((time, rank))| rank.entry(*time));
        match (near, far) {
            (_, Some(far)) if near.is_none_or(|near| self.order.precedes(far, self.entry(near))) => {
                (far.time < self.end).then(|| self.pop_far(far, near))
            }
            (Some(row), _) if self.row(row).time < self.end => {
                let Row { time, next } = *self.row(row);
                self.number = time.0 >> self.shift;
                self.wheel.take_first(self.number as usize % BUCKETS, next);
                Some((time, row))
            }
            _ => None,
        }
    }

    /// Opens a bucket that holds several rows, which are put in order: the first of them.
    #[inline(never)]
    fn open(&mut self, bucket: u64, first: u32) -> u32 {
        self.number = bucket;
        let second = self.row(first).next;
        if self.row(second).next != NONE {
            return self.sort(first);
        }
        if self.order.precedes(self.entry(first), self.entry(second)) {
            return first;
        }
        self.row_mut(second).next = first;
        self.row_mut(first).next = NONE;
        self.wheel.put_first(bucket, second);
        second
    }

    /// Puts the rows of the open bucket in order.
    fn sort(&mut self, mut row: u32) -> u32 {
        let mut several = std::mem::take(&mut self.several);
        while row != NONE {
            several.push((self.entry(row), row));
            row = self.row(row).next;
        }
        let order = self.order;
        several.sort_unstable_by(
            |(a, _), (b, _)| if order.precedes(*a, *b) { Ordering::Greater } else { Ordering::Less },
        );
        let mut next = NONE;
        for (_, row) in several.drain(..) {
            self.row_mut(row).next = next;
            next = row;
        }
        self.wheel.put_first(self.number, next);
        self.several = several;
        next
    }

    /// Takes the first of the heap, which is before everything else; `near` is the first row of the wheel.
    fn pop_far(&mut self, far: Entry, near: Option<u32>) -> (Time, u32) {
        self.heap.pop();
        self.heap_first = self.heap.peek().map_or(Time::NEVER, |Reverse((time, _))| *time);
        self.set_limit();
        if near.is_none() {
            self.number = self.number.max(far.time.0 >> self.shift);
        }
        self.far = far.name.event();
        match self.far {
            Event::Arrive(link) => (far.time, link.0),
            _ => (far.time, FAR),
        }
    }
}

impl Wheel {
    #[inline]
    fn first_of(&self, bucket: u64) -> u32 {
        self.first[bucket as usize % BUCKETS]
    }

    /// A bucket begins with this row from now on.
    #[inline]
    fn put_first(&mut self, bucket: u64, row: u32) {
        let slot = bucket as usize % BUCKETS;
        self.first[slot] = row;
        let bits = &mut self.occupied[slot / 64];
        if *bits == 0 {
            self.words[slot / 64 / 64] |= 1 << (slot / 64 % 64);
        }
        *bits |= 1 << (slot % 64);
    }

    /// The first row of a bucket is taken; `next` was behind it.
    #[inline]
    fn take_first(&mut self, slot: usize, next: u32) {
        self.first[slot] = next;
        if next == NONE {
            let bits = &mut self.occupied[slot / 64];
            *bits &= !(1 << (slot % 64));
            if *bits == 0 {
                self.words[slot / 64 / 64] &= !(1 << (slot / 64 % 64));
            }
        }
    }

    /// The place of the first bucket from `number` on that holds anything; none before it does.
    #[inline(always)]
    fn occupied_from(&self, number: u64) -> Option<usize> {
        let word = number as usize / 64 % WORDS;
        match self.occupied[word] {
            0 => self.occupied_beyond(word),
            bits => Some(place(word, bits)),
        }
    }

    /// The same if this word of the map is empty.
    #[inline(never)]
    fn occupied_beyond(&self, word: usize) -> Option<usize> {
        let next = (word + 1) % WORDS;
        if self.occupied[next] != 0 {
            return Some(place(next, self.occupied[next]));
        }
        let block = word / 64;
        let ahead = self.words[block] & u64::MAX << (word % 64);
        let later = (block + 1..=block + BLOCKS).map(|block| (block % BLOCKS, self.words[block % BLOCKS]));
        let mut blocks = std::iter::once((block, ahead)).chain(later);
        let (block, words) = blocks.find(|(_, words)| *words != 0)?;
        let word = place(block, words) % WORDS;
        Some(place(word, self.occupied[word]))
    }
}

/// The place of the lowest bit of a word in a map; not beyond it, whatever the bits.
#[inline]
fn place(word: usize, bits: u64) -> usize {
    (word * 64 + bits.trailing_zeros() as usize) % BUCKETS
}

/// A width at which there is a bucket for each of `rate` events per second, but so wide that the wheel reaches as far
/// ahead as links do.
pub(crate) fn width_for(rate: f64, ahead: Span) -> Span {
    let width = Span::from_seconds_rounded(0.5 / rate.max(1.0));
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

    fn pop(calendar: &mut Calendar) -> Option<(Time, Event)> {
        let next = calendar.pop().or_else(|| calendar.pop_aside());
        next.map(|(time, row)| (time, calendar.event(row)))
    }

    fn taken(entry: Entry) -> (Time, Event) {
        (entry.time, entry.name.event())
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
                    assert_eq!(pop(&mut calendar), expected.map(taken));
                    now = expected.map_or(now, |entry| entry.time);
                }
                assert_eq!(calendar.next_time(), list.last().map_or(Time::NEVER, |entry| entry.time));
            }
            calendar.set_end(Time::NEVER);
            while let Some(entry) = list.pop() {
                assert_eq!(pop(&mut calendar), Some(taken(entry)));
            }
            assert!(pop(&mut calendar).is_none() && calendar.next_time() == Time::NEVER);
        }
    }
}
