//! A first-in first-out list of small things in one piece of memory that grows when it must and is reused for ever.
//! What `VecDeque` does, in fewer instructions: every hop of every packet passes two of these.

use crate::prefetch;

/// See the file's head.
#[derive(Clone, Debug, Default)]
pub struct Ring<T> {
    /// As many places as a power of two, or none.
    places: Box<[T]>,
    /// Things taken so far; the first is at this place modulo the number of places.
    head: u32,
    /// Things put in so far.
    tail: u32,
}

/// Places of a ring that holds anything, at least.
const LEAST: usize = 8;

impl<T: Copy + Default> Ring<T> {
    /// An empty ring without memory.
    #[must_use]
    pub fn new() -> Ring<T> {
        Ring { places: Box::default(), head: 0, tail: 0 }
    }

    /// How many things it holds.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head) as usize
    }

    /// Whether it holds nothing.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// The oldest.
    #[must_use]
    #[inline]
    pub fn front(&self) -> Option<T> {
        if self.is_empty() { None } else { Some(*self.at(self.head)) }
    }

    /// Adds one.
    #[inline]
    pub fn push(&mut self, item: T) {
        if self.tail.wrapping_sub(self.head) == self.places.len() as u32 {
            self.grow();
        }
        *self.at_mut(self.tail) = item;
        self.tail = self.tail.wrapping_add(1);
    }

    /// Takes the oldest, which [`Ring::front`] has shown; of an empty ring the caller has lost count.
    #[inline]
    pub fn skip(&mut self) {
        debug_assert!(!self.is_empty(), "something is there to be taken");
        self.head = self.head.wrapping_add(1);
    }

    /// Fetches the oldest.
    #[inline]
    pub fn prefetch_front(&self) {
        if !self.is_empty() {
            prefetch(self.at(self.head));
        }
    }

    /// Fetches the place of the next thing to be put in.
    #[inline]
    pub fn prefetch_back(&self) {
        if !self.places.is_empty() {
            prefetch(self.at(self.tail));
        }
    }

    /// Adds one so that the order stays that of `key`, behind its equals, if it was so before.
    pub fn insert<K: Ord>(&mut self, item: T, key: impl Fn(&T) -> K) {
        self.push(item);
        let (first, mut count) = (self.head, self.tail.wrapping_sub(1));
        while count != first && key(self.at(count.wrapping_sub(1))) > key(&item) {
            *self.at_mut(count) = *self.at(count.wrapping_sub(1));
            count = count.wrapping_sub(1);
        }
        *self.at_mut(count) = item;
    }

    /// The newest.
    #[must_use]
    #[inline]
    pub fn back(&self) -> Option<T> {
        if self.is_empty() { None } else { Some(*self.at(self.tail.wrapping_sub(1))) }
    }

    /// Takes all.
    #[inline]
    pub fn clear(&mut self) {
        self.head = self.tail;
    }

    /// Takes the oldest.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let first = self.front()?;
        self.skip();
        Some(first)
    }

    /// All, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        (0..self.len() as u32).map(|n| *self.at(self.head.wrapping_add(n)))
    }

    /// The thing that was put in as the `count`-th; the ring has places.
    #[inline]
    #[allow(unsafe_code, reason = "four times per hop a check that cannot fail")]
    fn at(&self, count: u32) -> &T {
        debug_assert!(!self.places.is_empty(), "only a ring that has held something is read");
        let place = (count & (self.places.len() as u32).wrapping_sub(1)) as usize;
        // SAFETY: callers see that something is or was in the ring, so it has places, and their number is a power of two
        // (see `grow`, which alone sets them). Then `n & (places - 1)` is below their number for any n.
        unsafe { self.places.get_unchecked(place) }
    }

    /// The same, to be written.
    #[inline]
    #[allow(unsafe_code, reason = "as in `at`")]
    fn at_mut(&mut self, count: u32) -> &mut T {
        debug_assert!(!self.places.is_empty(), "only a ring that has room is written");
        let place = (count & (self.places.len() as u32).wrapping_sub(1)) as usize;
        // SAFETY: as in `at`; `push` has made room before.
        unsafe { self.places.get_unchecked_mut(place) }
    }

    #[cold]
    fn grow(&mut self) {
        let mut places: Vec<T> = self.iter().collect();
        let held = places.len();
        places.resize((2 * held).max(LEAST), T::default());
        (self.head, self.tail) = (0, u32::try_from(held).expect("fewer than 2^32 things wait"));
        self.places = places.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Purpose, Random};
    use std::collections::VecDeque;

    #[test]
    fn what_is_inserted_stands_behind_all_that_are_not_greater() {
        let mut random = Random::new(2, Purpose::Test, 0);
        let (mut ring, mut list) = (Ring::new(), Vec::new());
        for n in 0..2_000u32 {
            let item = (random.below(20), n);
            ring.insert(item, |item| item.0);
            list.insert(list.partition_point(|other: &(u32, u32)| other.0 <= item.0), item);
            if random.chance(0.8) {
                assert_eq!(ring.pop(), Some(list.remove(0)));
            }
            assert!(ring.iter().eq(list.iter().copied()) && ring.back() == list.last().copied());
        }
    }

    #[test]
    fn does_what_a_deque_does() {
        let mut random = Random::new(1, Purpose::Test, 0);
        let (mut ring, mut deque) = (Ring::new(), VecDeque::new());
        for n in 0..20_000u32 {
            if random.chance(if n < 10_000 { 0.51 } else { 0.49 }) {
                ring.push(n);
                deque.push_back(n);
            } else {
                assert_eq!(ring.pop(), deque.pop_front());
            }
            assert_eq!(
                (ring.len(), ring.front(), ring.is_empty()),
                (deque.len(), deque.front().copied(), deque.is_empty())
            );
        }
        assert!(ring.iter().eq(deque.iter().copied()));
    }
}
