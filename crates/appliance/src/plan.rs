//! What a router consists of, checked.

use std::net::IpAddr;

use weft_fib::IpPrefix;
use weft_packet::Mac;

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
    /// Where minimal forwarding sends its frames: the number of a port, and the station behind that.
    pub wire: Option<(u16, Mac)>,
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

/// What is done with frames.
#[derive(Clone, Debug, PartialEq, Eq)]
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
}

/// A router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterPlan {
    /// Threads.
    pub workers: u16,
    /// Most frames received at once.
    pub burst: usize,
    /// Runs worker n on core n.
    pub pin: bool,
    /// What is done with frames.
    pub application: PlannedApplication,
    /// The ports.
    pub ports: Vec<PlannedPort>,
}
