//! The random numbers of DRILL as an interface. Must not depend on their source, or on how a decision uses them.

use weft_core::Random;

/// The random draws that DRILL needs. The simulator takes them from an engine's random stream, hardware from the fields
/// of a shift register's word; the rest of the engine is independent of the source.
pub trait Chance {
    /// Whether the samples of each packet (d > 2) are dealt from an ordered deck, which keeps no state between packets,
    /// or from a deck that stays shuffled, which need not be restored. The distribution does not depend on it.
    const ORDERED_DECK: bool;

    /// Sample number `nth` of a packet: uniform below `among`.
    fn sample(&mut self, nth: usize, among: u32) -> u32;

    /// Which of `among` equally loaded ports wins.
    fn tie(&mut self, among: u32) -> u32;

    /// The rank of a candidate among equally loaded ones. `position` numbers the samples first, then the cells of the
    /// memory.
    fn rank(&mut self, position: usize) -> u64;
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
    fn rank(&mut self, _position: usize) -> u64 {
        self.bits()
    }
}
