//! Packets that enter and leave tunnels.

use std::net::IpAddr;

use weft_fib::Hop;
use weft_packet::fragment::fragments;
use weft_packet::{EtherType, IcmpError, Ipv4Packet, Ipv6Packet};

use crate::app::Desk;
use crate::app::route::Routing;
use crate::app::route::send::kind_of;
use crate::app::route::slow::{Fate, Transit};
use crate::control::NextHop;
use crate::counters::DropCause;
use crate::tunnel::Tunnel;

impl Routing {
    /// A packet of the router's neighbours enters a tunnel; its hop limit has not been decremented.
    pub(super) fn enter(
        &mut self,
        desk: &mut Desk<'_>,
        transit: Transit<'_>,
        number: u16,
        packet: &[u8],
    ) -> Fate {
        let Some(mtu) = self.tunnel_mtu(number) else {
            return self.refuse(desk, transit, (IcmpError::NoRoute, DropCause::NoRoute));
        };
        if packet.len() <= usize::from(mtu) {
            return self.send_all(desk, transit.port, number, &[packet]);
        }
        let Some(parts) = fragments(packet, mtu.into()) else {
            return self.refuse(desk, transit, (IcmpError::TooBig(mtu), DropCause::TooBig));
        };
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        self.send_all(desk, transit.port, number, &parts)
    }

    /// Sends the parts of a packet through a tunnel.
    fn send_all(&mut self, desk: &mut Desk<'_>, port: u16, number: u16, parts: &[&[u8]]) -> Fate {
        desk.counters.made += parts.len() as u64 - 1;
        for (part, left) in parts.iter().zip((0..parts.len() as u64).rev()) {
            if let Err(cause) = self.send_through(desk, port, number, part) {
                desk.counters.drop(cause, left);
                return Fate::Dropped(cause);
            }
        }
        Fate::Onward
    }

    /// Seals an IP packet and sends it to the other end of the tunnel.
    pub(super) fn send_through(
        &mut self,
        desk: &mut Desk<'_>,
        port: u16,
        number: u16,
        packet: &[u8],
    ) -> Result<(), DropCause> {
        let sealed = self.tunnels.get(number).ok_or(DropCause::NoRoute)?.seal(packet)?;
        desk.counters.sealed += 1;
        let station = self.station_of(port, &sealed).ok_or(DropCause::NoRoute)?;
        self.send_to(desk, station, &sealed);
        Ok(())
    }

    /// The longest packet that a tunnel takes; none without a route to its other end.
    fn tunnel_mtu(&self, number: u16) -> Option<u16> {
        let tunnel = self.tunnels.get(number)?;
        self.mtu_by(tunnel, self.hop_to(tunnel.ends.1))
    }

    /// The longest packet that a tunnel takes by this next hop.
    pub(super) fn mtu_by(&self, tunnel: &Tunnel, hop: Hop) -> Option<u16> {
        let port = match self.next(hop, &[])? {
            NextHop::Link(port) | NextHop::Station((port, _)) => port,
            _ => return None,
        };
        Some(tunnel.mtu(self.ports[usize::from(port)].mtu))
    }

    /// A sealed packet for the router: what is inside goes on as if it had arrived, if its sender may use the tunnel.
    pub(super) fn leave_tunnel(
        &mut self,
        desk: &mut Desk<'_>,
        port: u16,
        opened: Result<(u16, Vec<u8>), DropCause>,
    ) -> Fate {
        let (number, packet) = match opened {
            Ok(opened) => opened,
            Err(cause) => return Fate::Dropped(cause),
        };
        desk.counters.opened += 1;
        match self.may_leave(number, &packet) {
            Err(cause) => Fate::Dropped(cause),
            Ok(()) if kind_of(&packet) == EtherType::IPV4 => self.judge_v4(desk, (port, false), &packet),
            Ok(()) => self.judge_v6(desk, (port, false), &packet),
        }
    }

    /// Whether a packet may come out of a tunnel: the routes would send an answer through it (RFC 4301, section 5.2).
    pub(super) fn may_leave(&self, number: u16, packet: &[u8]) -> Result<(), DropCause> {
        let source = match kind_of(packet) {
            EtherType::IPV4 => Ipv4Packet::parse(packet).map(|inner| IpAddr::V4(inner.source)),
            _ => Ipv6Packet::parse(packet).map(|inner| IpAddr::V6(inner.source)),
        };
        let hop = self.hop_to(source.map_err(|_| DropCause::Malformed)?);
        match self.next(hop, packet) {
            Some(NextHop::Tunnel(of)) if of == number => Ok(()),
            _ => Err(DropCause::EspPolicy),
        }
    }

    /// The number of the next hop to an address.
    pub(super) fn hop_to(&self, address: IpAddr) -> Hop {
        match address {
            IpAddr::V4(address) => self.v4.lookup(address.into()),
            IpAddr::V6(address) => self.v6.lookup(address.into()),
        }
    }
}
