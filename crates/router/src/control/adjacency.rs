//! Next hops for workers: a snapshot that is replaced as a whole.

use std::sync::Arc;

use weft_core::random::mix;
use weft_fib::Hop;

use crate::interface::Interface;
use crate::neighbours::Station;

/// Where packets of a route are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NextHop {
    /// The router itself.
    Local,
    /// The station with the packet's own destination address, on the link of this port.
    Link(u16),
    /// This station.
    Station(Station),
    /// None: the sender gets an error.
    Reject,
    /// None: the sender gets "communication administratively prohibited".
    Prohibit,
    /// None: packets are discarded silently.
    Blackhole,
    /// The IPsec tunnel of this number.
    Tunnel(u16),
    /// One of several, by flow: the list with this number.
    Multipath(u16),
}

/// How a worker forwards packets to a next hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adjacency {
    /// Destination and source address of the frame.
    pub addresses: [u8; 12],
    /// The port, or [`Adjacency::SLOW`] if it takes more than rewriting the frame.
    pub port: u16,
    /// Frames below this length, without FCS, can be sent as they are.
    pub below: u16,
}

impl Adjacency {
    /// Not a port: the packet takes the slow path.
    pub const SLOW: u16 = u16::MAX;
    /// Unresolved: every frame is too long, even an empty one, so that one comparison sends it to the slow path.
    pub const UNRESOLVED: Adjacency = Adjacency { addresses: [0; 12], port: Adjacency::SLOW, below: 0 };

    /// Whether a frame of this length, without FCS, can be sent as it is.
    #[must_use]
    #[inline(always)]
    pub fn carries(&self, length: u16) -> bool {
        length < self.below
    }
}

/// One of several next hops that share the flows of a route.
#[derive(Clone, Copy, Debug)]
pub struct SharedPath {
    /// The shares up to and including this one.
    up_to: u32,
    /// How to forward.
    pub adjacency: Adjacency,
    /// The next hop itself.
    pub next: NextHop,
}

/// A snapshot of the next hops, by number.
#[derive(Clone, Debug)]
pub struct AdjacencyTable {
    /// How to forward.
    pub adjacencies: Box<[Adjacency]>,
    /// The next hops themselves.
    pub hops: Box<[Option<NextHop>]>,
    /// The members of next hops that are lists of several.
    paths: Box<[Box<[SharedPath]>]>,
    /// The ports, whose addresses may change.
    pub ports: Arc<[Interface]>,
}

impl SharedPath {
    pub(super) fn new(up_to: u32, adjacency: Adjacency, next: NextHop) -> SharedPath {
        SharedPath { up_to, adjacency, next }
    }
}

impl AdjacencyTable {
    pub(super) fn new(
        adjacencies: Box<[Adjacency]>,
        hops: Box<[Option<NextHop>]>,
        paths: Box<[Box<[SharedPath]>]>,
        ports: Arc<[Interface]>,
    ) -> AdjacencyTable {
        AdjacencyTable { adjacencies, hops, paths, ports }
    }

    /// The paths of a next hop that is a list of several.
    #[must_use]
    pub fn paths(&self, hop: Hop) -> &[SharedPath] {
        self.paths.get(usize::from(hop.0)).map_or(&[], |paths| paths)
    }

    /// The path of a flow, if the next hop is a list of several; `hash` is called only then.
    #[must_use]
    pub fn path(&self, hop: Hop, hash: impl FnOnce() -> u32) -> Option<&SharedPath> {
        let paths = self.paths(hop);
        let total = paths.last()?.up_to;
        // Mixed again, because bits of the same hash choose workers and upstream routers.
        let point = ((mix(u64::from(hash())) >> 32) * u64::from(total)) >> 32;
        paths.iter().find(|path| point < u64::from(path.up_to))
    }
}
