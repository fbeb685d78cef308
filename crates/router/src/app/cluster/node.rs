//! A node of a cluster, shared by its workers: its ports, its routes, the liveness of neighbours, and its counters.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use weft_cluster::DirectorSettings;
use weft_core::Time;
use weft_fib::{Hop, IpPrefix, RouteError, ipv4::Ipv4Routes};
use weft_packet::Mac;

use super::SILENCE;
use crate::app::station::{FarEnd, WireEnd};
use crate::interface::longest_frame;

/// Where a port of a node leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterEnd {
    /// Out of the cluster, to this MAC address; if absent, to that of the last frame from there, which is asked for
    /// until there is one.
    Outside(Option<Mac>),
    /// To a node.
    Node(u8),
}

/// A port of a node.
#[derive(Debug)]
pub(super) struct ClusterPort {
    pub(super) end: ClusterEnd,
    pub(super) mac: Mac,
    /// The MAC address at the other end of the external port.
    pub(super) far: FarEnd,
    /// When the node at the other end was last heard.
    pub(super) heard: AtomicU64,
    /// The nodes that it hears itself, by its last hello.
    pub(super) hears: HeardNodes,
    /// The longest frame that its link carries, without FCS.
    pub(super) longest: u16,
}

/// Nodes of a cluster, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NodeSet([u64; 4]);

impl NodeSet {
    /// Bytes of a set in a hello.
    pub(super) const BYTES: usize = 32;

    pub(super) fn with(mut self, node: u8) -> NodeSet {
        self.0[usize::from(node / 64)] |= 1 << (node % 64);
        self
    }

    fn has(self, node: u8) -> bool {
        self.0[usize::from(node / 64)] >> (node % 64) & 1 == 1
    }

    pub(super) fn to_bytes(self) -> [u8; NodeSet::BYTES] {
        std::array::from_fn(|n| self.0[n / 8].to_le_bytes()[n % 8])
    }

    pub(super) fn from_bytes(bytes: &[u8; NodeSet::BYTES]) -> NodeSet {
        let word = |n: usize| bytes[8 * n..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        NodeSet(std::array::from_fn(word))
    }
}

/// What a node has said last about those that it hears.
#[derive(Debug, Default)]
pub(super) struct HeardNodes {
    said: AtomicBool,
    nodes: [AtomicU64; 4],
}

impl HeardNodes {
    pub(super) fn set(&self, nodes: NodeSet) {
        self.nodes.iter().zip(nodes.0).for_each(|(shared, word)| shared.store(word, Ordering::Relaxed));
        self.said.store(true, Ordering::Relaxed);
    }

    fn get(&self) -> Option<NodeSet> {
        let nodes = || NodeSet(std::array::from_fn(|n| self.nodes[n].load(Ordering::Relaxed)));
        self.said.load(Ordering::Relaxed).then(nodes)
    }
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// The counters of a node.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct ClusterNodeCounters { $($(#[$doc])* pub $name: u64,)* }

        impl ClusterNodeCounters {
            /// All counters with their names.
            #[must_use]
            pub fn named(&self) -> Vec<(&'static str, u64)> {
                vec![$(($text, self.$name)),*]
            }
        }

        #[derive(Debug, Default)]
        pub(super) struct SharedCounters { $(pub(super) $name: AtomicU64,)* }

        impl SharedCounters {
            fn read(&self) -> ClusterNodeCounters {
                ClusterNodeCounters { $($name: self.$name.load(Ordering::Relaxed),)* }
            }
        }
    };
}

counters! {
    /// Packets whose headers were parsed: those that entered here.
    parsed = "parsed",
    /// Of these, packets that left here, too.
    here = "here",
    /// Of these, packets sent straight to their output nodes.
    direct = "direct",
    /// Of these, packets sent by relays.
    relayed = "relayed",
    /// Packets of others, moved as a relay.
    moved = "moved",
    /// Packets that left by the external port.
    out = "out",
    /// Packets that should not have arrived here.
    astray = "astray",
    /// Packets that were dropped because nothing leads to the node of their port: where they entered, or at a relay.
    unreachable = "unreachable",
}

pub(super) fn add(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// A node, shared by its workers.
pub struct ClusterNode {
    pub(super) me: u8,
    pub(super) settings: DirectorSettings,
    pub(super) workers: u16,
    pub(super) ports: Box<[ClusterPort]>,
    pub(super) outside: u16,
    /// The port to each node.
    pub(super) links: Box<[Option<u16>]>,
    pub(super) routes: Ipv4Routes,
    pub(super) counters: SharedCounters,
    /// The time of the last tick of a worker.
    pub(super) now: AtomicU64,
}

impl ClusterNode {
    /// Node `me` with its ports, each with its own station address, for some workers.
    ///
    /// # Errors
    /// A route does not fit.
    ///
    /// # Panics
    /// There is no external port.
    pub fn new(
        (me, workers): (u8, u16),
        settings: DirectorSettings,
        ports: Vec<(ClusterEnd, Mac)>,
        prefixes: &[(IpPrefix, u16)],
    ) -> Result<ClusterNode, RouteError> {
        let outside = ports.iter().position(|(end, _)| matches!(end, ClusterEnd::Outside(_)));
        let link = |node: u16| {
            let leads = |(end, _): &(ClusterEnd, Mac)| *end == ClusterEnd::Node(node as u8);
            ports.iter().position(leads).map(|port| port as u16)
        };
        let links = (0..settings.nodes).map(link).collect();
        let mut routes = weft_fib::ipv4::table();
        for (prefix, node) in prefixes {
            routes.insert(*prefix, Hop(node + 1))?;
        }
        let port = |(end, mac)| {
            let far = match end {
                ClusterEnd::Outside(far) => far,
                ClusterEnd::Node(_) => None,
            };
            let (far, hears) = (FarEnd::new(far), HeardNodes::default());
            ClusterPort { end, mac, far, heard: AtomicU64::new(0), hears, longest: u16::MAX }
        };
        Ok(ClusterNode {
            me,
            settings,
            workers,
            outside: outside.expect("a node has an outside port") as u16,
            links,
            ports: ports.into_iter().map(port).collect(),
            routes,
            counters: SharedCounters::default(),
            now: AtomicU64::new(0),
        })
    }

    /// Drops packets longer than the MTU of the port by which they would leave; MTUs in the order of the ports.
    #[must_use]
    pub fn with_mtus(mut self, mtus: &[u16]) -> ClusterNode {
        self.ports.iter_mut().zip(mtus).for_each(|(port, mtu)| port.longest = longest_frame(*mtu));
        self
    }

    /// The counters of the node.
    #[must_use]
    pub fn counters(&self) -> ClusterNodeCounters {
        self.counters.read()
    }

    /// The other nodes, by number, and whether each of them has been heard of late.
    #[must_use]
    pub fn others(&self) -> Vec<(u8, bool)> {
        let now = Time(self.now.load(Ordering::Relaxed));
        let state = |port: &ClusterPort| match port.end {
            ClusterEnd::Node(node) => {
                let heard = Time(port.heard.load(Ordering::Relaxed));
                Some((node, now.since(heard) <= SILENCE))
            }
            ClusterEnd::Outside(_) => None,
        };
        self.ports.iter().filter_map(state).collect()
    }

    /// The nodes heard of late, one bit each: what a hello says.
    pub(super) fn heard_nodes(&self) -> NodeSet {
        let heard = self.others().into_iter().filter(|(_, up)| *up);
        heard.fold(NodeSet::default(), |set, (node, _)| set.with(node))
    }

    /// The links of the cluster, as far as this node knows: its own and those from other nodes, with whether each is up. A link is up
    /// if each of its ends hears the other. A node that does not say whom it hears is taken to hear those that this one hears.
    pub(super) fn links(&self) -> Vec<(Option<u16>, u16, bool)> {
        let (heard, others) = (self.heard_nodes(), self.others());
        let said = |node: u8| {
            self.links[usize::from(node)].and_then(|port| self.ports[usize::from(port)].hears.get())
        };
        let hears = |from: u8, to: u8| said(from).unwrap_or(heard.with(self.me)).has(to);
        let own = others.iter().map(|(to, up)| (None, u16::from(*to), *up && hears(*to, self.me)));
        let between = |from: u8| {
            let up = move |to: u8| hears(from, to) && (!heard.has(to) || hears(to, from));
            let to = others.iter().map(|(to, _)| *to).filter(move |to| *to != from);
            to.map(move |to| (Some(u16::from(from)), u16::from(to), up(to)))
        };
        own.chain(others.iter().flat_map(|(from, _)| between(*from))).collect()
    }

    /// The end of the cable that leads outside.
    pub(super) fn way_out(&self) -> WireEnd<'_> {
        let port = &self.ports[usize::from(self.outside)];
        WireEnd { port: self.outside, mac: port.mac, far: &port.far }
    }

    pub(super) fn node_of(hop: Hop) -> Option<u16> {
        hop.0.checked_sub(1)
    }
}
