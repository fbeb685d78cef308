//! Sends packets that do not leave in the buffer in which they arrived: packets that waited, and the router's own.

use std::net::IpAddr;

use weft_packet::fragment::fragments;
use weft_packet::icmp::{error_v4, error_v6, is_silent_v4, is_silent_v6};
use weft_packet::neighbour::{multicast_mac, solicited_node};
use weft_packet::{
    ArpMessage, ArpOperation, EtherType, EthernetHeader, IcmpError, Ipv4Packet, Ipv6Packet, Mac,
    NeighbourMessage, ipv4,
};

use crate::app::Desk;
use crate::app::route::Routing;
use crate::control::{NextHop, PendingSends};
use crate::counters::DropCause;
use crate::interface::is_link_local;
use crate::neighbours::{Resolution, Station};

impl Routing {
    /// Sends a packet to a station, or keeps it until the station has been resolved.
    pub(super) fn send_to(&mut self, desk: &mut Desk<'_>, station: Station, packet: &[u8]) {
        match self.control.resolve(desk.now, station, packet) {
            Resolution::Known(mac) => self.emit(desk, (station.0, mac), kind_of(packet), packet),
            Resolution::Ask => self.ask(desk, station),
            Resolution::Waits(displaced) => desk.counters.drop(DropCause::WaitingFull, displaced as u64),
            Resolution::Full => desk.counters.drop(DropCause::WaitingFull, 1),
        }
    }

    /// Sends a packet of the router's own by its routes; `port` is the port of the packet that it answers.
    pub(super) fn route_own(&mut self, desk: &mut Desk<'_>, port: u16, mut packet: Vec<u8>) {
        desk.counters.made += 1;
        if kind_of(&packet) == EtherType::IPV4 {
            ipv4::set_identification(&mut packet, self.control.next_identification());
        }
        let packet = packet.as_slice();
        let sent = match self.own_next(packet) {
            Some(NextHop::Tunnel(number)) => self.send_through(desk, port, number, packet),
            _ => match self.station_of(port, packet) {
                Some(station) => self.send_parts(desk, station, packet),
                None => Err(DropCause::NoRoute),
            },
        };
        if let Err(cause) = sent {
            desk.counters.drop(cause, 1);
        }
    }

    /// Sends a packet to a station, in fragments if its link is too narrow.
    fn send_parts(&mut self, desk: &mut Desk<'_>, station: Station, packet: &[u8]) -> Result<(), DropCause> {
        let mtu = usize::from(self.ports[usize::from(station.0)].mtu);
        if packet.len() <= mtu {
            self.send_to(desk, station, packet);
            return Ok(());
        }
        let parts = fragments(packet, mtu).filter(|_| station.1.is_ipv4()).ok_or(DropCause::TooBig)?;
        desk.counters.made += parts.len() as u64 - 1;
        parts.iter().for_each(|part| self.send_to(desk, station, part));
        Ok(())
    }

    /// The next hop of a packet of the router's own.
    fn own_next(&self, packet: &[u8]) -> Option<NextHop> {
        let hop = match kind_of(packet) {
            EtherType::IPV4 => self.v4.lookup(Ipv4Packet::parse(packet).ok()?.destination.into()),
            _ => self.v6.lookup(Ipv6Packet::parse(packet).ok()?.destination.into()),
        };
        self.next(hop, packet)
    }

    /// The station to which a packet is sent.
    pub(super) fn station_of(&self, port: u16, packet: &[u8]) -> Option<Station> {
        let to = match kind_of(packet) {
            EtherType::IPV4 => IpAddr::V4(Ipv4Packet::parse(packet).ok()?.destination),
            _ => IpAddr::V6(Ipv6Packet::parse(packet).ok()?.destination),
        };
        match self.own_next(packet) {
            _ if is_link_local(to) => Some((port, to)),
            Some(NextHop::Link(port)) => Some((port, to)),
            Some(NextHop::Station(station)) => Some(station),
            Some(_) | None => None,
        }
    }

    /// Sends a frame of the router's own.
    pub(super) fn send_own(&mut self, desk: &mut Desk<'_>, to: (u16, Mac), kind: EtherType, payload: &[u8]) {
        desk.counters.made += 1;
        self.emit(desk, to, kind, payload);
    }

    /// Puts a frame in its queue.
    fn emit(
        &mut self,
        desk: &mut Desk<'_>,
        (port, destination): (u16, Mac),
        kind: EtherType,
        payload: &[u8],
    ) {
        let own = &self.ports[usize::from(port)];
        // The MTU may have become smaller while the packet waited.
        if payload.len() > usize::from(own.mtu) {
            return desk.counters.drop(DropCause::TooBig, 1);
        }
        let header = EthernetHeader { destination, source: own.mac, kind }.to_bytes();
        match desk.pool.store_parts(&[&header, payload], port) {
            Some(frame) => desk.out.push(port, frame),
            None => desk.counters.drop(DropCause::NoBuffer, 1),
        }
    }

    /// Sends an ICMP error about a packet that arrived by `port`, unless that is not allowed.
    pub(super) fn send_error(&mut self, desk: &mut Desk<'_>, (port, bytes): (u16, &[u8]), error: IcmpError) {
        let Some(message) = self.error(port, bytes, error) else { return };
        if self.errors.take(desk.now) {
            self.route_own(desk, port, message);
        } else {
            desk.counters.errors_suppressed += 1;
        }
    }

    /// The packet that reports an error, if one may be sent and the port has an address to send it from.
    fn error(&self, port: u16, bytes: &[u8], error: IcmpError) -> Option<Vec<u8>> {
        match kind_of(bytes) {
            EtherType::IPV4 => {
                let packet = Ipv4Packet::parse(bytes).ok().filter(|packet| !is_silent_v4(packet))?;
                let IpAddr::V4(from) =
                    self.source_of_error(port, [packet.source, packet.destination].map(IpAddr::V4))?
                else {
                    return None;
                };
                Some(error_v4(error, from, packet.source, bytes))
            }
            _ => {
                let packet = Ipv6Packet::parse(bytes).ok().filter(|packet| !is_silent_v6(packet, error))?;
                let IpAddr::V6(from) =
                    self.source_of_error(port, [packet.source, packet.destination].map(IpAddr::V6))?
                else {
                    return None;
                };
                Some(error_v6(error, from, packet.source, bytes))
            }
        }
    }

    /// The source of an error about a packet with these ends that arrived by `port`: an address of the interface by
    /// which the error leaves (RFC 1812, section 4.3.2.4; of one of several that share flows), or else any. For an
    /// IPv6 packet to an address of the router, it is that address (RFC 4443, section 2.2 a).
    fn source_of_error(&self, port: u16, [source, destination]: [IpAddr; 2]) -> Option<IpAddr> {
        let is_own = destination.is_ipv6()
            && (self.ports[usize::from(port)].owns(destination)
                || self.next(self.hop_to(destination), &[]) == Some(NextHop::Local));
        if is_own {
            return Some(destination);
        }
        let (by, next) = match self.next(self.hop_to(source), &[]) {
            _ if is_link_local(source) => (port, source),
            Some(NextHop::Tunnel(_)) => return self.address_within(destination),
            Some(NextHop::Link(by)) => (by, source),
            Some(NextHop::Station((by, via))) => (by, via),
            _ => (port, source),
        };
        let own = |number: u16| self.ports[usize::from(number)].source_of_errors(next, source);
        let any = || (0..self.ports.len() as u16).find_map(own);
        own(by).or_else(|| own(port)).or_else(any)
    }

    /// Sends a request for the MAC address of a station.
    fn ask(&mut self, desk: &mut Desk<'_>, (port, target): Station) {
        let own = &self.ports[usize::from(port)];
        let mac = own.mac;
        match (target, own.source_for(target)) {
            (IpAddr::V4(target), Some(IpAddr::V4(source))) => {
                let (sender, target) = ((mac, source), (Mac::default(), target));
                let request = ArpMessage { operation: ArpOperation::Request, sender, target }.to_bytes();
                self.send_own(desk, (port, Mac::BROADCAST), EtherType::ARP, &request);
            }
            (IpAddr::V6(target), Some(IpAddr::V6(source))) => {
                let request = NeighbourMessage::solicit(target, (mac, source));
                self.send_own(desk, (port, multicast_mac(solicited_node(target))), EtherType::IPV6, &request);
            }
            // A port without an address of this family cannot ask; the packet is dropped after a while.
            _ => {}
        }
    }

    /// Sends the packets and requests that a change of the neighbours requires.
    pub(super) fn carry_out(&mut self, desk: &mut Desk<'_>, outgoing: PendingSends) {
        for ((port, _), mac, packet) in outgoing.ready {
            self.emit(desk, (port, mac), kind_of(&packet), &packet);
        }
        for station in outgoing.ask {
            self.ask(desk, station);
        }
        for (port, packet) in outgoing.failed {
            desk.counters.drop_at(port, DropCause::Unreachable, 1);
            self.send_error(desk, (port, &packet), IcmpError::HostUnreachable);
        }
    }
}

/// The Ethernet type of an IP packet, by its version.
pub(super) fn kind_of(packet: &[u8]) -> EtherType {
    match packet.first() {
        Some(first) if first >> 4 == 6 => EtherType::IPV6,
        _ => EtherType::IPV4,
    }
}
