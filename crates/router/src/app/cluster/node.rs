//! A node of a cluster, shared by its workers: its ports, its routes, the liveness of neighbours, and its counters.

use std::sync::atomic::{AtomicU64, Ordering};

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
    /// The longest frame that its link carries, without FCS.
    pub(super) longest: u16,
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
    /// Packets that were dropped where they entered, because no node leads to their port.
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
            ClusterPort { end, mac, far: FarEnd::new(far), heard: AtomicU64::new(0), longest: u16::MAX }
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

    /// The end of the cable that leads outside.
    pub(super) fn way_out(&self) -> WireEnd<'_> {
        let port = &self.ports[usize::from(self.outside)];
        WireEnd { port: self.outside, mac: port.mac, far: &port.far }
    }

    pub(super) fn node_of(hop: Hop) -> Option<u16> {
        hop.0.checked_sub(1)
    }
}
