//! IPv4 (RFC 791), ECN (RFC 3168).

use std::net::Ipv4Addr;

use crate::checksum;
use crate::field::{four_at, split, u16_at};
use crate::malformed::Malformed;

/// The header of a packet without options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv4Header {
    /// Sender.
    pub source: Ipv4Addr,
    /// Receiver.
    pub destination: Ipv4Addr,
    /// Protocol of the payload.
    pub protocol: u8,
    /// Remaining hops.
    pub ttl: u8,
    /// Differentiated services code point (high six bits) and ECN (low two).
    pub traffic_class: u8,
    /// Identification of fragments.
    pub identification: u16,
    /// Whether routers must not fragment it.
    pub dont_fragment: bool,
    /// Bytes after the header.
    pub payload: u16,
}

impl Ipv4Header {
    /// Bytes of a header without options.
    pub const LEN: usize = 20;

    /// A header with the default hop limit and no payload.
    #[must_use]
    pub fn between(source: Ipv4Addr, destination: Ipv4Addr) -> Ipv4Header {
        Ipv4Header {
            source,
            destination,
            protocol: 0,
            ttl: 64,
            traffic_class: 0,
            identification: 0,
            dont_fragment: false,
            payload: 0,
        }
    }

    /// The header as bytes, with its checksum. A payload beyond 65 515 bytes is truncated to that.
    #[must_use]
    #[inline]
    pub fn to_bytes(&self) -> [u8; Ipv4Header::LEN] {
        let (first, total) =
            (0x4500 | u16::from(self.traffic_class), self.payload.saturating_add(Ipv4Header::LEN as u16));
        let flags = if self.dont_fragment { 0x4000 } else { 0 };
        let route = u16::from_be_bytes([self.ttl, self.protocol]);
        let [source, destination] = [self.source, self.destination].map(u32::from);
        // Summed as words, so that no byte is read back right after it has been written.
        let words = [first, total, self.identification, flags, route].map(u64::from);
        let sum = words.iter().sum::<u64>() + [source, destination].map(checksum::halves).iter().sum::<u64>();
        let mut bytes = [0; Ipv4Header::LEN];
        bytes[..2].copy_from_slice(&first.to_be_bytes());
        bytes[2..4].copy_from_slice(&total.to_be_bytes());
        bytes[4..6].copy_from_slice(&self.identification.to_be_bytes());
        bytes[6..8].copy_from_slice(&flags.to_be_bytes());
        bytes[8..10].copy_from_slice(&route.to_be_bytes());
        bytes[10..12].copy_from_slice(&checksum::of_words(sum).to_be_bytes());
        bytes[12..16].copy_from_slice(&source.to_be_bytes());
        bytes[16..].copy_from_slice(&destination.to_be_bytes());
        bytes
    }
}

/// A parsed packet, its header verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv4Packet<'a> {
    /// Sender.
    pub source: Ipv4Addr,
    /// Receiver.
    pub destination: Ipv4Addr,
    /// Protocol of the payload.
    pub protocol: u8,
    /// Remaining hops.
    pub ttl: u8,
    /// Differentiated services code point (high six bits) and ECN (low two).
    pub traffic_class: u8,
    /// Identification of fragments.
    pub identification: u16,
    /// Whether routers must not fragment it.
    pub dont_fragment: bool,
    /// Fragment offset in bytes, and whether more fragments follow.
    pub fragment: (u16, bool),
    /// The options.
    pub options: &'a [u8],
    /// The payload, without padding of the frame.
    pub payload: &'a [u8],
}

impl<'a> Ipv4Packet<'a> {
    /// Parses a packet and verifies lengths and checksum (RFC 1812, section 5.2.2).
    ///
    /// # Errors
    /// The bytes are not an IPv4 packet, are too few, or the header's checksum is wrong.
    pub fn parse(bytes: &'a [u8]) -> Result<Ipv4Packet<'a>, Malformed> {
        let (header, _) = split::<20>(bytes, "IPv4")?;
        let (head, total) = lengths(header, bytes.len())?;
        if checksum::of(&bytes[..head]) != 0 {
            return Err(Malformed::Checksum { header: "IPv4" });
        }
        let flags = u16_at(header, 6);
        Ok(Ipv4Packet {
            source: four_at(header, 12).into(),
            destination: four_at(header, 16).into(),
            protocol: header[9],
            ttl: header[8],
            traffic_class: header[1],
            identification: u16_at(header, 4),
            dont_fragment: flags & 0x4000 != 0,
            fragment: ((flags & 0x1fff) << 3, flags & 0x2000 != 0),
            options: &bytes[20..head],
            payload: &bytes[head..total],
        })
    }

    /// Whether it is a fragment other than the first, so that it has no ports.
    #[must_use]
    pub fn is_later_fragment(&self) -> bool {
        self.fragment.0 != 0
    }

    /// Bytes of the packet from its header to the end of its payload.
    #[must_use]
    pub fn total(&self) -> usize {
        Ipv4Header::LEN + self.options.len() + self.payload.len()
    }
}

/// The length of the header and that of the packet.
#[inline]
fn lengths(header: &[u8; 20], has: usize) -> Result<(usize, usize), Malformed> {
    if header[0] >> 4 != 4 {
        return Err(Malformed::Version(header[0] >> 4));
    }
    let (head, total) = (usize::from(header[0] & 15) * 4, usize::from(u16_at(header, 2)));
    if head < 20 || head > has {
        return Err(Malformed::Length { header: "IPv4", says: head, has });
    }
    if total < head || total > has {
        return Err(Malformed::Length { header: "IPv4", says: total, has });
    }
    Ok((head, total))
}

/// First bytes of sources that need a closer look ([`stays_here`]).
static SUSPECTS: [bool; 256] = {
    let mut suspects = [false; 256];
    let mut first = 224;
    while first < 256 {
        suspects[first] = true;
        first += 1;
    }
    (suspects[0], suspects[127], suspects[169]) = (true, true, true);
    suspects
};

/// Whether packets from this suspect source must not be forwarded, because it is not a valid source or is link-local
/// (RFC 3927, section 7).
#[cold]
fn stays_here([first, second, _, _]: [u8; 4]) -> bool {
    first != 169 || second == 254
}

/// Whether an address may be the source of a packet on a link: neither unspecified, loopback, a group, broadcast nor reserved
/// (RFC 1812, section 5.3.7).
#[must_use]
pub fn may_send(source: Ipv4Addr) -> bool {
    !matches!(source.octets()[0], 0 | 127 | 224..)
}

/// The destination of a packet that a router may forward without further checks: it has no options and no bytes after
/// its end, version, lengths and checksum are correct, the TTL exceeds 1, and the source is valid and not link-local.
#[must_use]
#[inline(always)]
pub fn forwardable(bytes: &[u8]) -> Option<u32> {
    forwardable_header(bytes.first_chunk()?, bytes.len())
}

/// [`forwardable`], for the header of a packet with only `has` bytes present.
#[must_use]
#[inline(always)]
pub fn forwardable_header(header: &[u8; 20], has: usize) -> Option<u32> {
    if header[0] == 0x45 { forwardable_plain(header, u16::try_from(has).ok()?) } else { None }
}

/// [`forwardable_header`] for one that begins with 0x45: of version 4 and without options.
#[must_use]
#[inline(always)]
pub fn forwardable_plain(header: &[u8; 20], has: u16) -> Option<u32> {
    if u16_at(header, 2) != has || has < 20 || header[8] <= 1 {
        return None;
    }
    if SUSPECTS[usize::from(header[12])] && stays_here(four_at(header, 12)) {
        return None;
    }
    checksum::is_right(header).then(|| u32::from_be_bytes(four_at(header, 16)))
}

/// Decrements the TTL of a packet and updates its checksum. Returns false, and does nothing, if the TTL is 0 or the
/// bytes are too few.
#[inline(always)]
pub fn decrement_ttl(bytes: &mut [u8]) -> bool {
    let Some(header) = bytes.first_chunk_mut::<20>() else { return false };
    if header[8] == 0 {
        return false;
    }
    lower_ttl(header);
    true
}

/// [`decrement_ttl`] for a header whose TTL is not 0.
#[inline(always)]
pub fn lower_ttl(header: &mut [u8; 20]) {
    let field = header[8..].first_chunk_mut().expect("the header is longer");
    // Updates both at once: the TTL, the low byte, falls by 1. The sum of the header falls by 0x100 in one's
    // complement, so its complement, here with bytes swapped, grows by as much; a carry is added back, and all ones
    // become zero (RFC 1624).
    let word = u32::from_le_bytes(*field);
    let carry = u32::from(word >= 0xfffe_0000) << 16;
    *field = word.wrapping_add(0x1_0000 - 1).wrapping_add(carry).to_le_bytes();
}

/// Sets "congestion experienced" on a packet that is ECN-capable, and updates its checksum. Returns whether it did.
pub fn mark_congestion(bytes: &mut [u8]) -> bool {
    let Some(header) = bytes.first_chunk_mut::<20>() else { return false };
    let is_capable = !matches!(header[1] & 3, 0 | 3);
    if is_capable {
        set_ecn(header, 3);
    }
    is_capable
}

/// Sets the ECN field of a packet (RFC 3168, section 5), the low two bits of `ecn`, and updates its checksum. Does nothing if the bytes are
/// too few.
pub fn set_ecn(bytes: &mut [u8], ecn: u8) {
    let Some(header) = bytes.first_chunk_mut::<20>() else { return };
    let old = u16_at(header, 0);
    header[1] = header[1] & 0xfc | ecn & 3;
    let new = u16_at(header, 0);
    patch_checksum(header, old, new);
}

/// Sets the identification of a packet, and updates its checksum.
pub fn set_identification(bytes: &mut [u8], identification: u16) {
    let Some(header) = bytes.first_chunk_mut::<20>() else { return };
    let old = u16_at(header, 4);
    [header[4], header[5]] = identification.to_be_bytes();
    patch_checksum(header, old, identification);
}

/// Updates the checksum after a word of the header has changed.
#[inline(always)]
fn patch_checksum(header: &mut [u8; 20], old: u16, new: u16) {
    let sum = checksum::update(u16_at(header, 10), old, new);
    [header[10], header[11]] = sum.to_be_bytes();
}
