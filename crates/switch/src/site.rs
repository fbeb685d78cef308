//! The position of a switch in the network. Must not depend on what it does.

use weft_core::tree::TreeSite;
use weft_core::{Bytes, Rate, Span, SwitchId};

/// The facts about its position in the network that a switch needs.
#[derive(Clone, Debug)]
pub struct SwitchSite {
    /// Seed of the run.
    pub seed: u64,
    /// The switch.
    pub switch: SwitchId,
    /// Line rate of each port.
    pub rates: Vec<Rate>,
    /// One-way delay of the cable of each port.
    pub cables: Vec<Span>,
    /// Wire size of a full-size packet, for the time an engine has per packet.
    pub full_packet: Bytes,
    /// Its place in the tree of switches, if its arbiters depend on it ([`looks_at_tree`](weft_arbiter::ArbiterSettings::looks_at_tree)).
    pub tree: Option<TreeSite>,
}

#[cfg(test)]
impl SwitchSite {
    /// Two ports of 10 Gb/s on cables without delay.
    pub(crate) fn of_two_ports() -> SwitchSite {
        SwitchSite {
            seed: 1,
            switch: SwitchId(0),
            rates: vec![Rate::from_gbps(10); 2],
            cables: vec![Span::ZERO; 2],
            full_packet: Bytes(1_500),
            tree: None,
        }
    }
}
