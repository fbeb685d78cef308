//! What a router consists of, checked.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use weft_core::{HostId, PortId, SwitchId};
use weft_fib::IpPrefix;
use weft_packet::Mac;
use weft_plan::Setup;
use weft_router::app::switch::ClassOfCodePoint;
use weft_topology::Node;

use crate::watch::WatchAddress;

/// A device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortDevice {
    /// A network interface, through a packet socket.
    Packet(String),
    /// A TAP device of this name, which is created if it is not there.
    Tap(String),
}

/// A port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedPort {
    /// What the file calls it.
    pub name: String,
    /// Its device.
    pub device: PortDevice,
    /// Its station address; that of the interface unless given.
    pub mac: Option<Mac>,
    /// Longest packet, bytes; that of the interface unless given.
    pub mtu: Option<u16>,
    /// Its addresses, with the lengths of their links' prefixes.
    pub addresses: Vec<(IpAddr, u8)>,
    /// What the application wants to know of it.
    pub use_of: PortUse,
}

/// What an application does with a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortUse {
    /// Routing: its addresses say all.
    Routed,
    /// Minimal forwarding sends its frames by the port of this number to this station.
    Wired(u16, Mac),
    /// It is this port of a switch, with this host at its other end if it is one, and this station if it is known beforehand.
    Switched(PortId, Option<HostId>, Option<Mac>),
}

/// Where packets of a planned route go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlannedHop {
    /// By a port to a station on its link.
    Gateway(u16, IpAddr),
    /// To the stations on the link of a port themselves.
    Link(u16),
    /// Nowhere.
    Reject,
}

/// A switch of a scenario's network.
#[derive(Clone)]
pub struct PlannedSwitch {
    /// The network.
    pub setup: Arc<Setup>,
    /// Which of its switches.
    pub switch: SwitchId,
    /// The class of each code point.
    pub class_of: ClassOfCodePoint,
}

impl fmt::Debug for PlannedSwitch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlannedSwitch({})", self.setup.graph.name(Node::Switch(self.switch)))
    }
}

/// What is done with frames.
#[derive(Clone, Debug)]
pub enum PlannedApplication {
    /// Minimal forwarding.
    Forward,
    /// Routing, with these routes besides those to the ports' own links.
    Route {
        /// The routes, in the order of the file.
        routes: Vec<(IpPrefix, PlannedHop)>,
        /// ICMP errors a second that each worker sends.
        errors_per_second: u32,
    },
    /// Switching as a switch of a scenario does.
    Switch(PlannedSwitch),
}

/// A router.
#[derive(Clone, Debug)]
pub struct RouterPlan {
    /// Threads.
    pub workers: u16,
    /// Most frames received at once.
    pub burst: usize,
    /// Runs worker n on core n.
    pub pin: bool,
    /// Where it can be asked while it runs.
    pub metrics: Option<WatchAddress>,
    /// What is done with frames.
    pub application: PlannedApplication,
    /// The ports.
    pub ports: Vec<PlannedPort>,
}
