//! Packets that enter and leave tunnels.

use std::net::IpAddr;

use weft_packet::fragment::fragments;
use weft_packet::{IcmpError, Ipv4Packet, Ipv6Packet};

use crate::app::Desk;
use crate::app::route::Routing;
use crate::app::route::send::kind_of;
use crate::app::route::slow::{Fate, Transit};
use crate::control::NextHop;
use crate::counters::DropCause;

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
        let hop = match tunnel.ends.1 {
            IpAddr::V4(far) => self.v4.lookup(far.into()),
            IpAddr::V6(far) => self.v6.lookup(far.into()),
        };
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
        let source = match kind_of(&packet) {
            weft_packet::EtherType::IPV4 => Ipv4Packet::parse(&packet).map(|inner| IpAddr::V4(inner.source)),
            _ => Ipv6Packet::parse(&packet).map(|inner| IpAddr::V6(inner.source)),
        };
        let hop = match source {
            Ok(IpAddr::V4(source)) => self.v4.lookup(source.into()),
            Ok(IpAddr::V6(source)) => self.v6.lookup(source.into()),
            Err(_) => return Fate::Dropped(DropCause::Malformed),
        };
        // What the routes would not send through this tunnel does not come out of it (RFC 4301, section 5.2).
        if self.next(hop, &packet) != Some(NextHop::Tunnel(number)) {
            return Fate::Dropped(DropCause::EspPolicy);
        }
        match source {
            Ok(IpAddr::V4(_)) => self.judge_v4(desk, port, &packet),
            _ => self.judge_v6(desk, port, &packet),
        }
    }
}
