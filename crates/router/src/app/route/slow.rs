//! The slow path, for a packet that needs more than a next hop: one for the router itself, one that cannot be
//! forwarded, or one whose next hop must be resolved.

use std::net::{IpAddr, Ipv4Addr};

use weft_fib::Hop;
use weft_packet::fragment::fragments;
use weft_packet::{EtherType, EthernetFrame, IcmpError, Ipv4Packet, Ipv6Packet, Mac, ipv4, ipv6};

use crate::app::Desk;
use crate::app::route::Routing;
use crate::app::route::send::kind_of;
use crate::backend::oversized;
use crate::control::NextHop;
use crate::counters::DropCause;
use crate::interface::{Interface, is_link_local};
use crate::neighbours::{Announcement, Station};

/// The fate of a received packet.
pub(super) enum Fate {
    /// It was forwarded, or waits for its next hop to be resolved.
    Onward,
    /// It was addressed to the router, which has processed it, or to the kernel, which has a copy.
    Consumed,
    /// It was dropped.
    Dropped(DropCause),
}

/// A packet, with the fields that forwarding needs.
#[derive(Clone, Copy)]
pub(super) struct Transit<'a> {
    /// The port by which it arrived.
    pub(super) port: u16,
    /// Its bytes from the IP header on, without padding of the frame.
    pub(super) bytes: &'a [u8],
    pub(super) hops_left: u8,
    /// Whether its frame was addressed to a group of stations: it is not forwarded, and no error answers it (RFC 1812, sections 4.3.2.7
    /// and 5.3.4; RFC 4443, section 2.4).
    pub(super) to_group: bool,
}

impl Routing {
    /// Processes the frames left by the fast path.
    pub(super) fn handle_rest(&mut self, desk: &mut Desk<'_>) {
        let mut rest = std::mem::take(&mut self.aside.rest);
        for frame in rest.drain(..) {
            let bytes = desk.pool.bytes(frame).to_vec();
            // Its buffer is released at once: any frame sent is a new one, so no path can lose a buffer.
            desk.pool.give(frame.buffer);
            match self.judge(desk, frame.port, &bytes) {
                Fate::Onward => {}
                Fate::Consumed => desk.counters.consumed += 1,
                Fate::Dropped(cause) => desk.counters.drop(cause, 1),
            }
        }
        self.aside.rest = rest;
    }

    fn judge(&mut self, desk: &mut Desk<'_>, port: u16, bytes: &[u8]) -> Fate {
        let Ok(frame) = EthernetFrame::parse(bytes) else { return Fate::Dropped(DropCause::Malformed) };
        if frame.source.is_multicast() {
            return Fate::Dropped(DropCause::Malformed);
        }
        let own = self.ports[usize::from(port)].mac;
        if frame.destination != own && !frame.destination.is_multicast() {
            return Fate::Dropped(DropCause::OtherStation);
        }
        match frame.kind {
            _ if frame.names_vlan() => Fate::Dropped(DropCause::Unsupported),
            EtherType::ARP => self.hear_arp(desk, port, frame.payload),
            EtherType::IPV4 => self.judge_v4(desk, (port, frame.destination != own), frame.payload),
            EtherType::IPV6 => self.judge_v6(desk, (port, frame.destination != own), frame.payload),
            _ => Fate::Dropped(DropCause::Unsupported),
        }
    }

    /// Judges an IPv4 packet that arrived by a port, given whether its frame was addressed to a group.
    pub(super) fn judge_v4(
        &mut self,
        desk: &mut Desk<'_>,
        (port, to_group): (u16, bool),
        bytes: &[u8],
    ) -> Fate {
        let Ok(packet) = Ipv4Packet::parse(bytes) else { return Fate::Dropped(DropCause::Malformed) };
        if is_for_many(packet.destination) {
            return if self.beside_kernel { Fate::Consumed } else { Fate::Dropped(DropCause::Multicast) };
        }
        if !ipv4::may_send(packet.source) || self.is_own_source(packet.source.into()) {
            return Fate::Dropped(DropCause::Source);
        }
        let transit = Transit { port, bytes: &bytes[..packet.total()], hops_left: packet.ttl, to_group };
        let hop = self.v4.lookup(packet.destination.into());
        match self.next(hop, transit.bytes) {
            Some(NextHop::Local) => self.answer_v4(desk, transit, &packet),
            next => self.onward(desk, transit, (next, [packet.source, packet.destination].map(IpAddr::V4))),
        }
    }

    /// The same for IPv6.
    pub(super) fn judge_v6(
        &mut self,
        desk: &mut Desk<'_>,
        (port, to_group): (u16, bool),
        bytes: &[u8],
    ) -> Fate {
        let Ok(packet) = Ipv6Packet::parse(bytes) else { return Fate::Dropped(DropCause::Malformed) };
        let transit =
            Transit { port, bytes: &bytes[..packet.total()], hops_left: packet.hop_limit, to_group };
        let ends = [packet.source, packet.destination].map(IpAddr::V6);
        if !ipv6::may_send(packet.source) || self.is_own_source(ends[0]) {
            return Fate::Dropped(DropCause::Source);
        }
        if self.ports[usize::from(port)].owns(ends[1]) || packet.destination.is_multicast() {
            return self.answer_v6(desk, transit, &packet);
        }
        let hop = self.v6.lookup(packet.destination.into());
        match self.next(hop, transit.bytes) {
            Some(NextHop::Local) => self.answer_v6(desk, transit, &packet),
            _ if packet.source.is_unspecified() => Fate::Dropped(DropCause::Source),
            next => self.onward(desk, transit, (next, ends)),
        }
    }

    /// Whether a packet claims to come from the router itself, or from all stations of a link (RFC 1812, section 5.3.7).
    fn is_own_source(&self, source: IpAddr) -> bool {
        match self.next(self.hop_to(source), &[]) {
            Some(NextHop::Local) => true,
            Some(NextHop::Blackhole) => self.is_broadcast(source),
            _ => false,
        }
    }

    /// Whether an address is that of all stations of a link.
    fn is_broadcast(&self, address: IpAddr) -> bool {
        self.ports.iter().any(|port| port.is_broadcast(address))
    }

    /// The next hop with this number for an IP packet.
    pub(super) fn next(&self, hop: Hop, packet: &[u8]) -> Option<NextHop> {
        match self.table.hops.get(usize::from(hop.0)).copied().flatten()? {
            NextHop::Multipath(_) => {
                let hash = || self.flows.hash_of_packet(kind_of(packet), packet).unwrap_or_default();
                self.table.path(hop, hash).map(|path| path.next)
            }
            next => Some(next),
        }
    }

    /// Forwards to the next hop, or sends an error to the sender.
    fn onward(
        &mut self,
        desk: &mut Desk<'_>,
        transit: Transit<'_>,
        (next, [from, to]): (Option<NextHop>, [IpAddr; 2]),
    ) -> Fate {
        if transit.to_group {
            return Fate::Dropped(DropCause::Multicast);
        }
        // Link-local addresses stay on their link (RFC 3927, section 7; RFC 4291, section 2.5.6).
        if is_link_local(from) {
            return Fate::Dropped(DropCause::Source);
        }
        if is_link_local(to) {
            return Fate::Dropped(DropCause::NoRoute);
        }
        let station = match next {
            Some(NextHop::Blackhole) if self.is_broadcast(to) => return Fate::Dropped(DropCause::Multicast),
            Some(NextHop::Blackhole) => return Fate::Dropped(DropCause::Rejected),
            None | Some(NextHop::Local | NextHop::Multipath(_)) => {
                return self.refuse(desk, transit, (IcmpError::NoRoute, DropCause::NoRoute));
            }
            Some(NextHop::Reject) => {
                return self.refuse(desk, transit, (IcmpError::NoRoute, DropCause::Rejected));
            }
            Some(NextHop::Prohibit) => {
                return self.refuse(desk, transit, (IcmpError::Prohibited, DropCause::Rejected));
            }
            Some(NextHop::Link(port)) => Ok((port, to)),
            Some(NextHop::Station(station)) => Ok(station),
            Some(NextHop::Tunnel(number)) => Err(number),
        };
        if transit.hops_left <= 1 {
            return self.refuse(desk, transit, (IcmpError::TimeExceeded, DropCause::Expired));
        }
        let mut bytes = transit.bytes.to_vec();
        let _ = if to.is_ipv4() {
            ipv4::decrement_ttl(&mut bytes)
        } else {
            ipv6::decrement_hop_limit(&mut bytes)
        };
        let station = match station {
            Ok(station) => station,
            Err(number) => return self.enter(desk, transit, number, &bytes),
        };
        let mtu = self.ports[usize::from(station.0)].mtu;
        if bytes.len() > usize::from(mtu) {
            let Some(parts) = fragments(&bytes, mtu.into()).filter(|_| to.is_ipv4()) else {
                return self.refuse_long(desk, transit, mtu);
            };
            desk.counters.made += parts.len() as u64 - 1;
            parts.iter().for_each(|part| self.send_to(desk, station, part));
            return Fate::Onward;
        }
        self.send_to(desk, station, &bytes);
        Fate::Onward
    }

    /// Drops a packet and sends an error to its sender, unless its frame was addressed to a group.
    pub(super) fn refuse(
        &mut self,
        desk: &mut Desk<'_>,
        transit: Transit<'_>,
        (error, cause): (IcmpError, DropCause),
    ) -> Fate {
        if !transit.to_group {
            self.send_error(desk, (transit.port, transit.bytes), error);
        }
        Fate::Dropped(cause)
    }

    /// Drops a packet that does not fit into `mtu` bytes and notifies its sender, unless it is longer than the link
    /// by which it came carries. In that case packets have been coalesced on the way, or the ends of that link
    /// disagree about its MTU: an error would ask a sender for less than it already sends.
    pub(super) fn refuse_long(&mut self, desk: &mut Desk<'_>, transit: Transit<'_>, mtu: u16) -> Fate {
        let (from, length) = (&self.ports[usize::from(transit.port)], transit.bytes.len());
        if length <= usize::from(from.mtu) {
            return self.refuse(desk, transit, (IcmpError::TooBig(mtu), DropCause::TooBig));
        }
        let Interface { name, mtu: carried, .. } = from;
        let found = format_args!(
            "port `{name}`: a packet of {length} bytes is dropped: its link carries {carried}, so that several have become one, or its ends have different MTUs"
        );
        oversized::tell_of_first(found, "INTERFACE");
        Fate::Dropped(DropCause::Oversized)
    }

    /// Called when a station has announced its MAC address. One outside the prefixes of its link is accepted only if
    /// the router itself has asked for it, because a route leads to it; the router's own address and those of all
    /// stations of the link never are.
    pub(super) fn hear(&mut self, desk: &mut Desk<'_>, station: Station, mac: Mac, how: Announcement) {
        let port = &self.ports[usize::from(station.0)];
        if mac.is_multicast() || mac == Mac::default() || port.is_broadcast(station.1) || port.owns(station.1)
        {
            return;
        }
        if self.ports[usize::from(station.0)].reaches(station.1) || self.control.has_station(station) {
            let outgoing = self.control.learn(desk.now, station, mac, how);
            self.carry_out(desk, outgoing);
        }
    }
}

/// Whether an address names several stations, or none.
fn is_for_many(address: Ipv4Addr) -> bool {
    address.is_multicast() || address.is_broadcast() || address.is_unspecified()
}
