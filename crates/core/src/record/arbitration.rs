//! What arbiters did about upper links. Nothing is computed here but sums.

use std::ops::AddAssign;

/// Arbitration of the upper links of a tree of three tiers ([`crate::tree`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArbitrationCounts {
    /// Requests that the arbiters of upper links decided.
    pub upper: u64,
    /// Requests that bypassed them, because leaves decided.
    pub spared: u64,
    /// Reports of leaves to the switches above them.
    pub reports: u64,
    /// Slices sent in answer.
    pub slices: u64,
}

impl AddAssign for ArbitrationCounts {
    fn add_assign(&mut self, other: ArbitrationCounts) {
        self.upper += other.upper;
        self.spared += other.spared;
        self.reports += other.reports;
        self.slices += other.slices;
    }
}
