//! Whatever the bytes are, no parser panics; what builders write, parsers read; fast paths agree with complete parsing.

use std::net::{Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;
use weft_packet::icmp::{error_v4, error_v6, is_silent_v4, is_silent_v6};
use weft_packet::{
    ArpMessage, ArpOperation, EchoRequest, EtherType, EthernetFrame, EthernetHeader, IcmpError, Ipv4Header,
    Ipv4Packet, Ipv6Header, Ipv6Packet, Mac, Malformed, NeighbourMessage, checksum, ipv4, ipv6, neighbour,
    ports, protocol,
};

/// Passes bytes to every parser, and the results to every function that takes them.
fn read_everything(bytes: &[u8]) {
    let _ = EthernetFrame::parse(bytes);
    let _ = ArpMessage::parse(bytes);
    let (mut four, mut six) = (bytes.to_vec(), bytes.to_vec());
    let _ = (ipv4::forwardable(bytes), ipv4::decrement_ttl(&mut four), ipv4::mark_congestion(&mut four));
    let _ = (ipv6::forwardable(bytes), ipv6::decrement_hop_limit(&mut six), ipv6::mark_congestion(&mut six));
    if let Ok(packet) = Ipv4Packet::parse(bytes) {
        let _ = (ports::of_v4(&packet), is_silent_v4(&packet));
        let answer = EchoRequest::in_v4(&packet).map(|echo| echo.answer_v4(&packet));
        assert!(answer.is_none_or(|answer| Ipv4Packet::parse(&answer).is_ok()));
        let error = error_v4(IcmpError::TooBig(1400), Ipv4Addr::LOCALHOST, packet.source, bytes);
        assert!(Ipv4Packet::parse(&error).is_ok() && error.len() <= 576);
    }
    if let Ok(packet) = Ipv6Packet::parse(bytes) {
        let _ = (ports::of_v6(&packet), is_silent_v6(&packet, IcmpError::NoRoute));
        let _ = (NeighbourMessage::parse(&packet), packet.upper_layer());
        let error = error_v6(IcmpError::NoRoute, Ipv6Addr::LOCALHOST, packet.source, bytes);
        assert!(Ipv6Packet::parse(&error).is_ok() && error.len() <= 1280);
    }
}

/// A sound packet of each kind, to mutate.
fn samples() -> Vec<Vec<u8>> {
    let (a, b) = (Ipv4Addr::new(192, 0, 2, 1), Ipv4Addr::new(198, 51, 100, 7));
    let (c, d) = ("2001:db8::1".parse().unwrap(), "2001:db8:1::7".parse().unwrap());
    let udp4 = ports::udp_v4(Ipv4Header::between(a, b), (53, 4000), b"data");
    let udp6 = ports::udp_v6(Ipv6Header::between(c, d), (53, 4000), b"data");
    let solicit = NeighbourMessage::solicit(d, (Mac([2; 6]), c));
    let ping = [&[8, 0, 0xf7, 0xfd, 0, 1, 0, 1][..]].concat();
    let head = Ipv4Header { protocol: protocol::ICMP, payload: 8, ..Ipv4Header::between(a, b) };
    let ping = [&head.to_bytes()[..], &ping].concat();
    let error = error_v4(IcmpError::TimeExceeded, a, b, &udp4);
    let arp =
        ArpMessage { operation: ArpOperation::Request, sender: (Mac([2; 6]), a), target: (Mac([0; 6]), b) };
    vec![udp4, udp6, solicit, ping, error, arp.to_bytes().to_vec()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        read_everything(&bytes);
    }

    #[test]
    fn so_are_mutated_and_truncated_packets(
        which in 0..6_usize,
        changes in prop::collection::vec((0..80_usize, any::<u8>()), 0..4),
        keep in 0..100_usize,
    ) {
        let mut bytes = samples().swap_remove(which);
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        read_everything(&bytes);
        read_everything(&bytes[..keep.min(bytes.len())]);
    }

    /// A chain of any extension headers in front of any bytes.
    #[test]
    fn so_are_extension_headers(next in prop::sample::select(vec![0_u8, 43, 44, 60, 17]), rest in prop::collection::vec(prop::sample::select(vec![0_u8, 1, 2, 17, 43, 44, 60]), 0..200)) {
        let header = Ipv6Header { next, payload: rest.len() as u16, ..Ipv6Header::between(Ipv6Addr::LOCALHOST, Ipv6Addr::LOCALHOST) };
        read_everything(&[&header.to_bytes()[..], &rest].concat());
    }

    #[test]
    fn the_incremental_update_is_the_checksum_computed_anew(
        mut bytes in prop::collection::vec(any::<u8>(), 20), word in 0..9_usize, new in any::<u16>(),
    ) {
        bytes[18] = 1; // Not all zero: 0 and 0xffff are the same number.
        let before = checksum::of(&bytes);
        let old = u16::from_be_bytes([bytes[2 * word], bytes[2 * word + 1]]);
        bytes[2 * word..2 * word + 2].copy_from_slice(&new.to_be_bytes());
        prop_assume!(bytes.iter().any(|byte| *byte != 0));
        prop_assert_eq!(checksum::update(before, old, new), checksum::of(&bytes));
    }

    /// The fast check accepts exactly what complete parsing accepts, except options, used-up hops and sources that stay on their link.
    #[test]
    fn the_fast_check_agrees_with_the_parser(
        source in prop_oneof![any::<u32>(), (0..256_u32, 253..256_u32).prop_map(|(first, second)| first << 24 | second << 16)],
        destination in any::<u32>(), ttl in any::<u8>(), length in 0..60_u16,
        flip in prop::option::of((0..20_usize, 0..8_u32)), cut in 0..2_usize,
    ) {
        let header = Ipv4Header { ttl, payload: length, protocol: 17, ..Ipv4Header::between(source.into(), destination.into()) };
        let mut bytes = header.to_bytes().to_vec();
        bytes.resize(20 + usize::from(length), 0);
        if let Some((at, bit)) = flip {
            bytes[at] ^= 1 << bit;
        }
        bytes.truncate(bytes.len() - cut);
        let goes_on = |packet: &Ipv4Packet<'_>| {
            let source = packet.source;
            let stays = source.octets()[0] == 0 || source.is_loopback() || source.is_link_local() || source >= Ipv4Addr::new(224, 0, 0, 0);
            packet.options.is_empty() && packet.ttl > 1 && !stays
        };
        let parsed = Ipv4Packet::parse(&bytes).ok().filter(goes_on);
        prop_assert_eq!(ipv4::forwardable(&bytes), parsed.map(|packet| packet.destination.into()));
    }

    /// Bytes of all zeros and all ones, which carry from word to word, among any others.
    #[test]
    fn a_header_is_right_exactly_if_its_words_sum_to_all_ones(
        mut bytes in prop::array::uniform20(prop_oneof![Just(0), Just(0xff), any::<u8>()]), settle in any::<bool>(),
    ) {
        if settle {
            bytes[10..12].fill(0);
            let sum = checksum::of(&bytes);
            bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        }
        prop_assert_eq!(checksum::is_right(&bytes), checksum::of(&bytes) == 0);
    }

    #[test]
    fn a_forwarded_packet_differs_by_one_hop(ttl in 1..=255_u8, class in any::<u8>(), id in any::<u16>(), ends in any::<(u32, u32)>()) {
        let header = Ipv4Header { ttl, traffic_class: class, identification: id, ..Ipv4Header::between(ends.0.into(), ends.1.into()) };
        let mut bytes = header.to_bytes();
        prop_assert!(ipv4::decrement_ttl(&mut bytes));
        prop_assert_eq!(bytes, Ipv4Header { ttl: ttl - 1, ..header }.to_bytes());
        let capable = matches!(class & 3, 1 | 2);
        prop_assert_eq!(ipv4::mark_congestion(&mut bytes), capable);
        let marked = if capable { class | 3 } else { class };
        prop_assert_eq!(bytes, Ipv4Header { ttl: ttl - 1, traffic_class: marked, ..header }.to_bytes());
    }

    #[test]
    fn headers_are_read_as_written(ends in any::<(u128, u128)>(), class in any::<u8>(), hops in any::<u8>(), flow in 0..1_u32 << 20, data in prop::collection::vec(any::<u8>(), 0..40)) {
        let header = Ipv6Header {
            traffic_class: class, hop_limit: hops, flow, payload: data.len() as u16,
            ..Ipv6Header::between(ends.0.into(), ends.1.into())
        };
        let bytes = [&header.to_bytes()[..], &data, &[0; 3]].concat();
        let packet = Ipv6Packet::parse(&bytes).unwrap();
        prop_assert_eq!((packet.source, packet.destination), (header.source, header.destination));
        prop_assert_eq!((packet.traffic_class, packet.hop_limit, packet.flow), (class, hops, flow));
        prop_assert_eq!(packet.payload, &data[..]);
        // Groups, link-local, loopback and unspecified addresses lie outside, and little else.
        let goes_on = (1..0xfe80).contains(&header.source.segments()[0]);
        prop_assert_eq!(ipv6::forwardable(&bytes[..40 + data.len()]).is_some(), hops > 1 && goes_on);
        prop_assert_eq!(ipv6::forwardable(&bytes), None, "something follows its end");
    }
}

#[test]
fn a_question_is_answered_in_its_own_protocol() {
    let (asker, owner) = ((Mac([2, 0, 0, 0, 0, 1]), Ipv4Addr::new(10, 0, 0, 1)), Ipv4Addr::new(10, 0, 0, 2));
    let request =
        ArpMessage { operation: ArpOperation::Request, sender: asker, target: (Mac([0; 6]), owner) };
    let heard = ArpMessage::parse(&request.to_bytes()).unwrap();
    let answer = heard.answer(Mac([2, 0, 0, 0, 0, 2]));
    assert_eq!(ArpMessage::parse(&answer.to_bytes()), Ok(answer));
    assert_eq!((answer.sender.1, answer.target), (owner, asker));

    let (target, from) = ("fe80::2".parse().unwrap(), "fe80::1".parse().unwrap());
    let bytes = NeighbourMessage::solicit(target, (asker.0, from));
    let packet = Ipv6Packet::parse(&bytes).unwrap();
    assert_eq!(neighbour::multicast_mac(packet.destination).to_string(), "33:33:ff:00:00:02");
    let heard = NeighbourMessage::parse(&packet).unwrap().unwrap();
    assert_eq!(
        heard,
        NeighbourMessage {
            advertises: false,
            target,
            mac: Some(asker.0),
            solicited: false,
            overrides: false
        }
    );
    let bytes = NeighbourMessage::advertise(target, Mac([2; 6]), from);
    let heard = NeighbourMessage::parse(&Ipv6Packet::parse(&bytes).unwrap()).unwrap().unwrap();
    assert_eq!(
        heard,
        NeighbourMessage {
            advertises: true,
            target,
            mac: Some(Mac([2; 6])),
            solicited: true,
            overrides: true
        }
    );
    let mut crossed = bytes;
    assert!(ipv6::decrement_hop_limit(&mut crossed));
    let refused = NeighbourMessage::parse(&Ipv6Packet::parse(&crossed).unwrap());
    assert!(matches!(refused, Err(Malformed::Forbidden { field: "hop limit", value: 254, .. })));
}

#[test]
fn errors_never_answer_errors() {
    let (a, b) = (Ipv4Addr::new(192, 0, 2, 1), Ipv4Addr::new(198, 51, 100, 7));
    let datagram = ports::udp_v4(Ipv4Header::between(a, b), (1, 2), b"x");
    assert!(!is_silent_v4(&Ipv4Packet::parse(&datagram).unwrap()));
    let error = error_v4(IcmpError::NoRoute, b, a, &datagram);
    let packet = Ipv4Packet::parse(&error).unwrap();
    assert!(is_silent_v4(&packet) && checksum::of(packet.payload) == 0);
    assert_eq!(&packet.payload[8..], &datagram[..]);

    let (a, b) = ("2001:db8::1".parse().unwrap(), "2001:db8::2".parse().unwrap());
    let datagram = ports::udp_v6(Ipv6Header::between(a, b), (1, 2), b"x");
    assert!(!is_silent_v6(&Ipv6Packet::parse(&datagram).unwrap(), IcmpError::TimeExceeded));
    let error = error_v6(IcmpError::TooBig(1280), b, a, &datagram);
    let packet = Ipv6Packet::parse(&error).unwrap();
    assert!(is_silent_v6(&packet, IcmpError::TimeExceeded));
    assert_eq!((packet.payload[0], &packet.payload[4..8]), (2, &[0, 0, 5, 0][..]));
}

#[test]
fn frames_carry_what_they_say() {
    let header = EthernetHeader { destination: Mac::BROADCAST, source: Mac([2; 6]), kind: EtherType::ARP };
    let frame = header.to_bytes();
    let read = EthernetFrame::parse(&frame).unwrap();
    assert!(read.destination.is_multicast() && read.payload.is_empty());
    assert_eq!((read.source, read.kind), (header.source, header.kind));
}

/// Every value of the checksum field, those of no valid header included: the new one is the old one plus 0x100 in one's complement, and never
/// all ones.
#[test]
fn the_checksum_follows_the_ttl() {
    for (ttl, field) in
        [1, 2, 64, 255].into_iter().flat_map(|ttl| (0..=u16::MAX).map(move |field| (ttl, field)))
    {
        let mut header = *b"\x45\x00\x00\x14\x12\x34\x40\x00\x40\xff\x00\x00\x0a\x01\x00\x02\xc0\x00\x02\x01";
        header[8] = ttl;
        [header[10], header[11]] = field.to_be_bytes();
        let sum = (u32::from(field) + 0x100) % 0xffff;
        let mut expected = header;
        expected[8] = ttl - 1;
        [expected[10], expected[11]] = (sum as u16).to_be_bytes();
        ipv4::lower_ttl(&mut header);
        assert_eq!(header, expected, "TTL {ttl}, checksum {field:#06x}");
    }
}

/// A message with this change to its packet, its checksum right again.
fn changed(mut packet: Vec<u8>, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    change(&mut packet);
    let length = packet.len() - 40;
    packet[4..6].copy_from_slice(&(length as u16).to_be_bytes());
    packet[42..44].fill(0);
    let address = |at: usize| Ipv6Addr::from(<[u8; 16]>::try_from(&packet[at..at + 16]).unwrap());
    let sum = checksum::Sum::default().pseudo_v6((address(8), address(24)), 58, length);
    let sum = sum.bytes(&packet[40..]).checksum();
    packet[42..44].copy_from_slice(&sum.to_be_bytes());
    packet
}

/// RFC 4861, sections 7.1.1 and 7.1.2.
#[test]
fn neighbours_that_break_the_rules_are_not_heard() {
    let (target, from): (Ipv6Addr, Ipv6Addr) = ("2001:db8::1".parse().unwrap(), "fe80::1".parse().unwrap());
    let nobody = Ipv6Addr::UNSPECIFIED;
    let solicit = |from| NeighbourMessage::solicit(target, (Mac([2; 6]), from));
    let advertise = |to: &str| NeighbourMessage::advertise(target, Mac([2; 6]), to.parse().unwrap());
    let heard = |bytes: Vec<u8>| NeighbourMessage::parse(&Ipv6Packet::parse(&bytes).unwrap()).is_ok();
    let without_option = |packet: &mut Vec<u8>| packet.truncate(64);
    assert!(heard(changed(solicit(nobody), without_option)), "is the address free?");
    assert!(!heard(solicit(nobody)), "somebody without address has none to tell");
    let to_one = |packet: &mut Vec<u8>| {
        without_option(packet);
        packet[24..40].copy_from_slice(&target.octets());
    };
    assert!(!heard(changed(solicit(nobody), to_one)), "somebody without address asks all");
    assert!(heard(changed(solicit(from), to_one)), "somebody with one may ask the station itself");
    assert!(heard(advertise("ff02::1")) && heard(advertise("fe80::1")));
    assert!(!heard(changed(advertise("ff02::1"), |packet| packet[44] |= 0x40)), "nobody in particular asked");
    assert!(!heard(changed(solicit(from), |packet| packet[41] = 1)));
    assert!(!heard(changed(advertise("fe80::1"), |packet| packet[41] = 3)));
}

/// What the fuzzer found: a jumbogram is malformed, so nothing may forward it.
#[test]
fn a_jumbogram_is_not_forwardable() {
    let mut bytes = [0_u8; 40];
    (bytes[0], bytes[7], bytes[8], bytes[24]) = (0x60, 13, 0x20, 0x20);
    assert!(Ipv6Packet::parse(&bytes).is_err());
    assert_eq!(ipv6::forwardable(&bytes), None);
    bytes[6] = 59;
    assert!(
        Ipv6Packet::parse(&bytes).is_ok() && ipv6::forwardable(&bytes).is_some(),
        "no next header is one"
    );
}
