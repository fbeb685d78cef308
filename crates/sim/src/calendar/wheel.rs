//! The buckets of the event list: which are occupied, and the first row of each.

use super::NONE;

/// Buckets of the wheel.
pub(super) const BUCKETS: usize = 1 << 16;
/// Words of the bitmap of occupied buckets, and of the bitmap of its non-zero words.
pub(super) const WORDS: usize = BUCKETS / 64;
const BLOCKS: usize = WORDS / 64;
/// Number of buckets ahead for which the wheel takes events: the word of the open bucket must never hold bits of the
/// next turn of the wheel.
pub(super) const REACH: u64 = (BUCKETS - 64) as u64;

/// The buckets.
pub(super) struct Wheel {
    /// Bit n: bucket n is occupied.
    pub(super) occupied: [u64; WORDS],
    /// Bit n: word n of `occupied` is not zero.
    pub(super) words: [u64; BLOCKS],
    /// First row of every bucket.
    pub(super) first: [u32; BUCKETS],
}

impl Wheel {
    /// Empty buckets.
    pub(super) fn new() -> Box<Wheel> {
        Box::new(Wheel { occupied: [0; WORDS], words: [0; BLOCKS], first: [NONE; BUCKETS] })
    }

    #[inline]
    pub(super) fn first_of(&self, bucket: u64) -> u32 {
        self.first[bucket as usize % BUCKETS]
    }

    /// Sets the first row of a bucket.
    #[inline]
    pub(super) fn put_first(&mut self, bucket: u64, row: u32) {
        let slot = bucket as usize % BUCKETS;
        self.first[slot] = row;
        let bits = &mut self.occupied[slot / 64];
        if *bits == 0 {
            self.words[slot / 64 / 64] |= 1 << (slot / 64 % 64);
        }
        *bits |= 1 << (slot % 64);
    }

    /// Takes the first row of a bucket, found by [`Wheel::occupied_from`]; `next` is its successor.
    #[inline]
    pub(super) fn take_first(&mut self, found: Found, next: u32) {
        self.first[found.slot()] = next;
        if next == NONE {
            let left = found.bits & (found.bits - 1);
            self.occupied[found.word] = left;
            if left == 0 {
                self.words[found.word / 64] &= !(1 << (found.word % 64));
            }
        }
    }

    /// The first occupied bucket from `number` on; all earlier ones must be empty.
    #[inline(always)]
    pub(super) fn occupied_from(&self, number: u64) -> Option<Found> {
        let word = number as usize / 64 % WORDS;
        match self.occupied[word] {
            0 => self.occupied_beyond(word),
            bits => Some(Found { word, bits }),
        }
    }

    /// Works even if this word of the map is empty.
    #[inline]
    fn occupied_beyond(&self, word: usize) -> Option<Found> {
        let next = (word + 1) % WORDS;
        match self.occupied[next] {
            0 => self.found(self.occupied_far_beyond(word)),
            bits => Some(Found { word: next, bits }),
        }
    }

    /// The first bucket of a word, if there is any.
    fn found(&self, word: usize) -> Option<Found> {
        let word = word % WORDS;
        match self.occupied[word] {
            0 => None,
            bits => Some(Found { word, bits }),
        }
    }

    /// The next word that is not zero; any if there is none.
    #[inline(never)]
    fn occupied_far_beyond(&self, word: usize) -> usize {
        let block = word / 64;
        let ahead = self.words[block] & u64::MAX << (word % 64);
        let later = (block + 1..=block + BLOCKS).map(|block| (block % BLOCKS, self.words[block % BLOCKS]));
        let mut blocks = std::iter::once((block, ahead)).chain(later);
        blocks.find(|(_, words)| *words != 0).map_or(word, |(block, words)| place(block, words))
    }
}

/// An occupied bucket: the word of the map, and its bits from that of the bucket.
#[derive(Clone, Copy)]
pub(super) struct Found {
    word: usize,
    /// Not zero.
    bits: u64,
}

impl Found {
    /// The index of the bucket.
    #[inline]
    pub(super) fn slot(self) -> usize {
        place(self.word, self.bits)
    }
}

/// The bucket of the lowest set bit of a word; the result is a valid index for any `bits`, including zero.
#[inline]
fn place(word: usize, bits: u64) -> usize {
    (word * 64 + bits.trailing_zeros() as usize) % BUCKETS
}
