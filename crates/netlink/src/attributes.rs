//! Attributes: length, type, value, padded to four bytes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

pub(crate) const AF_INET: u8 = 2;
pub(crate) const AF_INET6: u8 = 10;
/// Flags that may be part of an attribute's type.
const TYPE: u16 = 0x3fff;

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|field| u16::from_ne_bytes(*field))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|field| u32::from_ne_bytes(*field))
}

/// An address of a family; `None` if the length does not fit.
pub(crate) fn address(family: u8, bytes: &[u8]) -> Option<IpAddr> {
    match (family, bytes.len()) {
        (AF_INET, 4) => <[u8; 4]>::try_from(bytes).ok().map(|four| IpAddr::V4(Ipv4Addr::from(four))),
        (AF_INET6, 16) => <[u8; 16]>::try_from(bytes).ok().map(|sixteen| IpAddr::V6(Ipv6Addr::from(sixteen))),
        _ => None,
    }
}

/// The attributes in some bytes; ends at the first that does not fit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attributes<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for Attributes<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<(u16, &'a [u8])> {
        let length = usize::from(u16_at(self.0, 0)?);
        let kind = u16_at(self.0, 2)? & TYPE;
        let value = self.0.get(4..length)?;
        self.0 = self.0.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    }
}
