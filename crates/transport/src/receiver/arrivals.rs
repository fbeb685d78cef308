//! Which bytes have arrived: all below one number, and ranges beyond gaps. Must not depend on packets.

use crate::segment::{Block, BlockCount, MAX_BLOCKS};

/// A range beyond a gap.
#[derive(Clone, Copy, Debug)]
struct Held {
    start: u64,
    end: u64,
    /// Increases with each arrival, to identify the latest.
    touched: u64,
}

/// The kind of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// The next bytes, with nothing missing.
    InOrder,
    /// The next bytes, while later ones were waiting for them.
    FilledGap,
    /// Bytes beyond a gap.
    BeyondGap,
    /// Nothing new.
    Duplicate,
}

/// The bytes that have arrived.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals {
    expected: u64,
    /// Disjoint and sorted; without memory until a gap appears.
    held: Vec<Held>,
    serial: u64,
}

impl Arrivals {
    /// The first byte that has not arrived.
    #[inline]
    pub(super) fn expected(&self) -> u64 {
        self.expected
    }

    /// Whether bytes beyond a gap have arrived.
    #[inline]
    pub(super) fn gaps(&self) -> bool {
        !self.held.is_empty()
    }

    /// Bytes `start..end` arrived.
    #[inline]
    pub(super) fn take(&mut self, start: u64, end: u64) -> Arrival {
        if start <= self.expected && end > self.expected && self.held.is_empty() {
            self.expected = end;
            return Arrival::InOrder;
        }
        self.take_with_gaps(start, end)
    }

    #[inline(never)]
    fn take_with_gaps(&mut self, start: u64, end: u64) -> Arrival {
        if end <= self.expected {
            return Arrival::Duplicate;
        }
        if start > self.expected {
            return self.hold(start, end);
        }
        self.expected = end;
        self.release();
        Arrival::FilledGap
    }

    /// Ranges beyond gaps that an acknowledgement can report, the latest first, counted from the expected byte.
    pub(super) fn blocks(&self) -> ([Block; MAX_BLOCKS], BlockCount) {
        let mut latest: [Option<&Held>; MAX_BLOCKS] = [None; MAX_BLOCKS];
        for held in &self.held {
            let mut candidate = Some(held);
            for slot in &mut latest {
                if slot.map_or(0, |held| held.touched) < candidate.map_or(0, |held| held.touched) {
                    std::mem::swap(slot, &mut candidate);
                }
            }
        }
        let block = |held: &Held| Block {
            offset: (held.start - self.expected) as u32,
            length: (held.end - held.start) as u32,
        };
        let used = BlockCount::new(self.held.len());
        (latest.map(|slot| slot.map_or(Block::default(), block)), used)
    }

    fn hold(&mut self, start: u64, end: u64) -> Arrival {
        self.serial += 1;
        let first = self.held.partition_point(|held| held.end < start);
        let last = self.held.partition_point(|held| held.start <= end);
        if first == last {
            self.held.insert(first, Held { start, end, touched: self.serial });
            return Arrival::BeyondGap;
        }
        let known = self.held[first].start <= start && self.held[first].end >= end;
        let joined = Held {
            start: start.min(self.held[first].start),
            end: end.max(self.held[last - 1].end),
            touched: self.serial,
        };
        self.held[first] = joined;
        self.held.drain(first + 1..last);
        if known { Arrival::Duplicate } else { Arrival::BeyondGap }
    }

    /// Removes ranges that are now in order.
    fn release(&mut self) {
        let count = self.held.partition_point(|held| held.start <= self.expected);
        if count > 0 {
            self.expected = self.expected.max(self.held[count - 1].end);
            self.held.drain(..count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::{Purpose, Random};

    fn ranges(arrivals: &Arrivals) -> Vec<(u64, u64)> {
        let (blocks, used) = arrivals.blocks();
        let start = |block: &Block| arrivals.expected() + u64::from(block.offset);
        let range = |block: &Block| (start(block), start(block) + u64::from(block.length));
        blocks[..used.get()].iter().map(range).collect()
    }

    #[test]
    fn the_latest_range_is_reported_first_and_four_do_not_fit() {
        let mut arrivals = Arrivals::default();
        for start in [10, 30, 50, 70] {
            assert_eq!(arrivals.take(start, start + 5), Arrival::BeyondGap);
        }
        assert_eq!(ranges(&arrivals), [(70, 75), (50, 55), (30, 35)]);
        arrivals.take(15, 20);
        assert_eq!(ranges(&arrivals), [(10, 20), (70, 75), (50, 55)]);
    }

    #[test]
    fn filling_the_gap_releases_what_follows() {
        let mut arrivals = Arrivals::default();
        arrivals.take(10, 20);
        arrivals.take(30, 40);
        assert_eq!(arrivals.take(0, 10), Arrival::FilledGap);
        assert_eq!((arrivals.expected(), ranges(&arrivals)), (20, vec![(30, 40)]));
        assert_eq!(arrivals.take(20, 30), Arrival::FilledGap);
        assert_eq!(arrivals.take(40, 50), Arrival::InOrder);
        assert_eq!(arrivals.take(10, 20), Arrival::Duplicate);
    }

    #[test]
    fn joining_ranges_agree_with_a_set_of_bytes() {
        for seed in 0..200 {
            let mut random = Random::new(seed, Purpose::Test, 0);
            let (mut arrivals, mut bytes) = (Arrivals::default(), [false; 64]);
            for _ in 0..80 {
                let start = random.below(60) as usize;
                let end = start + 1 + random.below(4) as usize;
                let new = bytes[start..end].iter().any(|arrived| !arrived);
                bytes[start..end].fill(true);
                assert_eq!(arrivals.take(start as u64, end as u64) != Arrival::Duplicate, new);
                let expected = bytes.iter().take_while(|arrived| **arrived).count() as u64;
                assert_eq!(arrivals.expected(), expected);
                for (start, end) in ranges(&arrivals) {
                    let before = bytes[start as usize - 1];
                    let after = bytes.get(end as usize).copied().unwrap_or(false);
                    assert!(!before && !after && bytes[start as usize..end as usize].iter().all(|b| *b));
                }
            }
        }
    }
}
