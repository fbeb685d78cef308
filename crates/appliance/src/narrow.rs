//! Tunnels that carry less than IP needs, because the link under them is narrow.

use std::net::IpAddr;

use weft_fib::IpPrefix;
use weft_router::Interface;

use crate::plan::{PlannedApplication, PlannedHop, PlannedPort, PlannedTunnel, RouterPlan};

/// Bytes that every link must carry in one piece for IPv4 (RFC 791, section 3.2) and for IPv6 (RFC 8200, section 5).
/// No error message makes an IPv6 sender send less, so its full packets would be lost.
const LEAST_V4: u16 = 68;
const LEAST_V6: u16 = 1280;

/// The ports of a router and its routes.
type PortsAndRoutes<'a> = (&'a [PlannedPort], &'a [(IpPrefix, PlannedHop)]);

/// The problem with the route of a tunnel's packets, and what is allowed.
pub(crate) struct NarrowWay {
    pub(crate) message: String,
    pub(crate) allowed: String,
}

/// The longest prefix that contains an address, and its next hops; a route takes precedence over a link with the same
/// prefix.
pub(crate) fn ways_to(
    address: IpAddr,
    (ports, routes): PortsAndRoutes<'_>,
) -> Option<(IpPrefix, Vec<PlannedHop>)> {
    let links = (0..).zip(ports).flat_map(|(number, port)| {
        let link = move |(own, length): &(IpAddr, u8)| {
            Some((IpPrefix::around(*own, *length)?, PlannedHop::Link(number), false))
        };
        port.addresses.iter().filter_map(link)
    });
    let written = routes.iter().map(|(prefix, hop)| (*prefix, *hop, true));
    let all: Vec<_> = links.chain(written).filter(|(prefix, ..)| prefix.contains(address)).collect();
    let (best, _, is_written) = *all.iter().max_by_key(|(prefix, _, written)| (prefix.length(), *written))?;
    let ways = all.iter().filter(|(prefix, _, written)| (*prefix, *written) == (best, is_written));
    Some((best, ways.map(|(_, hop, _)| *hop).collect()))
}

/// The port by which a tunnel leaves, if it is too narrow for what the routes send through it. Takes the MTU of each
/// port, where known.
pub(crate) fn narrow_way(
    (number, tunnel): (u16, &PlannedTunnel),
    (ports, routes): PortsAndRoutes<'_>,
    mtu: impl Fn(u16) -> Option<u16>,
) -> Option<NarrowWay> {
    let (_, hops) = ways_to(tunnel.ends.1, (ports, routes))?;
    let narrow = |hop: PlannedHop| match hop {
        PlannedHop::Link(port) | PlannedHop::Gateway(port, _) => {
            too_narrow((tunnel, least(number, routes)), (&ports[usize::from(port)].name, mtu(port)?))
        }
        PlannedHop::Tunnel(_) | PlannedHop::Reject => None,
    };
    hops.into_iter().find_map(narrow)
}

/// The longest packet that a tunnel must carry.
fn least(number: u16, routes: &[(IpPrefix, PlannedHop)]) -> u16 {
    let is_v6 = |(prefix, hop): &(IpPrefix, PlannedHop)| {
        prefix.address().is_ipv6() && *hop == PlannedHop::Tunnel(number)
    };
    if routes.iter().any(is_v6) { LEAST_V6 } else { LEAST_V4 }
}

/// The problem, if any, with a tunnel that must carry `least` bytes and leaves by a port of this name and MTU.
fn too_narrow((tunnel, least): (&PlannedTunnel, u16), (port, mtu): (&str, u16)) -> Option<NarrowWay> {
    let sealed = tunnel.open(0);
    let (name, carried) = (&tunnel.name, sealed.mtu(mtu));
    if carried >= least {
        return None;
    }
    let family = if least == LEAST_V6 { "IPv6" } else { "IPv4" };
    let enough = (least..u16::MAX).find(|mtu| sealed.mtu(*mtu) >= least).unwrap_or(u16::MAX);
    Some(NarrowWay {
        message: format!(
            "the tunnel `{name}` carries packets of {carried} B, of the {mtu} B of port `{port}`, and every link of {family} carries {least} B"
        ),
        allowed: format!(
            "an MTU of {enough} B or more at port `{port}`, or no {family} prefix through the tunnel"
        ),
    })
}

/// Problems with the tunnels of a plan on these interfaces.
pub(crate) fn narrow_tunnels(plan: &RouterPlan, interfaces: &[Interface]) -> Vec<String> {
    let PlannedApplication::Route { routes, tunnels, kernel: false, .. } = &plan.application else {
        return Vec::new();
    };
    let mtu = |port: u16| Some(interfaces[usize::from(port)].mtu);
    let ways = (0..).zip(tunnels).filter_map(|tunnel| narrow_way(tunnel, (&plan.ports, routes), mtu));
    ways.map(|NarrowWay { message, allowed }| format!("{message}: needs {allowed}")).collect()
}

/// The same where the kernel has the routes to the other ends: the ports over which a tunnel would carry too little.
pub(crate) fn perhaps_narrow(plan: &RouterPlan, interfaces: &[Interface]) -> Vec<String> {
    let PlannedApplication::Route { routes, tunnels, kernel: true, .. } = &plan.application else {
        return Vec::new();
    };
    let by = |(number, tunnel): (u16, &PlannedTunnel)| {
        let least = least(number, routes);
        let ways =
            interfaces.iter().filter_map(move |port| too_narrow((tunnel, least), (&port.name, port.mtu)));
        ways.map(|NarrowWay { message, allowed }| {
            format!("if the kernel's routes lead there, {message}: needs {allowed}")
        })
        .collect::<Vec<_>>()
    };
    (0..).zip(tunnels).flat_map(by).collect()
}
