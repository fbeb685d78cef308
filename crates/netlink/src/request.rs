//! Requests to the kernel.

use crate::attributes::{AF_INET, AF_INET6};

/// The groups of a socket that hears every change, as bits: links (1), neighbours (3), addresses (5, 9) and routes (7, 11) of both families,
/// next hops (32).
pub const ALL_GROUPS: u32 = 1 | 1 << 2 | 1 << 4 | 1 << 6 | 1 << 8 | 1 << 10 | 1 << 31;

/// The group of a socket that hears changes of links only.
pub const LINK_GROUP: u32 = 1;

/// A kind of object that the kernel can dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dump {
    /// Links.
    Links,
    /// Addresses.
    Addresses,
    /// Next hops that are objects of their own.
    Objects,
    /// IPv4 routes.
    RoutesV4,
    /// IPv6 routes.
    RoutesV6,
    /// Neighbours.
    Neighbours,
}

impl Dump {
    /// All kinds, each after those that it refers to.
    pub const ALL: [Dump; 6] =
        [Dump::Links, Dump::Addresses, Dump::Objects, Dump::RoutesV4, Dump::RoutesV6, Dump::Neighbours];

    /// The message type, the family, and the length of the header that follows.
    const fn parts(self) -> (u16, u8, usize) {
        match self {
            Dump::Links => (18, 0, 16),
            Dump::Addresses => (22, 0, 8),
            Dump::Objects => (106, 0, 8),
            Dump::RoutesV4 => (26, AF_INET, 12),
            Dump::RoutesV6 => (26, AF_INET6, 12),
            Dump::Neighbours => (30, 0, 12),
        }
    }
}

/// A request for all objects of a kind; the answer carries the number.
#[must_use]
pub fn dump_request(dump: Dump, number: u32) -> Vec<u8> {
    const REQUEST_AND_DUMP: u16 = 0x301;
    let (kind, family, length) = dump.parts();
    let mut bytes = ((16 + length) as u32).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(REQUEST_AND_DUMP.to_ne_bytes());
    bytes.extend(number.to_ne_bytes());
    bytes.extend([0; 4]);
    bytes.push(family);
    bytes.resize(16 + length, 0);
    bytes
}
