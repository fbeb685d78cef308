//! The memory of a balancer, in bytes. Must not depend on any balancer.

use weft_core::Bytes;

/// The memory of a balancer in each forwarding engine of a switch. Headers, hash functions and routes are not
/// counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Memory independent of flows; tables count as full.
    pub fixed: Bytes,
    /// Memory per remembered flow.
    pub per_flow: Bytes,
}
