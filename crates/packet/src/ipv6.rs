//! IPv6 (RFC 8200) and its extension headers.

use std::net::Ipv6Addr;

use crate::field::{sixteen_at, split, u16_at};
use crate::malformed::Malformed;

/// The fixed header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv6Header {
    /// Sender.
    pub source: Ipv6Addr,
    /// Receiver.
    pub destination: Ipv6Addr,
    /// Type of the next header.
    pub next: u8,
    /// Remaining hops.
    pub hop_limit: u8,
    /// Differentiated services code point (high six bits) and ECN (low two).
    pub traffic_class: u8,
    /// Flow label, 20 bits.
    pub flow: u32,
    /// Bytes after the header.
    pub payload: u16,
}

impl Ipv6Header {
    /// Bytes of the fixed header.
    pub const LEN: usize = 40;

    /// A header with the default hop limit and no payload.
    #[must_use]
    pub fn between(source: Ipv6Addr, destination: Ipv6Addr) -> Ipv6Header {
        Ipv6Header { source, destination, next: 59, hop_limit: 64, traffic_class: 0, flow: 0, payload: 0 }
    }

    /// The header as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Ipv6Header::LEN] {
        let mut bytes = [0; Ipv6Header::LEN];
        let first = 6 << 28 | u32::from(self.traffic_class) << 20 | self.flow & 0xf_ffff;
        bytes[..4].copy_from_slice(&first.to_be_bytes());
        bytes[4..6].copy_from_slice(&self.payload.to_be_bytes());
        (bytes[6], bytes[7]) = (self.next, self.hop_limit);
        bytes[8..24].copy_from_slice(&self.source.octets());
        bytes[24..].copy_from_slice(&self.destination.octets());
        bytes
    }
}

/// A parsed packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv6Packet<'a> {
    /// Sender.
    pub source: Ipv6Addr,
    /// Receiver.
    pub destination: Ipv6Addr,
    /// Type of the header after the fixed one.
    pub next: u8,
    /// Remaining hops.
    pub hop_limit: u8,
    /// Differentiated services code point (high six bits) and ECN (low two).
    pub traffic_class: u8,
    /// Flow label, 20 bits.
    pub flow: u32,
    /// Everything after the fixed header, without padding of the frame.
    pub payload: &'a [u8],
}

/// The upper-layer packet behind the extension headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpperLayer<'a> {
    /// Its protocol.
    pub protocol: u8,
    /// Its bytes, or those of the fragment.
    pub bytes: &'a [u8],
    /// Whether it belongs to a fragment other than the first, so that it has no ports.
    pub is_later_fragment: bool,
    /// Whether it belongs to a fragment, and not to a packet in one (RFC 6946).
    pub is_fragment: bool,
}

/// Types of extension headers.
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION_OPTIONS: u8 = 60;

/// Whether a receiver may skip options that it does not know: the first two bits of their types are 0 (RFC 8200, section 4.2).
fn may_skip(mut options: &[u8]) -> bool {
    while let [kind, rest @ ..] = options {
        let length = match (kind, rest) {
            (0, _) => 0,
            (_, [length, ..]) if kind >> 6 == 0 => 1 + usize::from(*length),
            _ => return false,
        };
        match rest.get(length..) {
            Some(rest) => options = rest,
            None => return false,
        }
    }
    true
}

/// Maximum number of extension headers to follow, more than any legitimate sender uses.
const MOST_EXTENSIONS: usize = 8;

impl<'a> Ipv6Packet<'a> {
    /// Parses the fixed header.
    ///
    /// # Errors
    /// The bytes are not an IPv6 packet or too few.
    pub fn parse(bytes: &'a [u8]) -> Result<Ipv6Packet<'a>, Malformed> {
        let (header, rest) = split::<40>(bytes, "IPv6")?;
        let first = u32::from(u16_at(header, 0)) << 16 | u32::from(u16_at(header, 2));
        if first >> 28 != 6 {
            return Err(Malformed::Version((first >> 28) as u8));
        }
        let says = usize::from(u16_at(header, 4));
        // A jumbogram has its length in hop-by-hop options (RFC 2675); no link here carries one.
        if says == 0 && header[6] == HOP_BY_HOP {
            return Err(Malformed::Length { header: "IPv6", says, has: rest.len() });
        }
        let payload = rest.get(..says).ok_or(Malformed::Length { header: "IPv6", says, has: rest.len() })?;
        Ok(Ipv6Packet {
            source: sixteen_at(header, 8).into(),
            destination: sixteen_at(header, 24).into(),
            next: header[6],
            hop_limit: header[7],
            traffic_class: (first >> 20) as u8,
            flow: first & 0xf_ffff,
            payload,
        })
    }

    /// Bytes of the packet from its header to the end of its payload.
    #[must_use]
    pub fn total(&self) -> usize {
        Ipv6Header::LEN + self.payload.len()
    }

    /// Protocol and bytes of the payload for a packet's receiver, behind extension headers that require nothing of
    /// it: options that may be skipped (RFC 8200, section 4.2), a routing header at its end, and the header of a
    /// fragment that is the whole packet (RFC 6946).
    #[must_use]
    pub fn delivered(&self) -> Option<(u8, &'a [u8])> {
        let (mut kind, mut bytes) = (self.next, self.payload);
        for number in 0..=MOST_EXTENSIONS {
            let length = match (kind, bytes) {
                (HOP_BY_HOP, _) if number > 0 => return None,
                (HOP_BY_HOP | DESTINATION_OPTIONS, [_, units, ..]) => 8 * (1 + usize::from(*units)),
                (ROUTING, [_, units, _, 0, ..]) => 8 * (1 + usize::from(*units)),
                (FRAGMENT, [_, _, 0, 0 | 2 | 4 | 6, ..]) => 8,
                (HOP_BY_HOP | DESTINATION_OPTIONS | ROUTING | FRAGMENT, _) => return None,
                _ => return Some((kind, bytes)),
            };
            let (head, rest) = bytes.split_at_checked(length)?;
            if matches!(kind, HOP_BY_HOP | DESTINATION_OPTIONS) && !may_skip(&head[2..]) {
                return None;
            }
            (kind, bytes) = (head[0], rest);
        }
        None
    }

    /// Walks the extension headers.
    ///
    /// # Errors
    /// A header is truncated, or there are more than eight.
    pub fn upper_layer(&self) -> Result<UpperLayer<'a>, Malformed> {
        let (protocol, bytes) = (self.next, self.payload);
        let mut upper = UpperLayer { protocol, bytes, is_later_fragment: false, is_fragment: false };
        for _ in 0..MOST_EXTENSIONS {
            match upper.step()? {
                Some(next) => upper = next,
                None => return Ok(upper),
            }
        }
        let value = MOST_EXTENSIONS as u32 + 1;
        Err(Malformed::Forbidden { header: "IPv6", field: "number of extension headers", value })
    }
}

impl<'a> UpperLayer<'a> {
    /// Skips one extension header, if there is one.
    fn step(self) -> Result<Option<UpperLayer<'a>>, Malformed> {
        const HEADER: &str = "IPv6 extension";
        let skip = match self.protocol {
            HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS => {
                8 * (1 + usize::from(*self.bytes.get(1).ok_or(Malformed::Truncated { header: HEADER })?))
            }
            FRAGMENT if !self.is_later_fragment => 8,
            _ => return Ok(None),
        };
        let (head, bytes) =
            self.bytes.split_at_checked(skip).ok_or(Malformed::Truncated { header: HEADER })?;
        let own = self.protocol == FRAGMENT;
        let is_later_fragment = own && (head[2] != 0 || head[3] & 0xf8 != 0);
        let is_fragment = self.is_fragment || is_later_fragment || own && head[3] & 1 != 0;
        Ok(Some(UpperLayer { protocol: head[0], bytes, is_later_fragment, is_fragment }))
    }
}

/// Whether an address may be the source of a packet on a link, including the unspecified address of a station that
/// has none yet: neither loopback nor a group (RFC 4291, sections 2.5.3 and 2.7).
#[must_use]
pub fn may_send(source: Ipv6Addr) -> bool {
    !source.is_multicast() && source != Ipv6Addr::LOCALHOST
}

/// The destination of a packet that a router may forward without further checks: nothing follows its end, version and
/// length are correct, it is not a jumbogram, the hop limit exceeds 1, and the source is neither unspecified,
/// loopback, link-local nor a group (RFC 4291, sections 2.5 and 2.7).
#[must_use]
#[inline(always)]
pub fn forwardable(bytes: &[u8]) -> Option<u128> {
    forwardable_header(bytes.first_chunk()?, bytes.len())
}

/// [`forwardable`], for the header of a packet with only `has` bytes present.
#[must_use]
#[inline(always)]
pub fn forwardable_header(header: &[u8; 40], has: usize) -> Option<u128> {
    let fits = usize::from(u16_at(header, 4)) + 40 == has;
    // Without a length the packet is in its hop-by-hop options, if it is one: a jumbogram (RFC 2675).
    let is_jumbogram = header[4..7] == [0, 0, HOP_BY_HOP];
    // An address that is neither below 0001::/16 nor above fe7f::/16 needs no closer look.
    let is_ordinary = u16_at(header, 8).wrapping_sub(1) < 0xfe7f;
    (header[0] >> 4 == 6 && header[7] > 1 && fits && is_ordinary && !is_jumbogram)
        .then(|| u128::from_be_bytes(sixteen_at(header, 24)))
}

/// Decrements the hop limit of a packet. Returns false, and does nothing, if it is 0 or the bytes are too few.
#[inline(always)]
pub fn decrement_hop_limit(bytes: &mut [u8]) -> bool {
    match bytes.first_chunk_mut::<40>() {
        Some(header) if header[7] > 0 => {
            lower_hop_limit(header);
            true
        }
        _ => false,
    }
}

/// [`decrement_hop_limit`] for a header whose hop limit is not 0.
#[inline(always)]
pub fn lower_hop_limit(header: &mut [u8; 40]) {
    header[7] = header[7].wrapping_sub(1);
}

/// Sets "congestion experienced" on a packet that is ECN-capable. Returns whether it did.
pub fn mark_congestion(bytes: &mut [u8]) -> bool {
    match bytes.first_chunk_mut::<40>() {
        Some(header) if !matches!(header[1] >> 4 & 3, 0 | 3) => {
            header[1] |= 0x30;
            true
        }
        _ => false,
    }
}

/// Sets the ECN field of a packet (RFC 3168, section 5), the low two bits of `ecn`. Does nothing if the bytes are too few.
pub fn set_ecn(bytes: &mut [u8], ecn: u8) {
    if let Some(header) = bytes.first_chunk_mut::<40>() {
        header[1] = header[1] & 0xcf | (ecn & 3) << 4;
    }
}
