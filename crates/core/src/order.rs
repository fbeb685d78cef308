//! How much a flow was reordered, as its receiver sees it: late packets, their displacement, and duplicate
//! acknowledgements with and without an underlying loss. Counts only.

/// Counts of one flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReorderCounts {
    /// The end of the highest bytes that have arrived.
    highest: u64,
    /// Duplicate acknowledgements for the open gap.
    open: u32,
    /// Duplicate acknowledgements sent.
    pub dupacks: u32,
    /// Of these, for gaps that were reordering, not loss.
    pub dupacks_reorder: u32,
    /// Packets that arrived, in their first transmission, after one with later bytes.
    pub out_of_order: u32,
    /// The maximum number of packets between such a packet and the highest that had arrived.
    pub displacement: u32,
    /// The sum of these numbers over all such packets, at most 2^32 - 1.
    pub displaced: u32,
}

impl ReorderCounts {
    /// Records a packet that ends at byte `end`: its first transmission, unless it was sent `again`; full packets
    /// hold `mss`.
    #[inline]
    pub fn arrived(&mut self, end: u64, again: bool, mss: u64) {
        if end >= self.highest {
            self.highest = end;
        } else if !again {
            self.out_of_order += 1;
            let displacement = (self.highest - end).div_ceil(mss) as u32;
            self.displacement = self.displacement.max(displacement);
            self.displaced = self.displaced.saturating_add(displacement);
        }
    }

    /// Records a duplicate acknowledgement: a packet beyond the gap is acknowledged without new payload.
    pub fn duplicate_sent(&mut self) {
        self.dupacks += 1;
        self.open += 1;
    }

    /// Records that the gap's first bytes arrived: unless they were sent `again`, there was no loss.
    pub fn gap_filled(&mut self, again: bool) {
        if !again {
            self.dupacks_reorder += self.open;
        }
        self.open = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_displaced_by_those_that_overtook_it() {
        let mut order = ReorderCounts::default();
        for end in [10, 40, 47, 20, 30] {
            order.arrived(end, false, 10);
        }
        assert_eq!((order.out_of_order, order.displacement, order.displaced), (2, 3, 3 + 2));
        order.arrived(5, true, 10);
        let counts = (order.out_of_order, order.displacement, order.displaced);
        assert_eq!(counts, (2, 3, 5), "what was sent again is not reordered");
    }

    #[test]
    fn only_gaps_filled_by_first_copies_count_as_reordering() {
        let mut order = ReorderCounts::default();
        (0..4).for_each(|_| order.duplicate_sent());
        order.gap_filled(false);
        (0..3).for_each(|_| order.duplicate_sent());
        order.gap_filled(true);
        assert_eq!((order.dupacks, order.dupacks_reorder), (7, 4));
    }
}
