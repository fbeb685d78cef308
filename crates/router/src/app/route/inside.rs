//! Packets that enter and leave tunnels.

use std::net::IpAddr;

use weft_fib::Hop;
use weft_packet::fragment::fragments;
use weft_packet::icmp::{subject_v4, subject_v6};
use weft_packet::{EtherType, IcmpError, Ipv4Packet, Ipv6Packet};

use crate::app::Desk;
use crate::app::route::Routing;
use crate::app::route::send::kind_of;
use crate::app::route::slow::{Fate, Transit};
use crate::control::NextHop;
use crate::counters::DropCause;
use crate::interface::is_link_local;
use crate::tunnel::Tunnel;

impl Routing {
    /// Sends a packet of the router's neighbours into a tunnel; its hop limit has not been decremented.
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
            return self.refuse_long(desk, transit, mtu);
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

    /// The longest packet that a tunnel takes; `None` without a route to its other end.
    fn tunnel_mtu(&self, number: u16) -> Option<u16> {
        let tunnel = self.tunnels.get(number)?;
        self.mtu_by(tunnel, self.hop_to(tunnel.ends.1))
    }

    /// The longest packet that a tunnel takes by this next hop: of several, by the narrowest link, since each sealed packet may take any.
    pub(super) fn mtu_by(&self, tunnel: &Tunnel, hop: Hop) -> Option<u16> {
        let link = |next: NextHop| match next {
            NextHop::Link(port) | NextHop::Station((port, _)) => Some(self.ports[usize::from(port)].mtu),
            _ => None,
        };
        let several = self.table.paths(hop).iter().filter_map(|path| link(path.next)).min();
        several.or_else(|| link(self.next(hop, &[])?)).map(|mtu| tunnel.mtu(mtu))
    }

    /// A sealed packet for the router: what is inside is handled as if it had arrived itself, if its sender may use
    /// the tunnel.
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

    /// Whether a packet may come out of a tunnel: the routes would send an answer through it (RFC 4301, section 5.2), or it is an ICMP
    /// error for the sender of a packet that they send through it (section 6): routers on the way there have addresses of any network.
    pub(super) fn may_leave(&self, number: u16, packet: &[u8]) -> Result<(), DropCause> {
        let ([source, destination], about) = ends_of(packet).ok_or(DropCause::Malformed)?;
        let leads = |to: IpAddr| self.next(self.hop_to(to), packet) == Some(NextHop::Tunnel(number));
        let is_answer = about.is_some_and(|[from, to]| from == destination && leads(to));
        if leads(source) || is_answer { Ok(()) } else { Err(DropCause::EspPolicy) }
    }

    /// The source address of the router's own messages through a tunnel about a packet for `near`: the address that
    /// the other end most probably sends through the tunnel as well. That is the one with the longest prefix in
    /// common with `near`, preferably one at which no tunnel ends.
    pub(super) fn address_within(&self, near: IpAddr) -> Option<IpAddr> {
        let own = self.ports.iter().flat_map(|port| &port.addresses).map(|(address, _)| *address);
        let suits = own.filter(|own| own.is_ipv4() == near.is_ipv4() && !is_link_local(*own));
        suits.max_by_key(|own| (!self.tunnels.end_at(*own), common_bits(*own, near)))
    }

    /// The number of the next hop to an address.
    pub(super) fn hop_to(&self, address: IpAddr) -> Hop {
        match address {
            IpAddr::V4(address) => self.v4.lookup(address.into()),
            IpAddr::V6(address) => self.v6.lookup(address.into()),
        }
    }
}

/// Source and destination of a packet.
type Ends = [IpAddr; 2];

/// The ends of a packet and, for an ICMP error, those of the packet that it is about.
fn ends_of(packet: &[u8]) -> Option<(Ends, Option<Ends>)> {
    match kind_of(packet) {
        EtherType::IPV4 => {
            let inner = Ipv4Packet::parse(packet).ok()?;
            let about = subject_v4(&inner).map(|(from, to)| [from, to].map(IpAddr::V4));
            Some(([inner.source, inner.destination].map(IpAddr::V4), about))
        }
        _ => {
            let inner = Ipv6Packet::parse(packet).ok()?;
            let about = subject_v6(&inner).map(|(from, to)| [from, to].map(IpAddr::V6));
            Some(([inner.source, inner.destination].map(IpAddr::V6), about))
        }
    }
}

/// The number of leading bits that two addresses of one family have in common.
fn common_bits(one: IpAddr, other: IpAddr) -> u32 {
    match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => (u32::from(one) ^ u32::from(other)).leading_zeros(),
        (IpAddr::V6(one), IpAddr::V6(other)) => (u128::from(one) ^ u128::from(other)).leading_zeros(),
        _ => 0,
    }
}
