//! Classes of payload: how switches serve them, and the thresholds at which flows fall through them. Must not depend on
//! files or rules.

use weft_config::place::{Placed, Spot};
use weft_core::Bytes;

/// Queues of a switch that are served by strict priority.
#[derive(Debug)]
pub struct StrictQueues {
    /// The setting of the schedule.
    pub at: Spot,
    /// The queues, in words.
    pub name: String,
    /// Classes in which payload is sent.
    pub classes: u32,
    /// Whether the switch marks.
    pub marks: bool,
}

/// Thresholds at which flows fall through classes.
#[derive(Debug)]
pub struct Demotion {
    /// Where the thresholds are set.
    pub at: Spot,
    /// The thresholds, ascending: one fewer than there are classes.
    pub thresholds: Vec<Bytes>,
    /// Number of bytes after which a flow's count restarts from zero.
    pub message: Option<Placed<Bytes>>,
    /// The largest flow in bytes, if all sources are known; infinite if there is none.
    pub largest: Option<f64>,
    /// For each source of flows, the share of its payload in each class, from 0 to 1.
    pub shares: Vec<Vec<f64>>,
}
