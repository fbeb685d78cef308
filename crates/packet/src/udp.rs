//! UDP (RFC 768).

use crate::checksum::Sum;
use crate::field::{split, u16_at};
use crate::malformed::Malformed;

/// The header of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpHeader {
    /// The sender's port.
    pub source: u16,
    /// The receiver's port.
    pub destination: u16,
    /// Bytes after the header.
    pub payload: u16,
}

impl UdpHeader {
    /// Bytes of a header.
    pub const LEN: usize = 8;

    /// The header as bytes, without a checksum. A payload beyond 65 527 bytes is truncated to that.
    #[must_use]
    pub fn to_bytes(self) -> [u8; UdpHeader::LEN] {
        let length = self.payload.saturating_add(UdpHeader::LEN as u16);
        let [[a, b], [c, d], [e, f]] = [self.source, self.destination, length].map(u16::to_be_bytes);
        [a, b, c, d, e, f, 0, 0]
    }
}

/// A parsed datagram. Its checksum is not verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpDatagram<'a> {
    /// The sender's port.
    pub source: u16,
    /// The receiver's port.
    pub destination: u16,
    /// The bytes after the header that its length field covers.
    pub payload: &'a [u8],
}

impl<'a> UdpDatagram<'a> {
    /// Parses the payload of an IP packet; bytes after the datagram are omitted.
    ///
    /// # Errors
    /// The bytes end before the datagram does, or its length field covers less than the header.
    pub fn parse(bytes: &'a [u8]) -> Result<UdpDatagram<'a>, Malformed> {
        let (header, rest) = split::<{ UdpHeader::LEN }>(bytes, "UDP")?;
        let says = usize::from(u16_at(header, 4));
        let wrong = Malformed::Length { header: "UDP", says, has: bytes.len() };
        let payload = says.checked_sub(UdpHeader::LEN).and_then(|length| rest.get(..length)).ok_or(wrong)?;
        Ok(UdpDatagram { source: u16_at(header, 0), destination: u16_at(header, 2), payload })
    }
}

/// Fills in the checksum of a datagram whose checksum is zero; `pseudo` is the sum of its pseudo-header. A checksum
/// of zero is sent as all ones, because zero means "no checksum". Without a complete header, nothing changes.
pub fn fill_checksum(datagram: &mut [u8], pseudo: Sum) {
    let sum = pseudo.bytes(datagram).checksum();
    let sum = if sum == 0 { 0xffff } else { sum };
    if let Some(place) = datagram.get_mut(6..UdpHeader::LEN) {
        place.copy_from_slice(&sum.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_ports_length_and_no_checksum() {
        let header = UdpHeader { source: 4500, destination: 4501, payload: 5 };
        assert_eq!(header.to_bytes(), [0x11, 0x94, 0x11, 0x95, 0, 13, 0, 0]);
    }

    #[test]
    fn the_length_field_bounds_the_payload() {
        let datagram = [0, 7, 0, 9, 0, 10, 0, 0, b'a', b'b', b'c'];
        let parsed = UdpDatagram::parse(&datagram).unwrap();
        assert_eq!((parsed.source, parsed.destination, parsed.payload), (7, 9, &b"ab"[..]));
        for length in [7, 12] {
            let mut datagram = datagram;
            datagram[5] = length;
            let wrong = Malformed::Length { header: "UDP", says: length.into(), has: 11 };
            assert_eq!(UdpDatagram::parse(&datagram), Err(wrong));
        }
        assert_eq!(UdpDatagram::parse(&datagram[..7]), Err(Malformed::Truncated { header: "UDP" }));
    }

    #[test]
    fn a_checksum_of_zero_is_sent_as_all_ones() {
        let mut datagram = [0xff, 0xff, 0, 0, 0, 0, 0, 0];
        fill_checksum(&mut datagram, Sum::default());
        assert_eq!(datagram[6..], [0xff, 0xff]);
        let mut short = [1, 2];
        fill_checksum(&mut short, Sum::default());
        assert_eq!(short, [1, 2]);
    }
}
