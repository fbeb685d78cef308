//! ICMP (RFC 792, 1191, 1812) and ICMPv6 (RFC 4443): errors, and echo.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::checksum::{self, Sum};
use crate::field::{four_at, sixteen_at};
use crate::ipv4::Ipv4Packet;
use crate::ipv6::Ipv6Packet;
use crate::{Ipv4Header, Ipv6Header, protocol};

/// The errors that a router reports to the sender of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IcmpError {
    /// The hop limit has expired.
    TimeExceeded,
    /// There is no route.
    NoRoute,
    /// The last hop does not answer.
    HostUnreachable,
    /// No application listens on the port.
    PortUnreachable,
    /// An administrator has forbidden it (RFC 1812, section 5.2.7.1; RFC 4443, section 3.1).
    Prohibited,
    /// The packet exceeds the MTU of the next link, in bytes.
    TooBig(u16),
}

impl IcmpError {
    /// Type, code and remaining header for IPv4.
    const fn v4(self) -> (u8, u8, u32) {
        match self {
            IcmpError::TimeExceeded => (11, 0, 0),
            IcmpError::NoRoute => (3, 0, 0),
            IcmpError::HostUnreachable => (3, 1, 0),
            IcmpError::PortUnreachable => (3, 3, 0),
            IcmpError::Prohibited => (3, 13, 0),
            IcmpError::TooBig(mtu) => (3, 4, mtu as u32),
        }
    }

    /// Type, code and remaining header for IPv6.
    const fn v6(self) -> (u8, u8, u32) {
        match self {
            IcmpError::TimeExceeded => (3, 0, 0),
            IcmpError::NoRoute => (1, 0, 0),
            IcmpError::HostUnreachable => (1, 3, 0),
            IcmpError::PortUnreachable => (1, 4, 0),
            IcmpError::Prohibited => (1, 1, 0),
            IcmpError::TooBig(mtu) => (2, 0, mtu as u32),
        }
    }
}

/// Maximum size of an error over IPv4, bytes (RFC 1812, section 4.3.2.3).
const MOST_V4: usize = 576;
/// Maximum size of an error over IPv6, bytes: the minimum MTU.
const MOST_V6: usize = 1280;
/// Bytes of an ICMP header.
const HEAD: usize = 8;

/// An IPv4 packet with an error about `offending`, of which as much is quoted as there is room for.
#[must_use]
pub fn error_v4(error: IcmpError, from: Ipv4Addr, to: Ipv4Addr, offending: &[u8]) -> Vec<u8> {
    let quoted = &offending[..offending.len().min(MOST_V4 - Ipv4Header::LEN - HEAD)];
    let mut message = message(error.v4(), quoted);
    let sum = checksum::of(&message);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    packet_v4(Ipv4Header { traffic_class: 0xc0, ..Ipv4Header::between(from, to) }, &message)
}

/// An IPv6 packet with an error about `offending`, of which as much is quoted as there is room for.
#[must_use]
pub fn error_v6(error: IcmpError, from: Ipv6Addr, to: Ipv6Addr, offending: &[u8]) -> Vec<u8> {
    let quoted = &offending[..offending.len().min(MOST_V6 - Ipv6Header::LEN - HEAD)];
    packet_v6(Ipv6Header::between(from, to), message(error.v6(), quoted))
}

/// Whether a router must not send an error about a packet that it drops (RFC 1812, section 4.3.2.7): never about an
/// error, a later fragment, or a packet to or from several stations.
#[must_use]
pub fn is_silent_v4(packet: &Ipv4Packet<'_>) -> bool {
    let [first, ..] = packet.source.octets();
    let single = !(packet.destination.is_multicast()
        || packet.destination.is_broadcast()
        || packet.source.is_multicast()
        || packet.source.is_loopback()
        || first == 0
        || first >= 240);
    let is_error = packet.protocol == protocol::ICMP
        && !packet.payload.first().is_some_and(|kind| matches!(kind, 0 | 8 | 9 | 10 | 13..=18));
    !single || packet.is_later_fragment() || is_error
}

/// [`is_silent_v4`] for IPv6 (RFC 4443, section 2.4 e), where "too big" is also sent about multicast packets.
#[must_use]
pub fn is_silent_v6(packet: &Ipv6Packet<'_>, error: IcmpError) -> bool {
    let to_many = packet.destination.is_multicast() && !matches!(error, IcmpError::TooBig(_));
    let from_nobody = packet.source.is_unspecified() || packet.source.is_multicast();
    let is_error = packet.upper_layer().is_ok_and(|upper| {
        upper.protocol == protocol::ICMPV6
            && !upper.is_later_fragment
            && upper.bytes.first().is_none_or(|kind| *kind < 128 || *kind == 137)
    });
    to_many || from_nobody || is_error
}

/// The source and the destination of the packet that an ICMP error is about; `None` if the packet is no error.
#[must_use]
pub fn subject_v4(packet: &Ipv4Packet<'_>) -> Option<(Ipv4Addr, Ipv4Addr)> {
    let [3 | 4 | 11 | 12, _, _, _, _, _, _, _, about @ ..] = packet.payload else { return None };
    let header: &[u8; Ipv4Header::LEN] = about.first_chunk()?;
    let is_error = packet.protocol == protocol::ICMP && !packet.is_later_fragment() && header[0] >> 4 == 4;
    is_error.then(|| (four_at(header, 12).into(), four_at(header, 16).into()))
}

/// [`subject_v4`] for IPv6.
#[must_use]
pub fn subject_v6(packet: &Ipv6Packet<'_>) -> Option<(Ipv6Addr, Ipv6Addr)> {
    let upper = packet.upper_layer().ok()?;
    let [1..=4, _, _, _, _, _, _, _, about @ ..] = upper.bytes else { return None };
    let header: &[u8; Ipv6Header::LEN] = about.first_chunk()?;
    let is_error = upper.protocol == protocol::ICMPV6 && !upper.is_later_fragment && header[0] >> 4 == 6;
    is_error.then(|| (sixteen_at(header, 8).into(), sixteen_at(header, 24).into()))
}

/// An echo request. Its reply repeats everything but the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EchoRequest<'a> {
    /// Identifier, sequence number and data.
    rest: &'a [u8],
}

impl<'a> EchoRequest<'a> {
    /// The request in an IPv4 packet, if there is one and its checksum is correct.
    #[must_use]
    pub fn in_v4(packet: &Ipv4Packet<'a>) -> Option<EchoRequest<'a>> {
        let whole = packet.fragment == (0, false) && checksum::of(packet.payload) == 0;
        let [8, 0, _, _, rest @ ..] = packet.payload else { return None };
        (whole && packet.protocol == protocol::ICMP && rest.len() >= 4).then_some(EchoRequest { rest })
    }

    /// The request in an IPv6 packet, perhaps behind extension headers, if there is one and its checksum is correct.
    #[must_use]
    pub fn in_v6(packet: &Ipv6Packet<'a>) -> Option<EchoRequest<'a>> {
        let (protocol::ICMPV6, message @ [128, 0, _, _, rest @ ..]) = packet.delivered()? else {
            return None;
        };
        (is_sum_right(packet, message) && rest.len() >= 4).then_some(EchoRequest { rest })
    }

    /// The IPv4 packet that answers `request`.
    #[must_use]
    pub fn answer_v4(self, request: &Ipv4Packet<'_>) -> Vec<u8> {
        let mut message = [&[0; 4][..], self.rest].concat();
        let sum = checksum::of(&message);
        message[2..4].copy_from_slice(&sum.to_be_bytes());
        let header = Ipv4Header {
            traffic_class: request.traffic_class & 0xfc,
            ..Ipv4Header::between(request.destination, request.source)
        };
        packet_v4(header, &message)
    }

    /// The IPv6 packet that answers `request`.
    #[must_use]
    pub fn answer_v6(self, request: &Ipv6Packet<'_>) -> Vec<u8> {
        let message = [&[129, 0, 0, 0][..], self.rest].concat();
        packet_v6(Ipv6Header::between(request.destination, request.source), message)
    }
}

/// Whether a packet is ICMPv6 without extension headers, with a correct checksum.
pub(crate) fn is_icmp_v6(packet: &Ipv6Packet<'_>) -> bool {
    packet.next == protocol::ICMPV6 && is_sum_right(packet, packet.payload)
}

/// Whether the checksum of an ICMPv6 message in a packet is correct.
fn is_sum_right(packet: &Ipv6Packet<'_>, message: &[u8]) -> bool {
    let ends = (packet.source, packet.destination);
    Sum::default().pseudo_v6(ends, protocol::ICMPV6, message.len()).bytes(message).checksum() == 0
}

/// A message without checksum.
fn message((kind, code, rest): (u8, u8, u32), quoted: &[u8]) -> Vec<u8> {
    let [a, b, c, d] = rest.to_be_bytes();
    [&[kind, code, 0, 0, a, b, c, d][..], quoted].concat()
}

/// An IPv4 packet around an ICMP message.
fn packet_v4(header: Ipv4Header, message: &[u8]) -> Vec<u8> {
    let header = Ipv4Header { protocol: protocol::ICMP, payload: message.len() as u16, ..header };
    [&header.to_bytes()[..], message].concat()
}

/// An IPv6 packet around an ICMPv6 message, whose checksum is filled in.
pub(crate) fn packet_v6(header: Ipv6Header, mut message: Vec<u8>) -> Vec<u8> {
    let header = Ipv6Header { next: protocol::ICMPV6, payload: message.len() as u16, ..header };
    let ends = (header.source, header.destination);
    let sum = Sum::default().pseudo_v6(ends, protocol::ICMPV6, message.len()).bytes(&message).checksum();
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    [&header.to_bytes()[..], &message].concat()
}
