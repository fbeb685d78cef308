//! Which bytes have arrived. Knows no packet and no acknowledgement.

/// What a segment did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Arrival {
    /// It lies beyond a gap: a duplicate acknowledgement is due.
    pub(super) beyond_gap: bool,
    /// It filled a gap, wholly or in part.
    pub(super) filled: bool,
    /// Nothing in it was new.
    pub(super) duplicate: bool,
    /// It was an original segment that closed a gap: so many duplicate acknowledgements were for reordering.
    pub(super) gap_was_reordering: u32,
}

/// The bytes of a flow.
#[derive(Clone, Debug, Default)]
pub(super) struct Assembly {
    next: u64,
    /// Ranges beyond the gap, in order, disjoint, not adjacent.
    beyond: Vec<(u64, u64)>,
    /// The range that grew last.
    recent: (u64, u64),
    /// Segments that arrived beyond the present gap.
    since_gap: u32,
    /// Bytes of the ranges.
    bytes_beyond: u64,
}

impl Assembly {
    /// The first byte that is missing.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Bytes that lie beyond the first gap.
    pub(super) fn beyond(&self) -> u64 {
        self.bytes_beyond
    }

    /// Whether anything lies beyond a gap.
    pub(super) fn has_gap(&self) -> bool {
        !self.beyond.is_empty()
    }

    /// The bytes `start..end` arrived; `again`: as a repetition.
    pub(super) fn insert(&mut self, start: u64, end: u64, again: bool) -> Arrival {
        if end <= self.next || start == end {
            return Arrival { duplicate: start != end, ..Arrival::default() };
        }
        if start > self.next {
            return self.insert_beyond(start, end);
        }
        let had_gap = self.has_gap();
        self.next = end;
        self.join();
        let closed = had_gap && !again;
        let gap_was_reordering = if closed { self.since_gap } else { 0 };
        if had_gap {
            self.since_gap = 0;
        }
        Arrival { filled: had_gap, gap_was_reordering, ..Arrival::default() }
    }

    /// Takes ranges that have become contiguous.
    fn join(&mut self) {
        let joined = self.beyond.iter().take_while(|(start, _)| *start <= self.next).count();
        for (start, end) in self.beyond.drain(..joined) {
            self.next = self.next.max(end);
            self.bytes_beyond -= end - start;
        }
    }

    fn insert_beyond(&mut self, start: u64, end: u64) -> Arrival {
        let first = self.beyond.partition_point(|range| range.1 < start);
        let last = self.beyond.partition_point(|range| range.0 <= end);
        let covered = self.beyond[first..last].iter().any(|range| range.0 <= start && end <= range.1);
        let merged = self.beyond[first..last].iter().fold((start, end), |a, b| (a.0.min(b.0), a.1.max(b.1)));
        let removed: u64 = self.beyond[first..last].iter().map(|range| range.1 - range.0).sum();
        self.bytes_beyond += merged.1 - merged.0 - removed;
        self.beyond.splice(first..last, [merged]);
        self.recent = merged;
        self.since_gap += u32::from(!covered);
        Arrival { beyond_gap: !covered, duplicate: covered, ..Arrival::default() }
    }

    /// Ranges beyond the gap, the one that grew last first, then from the highest down.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let recent = self.beyond.iter().find(|range| **range == self.recent);
        let others = self.beyond.iter().rev().filter(|range| **range != self.recent);
        recent.into_iter().chain(others).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::{Purpose, Random};

    #[test]
    fn blocks_are_most_recent_first() {
        let mut assembly = Assembly::default();
        for (start, end) in [(10, 20), (30, 40), (50, 60), (20, 25)] {
            assert!(assembly.insert(start, end, false).beyond_gap);
        }
        assert_eq!(assembly.blocks().collect::<Vec<_>>(), [(10, 25), (50, 60), (30, 40)]);
        assert!(assembly.insert(12, 18, true).duplicate);
        let filled = assembly.insert(0, 10, false);
        assert_eq!((assembly.next(), filled.filled, filled.gap_was_reordering), (25, true, 4));
    }

    #[test]
    fn any_order_gives_the_whole() {
        for seed in 0..50 {
            let mut order: Vec<u64> = (0..40).collect();
            Random::new(seed, Purpose::Test, 0).shuffle(&mut order);
            let mut assembly = Assembly::default();
            for n in &order {
                assembly.insert(n * 7, n * 7 + 7, false);
            }
            assert_eq!((assembly.next(), assembly.has_gap(), assembly.bytes_beyond), (280, false, 0));
        }
    }
}
