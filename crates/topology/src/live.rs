//! The cables that are up, the remaining capacity, and distances. Must not depend on routes.

use crate::graph::{Graph, Link, Node};
use weft_core::{LinkId, PortId, Rate, SwitchId};

/// Which cables are up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkState(Vec<bool>);

impl LinkState {
    /// Nothing has failed.
    #[must_use]
    pub fn all_up(graph: &Graph) -> LinkState {
        LinkState(vec![true; graph.cables().len()])
    }

    /// Whether a cable is up.
    #[must_use]
    pub fn is_up(&self, cable: usize) -> bool {
        self.0[cable]
    }

    /// Takes a cable down or brings it up again.
    pub fn set(&mut self, cable: usize, up: bool) {
        self.0[cable] = up;
    }

    /// The cables that are down, in order.
    pub fn down(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().filter(|(_, up)| !**up).map(|(cable, _)| cable)
    }
}

impl Graph {
    /// For each leaf, the total rate of its working uplinks.
    #[must_use]
    pub fn uplink_capacity(&self, state: &LinkState) -> Vec<Rate> {
        let up = |link: &LinkId| state.is_up(self.links()[link.index()].cable);
        let rate = |link: LinkId| self.links()[link.index()].rate;
        self.leaves().iter().map(|&leaf| self.uplinks(leaf).filter(up).map(rate).sum()).collect()
    }

    /// For each host, the rate of its cable; zero if the cable is down: such a host does not take part.
    #[must_use]
    pub fn host_rates(&self, state: &LinkState) -> Vec<Rate> {
        let links = self.links()[..self.hosts() as usize].iter();
        links.map(|link| if state.is_up(link.cable) { link.rate } else { Rate(0) }).collect()
    }
}

/// The live links between switches, by transmitting switch.
pub(crate) struct Fabric {
    /// For each switch (port, neighbour), ascending by port.
    neighbours: Vec<Vec<(PortId, u32)>>,
}

/// Unreachable.
pub(crate) const UNREACHABLE: u32 = u32::MAX;

impl Fabric {
    pub(crate) fn new(graph: &Graph, state: &LinkState) -> Fabric {
        let live = |link: &Link| match link.to {
            Node::Switch(to) if state.is_up(link.cable) => Some((link.port, to.0)),
            _ => None,
        };
        let of = |switch| graph.links_of(Node::Switch(SwitchId(switch))).iter().filter_map(live).collect();
        Fabric { neighbours: (0..graph.switches().len() as u32).map(of).collect() }
    }

    /// Hops from every switch to `target`; cables fail in both directions, so the graph is symmetric.
    pub(crate) fn distances_to(&self, target: SwitchId) -> Vec<u32> {
        let mut distance = vec![UNREACHABLE; self.neighbours.len()];
        distance[target.index()] = 0;
        let mut order = vec![target.0];
        let mut next = 0;
        while let Some(&switch) = order.get(next) {
            next += 1;
            for &(_, to) in &self.neighbours[switch as usize] {
                if distance[to as usize] == UNREACHABLE {
                    distance[to as usize] = distance[switch as usize] + 1;
                    order.push(to);
                }
            }
        }
        distance
    }

    /// The ports of a switch that lead one hop closer.
    pub(crate) fn towards(&self, switch: usize, distance: &[u32]) -> Vec<PortId> {
        let here = distance[switch];
        if here == UNREACHABLE || here == 0 {
            return Vec::new();
        }
        let nearer = |&(port, to): &(PortId, u32)| (distance[to as usize] + 1 == here).then_some(port);
        self.neighbours[switch].iter().filter_map(nearer).collect()
    }
}
