//! Packets lost in a run, in numbers.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Packets lost, any reason.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Drops {
    /// Packets.
    pub total: u64,
    /// Their wire bytes.
    pub bytes: u64,
    /// Packets by hop: `hop0` is the sending host's card. This and the next two are empty when not recorded.
    pub by_hop: BTreeMap<String, u64>,
    /// Packets by reason.
    pub by_reason: BTreeMap<String, u64>,
    /// Packets by hop and reason.
    pub cells: Vec<DropCell>,
}

/// Drops of one reason at one hop.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DropCell {
    /// The hop.
    pub hop: u8,
    /// The reason's name.
    pub reason: String,
    /// Packets.
    pub packets: u64,
}
