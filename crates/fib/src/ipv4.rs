//! IPv4: one access for prefixes of up to 24 bits, two for longer ones.

use std::sync::atomic::AtomicU16;

use crate::reader::AddressKey;
use crate::writer::RouteWriter;

/// A table of IPv4 routes.
pub type Ipv4Routes = RouteWriter<u32>;

/// An empty table: 32 MiB, and 512 bytes for every 24-bit block with longer prefixes, of which there may be 32 767.
#[must_use]
pub fn table() -> Ipv4Routes {
    RouteWriter::new()
}

impl AddressKey for u32 {
    type Slot = AtomicU16;
    const WIDTH: u8 = 32;
    const ROOT_BITS: u8 = 24;

    #[inline(always)]
    fn root(self) -> usize {
        (self >> 8) as usize
    }

    #[inline(always)]
    fn below(self, _level: u32) -> u8 {
        self as u8
    }
}
