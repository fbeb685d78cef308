//! Reordering, from one flow at a time.

use crate::summary::{DuplicateAcks, Reordering};
use weft_core::record::{FlowRecord, Measured, Quantity};

/// Counts of reordered packets, over flows that finished.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Overtaking {
    /// Flows with any duplicate acknowledgement, and with more than three.
    dupacks: [u64; 2],
    /// As `dupacks`, but only duplicate acknowledgements without a loss.
    reorder: [u64; 2],
    out_of_order: u64,
    max_displacement: u64,
    displaced: u64,
    gro_batches: u64,
}

impl Overtaking {
    /// Adds a flow that finished.
    pub(crate) fn add(&mut self, flow: &FlowRecord) {
        for (counts, of) in [(&mut self.dupacks, flow.dupacks), (&mut self.reorder, flow.dupacks_reorder)] {
            counts[0] += u64::from(of > 0);
            counts[1] += u64::from(of > 3);
        }
        self.out_of_order += u64::from(flow.out_of_order);
        self.max_displacement = self.max_displacement.max(u64::from(flow.displacement));
        self.displaced += flow.displaced;
        self.gro_batches += u64::from(flow.gro_batches);
    }

    /// The counts as shares of `finished` flows.
    pub(crate) fn of(&self, finished: u64, measured: Measured) -> Reordering {
        let share = |flows: u64| flows as f64 / finished.max(1) as f64;
        let duplicate_acks = measured.has(Quantity::DuplicateAcks).then(|| DuplicateAcks {
            flows_with_dupacks: share(self.dupacks[0]),
            over_3: share(self.dupacks[1]),
            flows_with_dupacks_reorder: share(self.reorder[0]),
            over_3_reorder: share(self.reorder[1]),
            flows_with_dupacks_count: self.dupacks[0],
            over_3_count: self.dupacks[1],
        });
        Reordering {
            duplicate_acks,
            out_of_order: self.out_of_order,
            max_displacement: self.max_displacement,
            mean_displacement: (self.out_of_order > 0)
                .then(|| self.displaced as f64 / self.out_of_order as f64),
            gro_batches: self.gro_batches,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_displacement_is_that_of_late_packets_of_all_flows() {
        let mut overtaking = Overtaking::default();
        assert_eq!(overtaking.of(0, Measured::ALL).mean_displacement, None);
        for (out_of_order, displacement, displaced) in [(0, 0, 0), (3, 4, 6), (1, 2, 2)] {
            overtaking.add(&FlowRecord { out_of_order, displacement, displaced, ..FlowRecord::default() });
        }
        let found = overtaking.of(3, Measured::ALL);
        assert_eq!((found.out_of_order, found.max_displacement, found.mean_displacement), (4, 4, Some(2.0)));
    }

    /// Metrics that no transport of a run has are absent, not zero.
    #[test]
    fn duplicate_acknowledgements_that_are_not_measured_are_absent() {
        let of = |measured| Overtaking::default().of(3, measured).duplicate_acks;
        assert_eq!(of(Measured::ALL), Some(DuplicateAcks::default()));
        assert_eq!(of(Measured::ALL.without(Quantity::DuplicateAcks)), None);
    }
}
