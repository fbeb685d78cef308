//! A FIFO of small items in one block of memory that grows on demand and is reused. It does the work of `VecDeque` in
//! fewer instructions, because every hop of every packet passes through two of these.

use crate::prefetch;

/// See the file's head.
#[derive(Clone, Debug, Default)]
pub struct Ring<T> {
    /// The slots: a power of two, or none before the first push. `push` makes room first; callers must not take from an
    /// empty ring.
    slots: Box<[T]>,
    /// Items taken so far, modulo 2^32; the oldest is in this slot modulo the number of slots.
    head: u32,
    /// Items pushed so far, modulo 2^32.
    tail: u32,
}

/// The minimum number of slots of a ring that has held anything.
const LEAST: usize = 8;

impl<T: Copy + Default> Ring<T> {
    /// An empty ring without memory.
    #[must_use]
    pub fn new() -> Ring<T> {
        Ring { slots: Box::default(), head: 0, tail: 0 }
    }

    /// Number of items.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head) as usize
    }

    /// Whether the ring is empty.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// The oldest item.
    #[must_use]
    #[inline]
    pub fn front(&self) -> Option<T> {
        if self.is_empty() { None } else { Some(*self.at(self.head)) }
    }

    /// Appends an item.
    #[inline(always)]
    pub fn push(&mut self, item: T) {
        if self.tail.wrapping_sub(self.head) == self.slots.len() as u32 {
            self.grow();
        }
        *self.at_mut(self.tail) = item;
        self.tail = self.tail.wrapping_add(1);
    }

    /// Puts an item before all others.
    pub fn push_front(&mut self, item: T) {
        if self.tail.wrapping_sub(self.head) == self.slots.len() as u32 {
            self.grow();
        }
        self.head = self.head.wrapping_sub(1);
        *self.at_mut(self.head) = item;
    }

    /// Prefetches the oldest item.
    #[inline]
    pub fn prefetch_front(&self) {
        if !self.is_empty() {
            prefetch(self.at(self.head));
        }
    }

    /// Prefetches the slot of the next item to be pushed.
    #[inline]
    pub fn prefetch_back(&self) {
        if !self.slots.is_empty() {
            prefetch(self.at(self.tail));
        }
    }

    /// Inserts an item into a ring sorted by `key`, after equal keys.
    pub fn insert<K: Ord>(&mut self, item: T, key: impl Fn(&T) -> K) {
        self.push(item);
        let (first, mut count) = (self.head, self.tail.wrapping_sub(1));
        while count != first && key(self.at(count.wrapping_sub(1))) > key(&item) {
            *self.at_mut(count) = *self.at(count.wrapping_sub(1));
            count = count.wrapping_sub(1);
        }
        *self.at_mut(count) = item;
    }

    /// The newest item.
    #[must_use]
    #[inline]
    pub fn back(&self) -> Option<T> {
        if self.is_empty() { None } else { Some(*self.at(self.tail.wrapping_sub(1))) }
    }

    /// Removes all items.
    #[inline]
    pub fn clear(&mut self) {
        self.head = self.tail;
    }

    /// Takes the oldest item.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let first = self.front()?;
        self.head = self.head.wrapping_add(1);
        Some(first)
    }

    /// Sorts by a key; equal keys keep their order. Fast if most are in order already.
    pub fn sort_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        for n in 1..self.len() as u32 {
            let item = *self.at(self.head.wrapping_add(n));
            let (own, mut count) = (key(&item), self.head.wrapping_add(n));
            while count != self.head && key(self.at(count.wrapping_sub(1))) > own {
                *self.at_mut(count) = *self.at(count.wrapping_sub(1));
                count = count.wrapping_sub(1);
            }
            *self.at_mut(count) = item;
        }
    }

    /// Takes the oldest item if `due` holds for it.
    #[inline]
    pub fn pop_if(&mut self, due: impl FnOnce(&T) -> bool) -> Option<T> {
        let first = self.front().filter(due)?;
        self.head = self.head.wrapping_add(1);
        Some(first)
    }

    /// Changes the `n` newest items, oldest first; all of them if there are fewer.
    pub fn change_last(&mut self, n: usize, mut change: impl FnMut(&mut T)) {
        let n = n.min(self.len()) as u32;
        for back in (1..=n).rev() {
            change(self.at_mut(self.tail.wrapping_sub(back)));
        }
    }

    /// All items, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        (0..self.len() as u32).map(|n| *self.at(self.head.wrapping_add(n)))
    }

    /// The slot of the `count`-th item ever pushed; must not be called on a ring without slots.
    #[inline]
    #[allow(unsafe_code, reason = "four times per hop a check that cannot fail")]
    fn at(&self, count: u32) -> &T {
        debug_assert!(!self.slots.is_empty(), "only a ring that has held something is read");
        let slot = (count & (self.slots.len() as u32).wrapping_sub(1)) as usize;
        // SAFETY: every caller has seen `head != tail` or has pushed before, so there are slots, and `grow`, which
        // alone sets them, makes their number a power of two. Then n & (slots - 1) is below their number for any n.
        unsafe { self.slots.get_unchecked(slot) }
    }

    /// As `at`, mutable.
    #[inline]
    #[allow(unsafe_code, reason = "as in `at`")]
    fn at_mut(&mut self, count: u32) -> &mut T {
        debug_assert!(!self.slots.is_empty(), "only a ring that has room is written");
        let slot = (count & (self.slots.len() as u32).wrapping_sub(1)) as usize;
        // SAFETY: as in `at`; `push` has made room before.
        unsafe { self.slots.get_unchecked_mut(slot) }
    }

    #[cold]
    fn grow(&mut self) {
        let mut slots: Vec<T> = self.iter().collect();
        let held = slots.len();
        slots.resize((2 * held).max(LEAST), T::default());
        (self.head, self.tail) = (0, u32::try_from(held).expect("fewer than 2^32 things wait"));
        self.slots = slots.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Purpose, Random};
    use std::collections::VecDeque;

    /// Steps of a test with draws; under Miri a tenth, or it would take more than minutes.
    const STEPS: u32 = if cfg!(miri) { 200 } else { 2_000 };

    #[test]
    fn what_is_inserted_stands_behind_all_that_are_not_greater() {
        let mut random = Random::new(2, Purpose::Test, 0);
        let (mut ring, mut list) = (Ring::new(), Vec::new());
        for n in 0..STEPS {
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
    fn the_newest_items_change() {
        let mut ring = Ring::new();
        (0..5).for_each(|n| ring.push(n));
        ring.pop();
        ring.change_last(2, |n| *n += 10);
        assert!(ring.iter().eq([1, 2, 13, 14]));
        ring.change_last(9, |n| *n += 100);
        assert!(ring.iter().eq([101, 102, 113, 114]));
    }

    #[test]
    fn sorting_keeps_the_order_of_equal_keys() {
        let mut random = Random::new(3, Purpose::Test, 0);
        let (mut ring, mut list) = (Ring::new(), Vec::new());
        for n in 0..STEPS {
            let item = (random.below(20), n);
            ring.push(item);
            list.push(item);
            if random.chance(0.3) {
                ring.sort_by_key(|item| item.0);
                list.sort_by_key(|item| item.0);
            }
            if list.len() > 12 {
                assert_eq!(ring.pop(), Some(list.remove(0)));
            }
            assert!(ring.iter().eq(list.iter().copied()));
        }
    }

    #[test]
    fn does_what_a_deque_does() {
        let mut random = Random::new(1, Purpose::Test, 0);
        let (mut ring, mut deque) = (Ring::new(), VecDeque::new());
        for n in 0..10 * STEPS {
            if random.chance(if n < 5 * STEPS { 0.51 } else { 0.49 }) {
                ring.push(n);
                deque.push_back(n);
            } else if random.chance(0.1) {
                ring.push_front(n);
                deque.push_front(n);
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
