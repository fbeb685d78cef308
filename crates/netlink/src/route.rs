//! Routes, with one next hop or several.

use std::net::IpAddr;

use crate::attributes::{Attributes, address, u16_at, u32_at};

/// The action of a route on packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RouteKind {
    /// Forwards them.
    Unicast,
    /// Packets for this machine: its addresses, and broadcasts.
    Local,
    /// Drops them silently.
    Blackhole,
    /// Rejects them with an error (unreachable).
    Reject,
    /// Rejects them with an error: it is forbidden.
    Prohibit,
    /// Ends the look-up in this table.
    Throw,
    /// Anything else, such as multicast.
    Other,
}

/// A next hop of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KernelHop {
    /// The next router; `None` if the destination is on the link.
    pub gateway: Option<IpAddr>,
    /// Index of the interface.
    pub interface: u32,
    /// Its share, from 1.
    pub weight: u16,
    /// Whether its link works.
    pub usable: bool,
}

/// The position of a route among those with the same prefix and metric; the first is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoutePlace {
    /// Before the others.
    First,
    /// Behind the others.
    Last,
    /// In place of the first.
    Replaces,
    /// After those mentioned before it in the same answer, which mentions all.
    Next,
}

/// A route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelRoute {
    /// Whether it is gone.
    pub removed: bool,
    /// Destination and prefix length.
    pub prefix: (IpAddr, u8),
    /// Its table.
    pub table: u32,
    /// Its metric; the lowest wins.
    pub metric: u32,
    /// Its position among routes with this metric.
    pub place: RoutePlace,
    /// What it does.
    pub kind: RouteKind,
    /// Its next hops.
    pub hops: Vec<KernelHop>,
    /// The next hop object it uses.
    pub object: Option<u32>,
}

impl KernelRoute {
    /// The table that routing uses by default.
    pub const MAIN: u32 = 254;
    /// The table of the machine's own addresses.
    pub const LOCAL: u32 = 255;
}

/// Attributes of routes.
const DESTINATION: u16 = 1;
const INTERFACE: u16 = 4;
const GATEWAY: u16 = 5;
const PRIORITY: u16 = 6;
const MULTIPATH: u16 = 9;
const TABLE: u16 = 15;
const VIA: u16 = 18;
const OBJECT: u16 = 30;
/// Flags of next hops.
const DEAD_OR_LINK_DOWN: u32 = 1 | 16;
/// Flag of cached routes, which are not routes of a table.
const CLONED: u32 = 0x200;

/// A route from a message after its header; `None` if it is damaged, belongs to no table, or applies only to packets
/// with a certain source or TOS. `about` are the flags of the message's header.
pub(crate) fn parse(bytes: &[u8], removed: bool, about: u16) -> Option<KernelRoute> {
    let header: &[u8; 12] = bytes.first_chunk()?;
    let [family, length, source, tos, table, _, _, kind, ..] = *header;
    let flags = u32_at(bytes, 8)?;
    if flags & CLONED != 0 || (source, tos) != (0, 0) {
        return None;
    }
    let unspecified = if family == crate::attributes::AF_INET { [0; 16][..4].to_vec() } else { vec![0; 16] };
    let mut route = KernelRoute {
        removed,
        prefix: (address(family, &unspecified)?, length),
        table: table.into(),
        metric: 0,
        place: place_of(about),
        kind: kind_of(kind),
        hops: Vec::new(),
        object: None,
    };
    let usable = flags & DEAD_OR_LINK_DOWN == 0;
    let mut single = KernelHop { gateway: None, interface: 0, weight: 1, usable };
    for (kind, value) in Attributes(&bytes[12..]) {
        match kind {
            DESTINATION => route.prefix.0 = address(family, value)?,
            INTERFACE => single.interface = u32_at(value, 0)?,
            GATEWAY => single.gateway = Some(address(family, value)?),
            VIA => single.gateway = via(value),
            PRIORITY => route.metric = u32_at(value, 0)?,
            TABLE => route.table = u32_at(value, 0)?,
            MULTIPATH => route.hops = multipath(family, value)?,
            OBJECT => route.object = Some(u32_at(value, 0)?),
            _ => {}
        }
    }
    if route.hops.is_empty() && single.interface != 0 {
        route.hops.push(single);
    }
    let whole = if route.prefix.0.is_ipv4() { 32 } else { 128 };
    (length <= whole).then_some(route)
}

/// The place of a new route, by the flags of its message.
fn place_of(about: u16) -> RoutePlace {
    const MULTI: u16 = 0x2;
    const REPLACE: u16 = 0x100;
    const APPEND: u16 = 0x800;
    match about {
        _ if about & MULTI != 0 => RoutePlace::Next,
        _ if about & REPLACE != 0 => RoutePlace::Replaces,
        _ if about & APPEND != 0 => RoutePlace::Last,
        _ => RoutePlace::First,
    }
}

fn kind_of(kind: u8) -> RouteKind {
    match kind {
        1 => RouteKind::Unicast,
        // Local, broadcast, anycast.
        2..=4 => RouteKind::Local,
        6 => RouteKind::Blackhole,
        7 => RouteKind::Reject,
        8 => RouteKind::Prohibit,
        9 => RouteKind::Throw,
        _ => RouteKind::Other,
    }
}

/// A gateway of another family than the destination's (RFC 8950).
pub(crate) fn via(value: &[u8]) -> Option<IpAddr> {
    let family = u8::try_from(u16_at(value, 0)?).ok()?;
    address(family, value.get(2..)?)
}

/// Next hops, each with a header and attributes of its own.
fn multipath(family: u8, mut bytes: &[u8]) -> Option<Vec<KernelHop>> {
    let mut hops = Vec::new();
    while let Some(length) = u16_at(bytes, 0).map(usize::from) {
        let own = bytes.get(..length).filter(|own| own.len() >= 8)?;
        let usable = u32::from(own[2]) & DEAD_OR_LINK_DOWN == 0;
        let weight = u16::from(own[3]) + 1;
        let mut hop = KernelHop { gateway: None, interface: u32_at(own, 4)?, weight, usable };
        for (kind, value) in Attributes(&own[8..]) {
            match kind {
                GATEWAY => hop.gateway = Some(address(family, value)?),
                VIA => hop.gateway = via(value),
                _ => {}
            }
        }
        hops.push(hop);
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Some(hops)
}
