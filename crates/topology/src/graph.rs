//! The network as a graph: hosts, switches, cables and the two links of each cable, with stable numbers and names.
//!
//! Hosts come before switches in every numbering of nodes. A host has one port; a switch has as many as cables. A
//! switch with at least one host is a *leaf*; leaves are counted in the order of their switch numbers. Must not depend
//! on routes or failures.

use weft_core::{HostId, LinkId, PortId, Rate, Span, SwitchId};

/// A host or a switch; hosts sort first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    /// A host.
    Host(HostId),
    /// A switch.
    Switch(SwitchId),
}

/// An end of a cable: the node and port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CableEnd {
    /// The node.
    pub node: Node,
    /// Its port.
    pub port: PortId,
}

/// A node occasionally takes nothing from a link, because its processor is busy elsewhere; packets that arrive
/// meanwhile are taken all at once afterwards. Both times are drawn from exponential distributions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stalls {
    /// Mean time from the end of a stall to the next.
    pub every: Span,
    /// Mean length of a stall.
    pub length: Span,
}

/// A full-duplex cable: two links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cable {
    /// The end that was named first.
    pub a: CableEnd,
    /// The other end.
    pub b: CableEnd,
    /// Line rate of either direction.
    pub rate: Rate,
    /// Propagation delay of either direction.
    pub delay: Span,
    /// Probability that a packet is lost on the way.
    pub loss: f64,
    /// The stalls of the end that was named second.
    pub stalls: Option<Stalls>,
    /// Number among the parallel cables between the same two nodes, from 0.
    pub parallel: u32,
}

/// One direction of a cable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Transmitting node.
    pub from: Node,
    /// Receiving node.
    pub to: Node,
    /// Port at the transmitter.
    pub port: PortId,
    /// Port at the receiver.
    pub to_port: PortId,
    /// Line rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// Probability that a packet is lost on the way.
    pub loss: f64,
    /// The stalls of the receiving node.
    pub stalls: Option<Stalls>,
    /// Index of the cable in [`Graph::cables`].
    pub cable: usize,
}

/// A switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchNode {
    /// Its name: `leaf3`, `spine0`.
    pub name: String,
    /// 1 for a leaf, otherwise one more than the hops to the nearest leaf.
    pub tier: u8,
    /// The topology's name for its tier, if it names tiers.
    pub(crate) role: Option<&'static str>,
}

impl SwitchNode {
    /// The name of its tier: the topology generator's; elsewhere `leaf` for a switch with hosts, `spine` for one next
    /// to a leaf, `core` beyond.
    #[must_use]
    pub fn role(&self) -> &'static str {
        self.role.unwrap_or(match self.tier {
            0 | 1 => "leaf",
            2 => "spine",
            _ => "core",
        })
    }
}

/// A connected network in which every host is on one switch. Built by [`build`](crate::build) or
/// [`Wiring::finish`](crate::Wiring::finish).
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    pub(crate) hosts: u32,
    pub(crate) host_names: Vec<String>,
    pub(crate) switches: Vec<SwitchNode>,
    pub(crate) cables: Vec<Cable>,
    pub(crate) links: Vec<Link>,
    /// First link of each node, and the number of links at the end.
    pub(crate) first: Vec<u32>,
    pub(crate) leaves: Vec<SwitchId>,
    pub(crate) leaf_of_host: Vec<u16>,
}

impl Graph {
    /// Number of hosts.
    #[must_use]
    pub fn hosts(&self) -> u32 {
        self.hosts
    }

    /// The switches, indexed by [`SwitchId`].
    #[must_use]
    pub fn switches(&self) -> &[SwitchNode] {
        &self.switches
    }

    /// The cables in the order in which the topology adds them.
    #[must_use]
    pub fn cables(&self) -> &[Cable] {
        &self.cables
    }

    /// Every direction of every cable, sorted by (node, port); indexed by [`LinkId`].
    #[must_use]
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Hosts and switches together.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.hosts as usize + self.switches.len()
    }

    /// The number of a node with hosts first: host n is n, switch s is hosts + s.
    #[must_use]
    pub fn node_index(&self, node: Node) -> usize {
        match node {
            Node::Host(host) => host.index(),
            Node::Switch(switch) => self.hosts as usize + switch.index(),
        }
    }

    /// The node with this number; the inverse of [`Graph::node_index`].
    #[must_use]
    pub fn node_at(&self, index: usize) -> Node {
        match index.checked_sub(self.hosts as usize) {
            None => Node::Host(HostId(index as u32)),
            Some(switch) => Node::Switch(SwitchId(switch as u32)),
        }
    }

    /// The link of port 0 of a node; port p has this plus p.
    #[must_use]
    pub fn first_link(&self, node: Node) -> LinkId {
        LinkId(self.first[self.node_index(node)])
    }

    /// The link that leaves `node` by `port`.
    #[must_use]
    pub fn link_at(&self, node: Node, port: PortId) -> LinkId {
        LinkId(self.first_link(node).0 + u32::from(port.0))
    }

    /// The links that leave a node, in the order of its ports.
    #[must_use]
    pub fn links_of(&self, node: Node) -> &[Link] {
        let index = self.node_index(node);
        &self.links[self.first[index] as usize..self.first[index + 1] as usize]
    }

    /// Both directions of a cable: from `a` to `b`, then from `b` to `a`.
    #[must_use]
    pub fn links_of_cable(&self, cable: usize) -> [LinkId; 2] {
        let Cable { a, b, .. } = self.cables[cable];
        [self.link_at(a.node, a.port), self.link_at(b.node, b.port)]
    }

    /// The link in the opposite direction.
    #[must_use]
    pub fn reverse(&self, link: LinkId) -> LinkId {
        let Link { to, to_port, .. } = self.links[link.index()];
        self.link_at(to, to_port)
    }

    /// The switches that have hosts.
    #[must_use]
    pub fn leaves(&self) -> &[SwitchId] {
        &self.leaves
    }

    /// For each host the index of its switch in [`Graph::leaves`].
    #[must_use]
    pub fn leaf_of_host(&self) -> &[u16] {
        &self.leaf_of_host
    }

    /// The switch of a host.
    #[must_use]
    pub fn switch_of_host(&self, host: HostId) -> SwitchId {
        self.leaves[usize::from(self.leaf_of_host[host.index()])]
    }

    /// The links from a switch to other switches, in the order of its ports; for a leaf these are its uplinks.
    pub fn uplinks(&self, switch: SwitchId) -> impl Iterator<Item = LinkId> + '_ {
        let first = self.first_link(Node::Switch(switch)).0;
        let links = self.links_of(Node::Switch(switch)).iter().enumerate();
        links
            .filter(|(_, link)| matches!(link.to, Node::Switch(_)))
            .map(move |(port, _)| LinkId(first + port as u32))
    }

    /// Cables between switches, sorted by (lower switch, upper switch, parallel number).
    #[must_use]
    pub fn fabric_cables(&self) -> Vec<usize> {
        let key = |&cable: &usize| {
            let Cable { a, b, parallel, .. } = &self.cables[cable];
            (a.node.min(b.node), a.node.max(b.node), *parallel)
        };
        let mut cables: Vec<usize> = (0..self.cables.len()).filter(|&cable| self.is_fabric(cable)).collect();
        cables.sort_by_key(key);
        cables
    }

    fn is_fabric(&self, cable: usize) -> bool {
        let Cable { a, b, .. } = &self.cables[cable];
        matches!((a.node, b.node), (Node::Switch(_), Node::Switch(_)))
    }

    /// The name of a node: `host12`, `leaf3`.
    #[must_use]
    pub fn name(&self, node: Node) -> String {
        match node {
            Node::Host(host) => {
                self.host_names.get(host.index()).cloned().unwrap_or_else(|| host.to_string())
            }
            Node::Switch(switch) => self.switches[switch.index()].name.clone(),
        }
    }

    /// The names of the hosts by number; empty: each has its default name.
    #[must_use]
    pub fn host_names(&self) -> &[String] {
        &self.host_names
    }

    /// The node with this name.
    #[must_use]
    pub fn node_named(&self, name: &str) -> Option<Node> {
        let host = (0..self.hosts).map(|n| Node::Host(HostId(n))).find(|&host| self.name(host) == name);
        host.or_else(|| {
            let switch = self.switches.iter().position(|switch| switch.name == name)?;
            Some(Node::Switch(SwitchId(switch as u32)))
        })
    }

    /// The name of a cable: `leaf0-spine1`, or `leaf0-spine1.2` if several are parallel.
    #[must_use]
    pub fn cable_name(&self, cable: usize) -> String {
        let Cable { a, b, parallel, .. } = &self.cables[cable];
        let pair = format!("{}-{}", self.name(a.node), self.name(b.node));
        match self.cables_between(a.node, b.node).len() {
            1 => pair,
            _ => format!("{pair}.{parallel}"),
        }
    }

    /// The cables between two nodes in the order of their parallel number.
    #[must_use]
    pub fn cables_between(&self, a: Node, b: Node) -> Vec<usize> {
        self.links_of(a).iter().filter(|link| link.to == b).map(|link| link.cable).collect()
    }

    /// The cable called `leaf0-spine1`, `leaf0-spine1.2` (third of several parallel ones) or `host3-leaf0`; either
    /// end may be named first. Without a number it is the first of the parallel ones.
    #[must_use]
    pub fn cable_named(&self, name: &str) -> Option<usize> {
        self.cables_named(name).and_then(|cables| cables.first().copied())
    }

    /// All cables a name can mean: one for `leaf0-spine1.2`, every parallel one for `leaf0-spine1` or
    /// `leaf0-spine1.*`. `None`: there is no such cable.
    #[must_use]
    pub fn cables_named(&self, name: &str) -> Option<Vec<usize>> {
        let bundle = self.bundle_named(name.strip_suffix(".*").unwrap_or(name));
        bundle.or_else(|| {
            let (pair, number) = name.rsplit_once('.')?;
            let number: usize = number.parse().ok()?;
            Some(vec![*self.bundle_named(pair)?.get(number)?])
        })
    }

    fn bundle_named(&self, pair: &str) -> Option<Vec<usize>> {
        let dashes = pair.match_indices('-').map(|(at, _)| (&pair[..at], &pair[at + 1..]));
        let ends = dashes.filter_map(|(a, b)| Some((self.node_named(a)?, self.node_named(b)?)));
        ends.map(|(a, b)| self.cables_between(a, b)).find(|cables| !cables.is_empty())
    }
}
