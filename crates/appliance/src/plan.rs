//! The checked parts of a router.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use weft_blueprint::Blueprint;
use weft_core::units::did_you_mean;
use weft_core::{HostId, PortId, SwitchId};
use weft_esp::EspCipher;
use weft_fib::IpPrefix;
use weft_packet::Mac;
use weft_plan::Setup;
use weft_router::app::cluster::ClusterEnd;
use weft_router::app::switch::ClassOfCodePoint;
use weft_router::neighbours::Station;
use weft_topology::Node;

use crate::watch::WatchAddress;

/// A device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortDevice {
    /// A network interface, through a packet socket.
    Packet(String),
    /// A network interface, through AF_XDP.
    Xdp(String),
    /// A TAP device of this name; created if it does not exist.
    Tap(String),
    /// Capture files: frames that arrive, and a file for those that leave.
    Capture {
        /// The file to read.
        read: Option<PathBuf>,
        /// The file to write.
        write: Option<PathBuf>,
    },
}

impl fmt::Display for PortDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PortDevice::Packet(name) | PortDevice::Xdp(name) => write!(f, "interface {name}"),
            PortDevice::Tap(name) => write!(f, "TAP device {name}"),
            PortDevice::Capture { .. } => f.write_str("a capture"),
        }
    }
}

/// A port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedPort {
    /// Its name in the file.
    pub name: String,
    /// Its device.
    pub device: PortDevice,
    /// Its MAC address; absent: that of the interface.
    pub mac: Option<Mac>,
    /// Longest packet in bytes; absent: that of the interface.
    pub mtu: Option<u16>,
    /// Its addresses, with the lengths of their links' prefixes.
    pub addresses: Vec<(IpAddr, u8)>,
    /// How the application uses the port.
    pub use_of: PortUse,
}

/// How an application uses a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortUse {
    /// Routing: the addresses suffice.
    Routed,
    /// Minimal forwarding: frames are sent by the port of this number to this station.
    Wired(u16, Mac),
    /// An external port of a cluster node, or a link to another node.
    OfNode(ClusterEnd),
    /// This port of a switch, with the host at its other end, if it is one, and the station there, if known in advance.
    Switched(PortId, Option<HostId>, Option<Mac>),
}

/// The next hop of a planned route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlannedHop {
    /// A station on the link of a port.
    Gateway(u16, IpAddr),
    /// The stations on the link of a port, directly.
    Link(u16),
    /// The tunnel with this number.
    Tunnel(u16),
    /// None: packets are rejected.
    Reject,
}

/// An IPsec tunnel.
#[derive(Clone, Debug)]
pub struct PlannedTunnel {
    /// Its name in the file.
    pub name: String,
    /// The addresses of its ends: this router's, then the other's.
    pub ends: (IpAddr, IpAddr),
    /// The UDP ports of its ends, in the same order, if ESP travels in UDP.
    pub udp: Option<(u16, u16)>,
    /// Index and cipher for sending.
    pub outbound: (u32, EspCipher),
    /// Index and cipher for receiving.
    pub inbound: (u32, EspCipher),
    /// Size of the anti-replay window, in packets.
    pub window: u32,
}

/// A switch of a scenario's network.
#[derive(Clone)]
pub struct PlannedSwitch {
    /// The network.
    pub setup: Arc<Setup>,
    /// The switch.
    pub switch: SwitchId,
    /// The class of each code point.
    pub class_of: ClassOfCodePoint,
    /// The forwarding engine of each input port, unless any engine may decide about its packets.
    pub readers: Vec<Option<u16>>,
}

impl fmt::Debug for PlannedSwitch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlannedSwitch({})", self.setup.graph.name(Node::Switch(self.switch)))
    }
}

/// A node of a cluster.
#[derive(Clone, Debug)]
pub struct PlannedNode {
    /// The cluster.
    pub blueprint: Blueprint,
    /// The node.
    pub node: u8,
}

/// How frames are processed.
#[derive(Clone, Debug)]
pub enum PlannedApplication {
    /// Minimal forwarding.
    Forward,
    /// Routing, with these routes in addition to those to the ports' own links.
    Route {
        /// The routes, in the order of the file; one for each next hop if a prefix has several.
        routes: Vec<(IpPrefix, PlannedHop)>,
        /// Stations whose MAC addresses are given.
        neighbours: Vec<(Station, Mac)>,
        /// IPsec tunnels, in the order of the file.
        tunnels: Vec<PlannedTunnel>,
        /// Whether the kernel's routes and addresses are followed.
        kernel: bool,
        /// ICMP errors per second that each worker may send.
        errors_per_second: u32,
    },
    /// Switching, as a switch of a scenario.
    Switch(PlannedSwitch),
    /// One node of a cluster of routers.
    Cluster(PlannedNode),
}

/// A router.
#[derive(Clone, Debug)]
pub struct RouterPlan {
    /// Threads.
    pub workers: u16,
    /// Maximum number of frames received at once.
    pub burst: usize,
    /// Maximum number of frames passed to a device at once; absent: all frames of a poll.
    pub send_burst: Option<usize>,
    /// Whether worker n is pinned to core n.
    pub pin: bool,
    /// The address at which it can be queried while it runs.
    pub metrics: Option<WatchAddress>,
    /// How frames are processed.
    pub application: PlannedApplication,
    /// The ports.
    pub ports: Vec<PlannedPort>,
}

impl RouterPlan {
    /// Whether the ports are captures, so that the router runs on recorded time.
    #[must_use]
    pub fn plays(&self) -> bool {
        self.ports.iter().any(|port| matches!(port.device, PortDevice::Capture { .. }))
    }

    /// The message about a port that does not exist; `None` if it does.
    #[must_use]
    pub fn unknown_port(&self, name: &str) -> Option<String> {
        let names = || self.ports.iter().map(|port| port.name.as_str());
        let meant = did_you_mean(name, names());
        let allowed = names().collect::<Vec<_>>().join(", ");
        (!names().any(|known| known == name))
            .then(|| format!("there is no port `{name}`{meant}\nallowed: {allowed}"))
    }

    /// The name of a tunnel; empty if there is none of this number.
    #[must_use]
    pub fn tunnel_name(&self, number: u16) -> &str {
        match &self.application {
            PlannedApplication::Route { tunnels, .. } => {
                tunnels.get(usize::from(number)).map_or("", |tunnel| tunnel.name.as_str())
            }
            _ => "",
        }
    }

    /// The worker that reads a port, if only one does: the one with the forwarding engine of its packets.
    #[must_use]
    pub fn reader_of(&self, port: &PlannedPort) -> Option<u16> {
        match (&self.application, port.use_of) {
            (PlannedApplication::Switch(switch), PortUse::Switched(number, ..)) => {
                Some(switch.reader_of(number, self.workers))
            }
            _ => None,
        }
    }
}

impl PlannedSwitch {
    /// The worker among `workers` that reads a port.
    #[must_use]
    pub fn reader_of(&self, port: PortId, workers: u16) -> u16 {
        self.readers[port.index()].map_or(port.index(), usize::from) as u16 % workers
    }
}
