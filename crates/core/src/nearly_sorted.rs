//! A priority queue for entries that come as a few ascending sequences, such as starts of flows and timers of a few
//! lengths: each is appended to a line, and only others sift through a heap. Must not depend on the meaning of the
//! entries.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The number of lines: for time-outs, delayed acknowledgements, starts, and others.
const LINES: usize = 4;

/// See the file's head. Of equal entries any may come first.
#[derive(Clone, Debug)]
pub struct NearlySorted<T> {
    /// The least entry, and its line; [`LINES`]: it is in the heap.
    least: Option<(T, usize)>,
    /// Each ascending. As entries go to the first line that takes them, the first lines have the latest ones.
    lines: [VecDeque<T>; LINES],
    /// Entries that came when every line already had a later one.
    heap: BinaryHeap<Reverse<T>>,
}

impl<T: Ord + Copy> Default for NearlySorted<T> {
    fn default() -> NearlySorted<T> {
        NearlySorted { least: None, lines: [const { VecDeque::new() }; LINES], heap: BinaryHeap::new() }
    }
}

impl<T: Ord + Copy> NearlySorted<T> {
    /// Adds an entry.
    #[inline]
    pub fn push(&mut self, entry: T) {
        let takes = |line: &VecDeque<T>| line.back().is_none_or(|last| *last <= entry);
        let place = self.lines.iter().position(takes).unwrap_or(LINES);
        match self.lines.get_mut(place) {
            Some(line) => line.push_back(entry),
            None => self.heap.push(Reverse(entry)),
        }
        if self.least.is_none_or(|(least, _)| entry < least) {
            self.least = Some((entry, place));
        }
    }

    /// The least entry.
    #[must_use]
    #[inline]
    pub fn first(&self) -> Option<T> {
        self.least.map(|(entry, _)| entry)
    }

    /// Takes the least entry.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let (entry, place) = self.least?;
        match self.lines.get_mut(place) {
            Some(line) => _ = line.pop_front(),
            None => _ = self.heap.pop(),
        }
        self.least = self.heap.peek().map(|Reverse(entry)| (*entry, LINES));
        for (place, line) in self.lines.iter().enumerate() {
            if let Some(next) = line.front()
                && self.least.is_none_or(|(least, _)| *next < least)
            {
                self.least = Some((*next, place));
            }
        }
        Some(entry)
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
            let (mut queue, mut all) = (NearlySorted::default(), Vec::new());
            for n in 0..1_000 {
                if random.chance(0.6) {
                    let entry = n * 10 + u64::from(random.below(disorder as u32));
                    queue.push(entry);
                    all.insert(all.partition_point(|other| *other > entry), entry);
                } else {
                    assert_eq!(queue.first(), all.last().copied());
                    assert_eq!(queue.pop(), all.pop());
                }
            }
            while let Some(last) = all.pop() {
                assert_eq!(queue.pop(), Some(last));
            }
            assert_eq!((queue.first(), queue.pop()), (None, None));
        }
    }
}
