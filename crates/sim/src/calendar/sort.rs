//! Puts the rows of a bucket in order when it is opened. Which of the ways is taken affects speed only: all give the order
//! of [`EventOrder`](crate::event::EventOrder).

use super::wheel::BUCKETS;
use super::{Calendar, NONE, Row};
use crate::event::{DRAW_BITS, Entry};

/// Up to this many rows are sorted by insertion, which draws only for ties.
const FEW: usize = 8;
/// Bits of the position of a row among those being sorted.
const POSITION_BITS: u32 = 10;
/// What remains of a key for the instant within the bucket, besides one bit for the kind, the draw and the position.
const INSTANT_BITS: u32 = 63 - DRAW_BITS - POSITION_BITS;

impl Calendar {
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

    /// Sorts by keys of 64 bits: instant within the bucket, kind, draw, position in the list. If two are equal but for the
    /// position, or do not fit, whole keys decide.
    fn sort_many(&mut self, first: u32) -> u32 {
        let (mut keys, mut several) = (std::mem::take(&mut self.keys), std::mem::take(&mut self.several));
        let (start, mut row) = (self.number << self.shift, first);
        while row != NONE {
            let Row { time, next, .. } = *self.row(row);
            let rank = self.order.rank(Entry { time, name: self.name(row) });
            let later = u64::from(row >= self.links) << DRAW_BITS;
            let key = (time.0 - start) << (DRAW_BITS + 1) | later | u64::from(rank.draw());
            keys.push(key << POSITION_BITS | keys.len() as u64 & ((1 << POSITION_BITS) - 1));
            several.push((time, rank, row));
            row = next;
        }
        let fits = self.shift <= INSTANT_BITS && keys.len() <= 1 << POSITION_BITS;
        if fits {
            keys.sort_unstable();
        }
        let distinct = |pair: &[u64]| pair[0] >> POSITION_BITS != pair[1] >> POSITION_BITS;
        let first = if fits && keys.windows(2).all(distinct) {
            let place = |key: &u64| (key & ((1 << POSITION_BITS) - 1)) as usize;
            self.chain(keys.iter().rev().map(|key| several[place(key)].2))
        } else {
            several.sort_unstable();
            self.chain(several.iter().rev().map(|(.., row)| *row))
        };
        keys.clear();
        several.clear();
        (self.keys, self.several) = (keys, several);
        first
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
