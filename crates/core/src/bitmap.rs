//! Which packets beyond a first gap have arrived: one bit for each, from a base that only moves forward.

use std::collections::VecDeque;

/// A set of packet numbers. Empty, it holds no memory.
#[derive(Clone, Debug, Default)]
pub struct Bitmap {
    /// The number of the first bit, a multiple of 64.
    base: u64,
    words: VecDeque<u64>,
    /// One more than the highest number ever in the set.
    top: u64,
}

impl Bitmap {
    /// Puts a number into the set. `false` if it was already there.
    pub fn insert(&mut self, number: u64) -> bool {
        if self.words.is_empty() {
            self.base = number & !63;
        }
        while number < self.base {
            self.words.push_front(0);
            self.base -= 64;
        }
        let (index, bit) = self.locate(number);
        if index >= self.words.len() {
            self.words.resize(index + 1, 0);
        }
        let fresh = self.words[index] & bit == 0;
        self.words[index] |= bit;
        self.top = self.top.max(number + 1);
        fresh
    }

    /// Whether a number is in the set.
    #[must_use]
    pub fn contains(&self, number: u64) -> bool {
        let (index, bit) = self.locate(number);
        number >= self.base && self.words.get(index).is_some_and(|word| word & bit != 0)
    }

    /// One more than the highest number ever in the set.
    #[must_use]
    pub fn top(&self) -> u64 {
        self.top
    }

    /// The first number at or after `from` that is not in the set.
    #[must_use]
    pub fn first_missing(&self, from: u64) -> u64 {
        if from >= self.top || from < self.base {
            return from;
        }
        let (mut index, bit) = self.locate(from);
        let mut below = bit - 1;
        while let Some(word) = self.words.get(index) {
            let missing = !(word | below);
            if missing != 0 {
                return self.base + 64 * index as u64 + u64::from(missing.trailing_zeros());
            }
            (index, below) = (index + 1, 0);
        }
        self.base + 64 * index as u64
    }

    /// Removes all numbers below `to`.
    pub fn advance(&mut self, to: u64) {
        if to >= self.top {
            self.words.clear();
            return;
        }
        while self.base + 64 <= to && self.words.pop_front().is_some() {
            self.base += 64;
        }
    }

    /// Word and bit of a number that is not below the base.
    fn locate(&self, number: u64) -> (usize, u64) {
        ((number.saturating_sub(self.base) / 64) as usize, 1 << (number % 64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Purpose, Random};
    use std::collections::BTreeSet;

    #[test]
    fn it_agrees_with_a_set() {
        let mut random = Random::new(1, Purpose::Test, 0);
        let (mut map, mut set, mut low) = (Bitmap::default(), BTreeSet::new(), 0);
        for _ in 0..20_000 {
            let number = low + u64::from(random.below(300));
            assert_eq!(map.insert(number), set.insert(number));
            let from = low + u64::from(random.below(320));
            let missing = (from..).find(|n| !set.contains(n)).unwrap();
            assert_eq!((map.first_missing(from), map.contains(from)), (missing, set.contains(&from)));
            if random.below(8) == 0 {
                low = map.first_missing(low + u64::from(random.below(40)));
                map.advance(low);
                set = set.split_off(&low);
            }
        }
        assert!(low > 1_000 && map.words.len() <= 8);
    }
}
