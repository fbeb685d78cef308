//! Rings shared with the kernel: one side produces, the other consumes.
//!
//! ```text
//! producer: free = size - (produced - consumed); write slots; store the producer index with release
//! consumer: load the producer index with acquire; read slots; store the consumer index with release
//! ```
//!
//! Both indices count beyond the size of the ring and wrap at 2^32; their low bits give the slot.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering};

/// Where the parts of a ring lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RingParts<T> {
    pub(crate) producer: *const AtomicU32,
    pub(crate) consumer: *const AtomicU32,
    pub(crate) slots: *mut T,
    /// Number of slots, a power of two.
    pub(crate) size: u32,
}

/// The side that fills slots.
#[derive(Debug)]
pub(crate) struct ProducerRing<T> {
    parts: RingParts<T>,
    /// Own index, and the other's as last seen.
    next: u32,
    consumed: u32,
    owns: PhantomData<T>,
}

/// A producing side with values that must eventually reach the ring.
///
/// The kernel shows received frames before it shows that it has taken their chunks from the fill ring, so that a chunk may be
/// back while its slot still counts as full. It then waits here.
#[derive(Debug)]
pub(crate) struct RefillRing<T> {
    ring: ProducerRing<T>,
    waiting: Vec<T>,
}

impl<T: Copy> RefillRing<T> {
    pub(crate) fn new(ring: ProducerRing<T>) -> RefillRing<T> {
        RefillRing { ring, waiting: Vec::new() }
    }

    /// Passes values to the other side, after those that have waited; values without a slot wait for the next call.
    pub(crate) fn refill(&mut self, values: impl IntoIterator<Item = T>) {
        self.waiting.extend(values);
        if !self.waiting.is_empty() {
            let count = self.ring.produce(self.waiting.iter().copied());
            self.waiting.drain(..count as usize);
        }
    }
}

/// The side that empties slots.
#[derive(Debug)]
pub(crate) struct ConsumerRing<T> {
    parts: RingParts<T>,
    next: u32,
    produced: u32,
    owns: PhantomData<T>,
}

// SAFETY: a side of a ring is used by the thread that has it; the memory outlives it by the promise of `new`, and what both sides
// touch is atomic, or handed over by acquire and release.
#[allow(unsafe_code, reason = "see above")]
unsafe impl<T: Send> Send for ProducerRing<T> {}
// SAFETY: as for the producer.
#[allow(unsafe_code, reason = "see above")]
unsafe impl<T: Send> Send for ConsumerRing<T> {}

impl<T: Copy> RingParts<T> {
    #[allow(unsafe_code, reason = "memory shared with the kernel")]
    fn producer(&self) -> &AtomicU32 {
        // SAFETY: by the promise of `new` the index is valid for as long as the ring.
        unsafe { &*self.producer }
    }

    #[allow(unsafe_code, reason = "memory shared with the kernel")]
    fn consumer(&self) -> &AtomicU32 {
        // SAFETY: as above.
        unsafe { &*self.consumer }
    }

    /// The slot of an index.
    #[allow(unsafe_code, reason = "memory shared with the kernel")]
    fn slot(&self, index: u32) -> *mut T {
        // SAFETY: the low bits of the index are below the number of slots, all of which are one allocation.
        unsafe { self.slots.add((index & (self.size - 1)) as usize) }
    }
}

impl<T: Copy> ProducerRing<T> {
    /// Takes the producing side of a ring.
    ///
    /// # Safety
    /// The parts belong to one ring of `size` slots, a power of two, in memory that stays mapped while the ring exists; there is
    /// no other producer, and the consumer reads only slots between the indices.
    #[allow(unsafe_code, reason = "memory shared with the kernel")]
    pub(crate) unsafe fn new(parts: RingParts<T>) -> ProducerRing<T> {
        let (next, consumed) =
            (parts.producer().load(Ordering::Acquire), parts.consumer().load(Ordering::Acquire));
        ProducerRing { parts, next, consumed, owns: PhantomData }
    }

    /// Number of free slots.
    pub(crate) fn free(&mut self) -> u32 {
        self.consumed = self.parts.consumer().load(Ordering::Acquire);
        self.parts.size - self.waiting()
    }

    /// Slots that the other side has not emptied, as last seen.
    fn waiting(&self) -> u32 {
        self.next.wrapping_sub(self.consumed)
    }

    /// Slots that the other side has not emptied.
    pub(crate) fn pending(&mut self) -> u32 {
        self.parts.size - self.free()
    }

    /// Fills slots from an iterator, as many as are free, and shows them to the other side. Returns how many.
    #[allow(unsafe_code, reason = "memory shared with the kernel")]
    pub(crate) fn produce(&mut self, values: impl IntoIterator<Item = T>) -> u32 {
        let free =
            if self.waiting() < self.parts.size / 2 { self.parts.size - self.waiting() } else { self.free() };
        let mut count = 0;
        for value in values.into_iter().take(free as usize) {
            // SAFETY: the slot lies between the indices of consumer and producer on the producer's side: nobody reads it.
            unsafe { self.parts.slot(self.next.wrapping_add(count)).write(value) };
            count += 1;
        }
        self.next = self.next.wrapping_add(count);
        self.parts.producer().store(self.next, Ordering::Release);
        count
    }
}

impl<T: Copy> ConsumerRing<T> {
    /// Takes the consuming side of a ring.
    ///
    /// # Safety
    /// As for [`ProducerRing::new`], with the sides exchanged.
    #[allow(unsafe_code, reason = "memory shared with the kernel")]
    pub(crate) unsafe fn new(parts: RingParts<T>) -> ConsumerRing<T> {
        let (produced, next) =
            (parts.producer().load(Ordering::Acquire), parts.consumer().load(Ordering::Acquire));
        ConsumerRing { parts, next, produced, owns: PhantomData }
    }

    /// Takes the contents of up to `most` slots, in order, and gives the slots back once all have been taken.
    #[allow(unsafe_code, reason = "memory shared with the kernel")]
    pub(crate) fn consume(&mut self, most: u32, mut take: impl FnMut(T)) -> u32 {
        if self.produced.wrapping_sub(self.next) < most {
            self.produced = self.parts.producer().load(Ordering::Acquire);
        }
        // More than the size would mean that the other side's index is broken: never takes more than there is.
        let count = self.produced.wrapping_sub(self.next).min(self.parts.size).min(most);
        for n in 0..count {
            // SAFETY: the slot lies between the indices on the consumer's side: it has been written, and nobody writes it now.
            take(unsafe { self.parts.slot(self.next.wrapping_add(n)).read() });
        }
        if count > 0 {
            self.next = self.next.wrapping_add(count);
            self.parts.consumer().store(self.next, Ordering::Release);
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring in memory of our own, as the kernel lays one out.
    struct OwnRing {
        producer: AtomicU32,
        consumer: AtomicU32,
        slots: Vec<u64>,
    }

    impl OwnRing {
        fn new(size: u32, first: u32) -> OwnRing {
            let (producer, consumer) = (AtomicU32::new(first), AtomicU32::new(first));
            OwnRing { producer, consumer, slots: vec![0; size as usize] }
        }

        #[allow(unsafe_code, reason = "a ring of the test's own")]
        fn sides(&mut self) -> (ProducerRing<u64>, ConsumerRing<u64>) {
            let size = self.slots.len() as u32;
            let slots = self.slots.as_mut_ptr();
            let parts = RingParts {
                producer: &raw const self.producer,
                consumer: &raw const self.consumer,
                slots,
                size,
            };
            // SAFETY: one producer and one consumer of a ring that outlives both in each test.
            unsafe { (ProducerRing::new(parts), ConsumerRing::new(parts)) }
        }
    }

    #[test]
    fn indices_wrap_at_the_end_of_their_numbers_and_of_the_ring() {
        let mut ring = OwnRing::new(8, u32::MAX - 20);
        let (mut producer, mut consumer) = ring.sides();
        let (mut sent, mut received) = (0, Vec::new());
        for step in 0..100 {
            sent += u64::from(producer.produce((sent..).take(step % 11)));
            consumer.consume(step as u32 % 7, |value| received.push(value));
        }
        consumer.consume(8, |value| received.push(value));
        assert_eq!(received, (0..sent).collect::<Vec<_>>());
        assert!(sent > 200, "{sent}");
    }

    #[test]
    fn a_full_ring_takes_no_more_and_an_empty_one_gives_nothing() {
        let mut ring = OwnRing::new(4, 7);
        let (mut producer, mut consumer) = ring.sides();
        assert_eq!(consumer.consume(4, |_| panic!("empty")), 0);
        assert_eq!((producer.produce(0..9), producer.free(), producer.pending()), (4, 0, 4));
        assert_eq!(producer.produce(9..10), 0);
        let mut got = Vec::new();
        assert_eq!(consumer.consume(3, |value| got.push(value)), 3);
        assert_eq!((producer.produce(4..9), got), (3, vec![0, 1, 2]));
    }

    #[test]
    fn what_comes_back_before_its_slot_is_free_waits_and_is_not_lost() {
        let mut ring = OwnRing::new(4, u32::MAX - 1);
        let (producer, mut consumer) = ring.sides();
        let mut refill = RefillRing::new(producer);
        refill.refill(0..4);
        // All slots are full: the consumer has not reported taking any.
        refill.refill([4, 5]);
        let mut got = Vec::new();
        consumer.consume(4, |value| got.push(value));
        refill.refill([6]);
        consumer.consume(4, |value| got.push(value));
        assert_eq!(got, [0, 1, 2, 3, 4, 5, 6]);
    }

    /// Without release on one side and acquire on the other, slots would be read before they are written.
    #[test]
    fn threads_hand_over_every_value_once_and_in_order() {
        const COUNT: u64 = 60_000;
        let mut ring = OwnRing::new(64, u32::MAX - 1000);
        let (mut producer, mut consumer) = ring.sides();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut sent = 0;
                while sent < COUNT {
                    let batch = producer.produce((sent..COUNT).take(17));
                    sent += u64::from(batch);
                    if batch == 0 {
                        std::thread::yield_now();
                    }
                }
            });
            let mut expected = 0;
            while expected < COUNT {
                let got = consumer.consume(23, |value| {
                    assert_eq!(value, expected);
                    expected += 1;
                });
                if got == 0 {
                    std::thread::yield_now();
                }
            }
        });
    }

    #[test]
    fn an_index_that_the_other_side_breaks_reads_no_slot_twice() {
        let mut ring = OwnRing::new(8, 0);
        ring.producer.store(1000, Ordering::Release);
        let (_, mut consumer) = ring.sides();
        assert_eq!(consumer.consume(u32::MAX, |_| ()), 8);
    }
}
