//! Whether packets of a flow leave in the order in which they came.
//!
//! The measure of the RouteBricks paper: when p1 p2 p3 p4 p5 leave as p1 p4 p2 p3 p5, that is one reordered sequence.
//! A sequence is reordered from the packet that leaves too early until the next one that leaves no earlier packet
//! behind.

use std::collections::HashMap;

#[derive(Clone, Copy, Debug, Default)]
struct LeftSoFar {
    /// One more than the greatest number that has left.
    next: u32,
    late: bool,
}

/// The flows whose packets have left.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowOrder {
    flows: HashMap<u64, LeftSoFar>,
    reordered: u64,
}

impl FlowOrder {
    /// Records that a packet of a flow leaves; only the measured ones count.
    pub(super) fn leaves(&mut self, flow: u64, sequence: u32, measured: bool) {
        let left = self.flows.entry(flow).or_default();
        let late = sequence < left.next;
        self.reordered += u64::from(measured && late && !left.late);
        *left = LeftSoFar { next: left.next.max(sequence + 1), late };
    }

    /// Reordered sequences.
    pub(super) fn reordered(&self) -> u64 {
        self.reordered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_paper_is_one_sequence() {
        let count = |sequence: &[u32]| {
            let mut order = FlowOrder::default();
            sequence.iter().for_each(|number| order.leaves(1, *number, true));
            order.reordered()
        };
        assert_eq!(count(&[1, 4, 2, 3, 5]), 1);
        assert_eq!(count(&[1, 2, 3, 4, 5]), 0);
        assert_eq!(count(&[1, 3, 2, 4, 6, 5, 7]), 2);
    }
}
