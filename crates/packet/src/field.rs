//! Reading fixed-size fields from slices without panics.

use crate::malformed::Malformed;

/// The first `N` bytes as an array, and the rest; or which header is truncated.
#[inline]
pub(crate) fn split<'a, const N: usize>(
    bytes: &'a [u8],
    header: &'static str,
) -> Result<(&'a [u8; N], &'a [u8]), Malformed> {
    bytes.split_first_chunk().ok_or(Malformed::Truncated { header })
}

/// Two bytes of an array in network order.
#[inline]
pub(crate) fn u16_at<const N: usize>(bytes: &[u8; N], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// Four bytes of an array.
#[inline]
pub(crate) fn four_at<const N: usize>(bytes: &[u8; N], at: usize) -> [u8; 4] {
    [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]
}

/// Sixteen bytes of an array.
#[inline]
pub(crate) fn sixteen_at<const N: usize>(bytes: &[u8; N], at: usize) -> [u8; 16] {
    std::array::from_fn(|n| bytes[at + n])
}
