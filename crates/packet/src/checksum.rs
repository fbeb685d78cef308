//! The Internet checksum (RFC 1071), pseudo-headers, and the incremental update (RFC 1624).

use std::net::{Ipv4Addr, Ipv6Addr};

/// A running one's complement sum of 16-bit words.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum(u64);

impl Sum {
    /// Adds bytes as words in network order; an odd last byte is padded with zero, so only the last part may be odd.
    #[must_use]
    #[inline]
    pub fn bytes(self, bytes: &[u8]) -> Sum {
        let (words, odd) = bytes.as_chunks::<2>();
        let sum: u64 = words.iter().map(|word| u64::from(u16::from_be_bytes(*word))).sum();
        let last = odd.first().map_or(0, |byte| u64::from(*byte) << 8);
        Sum(self.0 + sum + last)
    }

    /// Adds the pseudo-header of IPv4.
    #[must_use]
    pub fn pseudo_v4(self, ends: (Ipv4Addr, Ipv4Addr), protocol: u8, length: usize) -> Sum {
        let sum = self.bytes(&ends.0.octets()).bytes(&ends.1.octets());
        Sum(sum.0 + u64::from(protocol) + length as u64)
    }

    /// Adds the pseudo-header of IPv6.
    #[must_use]
    pub fn pseudo_v6(self, ends: (Ipv6Addr, Ipv6Addr), protocol: u8, length: usize) -> Sum {
        let sum = self.bytes(&ends.0.octets()).bytes(&ends.1.octets());
        Sum(sum.0 + u64::from(protocol) + length as u64)
    }

    /// The checksum: the complement of the folded sum. Zero if the bytes contain a correct checksum.
    #[must_use]
    #[inline]
    pub fn checksum(self) -> u16 {
        !fold(self.0)
    }
}

/// The checksum of bytes.
#[must_use]
#[inline]
pub fn of(bytes: &[u8]) -> u16 {
    Sum::default().bytes(bytes).checksum()
}

/// The checksum of the words that add up to this sum.
#[inline]
pub(crate) fn of_words(sum: u64) -> u16 {
    !fold(sum)
}

/// The sum of both words of four bytes.
#[inline]
pub(crate) fn halves(bytes: u32) -> u64 {
    u64::from(bytes >> 16) + u64::from(bytes & 0xffff)
}

/// The checksum of an IPv4 header without options.
#[must_use]
#[inline(always)]
pub fn of_header(header: &[u8; 20]) -> u16 {
    u16::from_be(!fold(sum_of_header(header)))
}

/// The sum of the words of 64 bits, in the machine's byte order, with carries added back: zero for zeros only. 2^16 - 1 divides 2^64 - 1, so it
/// has the remainder of the sum of words of 16 bits.
#[inline(always)]
fn sum_of_header(header: &[u8; 20]) -> u64 {
    let (words, rest) = header.as_chunks::<8>();
    let [a, b] = [0, 1].map(|n| u64::from_ne_bytes(words[n]));
    let last = u64::from(u32::from_ne_bytes([rest[0], rest[1], rest[2], rest[3]]));
    let (sum, carry) = a.overflowing_add(b);
    let (sum, carry) = sum.carrying_add(last, carry);
    sum + u64::from(carry)
}

/// Whether the checksum of an IPv4 header without options is correct: in either byte order its words of 16 bits sum to all ones
/// (RFC 1071, section 2 B).
#[must_use]
#[inline(always)]
pub fn is_right(header: &[u8; 20]) -> bool {
    is_multiple(sum_of_header(header))
}

/// Whether a number other than zero is a multiple of 2^16 - 1. The quotient of such a multiple is its product with the inverse modulo 2^64,
/// and at most `MOST`; the products of all other numbers are greater.
#[inline(always)]
fn is_multiple(number: u64) -> bool {
    /// (2^64 - 1) / (2^16 - 1), which is also the negative of that inverse.
    const MOST: u64 = 0x0001_0001_0001_0001;
    number.wrapping_mul(MOST) >= MOST.wrapping_neg()
}

/// The checksum after one word of the covered bytes changes (RFC 1624, equation 3).
#[must_use]
#[inline]
pub fn update(checksum: u16, old: u16, new: u16) -> u16 {
    !fold(u64::from(!checksum) + u64::from(!old) + u64::from(new))
}

/// Adds carries until the sum fits 16 bits.
#[inline]
fn fold(sum: u64) -> u16 {
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 1071, section 3.
    #[test]
    fn the_example_of_the_rfc() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(of(&bytes), !0xddf2);
    }

    /// The example of RFC 1624, section 4, which an earlier method gets wrong.
    #[test]
    fn the_corner_case_of_the_incremental_update() {
        assert_eq!(update(0xdd2f, 0x5555, 0x3285), 0x0000);
    }

    /// Every value of the checksum field: right is what sums to zero.
    #[test]
    fn a_header_is_right_exactly_if_it_sums_to_zero() {
        let mut header = *b"\x45\x00\x00\x2e\x12\x34\x40\x00\x40\x11\x00\x00\x0a\x01\x00\x02\xc0\x00\x02\x01";
        for sum in 0..=u16::MAX {
            [header[10], header[11]] = sum.to_be_bytes();
            assert_eq!(is_right(&header), of_header(&header) == 0, "{sum:#06x}");
        }
        assert_eq!((is_right(&[0; 20]), of_header(&[0; 20])), (false, 0xffff));
    }

    #[test]
    fn an_odd_byte_is_padded_on_the_right() {
        assert_eq!(of(&[0x12, 0x34, 0x56]), of(&[0x12, 0x34, 0x56, 0x00]));
    }
}
