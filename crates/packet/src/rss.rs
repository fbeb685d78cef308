//! Receive-side scaling in software: the Toeplitz hash, for devices without it. Flows are assigned to queues as on a
//! card with the default key.

use weft_core::random::mix;
use weft_core::toeplitz::{PUBLISHED_KEY, Toeplitz};

use crate::{EtherType, EthernetFrame, Ipv4Packet, Ipv6Packet, ports};

/// Entries of the indirection table, which maps low bits of the hash to queues.
const ENTRIES: usize = 128;

/// Divides frames among queues.
#[derive(Clone, Debug)]
pub struct FlowQueues {
    toeplitz: Toeplitz<36>,
    indirection: [u16; ENTRIES],
}

impl FlowQueues {
    /// A distribution among `queues` queues, at least one, which alternate in the indirection table.
    #[must_use]
    pub fn among(queues: u16) -> FlowQueues {
        let indirection = std::array::from_fn(|entry| entry as u16 % queues.max(1));
        FlowQueues { toeplitz: Toeplitz::new(&PUBLISHED_KEY), indirection }
    }

    /// The queue of a frame: by addresses and ports, by addresses alone if there are no ports; the first queue for
    /// frames without IP.
    #[must_use]
    pub fn queue_of(&self, frame: &[u8]) -> u16 {
        self.hash_of(frame).map_or(self.indirection[0], |hash| self.indirection[hash as usize % ENTRIES])
    }

    /// One of `places` for a frame to which a card has assigned a queue. Uses other bits of a mixed hash than the
    /// choice of queues and paths, so that the flows of a queue spread; the first place for frames without IP.
    #[must_use]
    pub fn apart(&self, frame: &[u8], places: u16) -> u16 {
        let point = self.hash_of(frame).map_or(0, |hash| mix(u64::from(hash)) & u64::from(u32::MAX));
        ((point * u64::from(places)) >> 32) as u16
    }

    /// The hash of a frame with an IP packet. Fragments are hashed by addresses, so that all fragments of a packet go
    /// to one queue.
    #[must_use]
    pub fn hash_of(&self, frame: &[u8]) -> Option<u32> {
        let frame = EthernetFrame::parse(frame).ok()?;
        self.hash_of_packet(frame.kind, frame.payload)
    }

    /// The same for an IP packet of this type.
    #[must_use]
    pub fn hash_of_packet(&self, kind: EtherType, packet: &[u8]) -> Option<u32> {
        match kind {
            EtherType::IPV4 => {
                let packet = Ipv4Packet::parse(packet).ok()?;
                let ends = (packet.source, packet.destination);
                Some(match ports::of_v4(&packet) {
                    Some(ports) => self.toeplitz.hash(&ports::tuple_v4(ends, ports)),
                    None => self.toeplitz.hash(&ports::tuple_v4(ends, (0, 0))[..8]),
                })
            }
            EtherType::IPV6 => {
                let packet = Ipv6Packet::parse(packet).ok()?;
                let ends = (packet.source, packet.destination);
                Some(match ports::of_v6(&packet) {
                    Some(ports) => self.toeplitz.hash(&ports::tuple_v6(ends, ports)),
                    None => self.toeplitz.hash(&ports::tuple_v6(ends, (0, 0))[..32]),
                })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Destination, source (with ports), hash with ports, hash without: the published verification suite.
    const V4: [(&str, u16, &str, u16, u32, u32); 5] = [
        ("161.142.100.80", 1766, "66.9.149.187", 2794, 0x51cc_c178, 0x323e_8fc2),
        ("65.69.140.83", 4739, "199.92.111.2", 14230, 0xc626_b0ea, 0xd718_262a),
        ("12.22.207.184", 38024, "24.19.198.95", 12898, 0x5c2b_394a, 0xd2d0_a5de),
        ("209.142.163.6", 2217, "38.27.205.30", 48228, 0xafc7_327f, 0x8298_9176),
        ("202.188.127.2", 1303, "153.39.163.191", 44251, 0x10e8_28a2, 0x5d18_09c5),
    ];
    const V6: [(&str, u16, &str, u16, u32, u32); 3] = [
        ("3ffe:2501:200:3::1", 1766, "3ffe:2501:200:1fff::7", 2794, 0x4020_7d3d, 0x2cc1_8cd5),
        ("ff02::1", 4739, "3ffe:501:8::260:97ff:fe40:efab", 14230, 0xdde5_1bbf, 0x0f0c_461c),
        (
            "fe80::200:f8ff:fe21:67cf",
            38024,
            "3ffe:1900:4545:3:200:f8ff:fe21:67cf",
            44251,
            0x02d1_feef,
            0x4b61_e985,
        ),
    ];

    /// The header of a fragment comes first, or behind one of options; one that is the whole packet (RFC 6946) has ports.
    #[test]
    fn fragments_of_a_packet_have_one_hash() {
        let ends = |next, payload| crate::Ipv6Header {
            next,
            payload,
            ..crate::Ipv6Header::between("2001:db8::1".parse().unwrap(), "2001:db8::2".parse().unwrap())
        };
        let options = [44, 0, 1, 4, 0, 0, 0, 0];
        let hash = |options: &[u8], offset: [u8; 2], rest: &[u8]| {
            let fragment = [17, 0, offset[0], offset[1], 0, 0, 0, 9];
            let next = if options.is_empty() { 44 } else { 60 };
            let payload = [options, &fragment, rest].concat();
            let packet = [&ends(next, payload.len() as u16).to_bytes()[..], &payload].concat();
            FlowQueues::among(1).hash_of_packet(EtherType::IPV6, &packet)
        };
        let first = [0x10, 0, 0x20, 0, 0, 16, 0, 0];
        for options in [&[][..], &options] {
            assert_eq!(hash(options, [0, 1], &first), hash(options, [0, 8], &[7; 8]), "{options:?}");
            assert_ne!(hash(options, [0, 0], &first), hash(options, [0, 1], &first), "{options:?}");
        }
    }

    #[test]
    fn the_hash_passes_the_published_verification_suite() {
        let toeplitz = Toeplitz::<36>::new(&PUBLISHED_KEY);
        for (destination, to, source, from, with_ports, without) in V4 {
            let tuple = ports::tuple_v4((source.parse().unwrap(), destination.parse().unwrap()), (from, to));
            assert_eq!(
                (toeplitz.hash(&tuple), toeplitz.hash(&tuple[..8])),
                (with_ports, without),
                "{source}"
            );
        }
        for (destination, to, source, from, with_ports, without) in V6 {
            let tuple = ports::tuple_v6((source.parse().unwrap(), destination.parse().unwrap()), (from, to));
            assert_eq!(
                (toeplitz.hash(&tuple), toeplitz.hash(&tuple[..32])),
                (with_ports, without),
                "{source}"
            );
        }
    }
}
