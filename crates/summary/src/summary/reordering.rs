//! Packets that overtake each other.

use serde::{Deserialize, Serialize};

/// Reordering, over measured flows that finished. Shares are fractions of these flows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reordering {
    /// Duplicate acknowledgements; absent where no transport of the run has any.
    #[serde(flatten)]
    pub duplicate_acks: Option<DuplicateAcks>,
    /// Packets that arrived out of order.
    pub out_of_order: u64,
    /// Greatest displacement of a packet, in packets.
    pub max_displacement: u64,
    /// Mean displacement of the packets that arrived out of order, in packets; absent when none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_displacement: Option<f64>,
    /// Batches formed by receive offload.
    pub gro_batches: u64,
}

/// Duplicate acknowledgements, as shares of flows and in flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DuplicateAcks {
    /// Share of flows whose receiver sent at least one duplicate acknowledgement, for any cause.
    pub flows_with_dupacks: f64,
    /// Share of flows with more than three duplicate acknowledgements, for any cause.
    pub over_3: f64,
    /// Share of flows with a duplicate acknowledgement sent while nothing of the flow was lost.
    pub flows_with_dupacks_reorder: f64,
    /// Share of flows with more than three of these.
    pub over_3_reorder: f64,
    /// Number of flows behind `flows_with_dupacks`.
    pub flows_with_dupacks_count: u64,
    /// Number of flows behind `over_3`.
    pub over_3_count: u64,
}
