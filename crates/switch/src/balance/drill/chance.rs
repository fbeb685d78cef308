//! The random numbers of DRILL, as a seam: must not depend on who draws them, or on what a decision does with them.

use weft_core::Random;

/// What DRILL asks of chance. The simulator answers with an engine's random stream; hardware answers with the fields of a
/// shift register's word, and the rest of the engine does not know which.
pub trait Chance {
    /// Whether the samples of each packet (d > 2) are dealt from an ordered deck, which takes no state from packet to packet,
    /// instead of a deck that stays shuffled, which takes no time to restore. The distribution is the same.
    const ORDERED_DECK: bool;

    /// Sample number `nth` of a packet: uniform below `among`.
    fn sample(&mut self, nth: usize, among: u32) -> u32;

    /// Which of `among` equally loaded ports wins.
    fn tie(&mut self, among: u32) -> u32;

    /// The rank of a candidate among equally loaded ones. `place` numbers the samples first, then the cells of the memory.
    fn rank(&mut self, place: usize) -> u64;
}

impl Chance for Random {
    const ORDERED_DECK: bool = false;

    #[inline(always)]
    fn sample(&mut self, _nth: usize, among: u32) -> u32 {
        self.below(among)
    }

    #[inline(always)]
    fn tie(&mut self, among: u32) -> u32 {
        self.below(among)
    }

    #[inline(always)]
    fn rank(&mut self, _place: usize) -> u64 {
        self.bits()
    }
}
