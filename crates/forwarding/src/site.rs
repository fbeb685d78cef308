//! The site of a balancer. Must not depend on what it does.

use weft_core::SwitchId;

/// Where a balancer lives.
#[derive(Clone, Copy, Debug)]
pub struct BalancerSite {
    /// Seed of the run.
    pub seed: u64,
    /// The switch.
    pub switch: SwitchId,
    /// The forwarding engine within the switch.
    pub engine: u16,
}
