//! Real packets as bytes: Ethernet with VLAN tags, ARP, IPv4, IPv6, ICMP, neighbour discovery, UDP, the ports of a flow,
//! receive-side scaling, capture files, and the cache of stations that ARP and neighbour discovery fill.
//!
//! Parsers borrow a slice and never panic, whatever it holds; builders return arrays or vectors of bytes. Must not depend on
//! sockets, routes or interfaces.
//!
//! ```
//! use weft_packet::{EtherType, EthernetHeader, Ipv4Packet, Ipv4Header, Mac, protocol};
//! let (source, destination) = ("192.0.2.1".parse()?, "198.51.100.7".parse()?);
//! let ip = Ipv4Header { protocol: protocol::UDP, ttl: 64, payload: 0, ..Ipv4Header::between(source, destination) };
//! let mut bytes = ip.to_bytes();
//! assert!(weft_packet::ipv4::decrement_ttl(&mut bytes));
//! assert_eq!(Ipv4Packet::parse(&bytes)?.ttl, 63); // The checksum still holds: `parse` verifies it.
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod arp;
pub mod capture;
pub mod checksum;
pub mod ethernet;
pub mod fragment;
pub mod icmp;
pub mod ipv4;
pub mod ipv6;
pub mod neighbour;
pub mod ports;
pub mod rss;
pub mod stations;
pub mod udp;

mod field;
mod malformed;

pub use arp::{ArpMessage, ArpOperation};
pub use ethernet::{EtherType, EthernetFrame, EthernetHeader, Mac, VlanTag};
pub use icmp::{EchoRequest, IcmpError};
pub use ipv4::{Ipv4Header, Ipv4Packet};
pub use ipv6::{Ipv6Header, Ipv6Packet};
pub use malformed::Malformed;
pub use neighbour::NeighbourMessage;
pub use udp::{UdpDatagram, UdpHeader};

/// Numbers of the protocols above IP.
pub mod protocol {
    /// ICMP for IPv4.
    pub const ICMP: u8 = 1;
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// ICMP for IPv6.
    pub const ICMPV6: u8 = 58;
}
