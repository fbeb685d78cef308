//! A priority queue for keys that come as a few ascending sequences, such as starts of flows and timers of a few
//! lengths: each is appended to a line, and only others sift through a heap. Must not depend on the meaning of the
//! keys.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::units::Time;

/// The number of lines: for time-outs, delayed acknowledgements, starts, and others.
const LINES: usize = 4;

/// See the file's head. The least key goes first; [`NearlySorted::NONE`] is none.
#[derive(Clone, Debug)]
pub struct NearlySorted {
    /// The first key of each line and, last, of the heap; [`NearlySorted::NONE`] if it is empty.
    firsts: [u128; LINES + 1],
    /// The place of the least of them.
    least: usize,
    /// The last key of each line; zero if it is empty.
    lasts: [u128; LINES],
    /// Each ascending, without its first. As keys go to the first line that takes them, the first lines have the latest ones.
    lines: [VecDeque<u128>; LINES],
    /// Keys that came when every line already had a later one, without the least.
    heap: BinaryHeap<Reverse<u128>>,
}

impl Default for NearlySorted {
    fn default() -> NearlySorted {
        NearlySorted {
            firsts: [NearlySorted::NONE; LINES + 1],
            least: 0,
            lasts: [0; LINES],
            lines: [const { VecDeque::new() }; LINES],
            heap: BinaryHeap::new(),
        }
    }
}

impl NearlySorted {
    /// Greater than all keys.
    pub const NONE: u128 = u128::MAX;

    /// The key of an entry at a time, with a rank among those of its time.
    #[must_use]
    #[inline]
    pub fn key(time: Time, rank: u64) -> u128 {
        u128::from(time.0) << 64 | u128::from(rank)
    }

    /// The time and the rank of a key; [`Time::NEVER`] for [`NearlySorted::NONE`].
    #[must_use]
    #[inline]
    pub fn parts(key: u128) -> (Time, u64) {
        (Time((key >> 64) as u64), key as u64)
    }

    /// Adds a key.
    #[inline]
    pub fn push(&mut self, key: u128) {
        debug_assert!(key != NearlySorted::NONE, "it is no key");
        match self.lasts.iter().position(|last| *last <= key) {
            Some(place) => self.append(place, key),
            None => self.sift(key),
        }
    }

    /// Appends a key to a line.
    #[inline]
    fn append(&mut self, place: usize, key: u128) {
        self.lasts[place] = key;
        if self.firsts[place] == NearlySorted::NONE {
            self.begin(place, key);
        } else {
            self.lines[place].push_back(key);
        }
    }

    /// Adds a key to the heap.
    fn sift(&mut self, key: u128) {
        let first = self.firsts[LINES];
        if key < first {
            self.begin(LINES, key);
        }
        if first != NearlySorted::NONE {
            self.heap.push(Reverse(key.max(first)));
        }
    }

    /// A key becomes the first of a line or of the heap.
    #[inline]
    fn begin(&mut self, place: usize, key: u128) {
        self.firsts[place] = key;
        if key < self.first() {
            self.least = place;
        }
    }

    /// The least key; [`NearlySorted::NONE`] if there is none.
    #[must_use]
    #[inline]
    pub fn first(&self) -> u128 {
        self.firsts[self.least]
    }

    /// Removes the least key, if there is any.
    #[inline]
    pub fn pop(&mut self) {
        let place = self.least;
        let next = match self.lines.get_mut(place) {
            Some(line) => line.pop_front(),
            None => self.heap.pop().map(|Reverse(key)| key),
        };
        self.firsts[place] = next.unwrap_or(NearlySorted::NONE);
        if next.is_none() && place < LINES {
            self.lasts[place] = 0;
        }
        let least = |least, place| if self.firsts[place] < self.firsts[least] { place } else { least };
        self.least = (1..=LINES).fold(0, least);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Purpose, Random};

    /// Whatever the order in which entries come, they leave in ascending order.
    #[test]
    fn entries_leave_in_ascending_order() {
        for disorder in [1, 10, 1_000_000] {
            let mut random = Random::new(disorder, Purpose::Test, 0);
            let (mut queue, mut all) = (NearlySorted::default(), Vec::<u128>::new());
            for n in 0..1_000 {
                if random.chance(0.6) {
                    let entry = n * 10 + u128::from(random.below(disorder as u32));
                    queue.push(entry);
                    all.insert(all.partition_point(|other| *other > entry), entry);
                } else {
                    assert_eq!(queue.first(), all.pop().unwrap_or(NearlySorted::NONE));
                    queue.pop();
                }
            }
            while let Some(last) = all.pop() {
                assert_eq!(queue.first(), last);
                queue.pop();
            }
            assert_eq!(queue.first(), NearlySorted::NONE);
        }
    }
}
