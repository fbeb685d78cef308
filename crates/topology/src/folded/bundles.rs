//! The live network between switches, with parallel links merged: the input of the decomposition. Must not depend on
//! labels.
//!
//! A *bundle* is all live links from one switch to another; its capacity is the sum of their rates.

use crate::graph::{Graph, Link, Node};
use crate::live::LinkState;
use weft_core::{PortId, SwitchId};

/// All live links from one switch to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bundle {
    /// The neighbour.
    pub(crate) to: u32,
    /// Index in [`Bundles::capacities`].
    pub(crate) capacity: u32,
    /// Its ports in [`Bundles::ports`]: first, and one past the last.
    ports: (u32, u32),
}

/// The bundles of all switches.
pub(crate) struct Bundles {
    /// For each switch, its bundles, ascending by neighbour.
    of: Vec<Vec<Bundle>>,
    /// The different capacities in bits per second, ascending: the order of indices is that of capacities.
    pub(crate) capacities: Vec<u64>,
    ports: Vec<PortId>,
    /// For each switch its tier.
    pub(crate) tier: Vec<u8>,
    /// The switches with hosts.
    pub(crate) leaves: Vec<u32>,
}

impl Bundles {
    pub(crate) fn new(graph: &Graph, state: &LinkState) -> Bundles {
        let mut bundles = Bundles {
            of: Vec::with_capacity(graph.switches().len()),
            capacities: Vec::new(),
            ports: Vec::new(),
            tier: graph.switches().iter().map(|switch| switch.tier).collect(),
            leaves: graph.leaves().iter().map(|leaf| leaf.0).collect(),
        };
        let sums: Vec<_> =
            (0..graph.switches().len()).map(|switch| bundles.add(graph, state, switch)).collect();
        bundles.capacities = sums.iter().flatten().copied().collect();
        bundles.capacities.sort_unstable();
        bundles.capacities.dedup();
        for (own, sums) in bundles.of.iter_mut().zip(sums) {
            for (bundle, sum) in own.iter_mut().zip(sums) {
                bundle.capacity = bundles.capacities.partition_point(|other| *other < sum) as u32;
            }
        }
        bundles
    }

    /// Collects the bundles of the next switch and returns their capacities.
    fn add(&mut self, graph: &Graph, state: &LinkState, switch: usize) -> Vec<u64> {
        let live = |link: &Link| match link.to {
            Node::Switch(to) if state.is_up(link.cable) => Some((to.0, link.port, link.rate.0)),
            _ => None,
        };
        let links = graph.links_of(Node::Switch(SwitchId(switch as u32)));
        let mut links: Vec<_> = links.iter().filter_map(live).collect();
        links.sort_unstable();
        let (mut own, mut sums) = (Vec::new(), Vec::new());
        for links in links.chunk_by(|a, b| a.0 == b.0) {
            let first = self.ports.len() as u32;
            self.ports.extend(links.iter().map(|(_, port, _)| *port));
            own.push(Bundle { to: links[0].0, capacity: 0, ports: (first, self.ports.len() as u32) });
            sums.push(links.iter().fold(0u64, |sum, (_, _, rate)| sum.saturating_add(*rate)));
        }
        self.of.push(own);
        sums
    }

    /// Number of switches.
    pub(crate) fn switches(&self) -> usize {
        self.of.len()
    }

    /// The bundles that leave a switch, ascending by neighbour.
    pub(crate) fn of(&self, switch: u32) -> &[Bundle] {
        &self.of[switch as usize]
    }

    /// The bundle from one switch to another.
    pub(crate) fn between(&self, from: u32, to: u32) -> Option<&Bundle> {
        let own = self.of(from);
        own.binary_search_by_key(&to, |bundle| bundle.to).ok().map(|at| &own[at])
    }

    /// The ports of a bundle, ascending.
    pub(crate) fn ports(&self, bundle: &Bundle) -> &[PortId] {
        &self.ports[bundle.ports.0 as usize..bundle.ports.1 as usize]
    }
}
