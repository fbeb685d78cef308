//! IPv6: the first access uses 16 bits, each further one 8.

use std::sync::atomic::AtomicU32;

use crate::reader::AddressKey;
use crate::writer::RouteWriter;

/// A table of IPv6 routes.
pub type Ipv6Routes = RouteWriter<u128>;

/// An empty table, with room for a million nodes of 1 KiB, which are allocated on demand.
#[must_use]
pub fn table() -> Ipv6Routes {
    RouteWriter::new()
}

impl AddressKey for u128 {
    type Slot = AtomicU32;
    const WIDTH: u8 = 128;
    const ROOT_BITS: u8 = 16;

    #[inline(always)]
    fn root(self) -> usize {
        (self >> 112) as usize
    }

    #[inline(always)]
    fn below(self, level: u32) -> u8 {
        (self >> (104 - 8 * level)) as u8
    }
}
