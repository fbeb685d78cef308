//! Messages: one header, then a header of its kind, then attributes.

use std::net::IpAddr;

use thiserror::Error;

use crate::attributes::{Attributes, address, u16_at, u32_at};
use crate::route::{KernelHop, KernelRoute, parse, via};

/// A link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelLink {
    /// Whether it was removed.
    pub removed: bool,
    /// Its number.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Whether it carries Ethernet frames: the loopback interface and TUN devices do not.
    pub ethernet: bool,
    /// Whether it is up and has a carrier.
    pub up: bool,
    /// Longest packet, bytes.
    pub mtu: Option<u32>,
    /// Its MAC address.
    pub mac: Option<[u8; 6]>,
    /// Queues in which frames arrive, used or not.
    pub queues: Option<u32>,
}

/// An address of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelAddress {
    /// Whether it was removed.
    pub removed: bool,
    /// Index of its interface.
    pub interface: u32,
    /// The address.
    pub address: IpAddr,
    /// Length of its link's prefix.
    pub length: u8,
}

/// A neighbour that the kernel knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelNeighbour {
    /// Whether it was removed.
    pub removed: bool,
    /// Index of the interface.
    pub interface: u32,
    /// Its address.
    pub address: IpAddr,
    /// Its MAC address, unless it is unknown or wrong.
    pub mac: Option<[u8; 6]>,
    /// Whether it was set explicitly, so that it is never asked for.
    pub permanent: bool,
}

/// The kinds of next hop objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectTarget {
    /// A next hop.
    Hop(KernelHop),
    /// Other objects by number, each with its share.
    Group(Vec<(u32, u16)>),
    /// It drops packets.
    Blackhole,
}

/// A next hop that is an object of its own, as FRR installs them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelObject {
    /// Whether it was removed.
    pub removed: bool,
    /// Its number.
    pub number: u32,
    /// What it is.
    pub target: ObjectTarget,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelMessage {
    /// A route.
    Route(KernelRoute),
    /// A next hop object.
    Object(KernelObject),
    /// A link.
    Link(KernelLink),
    /// An address.
    Address(KernelAddress),
    /// A neighbour.
    Neighbour(KernelNeighbour),
    /// The answer to a request is complete.
    Done {
        /// The number of the request.
        number: u32,
    },
    /// A request failed.
    Failed {
        /// The number of the request.
        number: u32,
        /// The error number of the system.
        errno: i32,
    },
    /// Anything else.
    Other,
}

/// Why bytes are not messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NetlinkError {
    /// A length contradicts the bytes.
    #[error("netlink: a message of {says} bytes, but only {has} are there")]
    Length {
        /// The value of the field.
        says: usize,
        /// The bytes present.
        has: usize,
    },
}

const HEADER: usize = 16;
const AF_BRIDGE: u8 = 7;
const ERROR: u16 = 2;
const DONE: u16 = 3;

/// The messages in the bytes that a socket has received at once. Those that are damaged are [`KernelMessage::Other`].
pub fn messages(bytes: &[u8]) -> impl Iterator<Item = Result<KernelMessage, NetlinkError>> + '_ {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let says = u32_at(rest, 0).map_or(0, |says| says as usize);
        let Some(own) = rest.get(HEADER..says).filter(|_| says >= HEADER) else {
            let has = rest.len();
            rest = &[];
            return Some(Err(NetlinkError::Length { says, has }));
        };
        let (kind, about) = (u16_at(rest, 4).unwrap_or_default(), u16_at(rest, 6).unwrap_or_default());
        let number = u32_at(rest, 8).unwrap_or_default();
        rest = rest.get(says.next_multiple_of(4)..).unwrap_or_default();
        Some(Ok(message((kind, about), number, own).unwrap_or(KernelMessage::Other)))
    })
}

fn message((kind, about): (u16, u16), number: u32, bytes: &[u8]) -> Option<KernelMessage> {
    Some(match kind {
        ERROR => match u32_at(bytes, 0)?.cast_signed() {
            0 => KernelMessage::Other,
            errno => KernelMessage::Failed { number, errno: errno.saturating_neg() },
        },
        DONE => KernelMessage::Done { number },
        // A bridge reports its ports with messages of the same kind: a port that leaves the bridge is not gone.
        16 | 17 if bytes.first() == Some(&AF_BRIDGE) => KernelMessage::Other,
        16 | 17 => KernelMessage::Link(link(bytes, kind == 17)?),
        20 | 21 => KernelMessage::Address(own_address(bytes, kind == 21)?),
        24 | 25 => KernelMessage::Route(parse(bytes, kind == 25, about)?),
        28 | 29 => KernelMessage::Neighbour(neighbour(bytes, kind == 29)?),
        104 | 105 => KernelMessage::Object(object(bytes, kind == 105)?),
        _ => KernelMessage::Other,
    })
}

fn link(bytes: &[u8], removed: bool) -> Option<KernelLink> {
    const UP: u32 = 1;
    const LOWER_UP: u32 = 1 << 16;
    /// ARPHRD_ETHER of the kernel's `if_arp.h`.
    const ETHERNET: u16 = 1;
    let (index, flags) = (u32_at(bytes, 4)?, u32_at(bytes, 8)?);
    let up = !removed && flags & (UP | LOWER_UP) == UP | LOWER_UP;
    let ethernet = u16_at(bytes, 2)? == ETHERNET;
    let name = String::new();
    let mut link = KernelLink { removed, index, name, ethernet, up, mtu: None, mac: None, queues: None };
    for (kind, value) in Attributes(bytes.get(16..)?) {
        match kind {
            1 => link.mac = value.try_into().ok(),
            3 => link.name = String::from_utf8_lossy(value).trim_end_matches('\0').to_owned(),
            4 => link.mtu = u32_at(value, 0),
            32 => link.queues = u32_at(value, 0),
            _ => {}
        }
    }
    Some(link)
}

fn own_address(bytes: &[u8], removed: bool) -> Option<KernelAddress> {
    let [family, length, ..] = *bytes.first_chunk::<8>()?;
    let (mut own, mut peer) = (None, None);
    for (kind, value) in Attributes(&bytes[8..]) {
        match kind {
            1 => peer = address(family, value),
            2 => own = address(family, value),
            _ => {}
        }
    }
    // On a point-to-point link the plain attribute is the far end's address, and so is the prefix.
    let address = own.or(peer)?;
    let whole = if address.is_ipv4() { 32 } else { 128 };
    let length = if peer.is_some_and(|peer| peer != address) { whole } else { length };
    (length <= whole).then_some(KernelAddress { removed, interface: u32_at(bytes, 4)?, address, length })
}

fn neighbour(bytes: &[u8], removed: bool) -> Option<KernelNeighbour> {
    /// Without ARP, or permanent.
    const PERMANENT: u16 = 0x40 | 0x80;
    /// Reachable, stale, delay, probe, or one of the above.
    const VALID: u16 = 0x02 | 0x04 | 0x08 | 0x10 | PERMANENT;
    let family = *bytes.first()?;
    let (interface, state) = (u32_at(bytes, 4)?, u16_at(bytes, 8)?);
    let (mut found, mut mac) = (None, None);
    for (kind, value) in Attributes(bytes.get(12..)?) {
        match kind {
            1 => found = address(family, value),
            2 => mac = value.try_into().ok(),
            _ => {}
        }
    }
    let mac = mac.filter(|_| state & VALID != 0 && !removed);
    let permanent = mac.is_some() && state & PERMANENT != 0;
    Some(KernelNeighbour { removed, interface, address: found?, mac, permanent })
}

fn object(bytes: &[u8], removed: bool) -> Option<KernelObject> {
    let family = *bytes.first()?;
    let usable = u32_at(bytes, 4)? & (1 | 16) == 0;
    let mut hop = KernelHop { gateway: None, interface: 0, weight: 1, usable };
    let (mut number, mut target) = (None, None);
    for (kind, value) in Attributes(bytes.get(8..)?) {
        match kind {
            1 => number = u32_at(value, 0),
            2 => {
                let member = |own: &[u8]| Some((u32_at(own, 0)?, u16::from(own[4]) + 1));
                target = value.chunks_exact(8).map(member).collect::<Option<_>>().map(ObjectTarget::Group);
            }
            4 => target = Some(ObjectTarget::Blackhole),
            5 => hop.interface = u32_at(value, 0)?,
            6 => hop.gateway = address(family, value).or_else(|| via(value)),
            _ => {}
        }
    }
    Some(KernelObject { removed, number: number?, target: target.unwrap_or(ObjectTarget::Hop(hop)) })
}
