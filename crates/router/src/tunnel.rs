//! IPsec tunnels: packets of some routes travel sealed inside packets between two routers (RFC 4301, tunnel mode; congestion
//! marks by RFC 6040), in ESP directly on IP or in UDP (RFC 3948).

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use weft_esp::{EspError, InboundAssociation, OutboundAssociation, PROTOCOL, spi_of};
use weft_packet::checksum::Sum;
use weft_packet::protocol::UDP;
use weft_packet::udp::fill_checksum;
use weft_packet::{
    Ipv4Header, Ipv4Packet, Ipv6Header, Ipv6Packet, UdpDatagram, UdpHeader, ipv4, ipv6, ports,
};

use crate::counters::DropCause;

/// A tunnel.
#[derive(Debug)]
pub struct Tunnel {
    /// Its name.
    pub name: String,
    /// The addresses of its ends: this router's, and the other's; of one family.
    pub ends: (IpAddr, IpAddr),
    /// The UDP ports of its ends, in the same order, if ESP travels in UDP.
    pub udp: Option<(u16, u16)>,
    /// Seals what is sent.
    pub outbound: OutboundAssociation,
    /// Opens what is received.
    pub inbound: InboundAssociation,
}

/// A packet for this router that may contain a sealed one.
#[derive(Clone, Copy, Debug)]
pub struct OuterPacket<'a> {
    /// Sender and receiver.
    pub ends: (IpAddr, IpAddr),
    /// The protocol of its payload.
    pub protocol: u8,
    /// DSCP and ECN.
    pub traffic_class: u8,
    /// Fragment offset in bytes, and whether more fragments follow.
    pub fragment: (u16, bool),
    /// Its payload.
    pub payload: &'a [u8],
}

impl<'a> OuterPacket<'a> {
    /// The payload of an IPv4 packet.
    #[must_use]
    pub fn of_v4(packet: &Ipv4Packet<'a>) -> OuterPacket<'a> {
        let ends = (packet.source.into(), packet.destination.into());
        let Ipv4Packet { protocol, traffic_class, fragment, payload, .. } = *packet;
        OuterPacket { ends, protocol, traffic_class, fragment, payload }
    }

    /// The payload of an IPv6 packet. For a fragment, it follows the fragment header and has another protocol.
    #[must_use]
    pub fn of_v6(packet: &Ipv6Packet<'a>) -> OuterPacket<'a> {
        let ends = (packet.source.into(), packet.destination.into());
        let Ipv6Packet { next: protocol, traffic_class, payload, .. } = *packet;
        OuterPacket { ends, protocol, traffic_class, fragment: WHOLE, payload }
    }
}

/// All tunnels of a router, shared by its workers.
#[derive(Debug, Default)]
pub struct Tunnels {
    list: Vec<Tunnel>,
    by_index: BTreeMap<u32, u16>,
    /// This router's addresses and UDP ports at which tunnels end.
    sockets: BTreeSet<(IpAddr, u16)>,
}

/// The position of a packet that is not a fragment.
const WHOLE: (u16, bool) = (0, false);
/// The ECN field, the low bits of the traffic class (RFC 3168, section 5).
const NOT_CAPABLE: u8 = 0;
const CAPABLE_1: u8 = 1;
const CAPABLE_0: u8 = 2;
const CONGESTED: u8 = 3;

/// The ECN field of a packet that leaves a tunnel, from that of the outer packet and its own (RFC 6040, figure 4);
/// `None` if it cannot express what the outer one says, so that the packet must be dropped.
fn ecn_of_opened(outer: u8, inner: u8) -> Option<u8> {
    match (outer & 3, inner & 3) {
        (CONGESTED, NOT_CAPABLE) => None,
        (CONGESTED, _) => Some(CONGESTED),
        (CAPABLE_1, CAPABLE_0) => Some(CAPABLE_1),
        (_, inner) => Some(inner),
    }
}

impl Tunnels {
    /// Tunnels by number; their inbound indices differ.
    #[must_use]
    pub fn new(list: Vec<Tunnel>) -> Tunnels {
        let by_index = list.iter().zip(0..).map(|(tunnel, number)| (tunnel.inbound.spi(), number)).collect();
        let sockets = list.iter().filter_map(|tunnel| Some((tunnel.ends.0, tunnel.udp?.0))).collect();
        Tunnels { list, by_index, sockets }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// A tunnel by number.
    #[must_use]
    pub fn get(&self, number: u16) -> Option<&Tunnel> {
        self.list.get(usize::from(number))
    }

    /// Whether a tunnel ends at this address of the router.
    #[must_use]
    pub fn end_at(&self, address: IpAddr) -> bool {
        self.list.iter().any(|tunnel| tunnel.ends.0 == address)
    }

    /// Opens the payload of a packet for this router into the first bytes of `opened`, which must be as long as the
    /// payload. Returns the tunnel and the length of the packet inside, marked if the outer one was; `None` if the
    /// packet belongs to no tunnel.
    pub fn open_into(
        &self,
        outer: OuterPacket<'_>,
        opened: &mut [u8],
    ) -> Option<Result<(u16, usize), DropCause>> {
        match outer.protocol {
            PROTOCOL if !self.list.is_empty() => Some(self.open_sealed(outer, None, (outer.payload, opened))),
            // Later fragments have no ports.
            UDP if !self.sockets.is_empty() && outer.fragment.0 == 0 => {
                let (source, destination) = ports::of(UDP, outer.payload)?;
                let is_here = self.sockets.contains(&(outer.ends.1, destination));
                let ports = Some((destination, source));
                is_here.then(|| self.open_sealed(outer, ports, (sealed_in(outer.payload)?, opened)))
            }
            _ => None,
        }
    }

    /// [`Tunnels::open_into`] into memory of its own.
    pub fn open(&self, outer: OuterPacket<'_>) -> Option<Result<(u16, Vec<u8>), DropCause>> {
        let mut packet = vec![0; outer.payload.len()];
        let opened = self.open_into(outer, &mut packet)?;
        Some(opened.map(|(number, length)| {
            packet.truncate(length);
            (number, packet)
        }))
    }

    /// Opens a sealed packet that has come to the first of these UDP ports from the second, or without UDP.
    fn open_sealed(
        &self,
        outer: OuterPacket<'_>,
        udp: Option<(u16, u16)>,
        (sealed, opened): (&[u8], &mut [u8]),
    ) -> Result<(u16, usize), DropCause> {
        // RFC 4303, section 3.4.1.
        if outer.fragment != WHOLE {
            return Err(DropCause::EspFragment);
        }
        let index = spi_of(sealed).ok_or(DropCause::Malformed)?;
        let number = *self.by_index.get(&index).ok_or(DropCause::EspUnknown)?;
        let tunnel = self.get(number).ok_or(DropCause::EspUnknown)?;
        if outer.ends != (tunnel.ends.1, tunnel.ends.0) || udp != tunnel.udp {
            return Err(DropCause::EspPolicy);
        }
        let (length, protocol) = tunnel.inbound.open_into(sealed, opened).map_err(|error| match error {
            EspError::Replayed => DropCause::EspReplay,
            _ => DropCause::EspInvalid,
        })?;
        match protocol {
            IPV4 | IPV6 => {}
            NOTHING => return Err(DropCause::EspDummy),
            _ => return Err(DropCause::EspInvalid),
        }
        let packet = &mut opened[..length];
        let inner = class_of(packet).unwrap_or_default();
        let ecn = ecn_of_opened(outer.traffic_class, inner).ok_or(DropCause::EspPolicy)?;
        match protocol {
            _ if ecn == inner & 3 => {}
            IPV4 => ipv4::set_ecn(packet, ecn),
            _ => ipv6::set_ecn(packet, ecn),
        }
        Ok((number, length))
    }
}

/// The sealed packet in a datagram at the UDP port of a tunnel (RFC 3948, section 2). The datagram's checksum is not
/// verified: the check value covers its content, and the ends are compared with the tunnel's.
fn sealed_in(datagram: &[u8]) -> Result<&[u8], DropCause> {
    match UdpDatagram::parse(datagram).map_err(|_| DropCause::Malformed)?.payload {
        [0xff] => Err(DropCause::NatKeepalive),
        [0, 0, 0, 0, ..] => Err(DropCause::Ike),
        sealed => Ok(sealed),
    }
}

/// The traffic class of an IP packet.
fn class_of(packet: &[u8]) -> Option<u8> {
    match *packet {
        [first, class, ..] if first >> 4 == 4 => Some(class),
        [first, second, ..] => Some(first << 4 | second >> 4),
        _ => None,
    }
}

/// Protocol numbers of packets in packets, and of no packet (RFC 4303, section 2.6: a dummy, which hides how much is
/// sent).
const IPV4: u8 = 4;
const IPV6: u8 = 41;
const NOTHING: u8 = 59;

impl Tunnel {
    /// Bytes of the IP header and of the UDP header, if there is one.
    fn headers(&self) -> (usize, usize) {
        let ip = if self.ends.0.is_ipv4() { Ipv4Header::LEN } else { Ipv6Header::LEN };
        (ip, self.udp.map_or(0, |_| UdpHeader::LEN))
    }

    /// The longest packet that enters, if the outer one may have `mtu` bytes.
    #[must_use]
    pub fn mtu(&self, mtu: u16) -> u16 {
        let (ip, udp) = self.headers();
        self.outbound.fits(usize::from(mtu).saturating_sub(ip + udp)) as u16
    }

    /// The packet that carries an IP packet to the other end. Not to be fragmented, with the same traffic class.
    ///
    /// # Errors
    /// Why it cannot be sealed.
    pub fn seal(&self, packet: &[u8]) -> Result<Vec<u8>, DropCause> {
        let mut text = packet.to_vec();
        text.resize(packet.len() + self.outbound.trailer(), 0);
        let (ip, udp) = self.headers();
        let mut sealed = vec![0; ip + udp + packet.len() + self.outbound.overhead()];
        let length = self.seal_into((&mut text, packet.len()), &mut sealed)?;
        sealed.truncate(length);
        Ok(sealed)
    }

    /// [`Tunnel::seal`] for the packet in the first `length` bytes of `text`, behind which its trailer is written, into the
    /// first bytes of `out`; returns how many.
    ///
    /// # Errors
    /// Why it cannot be sealed.
    #[inline]
    pub fn seal_into(&self, (text, length): (&mut [u8], usize), out: &mut [u8]) -> Result<usize, DropCause> {
        let next = if text.first().is_some_and(|first| first >> 4 == 4) { IPV4 } else { IPV6 };
        let traffic_class = class_of(text).ok_or(DropCause::Malformed)?;
        let (ip, udp) = self.headers();
        let (head, rest) = out.split_at_mut_checked(ip + udp).ok_or(DropCause::TooBig)?;
        let sealed = self.outbound.seal_into(next, (text, length), rest).map_err(|error| match error {
            EspError::Exhausted => DropCause::EspExhausted,
            _ => DropCause::TooBig,
        })?;
        let payload = u16::try_from(udp + sealed).map_err(|_| DropCause::TooBig)?;
        let protocol = self.udp.map_or(PROTOCOL, |_| UDP);
        match self.ends {
            (IpAddr::V4(own), IpAddr::V4(far)) => {
                let between = Ipv4Header::between(own, far);
                let outer = Ipv4Header { protocol, traffic_class, dont_fragment: true, payload, ..between };
                head[..ip].copy_from_slice(&outer.to_bytes());
            }
            (IpAddr::V6(own), IpAddr::V6(far)) => {
                let between = Ipv6Header::between(own, far);
                let outer = Ipv6Header { next: protocol, traffic_class, payload, ..between };
                head[..ip].copy_from_slice(&outer.to_bytes());
            }
            _ => return Err(DropCause::NoRoute),
        }
        self.write_udp(&mut out[ip..ip + udp + sealed]);
        Ok(ip + udp + sealed)
    }

    /// Writes the UDP header, if there is one, in front of a sealed packet. Its checksum is zero on IPv4 (RFC 3948, section
    /// 2.1); IPv6 demands one (RFC 8200, section 8.1).
    fn write_udp(&self, datagram: &mut [u8]) {
        let Some((source, destination)) = self.udp else { return };
        let payload = (datagram.len() - UdpHeader::LEN) as u16;
        let header = UdpHeader { source, destination, payload };
        datagram[..UdpHeader::LEN].copy_from_slice(&header.to_bytes());
        if let (IpAddr::V6(own), IpAddr::V6(far)) = self.ends {
            let pseudo = Sum::default().pseudo_v6((own, far), UDP, datagram.len());
            fill_checksum(datagram, pseudo);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_esp::EspCipher;

    const V4: [&str; 2] = ["192.0.2.1", "198.51.100.7"];
    const V6: [&str; 2] = ["2001:db8::1", "2001:db8:9::7"];

    /// A tunnel whose far end has the same keys.
    fn tunnel([own, far]: [&str; 2], udp: Option<(u16, u16)>, cipher: &EspCipher) -> Tunnel {
        Tunnel {
            name: "t".to_owned(),
            ends: (own.parse().unwrap(), far.parse().unwrap()),
            udp,
            outbound: OutboundAssociation::new(0x1001, cipher.clone(), 1),
            inbound: InboundAssociation::new(0x1001, cipher.clone(), 64),
        }
    }

    fn cipher() -> EspCipher {
        EspCipher::aes_128_gcm(&[7; 20])
    }

    fn inner(length: usize) -> Vec<u8> {
        let data = vec![0; length - Ipv4Header::LEN - UdpHeader::LEN];
        let between = Ipv4Header::between([10, 1, 0, 2].into(), [10, 2, 0, 2].into());
        ports::udp_v4(Ipv4Header { traffic_class: 0x2a, ..between }, (7, 9), &data)
    }

    fn datagram((source, destination): (u16, u16), payload: &[u8]) -> Vec<u8> {
        let header = UdpHeader { source, destination, payload: payload.len() as u16 };
        [&header.to_bytes()[..], payload].concat()
    }

    fn received<'a>(ends: [&str; 2], protocol: u8, payload: &'a [u8]) -> OuterPacket<'a> {
        let ends = (ends[1].parse().unwrap(), ends[0].parse().unwrap());
        OuterPacket { ends, protocol, traffic_class: 0, fragment: WHOLE, payload }
    }

    #[test]
    fn the_udp_header_stands_between_ip_and_esp() {
        let sealed = tunnel(V4, Some((4500, 4501)), &cipher()).seal(&inner(100)).unwrap();
        let packet = Ipv4Packet::parse(&sealed).unwrap();
        assert_eq!((packet.protocol, packet.traffic_class, packet.total()), (UDP, 0x2a, sealed.len()));
        // 8 of UDP; of ESP 8, 8 of the vector, 100 inside, 2 of the trailer and 2 of padding, 16 of the check value.
        assert_eq!(packet.payload[..8], [0x11, 0x94, 0x11, 0x95, 0, 144, 0, 0]);
        assert_eq!((packet.payload.len(), spi_of(&packet.payload[8..])), (144, Some(0x1001)));
    }

    #[test]
    fn ipv6_has_a_checksum() {
        let sealed = tunnel(V6, Some((4500, 4500)), &cipher()).seal(&inner(101)).unwrap();
        let packet = Ipv6Packet::parse(&sealed).unwrap();
        assert_eq!((packet.next, packet.total()), (UDP, sealed.len()));
        let ends = (packet.source, packet.destination);
        let sum = Sum::default().pseudo_v6(ends, UDP, packet.payload.len()).bytes(packet.payload).checksum();
        assert_eq!(sum, 0);
        assert_ne!(packet.payload[6..8], [0, 0]);
    }

    /// The longest packet that enters fills the link up to less than a block; one byte more does not fit.
    #[test]
    fn the_mtu_leaves_room_for_every_header() {
        let ciphers =
            [cipher(), EspCipher::aes_256_gcm(&[7; 36]), EspCipher::aes_128_cbc_hmac_sha1(&[7; 36])];
        for cipher in &ciphers {
            for (ends, udp) in [(V4, None), (V4, Some((4500, 4500))), (V6, None), (V6, Some((1, 2)))] {
                for mtu in 1280..1300 {
                    let tunnel = tunnel(ends, udp, cipher);
                    let longest = usize::from(tunnel.mtu(mtu));
                    let sealed = |length| tunnel.seal(&inner(length)).unwrap().len();
                    let fits = [longest, longest + 1].map(|length| sealed(length) <= usize::from(mtu));
                    assert_eq!(fits, [true, false], "{mtu} {ends:?} {udp:?} {cipher:?}");
                }
            }
        }
        assert_eq!(tunnel(V4, None, &cipher()).mtu(1500), 1446);
        assert_eq!(tunnel(V4, Some((4500, 4500)), &cipher()).mtu(1500), 1438);
    }

    #[test]
    fn what_is_sealed_comes_out_of_its_own_tunnel_alone() {
        for ends in [V4, V6] {
            let far = tunnel([ends[1], ends[0]], Some((4501, 4500)), &cipher());
            let sealed = far.seal(&inner(60)).unwrap();
            let datagram = &sealed[far.headers().0..];
            let esp = &datagram[UdpHeader::LEN..];
            let both = Tunnels::new(vec![tunnel(ends, Some((4500, 4501)), &cipher())]);
            let cause = |protocol, payload: &[u8]| {
                both.open(received(ends, protocol, payload)).map(|opened| opened.err())
            };
            assert_eq!(cause(PROTOCOL, esp), Some(Some(DropCause::EspPolicy)), "without UDP");
            let moved = self::datagram((4502, 4500), esp);
            assert_eq!(cause(UDP, &moved), Some(Some(DropCause::EspPolicy)), "from another port");
            let moved = self::datagram((4501, 4502), esp);
            assert_eq!(cause(UDP, &moved), None, "to a port at which no tunnel ends");
            assert_eq!(cause(UDP, datagram), Some(None));
            assert_eq!(cause(UDP, datagram), Some(Some(DropCause::EspReplay)));
            let plain = Tunnels::new(vec![tunnel(ends, None, &cipher())]);
            assert!(plain.open(received(ends, UDP, datagram)).is_none(), "no tunnel has a port");
        }
    }

    #[test]
    fn keepalives_and_ike_are_told_apart() {
        let tunnels = Tunnels::new(vec![tunnel(V4, Some((4500, 4500)), &cipher())]);
        let cause = |payload: &[u8]| {
            let datagram = datagram((4500, 4500), payload);
            tunnels.open(received(V4, UDP, &datagram)).and_then(Result::err)
        };
        assert_eq!(cause(&[0xff]), Some(DropCause::NatKeepalive));
        assert_eq!(cause(&[0, 0, 0, 0]), Some(DropCause::Ike));
        assert_eq!(cause(&[&[0; 4][..], &[1; 28]].concat()), Some(DropCause::Ike));
        for short in [&[][..], &[0xfe], &[0xff, 0xff], &[0, 0, 0]] {
            assert_eq!(cause(short), Some(DropCause::Malformed), "{short:?}");
        }
        assert_eq!(cause(&[0xff, 0xff, 0xff, 0xff]), Some(DropCause::EspUnknown));
        // A datagram whose end IP has cut off.
        let mut cut = datagram((4500, 4500), &[1; 40]);
        cut.pop();
        let opened = tunnels.open(received(V4, UDP, &cut));
        assert_eq!(opened.and_then(Result::err), Some(DropCause::Malformed));
    }
}
