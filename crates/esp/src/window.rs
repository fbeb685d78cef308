//! Anti-replay (RFC 4303, section 3.4.3): a packet is accepted once, and only if it is not too far behind the newest.

/// The sequence numbers received recently.
#[derive(Clone, Debug)]
pub struct ReplayWindow {
    size: u32,
    newest: u32,
    /// One bit for each number, at its remainder.
    seen: Box<[u64]>,
}

impl ReplayWindow {
    /// A window of `size` numbers: the newest and those before it.
    #[must_use]
    pub fn new(size: u32) -> ReplayWindow {
        ReplayWindow { size, newest: 0, seen: vec![0; size.div_ceil(64).max(1) as usize].into() }
    }

    /// Numbers that have a bit, at least as many as the window.
    fn bits(&self) -> u32 {
        self.seen.len() as u32 * 64
    }

    fn place(&self, number: u32) -> (usize, u64) {
        let bit = number % self.bits();
        (bit as usize / 64, 1 << (bit % 64))
    }

    /// Whether a packet with this number would be accepted. Zero is not a valid number.
    #[must_use]
    pub fn is_new(&self, number: u32) -> bool {
        let (word, bit) = self.place(number);
        match number {
            0 => false,
            number if number > self.newest => true,
            number => self.newest - number < self.size && self.seen[word] & bit == 0,
        }
    }

    /// Accepts a packet that has been authenticated; `false` if another with its number came first.
    pub fn accept(&mut self, number: u32) -> bool {
        if !self.is_new(number) {
            return false;
        }
        if number > self.newest {
            // The numbers in between have not been seen; after a long gap, no number has.
            let first = (self.newest + 1).max(number.saturating_sub(self.bits() - 1));
            for skipped in first..=number {
                let (word, bit) = self.place(skipped);
                self.seen[word] &= !bit;
            }
            self.newest = number;
        }
        let (word, bit) = self.place(number);
        self.seen[word] |= bit;
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_number_once_and_none_too_old() {
        let mut window = ReplayWindow::new(64);
        assert!(!window.accept(0) && window.accept(5) && !window.accept(5) && window.accept(1));
        assert!(window.accept(69) && !window.is_new(5) && window.accept(6) && !window.accept(6));
        assert!(window.accept(u32::MAX) && !window.accept(69) && window.accept(u32::MAX - 63));
    }

    proptest! {
        /// As with a set that remembers everything.
        #[test]
        fn it_agrees_with_a_set(size in 1_u32..200, steps in proptest::collection::vec(0_u32..40, 0..400)) {
            let (mut window, mut seen, mut newest) = (ReplayWindow::new(size), BTreeSet::new(), 0);
            for (n, step) in steps.into_iter().enumerate() {
                // Steps back, by the sizes of windows and a little more, and forth.
                let number = if n % 3 == 0 { newest + step * 9 } else { newest.saturating_sub(step * 9) };
                let expected = number > 0 && !seen.contains(&number) && number + size > newest;
                prop_assert_eq!(window.accept(number), expected, "{} after {}", number, newest);
                if expected {
                    seen.insert(number);
                    newest = newest.max(number);
                }
            }
        }
    }
}
