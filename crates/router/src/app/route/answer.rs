//! Packets for the router itself: ARP, neighbour discovery, echo.

use std::net::{IpAddr, Ipv6Addr};

use weft_packet::{
    ArpMessage, ArpOperation, EchoRequest, EtherType, IcmpError, Ipv4Packet, Ipv6Packet, NeighbourMessage,
    protocol,
};

use crate::app::Desk;
use crate::app::route::Routing;
use crate::app::route::slow::{Fate, Transit};
use crate::counters::DropCause;
use crate::neighbours::Announcement;
use crate::tunnel::OuterPacket;

/// All stations of a link that speak IPv6.
const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);

impl Routing {
    pub(super) fn hear_arp(&mut self, desk: &mut Desk<'_>, port: u16, bytes: &[u8]) -> Fate {
        let Ok(message) = ArpMessage::parse(bytes) else { return Fate::Dropped(DropCause::Malformed) };
        let own = self.ports[usize::from(port)].mac;
        let asks_us = message.operation == ArpOperation::Request
            && self.ports[usize::from(port)].owns(message.target.1.into());
        let how = if asks_us { Announcement::Question } else { Announcement::Answer };
        self.hear(desk, (port, message.sender.1.into()), message.sender.0, how);
        if asks_us && !self.beside_kernel {
            let answer = message.answer(own).to_bytes();
            self.send_own(desk, (port, message.sender.0), EtherType::ARP, &answer);
        }
        Fate::Consumed
    }

    pub(super) fn answer_v4(
        &mut self,
        desk: &mut Desk<'_>,
        transit: Transit<'_>,
        packet: &Ipv4Packet<'_>,
    ) -> Fate {
        if let Some(opened) = self.tunnels.open(OuterPacket::of_v4(packet)) {
            return self.leave_tunnel(desk, transit.port, opened);
        }
        if self.beside_kernel {
            return Fate::Consumed;
        }
        if let Some(echo) = EchoRequest::in_v4(packet) {
            self.route_own(desk, transit.port, echo.answer_v4(packet));
            return Fate::Consumed;
        }
        match packet.protocol {
            protocol::UDP => self.refuse(desk, transit, (IcmpError::PortUnreachable, DropCause::Local)),
            _ => Fate::Dropped(DropCause::Local),
        }
    }

    pub(super) fn answer_v6(
        &mut self,
        desk: &mut Desk<'_>,
        transit: Transit<'_>,
        packet: &Ipv6Packet<'_>,
    ) -> Fate {
        if let Some(opened) = self.tunnels.open(OuterPacket::of_v6(packet)) {
            return self.leave_tunnel(desk, transit.port, opened);
        }
        match NeighbourMessage::parse(packet) {
            Err(_) => return Fate::Dropped(DropCause::Malformed),
            Ok(Some(message)) => return self.hear_neighbour(desk, (transit.port, packet.source), message),
            Ok(None) if self.beside_kernel => return Fate::Consumed,
            Ok(None) => {}
        }
        if packet.destination.is_multicast() {
            return Fate::Dropped(DropCause::Multicast);
        }
        if let Some(echo) = EchoRequest::in_v6(packet) {
            self.route_own(desk, transit.port, echo.answer_v6(packet));
            return Fate::Consumed;
        }
        match packet.next {
            protocol::UDP => self.refuse(desk, transit, (IcmpError::PortUnreachable, DropCause::Local)),
            _ => Fate::Dropped(DropCause::Local),
        }
    }

    fn hear_neighbour(
        &mut self,
        desk: &mut Desk<'_>,
        (port, from): (u16, Ipv6Addr),
        message: NeighbourMessage,
    ) -> Fate {
        let own = self.ports[usize::from(port)].mac;
        if message.advertises {
            let station = (port, message.target.into());
            // A station that only confirms its address may omit it.
            let known = || self.control.read(|state| state.neighbours().mac(station));
            if let Some(mac) = message.mac.or_else(known) {
                let NeighbourMessage { solicited, overrides, .. } = message;
                self.hear(desk, station, mac, Announcement::Advertisement { solicited, overrides });
            }
            return Fate::Consumed;
        }
        if !self.ports[usize::from(port)].owns(message.target.into()) {
            return Fate::Consumed;
        }
        match message.mac.filter(|_| !from.is_unspecified()) {
            Some(mac) if self.beside_kernel => {
                self.hear(desk, (port, IpAddr::V6(from)), mac, Announcement::Question)
            }
            None if self.beside_kernel => {}
            Some(mac) => {
                self.hear(desk, (port, IpAddr::V6(from)), mac, Announcement::Question);
                let answer = NeighbourMessage::advertise(message.target, own, from);
                self.send_own(desk, (port, mac), EtherType::IPV6, &answer);
            }
            // A station that solicits a known address need not give its own (RFC 4861, section 4.3): it is looked up,
            // or asked for.
            None if !from.is_unspecified() => {
                let answer = NeighbourMessage::advertise(message.target, own, from);
                desk.counters.made += 1;
                self.send_to(desk, (port, IpAddr::V6(from)), &answer);
            }
            // A host that checks whether its address is free has none yet: the answer goes to all nodes.
            None => {
                let answer = NeighbourMessage::advertise(message.target, own, ALL_NODES);
                let to = weft_packet::neighbour::multicast_mac(ALL_NODES);
                self.send_own(desk, (port, to), EtherType::IPV6, &answer);
            }
        }
        Fate::Consumed
    }
}
