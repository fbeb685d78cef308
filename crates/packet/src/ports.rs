//! The ports of TCP and UDP, and the tuple of a flow.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::checksum::Sum;
use crate::ipv4::Ipv4Packet;
use crate::ipv6::Ipv6Packet;
use crate::protocol::{TCP, UDP};
use crate::udp::{UdpHeader, fill_checksum};

/// Source and destination port of TCP or UDP bytes.
#[must_use]
pub fn of(protocol: u8, bytes: &[u8]) -> Option<(u16, u16)> {
    let [a, b, c, d] = *bytes.first_chunk()?;
    let ports = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    matches!(protocol, TCP | UDP).then_some(ports)
}

/// The ports of an IPv4 packet. Fragments have none, the first included, so that those of a packet are of one flow.
#[must_use]
pub fn of_v4(packet: &Ipv4Packet<'_>) -> Option<(u16, u16)> {
    (packet.fragment == (0, false)).then(|| of(packet.protocol, packet.payload)).flatten()
}

/// The ports of an IPv6 packet; fragments have none, likewise.
#[must_use]
pub fn of_v6(packet: &Ipv6Packet<'_>) -> Option<(u16, u16)> {
    let upper = packet.upper_layer().ok()?;
    (!upper.is_fragment).then(|| of(upper.protocol, upper.bytes)).flatten()
}

/// A UDP datagram in an IPv4 packet with its checksum; for tests and generators.
#[must_use]
pub fn udp_v4(header: crate::Ipv4Header, ports: (u16, u16), data: &[u8]) -> Vec<u8> {
    let ends = (header.source, header.destination);
    let datagram = udp(ports, data, |sum, length| sum.pseudo_v4(ends, UDP, length));
    let header = crate::Ipv4Header { protocol: UDP, payload: datagram.len() as u16, ..header };
    [&header.to_bytes()[..], &datagram].concat()
}

/// A UDP datagram in an IPv6 packet with its checksum; for tests and generators.
#[must_use]
pub fn udp_v6(header: crate::Ipv6Header, ports: (u16, u16), data: &[u8]) -> Vec<u8> {
    let ends: (Ipv6Addr, Ipv6Addr) = (header.source, header.destination);
    let datagram = udp(ports, data, |sum, length| sum.pseudo_v6(ends, UDP, length));
    let header = crate::Ipv6Header { next: UDP, payload: datagram.len() as u16, ..header };
    [&header.to_bytes()[..], &datagram].concat()
}

fn udp((source, destination): (u16, u16), data: &[u8], pseudo: impl Fn(Sum, usize) -> Sum) -> Vec<u8> {
    let header = UdpHeader { source, destination, payload: data.len() as u16 };
    let mut datagram = [&header.to_bytes()[..], data].concat();
    let sum = pseudo(Sum::default(), datagram.len());
    fill_checksum(&mut datagram, sum);
    datagram
}

/// The tuple of an IPv4 flow as bytes, in the order of network cards' hash functions: source, destination, ports.
#[must_use]
pub fn tuple_v4(ends: (Ipv4Addr, Ipv4Addr), ports: (u16, u16)) -> [u8; 12] {
    let mut bytes = [0; 12];
    bytes[..4].copy_from_slice(&ends.0.octets());
    bytes[4..8].copy_from_slice(&ends.1.octets());
    bytes[8..10].copy_from_slice(&ports.0.to_be_bytes());
    bytes[10..].copy_from_slice(&ports.1.to_be_bytes());
    bytes
}

/// The tuple of an IPv6 flow.
#[must_use]
pub fn tuple_v6(ends: (Ipv6Addr, Ipv6Addr), ports: (u16, u16)) -> [u8; 36] {
    let mut bytes = [0; 36];
    bytes[..16].copy_from_slice(&ends.0.octets());
    bytes[16..32].copy_from_slice(&ends.1.octets());
    bytes[32..34].copy_from_slice(&ports.0.to_be_bytes());
    bytes[34..].copy_from_slice(&ports.1.to_be_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ipv4Header;

    /// One with more to follow, one at an offset, and a whole packet that may be fragmented.
    #[test]
    fn fragments_have_no_ports() {
        let mut packet =
            udp_v4(Ipv4Header::between([10, 0, 0, 1].into(), [10, 0, 0, 2].into()), (7, 9), b"x");
        for (flags, ports) in [([0, 0], Some((7, 9))), ([0x20, 0], None), ([0, 1], None), ([0x20, 1], None)] {
            packet[6..8].copy_from_slice(&flags);
            packet[10..12].fill(0);
            let sum = crate::checksum::of(&packet[..20]).to_be_bytes();
            packet[10..12].copy_from_slice(&sum);
            assert_eq!(of_v4(&Ipv4Packet::parse(&packet).unwrap()), ports, "{flags:?}");
        }
    }
}
