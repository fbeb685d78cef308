//! Puts the rows of a bucket in order when it is opened, and compares them with events outside the wheel. The choice of
//! algorithm affects speed only: all give the order of [`EventOrder`](crate::event::EventOrder).

use super::wheel::BUCKETS;
use super::{Calendar, NONE, NearlySorted, Row};
use crate::event::{DRAW_BITS, Entry, Rank};

/// Maximum number of rows sorted by insertion, which draws only for ties.
const FEW: usize = 8;
/// Bits of a key for the kind (arrival, end of a transmission, timer) and the draw.
const KIND_AND_DRAW: u32 = 2 + DRAW_BITS;

impl Calendar {
    /// The first of the heap.
    pub(super) fn far_entry(&self) -> Entry {
        let (time, rank) = NearlySorted::parts(self.heap.first());
        Rank(rank).entry(time)
    }

    /// Whether the first of the heap comes before a row.
    pub(super) fn far_precedes(&self, row: u32) -> bool {
        let time = self.row(row).time;
        let tie = || self.order.precedes(self.far_entry(), self.entry(row));
        self.heap_first < time || self.heap_first == time && tie()
    }

    /// Sorts the rows of the open bucket, which begin with this one.
    #[inline(never)]
    pub(super) fn sort(&mut self, first: u32) -> u32 {
        let mut rows = [0; FEW];
        let (mut count, mut row) = (0, first);
        while row != NONE && count < FEW {
            rows[count] = row;
            (row, count) = (self.row(row).next, count + 1);
        }
        if row == NONE { self.sort_few(&mut rows[..count]) } else { self.sort_many(first) }
    }

    fn sort_few(&mut self, rows: &mut [u32]) -> u32 {
        for n in 1..rows.len() {
            let (row, mut place) = (rows[n], n);
            while place > 0 && self.precedes(row, rows[place - 1]) {
                rows[place] = rows[place - 1];
                place -= 1;
            }
            rows[place] = row;
        }
        self.chain(rows.iter().rev().copied())
    }

    #[inline]
    fn precedes(&self, row: u32, other: u32) -> bool {
        let (time, then) = (self.row(row).time, self.row(other).time);
        time < then || time == then && self.goes_first(row, other)
    }

    /// Sorts by keys of 64 bits: instant within the bucket, kind, draw, position in the list. If two differ only in
    /// position, or do not fit, whole keys decide.
    fn sort_many(&mut self, first: u32) -> u32 {
        let (mut keys, mut several) = (std::mem::take(&mut self.keys), std::mem::take(&mut self.several));
        let mut row = first;
        while row != NONE {
            several.push(row);
            row = self.row(row).next;
        }
        let position = several.len().ilog2() + 1;
        if self.shift + KIND_AND_DRAW + position <= u64::BITS {
            keys.extend(several.iter().enumerate().map(|(n, row)| self.key(*row) << position | n as u64));
            keys.sort_unstable();
        }
        let distinct = |pair: &[u64]| pair[0] >> position != pair[1] >> position;
        let first = if !keys.is_empty() && keys.windows(2).all(distinct) {
            let mask = (1 << position) - 1;
            self.chain(keys.iter().rev().map(|key| several[(key & mask) as usize]))
        } else {
            several.sort_by_cached_key(|row| (self.row(*row).time, self.order.rank(self.entry(*row))));
            self.chain(several.iter().rev().copied())
        };
        keys.clear();
        several.clear();
        (self.keys, self.several) = (keys, several);
        first
    }

    /// The key that orders a row among others of the open bucket, except those it ties with in every part: instant,
    /// kind, draw.
    #[inline]
    fn key(&self, row: u32) -> u64 {
        let Row { time, .. } = *self.row(row);
        let draw = self.order.rank(Entry { time, name: self.name(row) }).draw();
        let kind = u64::from(row >= self.links) + u64::from(self.is_timer(row));
        (time.0 - (self.number << self.shift)) << KIND_AND_DRAW | kind << DRAW_BITS | u64::from(draw)
    }

    /// Links the rows of the open bucket, the last one first; returns the first.
    fn chain(&mut self, backwards: impl Iterator<Item = u32>) -> u32 {
        let mut next = NONE;
        for row in backwards {
            self.row_mut(row).next = next;
            next = row;
        }
        self.wheel.first[self.number as usize % BUCKETS] = next;
        next
    }
}
