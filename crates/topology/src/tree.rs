//! The place of each switch in a tree of three tiers ([`weft_core::tree`]), read from the graph. Must not depend on routes.
//!
//! A leaf is a switch of tier 1, its parents are its neighbours of tier 2 that have neighbours of tier 3. Two leaves
//! are near if they have a common neighbour of tier 2.

use std::sync::Arc;

use weft_core::tree::{Above, TreePort, TreeSite};
use weft_core::{Rate, SwitchId};

use crate::graph::{Graph, Link, Node};

impl Graph {
    /// The place of a switch in the tree.
    #[must_use]
    pub fn tree_site(&self, switch: SwitchId) -> TreeSite {
        let links = self.links_of(Node::Switch(switch));
        let near = match self.tier(Node::Switch(switch)) {
            1 => self.near(switch),
            _ => Vec::new(),
        };
        let ports = links.iter().map(|link| self.tree_port(link)).collect();
        TreeSite { ports, leaf_of_host: Arc::from(self.leaf_of_host()), near }
    }

    /// Whether any upper link serves several leaves.
    #[must_use]
    pub fn has_shared_upper_links(&self) -> bool {
        let numbers = (0..self.switches().len()).map(|number| Node::Switch(SwitchId(number as u32)));
        numbers.filter_map(|node| self.above(node)).any(|above| above.children > 1)
    }

    /// 0 for a host.
    fn tier(&self, node: Node) -> u8 {
        match node {
            Node::Host(_) => 0,
            Node::Switch(switch) => self.switches()[switch.index()].tier,
        }
    }

    fn tree_port(&self, link: &Link) -> TreePort {
        match (self.tier(link.from), self.tier(link.to)) {
            (1, 2) => self.above(link.to).map_or(TreePort::Elsewhere, TreePort::Parent),
            (2, 1) if self.above(link.from).is_some() => TreePort::Child,
            (2, 3) if self.above(link.from).is_some() => TreePort::Upper(link.rate),
            (3, 2) if self.above(link.to).is_some() => TreePort::Upper(link.rate),
            _ => TreePort::Elsewhere,
        }
    }

    /// The upper links of a parent; `None` for other nodes.
    fn above(&self, node: Node) -> Option<Above> {
        let to = |tier| self.links_of(node).iter().filter(move |link| self.tier(link.to) == tier);
        let (children, fastest) = (to(1).count() as u32, to(3).map(|link| link.rate).max());
        let link = fastest.filter(|_| self.tier(node) == 2 && children > 0)?;
        Some(Above { capacity: Rate(to(3).map(|link| link.rate.0).sum()), link, children })
    }

    /// By leaf: itself, and those with a common neighbour of tier 2.
    fn near(&self, leaf: SwitchId) -> Vec<bool> {
        let mut near: Vec<bool> = self.leaves().iter().map(|other| *other == leaf).collect();
        let above = self.links_of(Node::Switch(leaf)).iter().filter(|link| self.tier(link.to) == 2);
        for link in above.flat_map(|link| self.links_of(link.to)) {
            if let Node::Switch(below) = link.to
                && let Ok(number) = self.leaves().binary_search(&below)
            {
                near[number] = true;
            }
        }
        near
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::{fat_tree::FatTreeSettings, leaf_spine::LeafSpineSettings};
    use crate::{TopologySettings, build};
    use weft_core::HostId;

    #[test]
    fn a_fat_tree_has_leaves_parents_and_upper_links() {
        let graph = build(&TopologySettings::FatTree(FatTreeSettings::default())).expect("it is sound");
        let above = Above { capacity: Rate::from_gbps(20), link: Rate::from_gbps(10), children: 2 };
        let upper = TreePort::Upper(Rate::from_gbps(10));
        let ports = |switch| graph.tree_site(SwitchId(switch)).ports;
        assert_eq!(ports(0)[1..], [TreePort::Elsewhere, TreePort::Parent(above), TreePort::Parent(above)]);
        assert_eq!(ports(8), [TreePort::Child, TreePort::Child, upper, upper]);
        assert_eq!(ports(16), [upper; 4]);
        let leaf = graph.tree_site(SwitchId(0));
        let near: Vec<u32> = (0..16).filter(|host| leaf.is_near(HostId(*host))).collect();
        assert_eq!(near, [0, 1, 2, 3], "the pod");
        assert!(graph.has_shared_upper_links());
    }

    #[test]
    fn two_tiers_have_no_upper_links() {
        let graph = build(&TopologySettings::LeafSpine(LeafSpineSettings::default())).expect("it is sound");
        assert!(!graph.has_shared_upper_links());
        assert!(graph.tree_site(SwitchId(0)).ports.iter().all(|port| *port == TreePort::Elsewhere));
    }
}
