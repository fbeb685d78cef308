//! Ethernet II frames, with up to two VLAN tags (802.1Q, 802.1ad).

use std::fmt;
use std::str::FromStr;

use crate::field::{split, u16_at};
use crate::malformed::Malformed;

/// A MAC address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// All stations of a segment.
    pub const BROADCAST: Mac = Mac([0xff; 6]);

    /// Whether it addresses several stations.
    #[must_use]
    #[inline]
    pub const fn is_multicast(self) -> bool {
        self.0[0] & 1 == 1
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl FromStr for Mac {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Mac, &'static str> {
        const FORM: &str = "a MAC address is six bytes in hexadecimal, such as 02:00:00:00:00:01";
        let byte = |part: &str| match part.len() {
            2 if part.bytes().all(|digit| digit.is_ascii_hexdigit()) => u8::from_str_radix(part, 16).ok(),
            _ => None,
        };
        let bytes: Option<Vec<u8>> = text.split(':').map(byte).collect();
        bytes.and_then(|bytes| bytes.try_into().ok()).map(Mac).ok_or(FORM)
    }
}

/// The type of a frame's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EtherType(pub u16);

impl EtherType {
    /// IPv4.
    pub const IPV4: EtherType = EtherType(0x0800);
    /// ARP.
    pub const ARP: EtherType = EtherType(0x0806);
    /// A customer VLAN tag.
    pub const VLAN: EtherType = EtherType(0x8100);
    /// A provider VLAN tag.
    pub const PROVIDER_VLAN: EtherType = EtherType(0x88a8);
    /// IPv6.
    pub const IPV6: EtherType = EtherType(0x86dd);

    const fn is_tag(self) -> bool {
        matches!(self, EtherType::VLAN | EtherType::PROVIDER_VLAN)
    }
}

/// The header of an untagged frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EthernetHeader {
    /// Receiver.
    pub destination: Mac,
    /// Sender.
    pub source: Mac,
    /// Type of the payload.
    pub kind: EtherType,
}

impl EthernetHeader {
    /// Bytes of the header.
    pub const LEN: usize = 14;

    /// The header as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; EthernetHeader::LEN] {
        let mut bytes = [0; EthernetHeader::LEN];
        bytes[..6].copy_from_slice(&self.destination.0);
        bytes[6..12].copy_from_slice(&self.source.0);
        bytes[12..].copy_from_slice(&self.kind.0.to_be_bytes());
        bytes
    }
}

/// A VLAN tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VlanTag(pub u16);

impl VlanTag {
    /// Bytes of a tag.
    pub const LEN: usize = 4;

    /// Number of the VLAN.
    #[must_use]
    pub const fn id(self) -> u16 {
        self.0 & 0xfff
    }

    /// Priority code point; 7 is the most urgent.
    #[must_use]
    pub const fn priority(self) -> u8 {
        (self.0 >> 13) as u8
    }
}

/// A frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EthernetFrame<'a> {
    /// Receiver.
    pub destination: Mac,
    /// Sender.
    pub source: Mac,
    /// Tags, the outer one first.
    pub tags: [Option<VlanTag>; 2],
    /// Type of the payload.
    pub kind: EtherType,
    /// Everything after the header and its tags.
    pub payload: &'a [u8],
}

impl<'a> EthernetFrame<'a> {
    /// Parses a frame without preamble and FCS. A third tag counts as payload.
    ///
    /// # Errors
    /// The bytes end before the header does.
    pub fn parse(bytes: &'a [u8]) -> Result<EthernetFrame<'a>, Malformed> {
        let (header, mut payload) = split::<14>(bytes, "Ethernet")?;
        let [d0, d1, d2, d3, d4, d5, s0, s1, s2, s3, s4, s5, ..] = *header;
        let mut kind = EtherType(u16_at(header, 12));
        let mut tags = [None; 2];
        for tag in &mut tags {
            if kind.is_tag() {
                let (inner, rest) = split::<4>(payload, "VLAN tag")?;
                *tag = Some(VlanTag(u16_at(inner, 0)));
                kind = EtherType(u16_at(inner, 2));
                payload = rest;
            }
        }
        let (destination, source) = (Mac([d0, d1, d2, d3, d4, d5]), Mac([s0, s1, s2, s3, s4, s5]));
        Ok(EthernetFrame { destination, source, tags, kind, payload })
    }

    /// Whether a tag makes it a frame of another network than that of its link. VLAN 0 is no network: such a tag only
    /// gives the frame's priority (IEEE 802.1Q, table 9-2).
    #[must_use]
    pub fn names_vlan(&self) -> bool {
        self.tags.iter().flatten().any(|tag| tag.id() != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_taken_off_from_the_outside() {
        let mut bytes = vec![2; 12];
        bytes.extend([0x88, 0xa8, 0x60, 0x64, 0x81, 0x00, 0x00, 0x05, 0x08, 0x00, 0x45]);
        let frame = EthernetFrame::parse(&bytes).unwrap();
        let tags = frame.tags.map(|tag| tag.map(|tag| (tag.id(), tag.priority())));
        assert_eq!(tags, [Some((100, 3)), Some((5, 0))]);
        assert_eq!((frame.kind, frame.payload, frame.names_vlan()), (EtherType::IPV4, &[0x45][..], true));
        bytes[15] = 0;
        assert!(EthernetFrame::parse(&bytes).unwrap().names_vlan(), "the inner tag does");
        bytes[19] = 0;
        assert!(!EthernetFrame::parse(&bytes).unwrap().names_vlan());
        assert_eq!(EthernetFrame::parse(&bytes[..17]), Err(Malformed::Truncated { header: "VLAN tag" }));
    }

    #[test]
    fn addresses_are_read_as_they_are_written() {
        let mac: Mac = "02:00:5e:10:00:ff".parse().unwrap();
        assert_eq!(mac.to_string(), "02:00:5e:10:00:ff");
        for wrong in [
            "",
            "02:00:5e:10:00",
            "02:00:5e:10:00:fg",
            "2:0:5e:10:0:ff",
            "02:00:5e:10:00:ff:00",
            "+2:00:5e:10:00:ff",
        ] {
            assert!(wrong.parse::<Mac>().is_err(), "{wrong}");
        }
    }
}
