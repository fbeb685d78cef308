//! The place of a rate law. Must not depend on any law.

use weft_core::{Rate, Time};

/// The facts about its flow and host that a law needs from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLawSite {
    /// Line rate of the host's network card: no law exceeds it.
    pub line_rate: Rate,
    /// Number of the flow.
    pub flow: u32,
    /// Flows that already send from this host.
    pub others: u32,
    /// Seed of the run.
    pub seed: u64,
    /// When the flow starts.
    pub now: Time,
}
