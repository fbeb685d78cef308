//! Classes of payload: how switches serve them, and the thresholds at which flows fall through them. Must not depend on
//! files or rules.

use weft_config::place::{Placed, Spot};
use weft_core::Bytes;

/// Queues of a switch that are served by strict priority.
#[derive(Debug)]
pub(crate) struct StrictQueues {
    pub(crate) at: Spot,
    pub(crate) name: String,
    /// Classes in which payload is sent.
    pub(crate) classes: u32,
    /// Whether the switch marks.
    pub(crate) marks: bool,
}

/// Thresholds at which flows fall through classes.
#[derive(Debug)]
pub(crate) struct Demotion {
    pub(crate) at: Spot,
    pub(crate) thresholds: Vec<Bytes>,
    /// Counting starts again after so many bytes.
    pub(crate) message: Option<Placed<Bytes>>,
    /// The largest flow in bytes, if all sources are known; infinite if there is none.
    pub(crate) largest: Option<f64>,
    /// For each source of flows, the share of its payload in each class.
    pub(crate) shares: Vec<Vec<f64>>,
}
