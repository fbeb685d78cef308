//! Neighbour discovery for IPv6 (RFC 4861): solicitations and advertisements.

use std::net::Ipv6Addr;

use crate::Ipv6Header;
use crate::ethernet::Mac;
use crate::field::{sixteen_at, split};
use crate::icmp::{is_icmp_v6, packet_v6};
use crate::ipv6::Ipv6Packet;
use crate::malformed::Malformed;

/// A solicitation or advertisement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeighbourMessage {
    /// Whether it is an advertisement; otherwise it is a solicitation.
    pub advertises: bool,
    /// The target address.
    pub target: Ipv6Addr,
    /// The link-layer address in its option: of the sender (solicitation) or the target (advertisement).
    pub mac: Option<Mac>,
    /// Of an advertisement: whether it answers a solicitation.
    pub solicited: bool,
    /// Of an advertisement: whether its MAC address replaces another.
    pub overrides: bool,
}

const SOLICITATION: u8 = 135;
const ADVERTISEMENT: u8 = 136;
/// Flags of advertisements.
const ROUTER: u8 = 0x80;
const SOLICITED: u8 = 0x40;
const OVERRIDE: u8 = 0x20;

impl NeighbourMessage {
    /// The message in a packet; `None` if the packet is anything else.
    ///
    /// # Errors
    /// A message that receivers must discard (RFC 4861, sections 7.1.1 and 7.1.2): a hop limit below 255 (it has
    /// crossed a router), a wrong checksum, a code, a malformed option, a target that is a group; a solicitation by a
    /// station without an address that gives a link-layer address or is not addressed to a solicited-node group; an
    /// advertisement for a group that claims to answer.
    pub fn parse(packet: &Ipv6Packet<'_>) -> Result<Option<NeighbourMessage>, Malformed> {
        const HEADER: &str = "neighbour discovery";
        let kind = packet.payload.first().copied();
        if packet.next != crate::protocol::ICMPV6 || !matches!(kind, Some(SOLICITATION | ADVERTISEMENT)) {
            return Ok(None);
        }
        if packet.hop_limit != 255 {
            let value = packet.hop_limit.into();
            return Err(Malformed::Forbidden { header: HEADER, field: "hop limit", value });
        }
        if !is_icmp_v6(packet) {
            return Err(Malformed::Checksum { header: HEADER });
        }
        let (head, options) = split::<24>(packet.payload, HEADER)?;
        if head[1] != 0 {
            return Err(Malformed::Forbidden { header: HEADER, field: "code", value: head[1].into() });
        }
        let target = Ipv6Addr::from(sixteen_at(head, 8));
        if target.is_multicast() {
            return Err(Malformed::Forbidden { header: HEADER, field: "target", value: 0xff });
        }
        let advertises = head[0] == ADVERTISEMENT;
        let mac = option(options, if advertises { 2 } else { 1 })?;
        let says = |flag: u8| advertises && head[4] & flag != 0;
        let (solicited, overrides) = (says(SOLICITED), says(OVERRIDE));
        let to = packet.destination;
        if advertises && solicited && to.is_multicast() {
            return Err(Malformed::Forbidden { header: HEADER, field: "flag \"solicited\"", value: 1 });
        }
        let is_from_nobody = !advertises && packet.source.is_unspecified();
        if is_from_nobody && (mac.is_some() || to != solicited_node(to)) {
            return Err(Malformed::Forbidden { header: HEADER, field: "source", value: 0 });
        }
        Ok(Some(NeighbourMessage { advertises, target, mac, solicited, overrides }))
    }

    /// The packet of a solicitation for `target`.
    #[must_use]
    pub fn solicit(target: Ipv6Addr, (mac, from): (Mac, Ipv6Addr)) -> Vec<u8> {
        let header = Ipv6Header { hop_limit: 255, ..Ipv6Header::between(from, solicited_node(target)) };
        packet_v6(header, message(SOLICITATION, 0, target, (1, mac)))
    }

    /// The packet in which the station `mac` of a router advertises `target` to `to`: the station that has asked, or
    /// a group if that station has no address yet (RFC 4861, section 7.2.4).
    #[must_use]
    pub fn advertise(target: Ipv6Addr, mac: Mac, to: Ipv6Addr) -> Vec<u8> {
        let header = Ipv6Header { hop_limit: 255, ..Ipv6Header::between(target, to) };
        let solicited = if to.is_multicast() { 0 } else { SOLICITED };
        packet_v6(header, message(ADVERTISEMENT, ROUTER | solicited | OVERRIDE, target, (2, mac)))
    }
}

/// The solicited-node multicast address of an address.
#[must_use]
pub fn solicited_node(address: Ipv6Addr) -> Ipv6Addr {
    const GROUP: u128 = 0xff02_0000_0000_0000_0000_0001_ff00_0000;
    Ipv6Addr::from(GROUP | u128::from(address) & 0xff_ffff)
}

/// The MAC address of an IPv6 group (RFC 2464, section 7).
#[must_use]
pub fn multicast_mac(group: Ipv6Addr) -> Mac {
    let [.., a, b, c, d] = group.octets();
    Mac([0x33, 0x33, a, b, c, d])
}

/// The link-layer address in the options, the first of its type.
fn option(mut options: &[u8], wanted: u8) -> Result<Option<Mac>, Malformed> {
    const HEADER: &str = "neighbour discovery option";
    while let [kind, units, ..] = *options {
        let length = 8 * usize::from(units);
        let whole = if length == 0 { None } else { options.split_at_checked(length) };
        let (this, rest) =
            whole.ok_or(Malformed::Length { header: HEADER, says: length, has: options.len() })?;
        if let (true, [_, _, a, b, c, d, e, f]) = (kind == wanted, this) {
            return Ok(Some(Mac([*a, *b, *c, *d, *e, *f])));
        }
        options = rest;
    }
    Ok(None)
}

fn message(kind: u8, flags: u8, target: Ipv6Addr, (option, mac): (u8, Mac)) -> Vec<u8> {
    let head = [kind, 0, 0, 0, flags, 0, 0, 0];
    [&head[..], &target.octets(), &[option, 1], &mac.0].concat()
}
