//! What a switch may read and write of a packet: 32 bytes, the hot column of the pool.
//!
//! A switch decides on headers, never on bytes of payload; therefore the same switch serves the simulator and real
//! packets. Must not depend on sequence numbers: those are the transport's.

use crate::ids::{HostId, PortId};
use crate::units::Time;

/// The switch-visible part of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// When the last bit arrived at the node that now holds the packet (switch latency included).
    pub arrived: Time,
    /// Sending host: the source address, 24 bits. Above them are the bits in which the packet's protocol differs from TCP:
    /// none in the simulator ([`Header::with_protocol`]).
    pub source: HostId,
    /// Receiving host: the destination address.
    pub destination: HostId,
    /// Source port (high 16 bits) and destination port (low 16 bits).
    pub ports: u32,
    /// Four bytes a scheme may use in flight: the overlay of a balancer (CONGA), a path label (Presto), or, where the
    /// balancer needs none, a rank that the sending end writes (pFabric).
    pub note: u32,
    /// Size on the wire in bytes, with header, FCS, preamble and gap: what occupies link and buffer.
    pub wire: u16,
    /// The port by which the packet entered the switch that holds it.
    pub ingress: PortId,
    /// The kind of packet.
    pub kind: PacketKind,
    /// Priority class; 0 is served first.
    pub class: Class,
    /// Explicit congestion notification bits.
    pub marks: Marks,
    /// Switches passed so far.
    pub hops: u8,
}

/// The hop limit (TTL) with which hosts send packets, that of Linux. A switch that would have to forward with less than 1
/// drops the packet (RFC 1812, section 5.3.1): it passes one switch less.
pub const HOP_LIMIT: u8 = 64;

/// The kind of a packet, as switches distinguish it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum PacketKind {
    /// Payload.
    #[default]
    Data,
    /// Payload that a full queue may trim to its header.
    Trimmable,
    /// Payload whose loss the transport can afford: a switch with colour-aware dropping drops it first.
    Red,
    /// The header of payload that a queue has cut.
    Trimmed,
    /// A trimmed header that found no room either, on its way back to the sender.
    Returned,
    /// An acknowledgement without payload.
    Ack,
    /// Opening or closing a connection, probes, notifications, pulls.
    Control,
}

impl PacketKind {
    /// Whether the packet carries payload.
    #[must_use]
    #[inline]
    pub const fn is_payload(self) -> bool {
        (self as u8) <= PacketKind::Red as u8
    }
}

/// Priority class of a packet, 0 (served first) to 7.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Class(pub u8);

impl Class {
    /// Number of classes.
    pub const COUNT: usize = 8;
}

/// The ECN field of the IP header (RFC 3168).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not support marks.
    #[default]
    NotCapable,
    /// The transport supports marks (ECT(0)).
    Capable,
    /// Congestion experienced.
    Marked,
}

/// Marks on a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The ECN field.
    pub ecn: Ecn,
}

/// The protocol number of TCP.
const TCP: u8 = 6;
/// Bits of a host in its address 10.x.y.z.
const HOST_BITS: u32 = 24;

/// The five fields that name a flow on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuple {
    /// Source address.
    pub source: HostId,
    /// Destination address.
    pub destination: HostId,
    /// Source and destination port.
    pub ports: u32,
    /// IP protocol number.
    pub protocol: u8,
}

impl Header {
    /// The fields a hash may use. All simulated transports use the protocol number of TCP.
    #[must_use]
    pub fn tuple(&self) -> Tuple {
        let source = HostId(self.source.0 & ((1 << HOST_BITS) - 1));
        let protocol = TCP ^ (self.source.0 >> HOST_BITS) as u8;
        Tuple { source, destination: self.destination, ports: self.ports, protocol }
    }

    /// The header of a real packet of this protocol.
    #[must_use]
    pub fn with_protocol(self, protocol: u8) -> Header {
        let source = self.source.0 & ((1 << HOST_BITS) - 1);
        Header { source: HostId(source | u32::from(protocol ^ TCP) << HOST_BITS), ..self }
    }
}

impl Tuple {
    /// The 13 bytes as they are in a packet: addresses 10.x.y.z in network order, ports, protocol.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 13] {
        let mut bytes = [0; 13];
        bytes[0..4].copy_from_slice(&(0x0a00_0000 | self.source.0).to_be_bytes());
        bytes[4..8].copy_from_slice(&(0x0a00_0000 | self.destination.0).to_be_bytes());
        bytes[8..12].copy_from_slice(&self.ports.to_be_bytes());
        bytes[12] = self.protocol;
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_half_a_cache_line() {
        assert_eq!(size_of::<Header>(), 32);
    }

    #[test]
    fn a_tuple_has_the_packets_own_protocol_and_simulated_packets_that_of_tcp() {
        let header = Header {
            source: HostId(0x01_0203),
            destination: HostId(4),
            ports: 5 << 16 | 6,
            ..Header::default()
        };
        let bytes = |protocol| [10, 1, 2, 3, 10, 0, 0, 4, 0, 5, 0, 6, protocol];
        assert_eq!(header.tuple().to_bytes(), bytes(6));
        for protocol in [0, 1, 6, 17, 50, 132, 255] {
            let real = header.with_protocol(protocol);
            assert_eq!(real.tuple().to_bytes(), bytes(protocol));
            assert_eq!(real.with_protocol(6), header, "TCP is as in the simulator");
        }
    }
}
