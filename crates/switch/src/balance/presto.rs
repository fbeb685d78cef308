//! Presto: hosts cut flows into flowcells of 64 KB and send each on the next path of a list; switches follow the
//! label.
//!
//! *Paper*: He et al., SIGCOMM'15. *Parameters*: `cell` is the size of a flowcell. A burst of segmentation offload is
//! never cut. After a failure the switch that notices uses the next port instead (failover); `controller_delay` after
//! the host's leaf has new routes, its lists contain the remaining paths, by capacity (weighted). The receiver's half
//! is in `transport`: `reorder_shim` with `shim_rule = "flowcells"`. *State*: none at switches; at hosts a list of
//! labels per destination leaf and 16 bytes per flow. *Limits*: blind to load. A label names ports of the first three
//! switches with several paths: port numbers below 255, 255 and 63; beyond that, and for packets without a label, a
//! hash of the flow decides.

use weft_core::label::PathLabel;
use weft_core::{Bytes, Grouping, Header, PortId, Random, Span, Time, choice, settings};

use super::{Balancer, BalancerSite, Candidates};
use weft_forwarding::hash::{FlowHash, HashFunction};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "hosts send each 64 KB of a flow on the next path in turn (SIGCOMM'15)";

choice! {
    /// The order of the paths in a host's list.
    pub enum PathOrder {
        /// A random permutation for each host and destination leaf.
        Shuffled = "shuffled",
        /// One order for all hosts, ordered by the bit-reversed path number, which separates neighbouring paths.
        BitReversed = "bit-reversed",
    }
}

choice! {
    /// Where in the list a flow starts.
    pub enum ListStart {
        /// Anywhere, drawn for each flow.
        Random = "random",
        /// At the first path.
        First = "first",
    }
}

settings! {
    /// Presto's sending half.
    pub struct PrestoSettings {
        /// Maximum payload of a flowcell; 64 KB is the largest burst of segmentation offload.
        cell: Bytes = Bytes(64 << 10),
        /// The order of the paths in a host's list.
        order: PathOrder = PathOrder::Shuffled,
        /// Where in the list a flow starts.
        start: ListStart = ListStart::Random,
        /// Time from the installation of new routes at a leaf until its hosts use new lists.
        controller_delay: Span = Span::ZERO,
    }
}

/// The switch side of Presto.
#[derive(Clone, Debug)]
pub struct Presto {
    hash: FlowHash,
}

impl Presto {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(_settings: &PrestoSettings, site: BalancerSite) -> Presto {
        Presto { hash: FlowHash::of_switch(HashFunction::Mix, site) }
    }
}

/// The substitute for a missing port: the next of the group, cyclically.
#[cold]
fn failover(ports: &[PortId], port: PortId) -> usize {
    ports.iter().position(|other| *other > port).unwrap_or(0)
}

impl Balancer for Presto {
    fn choose(
        &mut self,
        packet: &Header,
        candidates: &mut Candidates<'_>,
        _now: Time,
        _random: &mut Random,
    ) -> usize {
        let ports = candidates.ports();
        match PathLabel::of(packet.note).port(packet.hops) {
            Some(port) => {
                let place = ports.iter().position(|other| *other == port);
                place.unwrap_or_else(|| failover(ports, port))
            }
            None => self.hash.spread(packet, ports.len()),
        }
    }

    /// Lists of hosts weigh paths by capacity.
    fn long_run(&self) -> Grouping {
        Grouping::Weighted
    }
}
