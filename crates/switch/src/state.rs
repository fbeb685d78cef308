//! What a balancer remembers, in bytes. Must not depend on any balancer.

use weft_core::Bytes;

/// What a balancer keeps in each forwarding engine of a switch. Headers, hash functions and routes are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Memory independent of flows; tables count as full.
    pub fixed: Bytes,
    /// Memory per remembered flow.
    pub per_flow: Bytes,
}
