//! A router between stations that exist only here: packets that go in by one port and come out by another.

mod bench_table;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use bench_table::{Laboratory, MACS, SPI, STATIONS, cipher, frame_v4, frame_v6, udp_to};
use weft_core::{Purpose, Random, Span};
use weft_esp::{InboundAssociation, OutboundAssociation};
use weft_fib::IpPrefix;
use weft_packet::{
    ArpMessage, ArpOperation, EtherType, EthernetFrame, EthernetHeader, IcmpError, Ipv4Header, Ipv4Packet,
    Ipv6Header, Ipv6Packet, Mac, NeighbourMessage, checksum, icmp, ipv4, neighbour, ports, protocol,
};
use weft_router::DropCause;
use weft_router::control::NextHop;

fn v4(text: &str) -> Ipv4Addr {
    text.parse().unwrap()
}

fn v6(text: &str) -> Ipv6Addr {
    text.parse().unwrap()
}

#[test]
fn the_first_packet_asks_and_all_follow_once_the_station_answers() {
    let mut lab = Laboratory::new();
    let packet = udp_to("10.2.0.9", 64, b"first");
    lab.receive(0, &packet);
    let asked = lab.sent(1);
    assert_eq!(asked.len(), 1);
    let question = ArpMessage::parse(EthernetFrame::parse(&asked[0]).unwrap().payload).unwrap();
    assert_eq!((question.operation, question.target.1), (ArpOperation::Request, v4("10.2.0.9")));
    assert_eq!(question.sender, (MACS[1], v4("10.2.0.1")));
    lab.receive(0, &udp_to("10.2.0.9", 64, b"second"));
    assert!(lab.sent(1).is_empty(), "one question is enough");
    lab.receive(1, &lab.arp(&question.answer(STATIONS[1])));
    lab.receive(0, &udp_to("10.2.0.9", 64, b"third"));
    let out = lab.sent(1);
    for (frame, data) in out.iter().zip([&b"first"[..], b"second", b"third"]) {
        let frame = EthernetFrame::parse(frame).unwrap();
        assert_eq!((frame.destination, frame.source), (STATIONS[1], MACS[1]));
        let packet = Ipv4Packet::parse(frame.payload).unwrap();
        assert_eq!((packet.ttl, &packet.payload[8..]), (63, data));
    }
    assert_eq!((out.len(), lab.inside()), (3, 0));
}

#[test]
fn a_hop_too_few_is_reported_to_the_sender() {
    let mut lab = Laboratory::new().with_stations();
    let packet = udp_to("10.2.0.2", 1, b"x");
    lab.receive(0, &packet);
    assert!(lab.sent(1).is_empty());
    let out = lab.sent(0);
    let frame = EthernetFrame::parse(&out[0]).unwrap();
    let error = Ipv4Packet::parse(frame.payload).unwrap();
    assert_eq!((error.source, error.destination, error.payload[0]), (v4("10.1.0.1"), v4("10.1.0.2"), 11));
    assert_eq!((checksum::of(error.payload), &error.payload[8..]), (0, &packet[14..]));
    assert_eq!((lab.counters().dropped(DropCause::Expired), lab.inside()), (1, 0));
}

#[test]
fn what_has_no_route_is_reported_and_errors_are_limited() {
    let mut lab = Laboratory::new().with_stations();
    for _ in 0..200 {
        lab.receive(0, &udp_to("192.0.2.77", 64, b"x"));
    }
    let errors = lab.sent(0);
    assert_eq!((errors.len(), errors[0][34], errors[0][35]), (50, 3, 0));
    let counters = lab.counters();
    assert_eq!(
        (counters.dropped(DropCause::NoRoute), counters.errors_suppressed, lab.inside()),
        (200, 150, 0)
    );
    lab.advance(Span::from_ms(10));
    (0..20).for_each(|_| lab.receive(0, &udp_to("192.0.2.77", 64, b"x")));
    assert_eq!(lab.sent(0).len(), 10, "1000 a second");
}

#[test]
fn what_is_forbidden_is_reported_as_such() {
    let mut lab = Laboratory::new().with_stations();
    lab.route("198.51.100.0/24", NextHop::Prohibit);
    lab.route("2001:db8:9::/48", NextHop::Prohibit);
    lab.receive(0, &udp_to("198.51.100.7", 64, b"x"));
    let error = lab.sent(0).remove(0);
    assert_eq!(error[34..36], [3, 13], "RFC 1812, section 5.2.7.1");
    let header = Ipv6Header::between(v6("2001:db8:1::2"), v6("2001:db8:9::2"));
    lab.receive(0, &frame_v6(0, &ports::udp_v6(header, (1, 2), b"x")));
    let error = lab.sent(0).remove(0);
    assert_eq!(error[54..56], [1, 1], "RFC 4443, section 3.1");
    assert_eq!((lab.counters().dropped(DropCause::Rejected), lab.inside()), (2, 0));
}

/// The solicitation in the only frame that has left by port 1: its target, and the address that must receive the
/// answer.
fn asked_for(lab: &mut Laboratory) -> IpAddr {
    let frame = lab.sent(1).remove(0);
    let payload = EthernetFrame::parse(&frame).unwrap().payload;
    match ArpMessage::parse(payload) {
        Ok(question) => question.target.1.into(),
        Err(_) => IpAddr::V6(v6_of(&payload[48..64])),
    }
}

fn v6_of(bytes: &[u8]) -> Ipv6Addr {
    Ipv6Addr::from(<[u8; 16]>::try_from(bytes).unwrap())
}

/// The answer of the station of port 1, which has this address.
fn answer_of(lab: &Laboratory, address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => lab.arp(&ArpMessage {
            operation: ArpOperation::Reply,
            sender: (STATIONS[1], address),
            target: (MACS[1], v4("10.2.0.1")),
        }),
        IpAddr::V6(address) => {
            frame_v6(1, &NeighbourMessage::advertise(address, STATIONS[1], v6("2001:db8:2::1")))
        }
    }
}

/// Routes straight onto a link, and next hops outside the prefixes of their port (`onlink`, the far end of a link between two).
#[test]
fn stations_beyond_the_prefixes_of_a_link_are_heard_if_the_router_has_asked_for_them() {
    let mut lab = Laboratory::new();
    let gateways = ["172.16.0.1", "2001:db8:aaaa::1"].map(|text| text.parse::<IpAddr>().unwrap());
    lab.route("198.51.100.0/24", NextHop::Link(1));
    lab.route("198.51.101.7/32", NextHop::Link(1));
    lab.route("203.0.113.0/24", NextHop::Station((1, gateways[0])));
    lab.route("2001:db8:8::/48", NextHop::Link(1));
    lab.route("2001:db8:9::/48", NextHop::Station((1, gateways[1])));
    let to_v6 = |text| {
        let header = Ipv6Header::between(v6("2001:db8:1::2"), v6(text));
        frame_v6(0, &ports::udp_v6(header, (1, 2), b"x"))
    };
    for (packet, station) in [
        (udp_to("198.51.100.7", 64, b"x"), "198.51.100.7"),
        (udp_to("198.51.101.7", 64, b"x"), "198.51.101.7"),
        (udp_to("203.0.113.5", 64, b"x"), "172.16.0.1"),
        (to_v6("2001:db8:8::7"), "2001:db8:8::7"),
        (to_v6("2001:db8:9::5"), "2001:db8:aaaa::1"),
    ] {
        let station = station.parse().unwrap();
        // Before anybody has asked, the router ignores the same message.
        lab.receive(1, &answer_of(&lab, station));
        lab.receive(0, &packet);
        assert_eq!(asked_for(&mut lab), station);
        lab.receive(1, &answer_of(&lab, station));
        lab.receive(0, &packet);
        let sent = lab.sent(1);
        assert_eq!(
            (sent.len(), sent.iter().all(|frame| frame[..6] == STATIONS[1].0)),
            (2, true),
            "{station}"
        );
    }
    let stranger = v4("172.16.0.8");
    let asks = ArpMessage {
        operation: ArpOperation::Request,
        sender: (STATIONS[1], stranger),
        target: (Mac([0; 6]), v4("10.2.0.1")),
    };
    lab.receive(1, &lab.arp(&asks));
    assert!(!lab.control().has_station((1, stranger.into())), "nobody has asked for it");
    assert_eq!(lab.inside(), 0);
}

/// A known station has a route of its own, which must not outlive the route onto its link, nor hide a longer one.
#[test]
fn packets_for_a_known_station_follow_the_routes() {
    let mut lab = Laboratory::new().with_stations();
    let to = |lab: &mut Laboratory| {
        lab.receive(0, &udp_to("198.51.100.7", 64, b"x"));
        [0, 1].map(|port| lab.sent(port).len())
    };
    lab.route("198.51.0.0/16", NextHop::Link(1));
    to(&mut lab);
    lab.receive(1, &answer_of(&lab, "198.51.100.7".parse().unwrap()));
    drop(lab.sent(1));
    let routes = lab.routes();
    assert_eq!(to(&mut lab), [0, 1]);
    lab.route("198.51.100.0/24", NextHop::Station((0, v4("10.1.0.2").into())));
    assert_eq!((to(&mut lab), lab.routes()), ([1, 0], routes));
    let longer: IpPrefix = "198.51.100.0/24".parse().unwrap();
    lab.control().change(|state| state.remove_route(longer));
    assert_eq!((to(&mut lab), lab.routes()), ([0, 1], routes), "known, and with a route of its own again");
    lab.control().change(|state| state.remove_route("198.51.0.0/16".parse().unwrap()));
    assert_eq!((to(&mut lab), lab.routes()), ([1, 0], routes - 2), "an error: there is no route");
}

/// One link is scanned from the other, and somebody on it asks from thousands of addresses.
#[test]
fn a_scan_of_one_link_does_not_keep_neighbours_of_another_out() {
    let mut lab = Laboratory::new().with_stations();
    let address = |n: u32| format!("2001:db8:1::{:x}", n + 0x1000);
    for n in 0..5000 {
        let scanned = Ipv6Header::between(v6("2001:db8:2::2"), v6(&address(n)));
        lab.receive(1, &frame_v6(1, &ports::udp_v6(scanned, (1, 2), b"x")));
        let asks = NeighbourMessage::solicit(v6("2001:db8:1::1"), (STATIONS[0], v6(&address(n + 10_000))));
        lab.receive(0, &frame_v6(0, &asks));
    }
    drop((lab.sent(0), lab.sent(1)));
    let scanned = Ipv6Header::between(v6("2001:db8:2::2"), v6(&address(9000)));
    lab.receive(1, &frame_v6(1, &ports::udp_v6(scanned, (1, 2), b"x")));
    assert_eq!(
        (lab.sent(0).len(), lab.counters().dropped(DropCause::WaitingFull) > 0),
        (0, true),
        "this link is full"
    );
    lab.receive(0, &udp_to("10.2.0.50", 64, b"x"));
    let question = lab.sent(1).remove(0);
    let question = ArpMessage::parse(EthernetFrame::parse(&question).unwrap().payload).unwrap();
    let station = Mac([2, 0, 0, 0, 2, 50]);
    lab.receive(1, &lab.arp(&ArpMessage { sender: (station, v4("10.2.0.50")), ..question.answer(station) }));
    assert_eq!(lab.sent(1)[0][..6], station.0, "the packet that waited for it");
}

/// An advertisement without the override flag does not replace the known address; that is verified, and the answer
/// counts.
#[test]
fn an_advertisement_replaces_what_is_known_only_if_it_says_so() {
    let mut lab = Laboratory::new().with_stations();
    let header = Ipv6Header::between(v6("2001:db8:1::2"), v6("2001:db8:2::2"));
    let datagram = frame_v6(0, &ports::udp_v6(header, (1, 2), b"x"));
    let other = Mac([2, 0, 0, 0, 2, 99]);
    let advertise = |lab: &mut Laboratory, flags: u8| {
        let mut packet = NeighbourMessage::advertise(v6("2001:db8:2::2"), other, v6("2001:db8:2::1"));
        let sum = u16::from_be_bytes([packet[42], packet[43]]);
        let changed = !(!sum).wrapping_sub(u16::from(packet[44] - flags) << 8);
        packet[42..44].copy_from_slice(&changed.to_be_bytes());
        packet[44] = flags;
        lab.receive(1, &frame_v6(1, &packet));
        lab.receive(0, &datagram);
        let sent = lab.sent(1).pop().unwrap();
        Mac(*sent.first_chunk().unwrap())
    };
    assert_eq!(advertise(&mut lab, 0xc0), STATIONS[1], "without override");
    lab.advance(Span::from_ms(200));
    let question = lab.sent(1).remove(0);
    let question = NeighbourMessage::parse(&Ipv6Packet::parse(&question[14..]).unwrap()).unwrap().unwrap();
    assert_eq!((question.advertises, question.target), (false, v6("2001:db8:2::2")), "it is asked");
    assert_eq!(advertise(&mut lab, 0xe0), other, "with override");
}

/// A solicitation for a target between these ends, without an option.
fn solicitation_without_option(target: Ipv6Addr, (from, to): (Ipv6Addr, Ipv6Addr)) -> Vec<u8> {
    let whole = NeighbourMessage::solicit(target, (STATIONS[0], from));
    let mut message = whole[40..whole.len() - 8].to_vec();
    message[2..4].fill(0);
    let sum = checksum::Sum::default().pseudo_v6((from, to), protocol::ICMPV6, message.len());
    let sum = sum.bytes(&message).checksum();
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    let header =
        Ipv6Header { next: protocol::ICMPV6, hop_limit: 255, payload: 24, ..Ipv6Header::between(from, to) };
    [&header.to_bytes()[..], &message].concat()
}

/// A station that has no address yet is answered by an advertisement to all, which answers nobody (RFC 4861, section 7.2.4).
#[test]
fn an_answer_to_a_station_without_address_is_not_called_solicited() {
    let mut lab = Laboratory::new();
    let own = v6("2001:db8:1::1");
    let solicit = solicitation_without_option(own, (v6("::"), neighbour::solicited_node(own)));
    lab.receive(0, &frame_v6(0, &solicit));
    let answer = lab.sent(0).remove(0);
    let packet = Ipv6Packet::parse(&answer[14..]).unwrap();
    let answer = NeighbourMessage::parse(&packet).unwrap().unwrap();
    assert_eq!((packet.destination, answer.solicited, answer.overrides), (v6("ff02::1"), false, true));
}

#[test]
fn the_longest_prefix_decides_and_a_change_is_seen_at_once() {
    let mut lab = Laboratory::new().with_stations();
    lab.route("198.51.0.0/16", NextHop::Station((1, IpAddr::V4(v4("10.2.0.2")))));
    lab.receive(0, &udp_to("198.51.100.7", 64, b"a"));
    assert_eq!(lab.sent(1).len(), 1);
    lab.route("198.51.100.0/24", NextHop::Reject);
    lab.receive(0, &udp_to("198.51.100.7", 64, b"b"));
    lab.receive(0, &udp_to("198.51.101.7", 64, b"c"));
    assert_eq!((lab.sent(1).len(), lab.counters().dropped(DropCause::Rejected)), (1, 1));
    assert!(lab.control().change(|state| state.remove_route("198.51.100.0/24".parse().unwrap())));
    lab.receive(0, &udp_to("198.51.100.7", 64, b"d"));
    assert_eq!((lab.sent(1).len(), lab.inside()), (1, 0));
}

#[test]
fn routes_of_the_file_follow_the_links() {
    let mut lab = Laboratory::new().with_stations();
    let gateways = [(0, IpAddr::V4(v4("10.1.0.2"))), (1, IpAddr::V4(v4("10.2.0.2")))].map(NextHop::Station);
    let fix = |lab: &Laboratory, prefix: &str, hops: &[NextHop]| {
        lab.control().change(|state| state.fix_route(prefix.parse().unwrap(), hops)).unwrap();
    };
    fix(&lab, "198.51.100.0/24", &gateways);
    fix(&lab, "198.51.0.0/16", &[NextHop::Prohibit]);
    // Ports of a packet's destination from 0 to 99: flows of one station.
    let send = |lab: &mut Laboratory| {
        for port in 0..100 {
            let header = Ipv4Header::between(v4("10.1.0.2"), v4("198.51.100.7"));
            lab.receive(0, &frame_v4(0, &ports::udp_v4(header, (4000, port), b"x")));
        }
        let is_forwarded = |frame: &Vec<u8>| frame[23] == protocol::UDP;
        [0, 1].map(|port| lab.sent(port).iter().filter(|frame| is_forwarded(frame)).count())
    };
    let set = |lab: &Laboratory, port, up| lab.control().change(|state| state.set_link(port, up));
    let [first, second] = send(&mut lab);
    assert!(first > 20 && second > 20 && first + second == 100, "{first} and {second}");
    set(&lab, 1, false);
    assert_eq!(send(&mut lab), [100, 0], "the rest carries all");
    lab.receive(0, &udp_to("10.2.0.2", 64, b"x"));
    assert_eq!(lab.counters().dropped(DropCause::NoRoute), 1, "the link itself has no route either");
    drop(lab.sent(0));
    set(&lab, 0, false);
    assert_eq!(send(&mut lab), [0, 0]);
    assert_eq!(lab.counters().dropped(DropCause::Rejected), 100, "the shorter prefix");
    set(&lab, 0, true);
    set(&lab, 1, true);
    let mut lab = lab.with_stations();
    assert_eq!(send(&mut lab), [first, second], "as before");
    assert_eq!(lab.inside(), 0);
}

#[test]
fn what_the_next_link_cannot_carry_is_reported_with_its_mtu() {
    let mut lab = Laboratory::new().with_stations();
    lab.receive(0, &whole("10.2.0.2", &[0; 1400]));
    assert!(lab.sent(1).is_empty(), "port 1 carries 1400 bytes");
    let error = lab.sent(0).remove(0);
    assert_eq!((error[34], error[35], &error[40..42]), (3, 4, &1400_u16.to_be_bytes()[..]));
    let header = Ipv6Header::between(v6("2001:db8:1::2"), v6("2001:db8:2::2"));
    lab.receive(0, &frame_v6(0, &ports::udp_v6(header, (1, 2), &[0; 1400])));
    let error = lab.sent(0).remove(0);
    let error = Ipv6Packet::parse(&error[14..]).unwrap();
    assert_eq!((error.payload[0], &error.payload[4..8]), (2, &1400_u32.to_be_bytes()[..]));
    assert_eq!((lab.counters().dropped(DropCause::TooBig), lab.inside()), (2, 0));
}

/// Port 0 carries 1500 bytes: a longer packet was once several packets, whose senders did nothing wrong.
#[test]
fn what_its_own_link_cannot_carry_draws_no_error() {
    let mut lab = Laboratory::new().with_stations();
    lab.route("10.77.0.0/16", NextHop::Tunnel(0));
    let header = Ipv6Header::between(v6("2001:db8:1::2"), v6("2001:db8:2::2"));
    for more in [0, 1] {
        let length = 1500 - 28 + more;
        let datagram = ports::udp_v6(header, (1, 2), &vec![0; length - 20]);
        let frames = [whole("10.2.0.2", &vec![0; length]), whole("10.77.0.9", &vec![0; length])];
        lab.receive_all(0, &[&frames[..], &[frame_v6(0, &datagram)]].concat());
        assert_eq!((lab.sent(0).len(), lab.sent(1).len()), (3 - 3 * more, 0), "{more}");
    }
    let counters = lab.counters();
    let dropped = [DropCause::TooBig, DropCause::Oversized].map(|cause| counters.dropped(cause));
    assert_eq!((dropped, lab.inside()), ([3, 3], 0), "{counters}");
}

/// A datagram that must not be fragmented.
fn whole(to: &str, data: &[u8]) -> Vec<u8> {
    let mut frame = udp_to(to, 64, data);
    frame[20] |= 0x40;
    frame[24..26].fill(0);
    let sum = checksum::of(&frame[14..34]).to_be_bytes();
    frame[24..26].copy_from_slice(&sum);
    frame
}

#[test]
fn what_may_be_fragmented_is_and_every_part_is_counted() {
    let mut lab = Laboratory::new().with_stations();
    lab.receive(0, &udp_to("10.2.0.2", 64, &[7; 2000]));
    let parts = lab.sent(1);
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    assert_eq!(lengths, [14 + 1396, 14 + 652], "2028 bytes for a link of 1400");
    let payload: Vec<u8> =
        parts.iter().flat_map(|part| Ipv4Packet::parse(&part[14..]).unwrap().payload.to_vec()).collect();
    assert_eq!((payload.len(), &payload[8..]), (2008, &[7; 2000][..]));
    let counters = lab.counters();
    assert_eq!((counters.made, counters.dropped(DropCause::TooBig), lab.inside()), (5, 0, 0), "{counters}");
}

#[test]
fn the_router_answers_echo_and_refuses_datagrams_to_itself() {
    let mut lab = Laboratory::new().with_stations();
    let mut message = vec![8, 0, 0, 0, 0, 7, 0, 1];
    message.extend_from_slice(b"payload");
    let sum = checksum::of(&message).to_be_bytes();
    message[2..4].copy_from_slice(&sum);
    let header = Ipv4Header {
        protocol: protocol::ICMP,
        payload: message.len() as u16,
        ..Ipv4Header::between(v4("10.1.0.2"), v4("10.2.0.1"))
    };
    lab.receive(0, &frame_v4(0, &[&header.to_bytes()[..], &message].concat()));
    let answer = lab.sent(0).remove(0);
    let answer = Ipv4Packet::parse(&answer[14..]).unwrap();
    assert_eq!((answer.source, answer.payload[0], checksum::of(answer.payload)), (v4("10.2.0.1"), 0, 0));
    assert_eq!(answer.payload[4..], message[4..]);
    lab.receive(0, &udp_to("10.1.0.1", 64, b"x"));
    assert_eq!(lab.sent(0)[0][34..36], [3, 3]);
    assert_eq!(lab.inside(), 0);
}

#[test]
fn ipv6_is_routed_and_neighbours_are_discovered() {
    let mut lab = Laboratory::new();
    let header = Ipv6Header::between(v6("2001:db8:1::2"), v6("2001:db8:2::2"));
    lab.receive(0, &frame_v6(0, &ports::udp_v6(header, (1, 2), b"x")));
    let question = lab.sent(1).remove(0);
    let frame = EthernetFrame::parse(&question).unwrap();
    assert_eq!(frame.destination.to_string(), "33:33:ff:00:00:02");
    let packet = Ipv6Packet::parse(frame.payload).unwrap();
    let asked = NeighbourMessage::parse(&packet).unwrap().unwrap();
    assert_eq!(
        (asked.target, asked.mac, packet.source),
        (v6("2001:db8:2::2"), Some(MACS[1]), v6("2001:db8:2::1"))
    );
    lab.receive(1, &frame_v6(1, &NeighbourMessage::advertise(asked.target, STATIONS[1], packet.source)));
    let out = lab.sent(1).remove(0);
    assert_eq!((Ipv6Packet::parse(&out[14..]).unwrap().hop_limit, &out[..6]), (63, &STATIONS[1].0[..]));
    // The fast path now has it, and its hop limit.
    lab.receive(0, &frame_v6(0, &ports::udp_v6(header, (1, 2), b"y")));
    assert_eq!(lab.sent(1).len(), 1);
    // A station asks for the router's link-local address.
    let solicit = NeighbourMessage::solicit(v6("fe80::ff:fe00:101"), (STATIONS[0], v6("fe80::2")));
    lab.receive(0, &frame_v6(0, &solicit));
    let answer = lab.sent(0).remove(0);
    let answer = NeighbourMessage::parse(&Ipv6Packet::parse(&answer[14..]).unwrap()).unwrap().unwrap();
    assert_eq!((answer.advertises, answer.mac), (true, Some(MACS[0])));
    assert_eq!(lab.inside(), 0);
}

#[test]
fn a_station_that_does_not_answer_is_unreachable() {
    let mut lab = Laboratory::new().with_stations();
    lab.receive(0, &udp_to("10.2.0.50", 64, b"x"));
    for _ in 0..4 {
        lab.advance(Span::from_s(1));
    }
    assert_eq!((lab.sent(1).len(), lab.counters().dropped(DropCause::Unreachable)), (3, 1));
    let error = lab.sent(0).remove(0);
    assert_eq!((error[34], error[35]), (3, 1));
    assert_eq!(lab.inside(), 0);
}

#[test]
fn frames_for_others_and_for_nobody_are_dropped() {
    let mut lab = Laboratory::new().with_stations();
    let mut other = udp_to("10.2.0.2", 64, b"x");
    other[5] ^= 1;
    let mut wrong = udp_to("10.2.0.2", 64, b"x");
    wrong[24] ^= 1;
    let header = EthernetHeader { destination: MACS[0], source: STATIONS[0], kind: EtherType(0x88cc) };
    let strange = [&header.to_bytes()[..], &[0; 50]].concat();
    let many = udp_to("224.0.0.5", 64, b"x");
    let error = icmp::error_v4(IcmpError::NoRoute, v4("10.1.0.2"), v4("192.0.2.1"), &wrong[14..]);
    for frame in [&other, &wrong, &strange, &many, &frame_v4(0, &error)] {
        lab.receive(0, frame);
    }
    assert!(lab.sent(0).is_empty() && lab.sent(1).is_empty(), "no error answers an error");
    let counters = lab.counters();
    let causes = [
        DropCause::OtherStation,
        DropCause::Malformed,
        DropCause::Unsupported,
        DropCause::Multicast,
        DropCause::NoRoute,
    ];
    assert_eq!(causes.map(|cause| counters.dropped(cause)), [1; 5]);
}

/// VLAN 0 is no network: such a tag only gives a frame's priority (IEEE 802.1Q, table 9-2), and cards may send it.
#[test]
fn frames_that_only_say_how_urgent_they_are_belong_to_the_link() {
    let mut lab = Laboratory::new().with_stations();
    let question = lab.arp(&ArpMessage {
        operation: ArpOperation::Request,
        sender: (STATIONS[0], v4("10.1.0.2")),
        target: (MACS[0], v4("10.1.0.1")),
    });
    let datagram = udp_to("10.2.0.2", 64, b"urgent");
    let solicited = NeighbourMessage::solicit(v6("2001:db8:1::1"), (STATIONS[0], v6("2001:db8:1::2")));
    for frame in [&datagram, &question, &frame_v6(0, &solicited)] {
        for (tag, sent) in [([0x81, 0, 0x60, 0], 1), ([0x88, 0xa8, 0, 0], 1), ([0x81, 0, 0x60, 5], 0)] {
            lab.receive(0, &[&frame[..12], &tag, &frame[12..]].concat());
            let out = [lab.sent(0), lab.sent(1)].concat();
            assert_eq!(out.len(), sent, "{tag:x?}");
            assert!(out.iter().all(|frame| EthernetFrame::parse(frame).unwrap().tags == [None; 2]));
        }
    }
    assert_eq!((lab.counters().dropped(DropCause::Unsupported), lab.inside()), (3, 0));
}

/// A default route also matches addresses that must not be forwarded: other links' own addresses, groups, reserved
/// ranges.
#[test]
fn what_no_router_forwards_takes_no_default_route() {
    let mut lab = Laboratory::new().with_stations();
    lab.route("0.0.0.0/0", NextHop::Station((1, IpAddr::V4(v4("10.2.0.2")))));
    lab.route("::/0", NextHop::Station((1, IpAddr::V6(v6("2001:db8:2::2")))));
    for target in ["0.0.0.5", "127.0.0.1", "224.0.0.5", "239.1.2.3", "240.0.0.1", "255.255.255.255"] {
        lab.receive(0, &udp_to(target, 64, b"x"));
    }
    let datagram = |from: &str, to: &str| {
        frame_v6(0, &ports::udp_v6(Ipv6Header::between(v6(from), v6(to)), (1, 2), b"x"))
    };
    for target in ["fe80::9", "ff0e::1", "::1", "::"] {
        lab.receive(0, &datagram("2001:db8:1::2", target));
    }
    lab.receive(0, &datagram("fe80::2", "2001:db8:2::2"));
    assert_eq!((lab.sent(1).len(), lab.inside()), (0, 0));
    lab.receive(0, &udp_to("1.1.1.1", 64, b"x"));
    lab.receive(0, &datagram("2001:db8:1::2", "2001:db9::1"));
    assert_eq!(lab.sent(1).len(), 2, "everything else takes it");
}

/// RFC 1812, section 5.3.7; RFC 3927, section 7; RFC 4291, sections 2.5.2 and 2.7: nobody sends from there, or not beyond the link.
#[test]
fn what_comes_from_impossible_sources_is_not_forwarded() {
    let mut lab = Laboratory::new().with_stations();
    let from_v4 = |source: &str| {
        let header = Ipv4Header::between(v4(source), v4("10.2.0.2"));
        frame_v4(0, &ports::udp_v4(header, (1, 2), b"x"))
    };
    let from_v6 = |source: &str| {
        let header = Ipv6Header::between(v6(source), v6("2001:db8:2::2"));
        frame_v6(0, &ports::udp_v6(header, (1, 2), b"x"))
    };
    let impossible_v4 = [
        "0.0.0.0",
        "0.1.2.3",
        "127.0.0.1",
        "127.9.9.9",
        "224.0.0.5",
        "239.9.9.9",
        "240.0.0.1",
        "255.255.255.255",
    ];
    let impossible_v6 = ["::", "::1", "ff02::1", "ff0e::9"];
    impossible_v4.iter().for_each(|source| lab.receive(0, &from_v4(source)));
    impossible_v6.iter().for_each(|source| lab.receive(0, &from_v6(source)));
    let expected = (impossible_v4.len() + impossible_v6.len()) as u64;
    assert_eq!(lab.counters().dropped(DropCause::Source), expected, "{}", lab.counters());
    for frame in [from_v4("169.254.1.9"), from_v6("fe80::9")] {
        lab.receive(0, &frame);
    }
    assert_eq!(
        lab.counters().dropped(DropCause::Source),
        expected + 2,
        "link-local sources stay on their link"
    );
    lab.receive(0, &udp_to("169.254.9.9", 64, b"x"));
    assert!(lab.sent(0).is_empty() && lab.sent(1).is_empty(), "nobody is told either");
    let possible_v4 = [
        "1.0.0.1",
        "126.9.9.9",
        "128.0.0.1",
        "168.254.0.1",
        "169.253.0.1",
        "169.255.0.1",
        "170.254.0.1",
        "223.9.9.9",
    ];
    let possible_v6 = ["64:ff9b::1", "2001:db8:9::1", "fd00::1", "fe7f::1"];
    possible_v4.iter().for_each(|source| lab.receive(0, &from_v4(source)));
    possible_v6.iter().for_each(|source| lab.receive(0, &from_v6(source)));
    assert_eq!(lab.sent(1).len(), possible_v4.len() + possible_v6.len(), "{}", lab.counters());
    assert_eq!(lab.inside(), 0);
}

/// No station has a group address: neither path forwards or answers its frames.
#[test]
fn frames_from_groups_are_malformed() {
    let mut lab = Laboratory::new().with_stations();
    let header = Ipv6Header::between(v6("2001:db8:1::2"), v6("2001:db8:2::2"));
    let question = ArpMessage {
        operation: ArpOperation::Request,
        sender: (STATIONS[0], v4("10.1.0.9")),
        target: (Mac([0; 6]), v4("10.1.0.1")),
    };
    let frames = [
        udp_to("10.2.0.2", 64, b"fast"),
        udp_to("10.2.0.2", 1, b"too many hops"),
        udp_to("10.1.0.1", 64, b"for the router"),
        frame_v6(0, &ports::udp_v6(header, (1, 2), b"fast")),
        lab.arp(&question),
    ];
    for frame in &frames {
        lab.receive(0, &[&frame[..6], &[3, 0, 0, 0, 0, 1], &frame[12..]].concat());
    }
    assert_eq!((lab.sent(0).len(), lab.sent(1).len()), (0, 0));
    assert_eq!(lab.counters().dropped(DropCause::Malformed), 5, "{}", lab.counters());
}

/// RFC 1812, section 5.3.7: the router's own addresses, and those of all stations of a link. The fast path does not look for them.
#[test]
fn nobody_is_answered_who_claims_to_be_the_router_or_all_of_a_link() {
    let mut lab = Laboratory::new().with_stations();
    lab.route("203.0.113.0/24", NextHop::Blackhole);
    let from = |source: &str, ttl| {
        let header = Ipv4Header { ttl, ..Ipv4Header::between(v4(source), v4("10.2.0.2")) };
        frame_v4(0, &ports::udp_v4(header, (1, 2), b"x"))
    };
    for source in ["10.1.0.1", "10.2.0.1", "10.1.0.255", "10.2.0.0"] {
        lab.receive(0, &from(source, 1));
    }
    for source in ["2001:db8:1::1", "2001:db8:2::1"] {
        let header = Ipv6Header { hop_limit: 1, ..Ipv6Header::between(v6(source), v6("2001:db8:2::2")) };
        lab.receive(0, &frame_v6(0, &ports::udp_v6(header, (1, 2), b"x")));
    }
    assert_eq!((lab.sent(0).len(), lab.counters().dropped(DropCause::Source)), (0, 6), "{}", lab.counters());
    lab.receive(0, &from("203.0.113.5", 1));
    assert_eq!(lab.counters().dropped(DropCause::Expired), 1, "only this one's route is a black hole");
}

/// RFC 1812, section 4.3.2.4; RFC 4443, section 2.2 (a).
#[test]
fn errors_come_from_the_interface_by_which_they_leave() {
    let mut lab = Laboratory::new().with_stations();
    lab.route("10.9.0.0/16", NextHop::Station((1, v4("10.2.0.2").into())));
    lab.route("2001:db8:9::/48", NextHop::Station((1, v6("2001:db8:2::2").into())));
    let sources = |frames: Vec<Vec<u8>>| -> Vec<IpAddr> {
        let source = |frame: &Vec<u8>| match EthernetFrame::parse(frame).unwrap() {
            EthernetFrame { kind: EtherType::IPV4, payload, .. } => {
                Ipv4Packet::parse(payload).unwrap().source.into()
            }
            EthernetFrame { payload, .. } => Ipv6Packet::parse(payload).unwrap().source.into(),
        };
        frames.iter().map(source).collect()
    };
    let expected = |text: &str| vec![text.parse::<IpAddr>().unwrap()];
    // The sender is behind the other port.
    let header = Ipv4Header { ttl: 1, ..Ipv4Header::between(v4("10.9.0.5"), v4("10.1.0.2")) };
    lab.receive(0, &frame_v4(0, &ports::udp_v4(header, (1, 2), b"x")));
    assert_eq!(sources(lab.sent(1)), expected("10.2.0.1"));
    let header = Ipv6Header { hop_limit: 1, ..Ipv6Header::between(v6("2001:db8:9::5"), v6("2001:db8:1::2")) };
    lab.receive(0, &frame_v6(0, &ports::udp_v6(header, (1, 2), b"x")));
    assert_eq!(sources(lab.sent(1)), expected("2001:db8:2::1"));
    // The station that does not answer is on another link than the sender.
    lab.receive(0, &udp_to("10.2.0.50", 64, b"x"));
    (0..4).for_each(|_| lab.advance(Span::from_s(1)));
    assert_eq!(sources(lab.sent(0)), expected("10.1.0.1"));
    // The address that was asked for answers for itself.
    let header = Ipv6Header::between(v6("2001:db8:1::2"), v6("2001:db8:2::1"));
    lab.receive(0, &frame_v6(0, &ports::udp_v6(header, (1, 2), b"x")));
    assert_eq!(sources(lab.sent(0)), expected("2001:db8:2::1"));
}

/// RFC 6864: a packet that may be fragmented on its way has an identification of its own.
#[test]
fn the_routers_own_packets_have_identifications() {
    let mut lab = Laboratory::new().with_stations();
    (0..5).for_each(|_| lab.receive(0, &udp_to("10.2.0.2", 1, b"x")));
    let packets = lab.sent(0);
    let mut numbers: Vec<u16> =
        packets.iter().map(|frame| Ipv4Packet::parse(&frame[14..]).unwrap().identification).collect();
    numbers.dedup();
    assert_eq!(numbers.len(), 5);
}

/// RFC 8200, section 4.2; RFC 6946.
#[test]
fn echo_is_answered_behind_extension_headers_that_ask_nothing() {
    let mut lab = Laboratory::new().with_stations();
    let ends = (v6("2001:db8:1::2"), v6("2001:db8:1::1"));
    let mut message = vec![128, 0, 0, 0, 0, 7, 0, 1, 9];
    let sum = checksum::Sum::default().pseudo_v6(ends, protocol::ICMPV6, message.len());
    let sum = sum.bytes(&message).checksum();
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    let mut answers = |next: u8, head: &[u8]| {
        let payload = [head, &message].concat();
        let header =
            Ipv6Header { next, payload: payload.len() as u16, ..Ipv6Header::between(ends.0, ends.1) };
        lab.receive(0, &frame_v6(0, &[&header.to_bytes()[..], &payload].concat()));
        let sent = lab.sent(0);
        sent.iter().all(|frame| frame[14 + 40] == 129) && sent.len() == 1
    };
    assert!(answers(58, &[]));
    assert!(answers(0, &[58, 0, 5, 2, 0, 0, 1, 0]), "router alert");
    assert!(answers(60, &[58, 0, 1, 4, 0, 0, 0, 0]), "destination options");
    assert!(answers(44, &[58, 0, 0, 0, 0, 0, 0, 4]), "a fragment that is the whole packet");
    assert!(answers(0, &[60, 0, 1, 4, 0, 0, 0, 0, 58, 0, 1, 4, 0, 0, 0, 0]));
    assert!(!answers(44, &[58, 0, 0, 1, 0, 0, 0, 4]), "the first of several fragments");
    assert!(!answers(60, &[58, 0, 0x80, 4, 0, 0, 0, 0]), "an option that must be understood");
    assert!(!answers(43, &[58, 0, 0, 1, 0, 0, 0, 0]), "a route that goes on");
    assert!(!answers(60, &[0, 0, 1, 4, 0, 0, 0, 0, 58, 0, 1, 4, 0, 0, 0, 0]), "hop by hop, but not first");
}

/// The fixed header has no length, so the bytes behind it are not padding.
#[test]
fn jumbograms_are_malformed() {
    let mut lab = Laboratory::new().with_stations();
    let header = Ipv6Header { next: 0, ..Ipv6Header::between(v6("2001:db8:1::2"), v6("2001:db8:2::2")) };
    let options = [17, 0, 0xc2, 4, 0, 1, 0x11, 0x70];
    let ethernet = EthernetHeader { destination: MACS[0], source: STATIONS[0], kind: EtherType::IPV6 };
    let head = [&ethernet.to_bytes()[..], &header.to_bytes()].concat();
    lab.receive(0, &[&head[..], &options, &[7; 60]].concat());
    assert_eq!((lab.sent(0).len(), lab.sent(1).len()), (0, 0));
    assert_eq!(lab.counters().dropped(DropCause::Malformed), 1, "{}", lab.counters());
}

/// RFC 1812, sections 4.3.2.7 and 5.3.4; RFC 4443, section 2.4 (e).
#[test]
fn frames_for_groups_are_neither_forwarded_nor_answered_with_errors() {
    let mut lab = Laboratory::new().with_stations();
    let datagram = |to: &str| {
        let header = Ipv6Header::between(v6("2001:db8:1::2"), v6(to));
        frame_v6(0, &ports::udp_v6(header, (1, 2), b"x"))
    };
    let frames = [
        udp_to("10.2.0.2", 64, b"onward"),
        udp_to("10.2.0.2", 1, b"too many hops"),
        udp_to("192.0.2.77", 64, b"no route"),
        udp_to("10.1.0.1", 64, b"no such port"),
        datagram("2001:db8:2::2"),
        datagram("2001:db8:77::2"),
        datagram("2001:db8:1::1"),
    ];
    for group in [[0xff; 6], [0x33, 0x33, 0, 0, 0, 1]] {
        for frame in &frames {
            lab.receive(0, &[&group[..], &frame[6..]].concat());
        }
    }
    assert!(lab.sent(0).is_empty() && lab.sent(1).is_empty());
    let counters = lab.counters();
    assert_eq!(
        (counters.dropped(DropCause::Multicast), counters.dropped(DropCause::Local)),
        (10, 4),
        "{counters}"
    );
    frames.iter().for_each(|frame| lab.receive(0, frame));
    assert_eq!(
        (lab.sent(0).len(), lab.sent(1).len()),
        (5, 2),
        "the same frames for the router's own station"
    );
}

/// RFC 1812, section 5.3.5.2; RFC 2644.
#[test]
fn what_is_for_all_stations_of_a_link_is_dropped_silently() {
    let mut lab = Laboratory::new().with_stations();
    lab.receive(0, &udp_to("10.2.0.255", 64, b"x"));
    lab.receive(0, &udp_to("10.1.0.255", 64, b"x"));
    lab.receive(0, &udp_to("10.2.0.0", 64, b"x"));
    (0..5).for_each(|_| lab.advance(Span::from_s(1)));
    assert!(lab.sent(0).is_empty() && lab.sent(1).is_empty(), "nobody is asked, nobody is told");
    assert_eq!((lab.counters().dropped(DropCause::Multicast), lab.inside()), (3, 0));
}

/// Nobody else is believed to have the router's own addresses, or those of all stations of a link; others are remembered, and asked again
/// before they are forgotten.
#[test]
fn no_station_has_the_address_of_the_router_or_of_all() {
    for address in ["10.2.0.1", "10.2.0.0", "10.2.0.255", "10.2.0.9"] {
        let asks = ArpMessage {
            operation: ArpOperation::Request,
            sender: (STATIONS[1], v4(address)),
            target: (Mac([0; 6]), v4("10.2.0.1")),
        };
        let mut lab = Laboratory::new();
        lab.receive(1, &lab.arp(&asks));
        assert_eq!(lab.sent(1).len(), 1, "the question is answered");
        (0..60).for_each(|_| lab.advance(Span::from_s(1)));
        assert_eq!(!lab.sent(1).is_empty(), address == "10.2.0.9", "{address}");
    }
}

/// A reply that leaves by a narrower link than that of the request.
#[test]
fn the_routers_own_packets_keep_to_the_mtu() {
    let mut lab = Laboratory::new().with_stations();
    let mut message = vec![8, 0, 0, 0, 0, 7, 0, 1];
    message.resize(1450, 9);
    let sum = checksum::of(&message).to_be_bytes();
    message[2..4].copy_from_slice(&sum);
    let header = Ipv4Header {
        protocol: protocol::ICMP,
        payload: message.len() as u16,
        ..Ipv4Header::between(v4("10.2.0.2"), v4("10.1.0.1"))
    };
    lab.receive(0, &frame_v4(0, &[&header.to_bytes()[..], &message].concat()));
    let parts = lab.sent(1);
    let lengths: Vec<usize> = parts.iter().map(|part| part.len() - 14).collect();
    assert_eq!(lengths, [1396, 94], "1470 bytes for a link of 1400");
    assert_eq!(lab.inside(), 0, "{}", lab.counters());
}

/// The fast path examines a batch; whatever it contains, each packet is handled as it would be alone.
#[test]
fn packets_of_a_batch_do_not_influence_each_other() {
    let frames: Vec<Vec<u8>> = (0..64_u8)
        .map(|n| match n % 4 {
            0 => udp_to("10.2.0.2", n, b"x"),
            1 => frame_v6(
                0,
                &ports::udp_v6(
                    Ipv6Header {
                        hop_limit: n,
                        ..Ipv6Header::between(v6("2001:db8:1::2"), v6("2001:db8:2::2"))
                    },
                    (1, 2),
                    b"x",
                ),
            ),
            2 => udp_to("192.0.2.1", 64, b"x"),
            _ => vec![n; usize::from(n)],
        })
        .collect();
    let (mut alone, mut together) = (Laboratory::new().with_stations(), Laboratory::new().with_stations());
    frames.iter().for_each(|frame| alone.receive(0, frame));
    together.receive_all(0, &frames);
    let sorted = |mut frames: Vec<Vec<u8>>| {
        frames.sort();
        frames
    };
    assert_eq!(sorted(alone.sent(1)), sorted(together.sent(1)));
    assert_eq!(sorted(alone.sent(0)), sorted(together.sent(0)));
    assert_eq!(alone.counters().dropped_in_all(), together.counters().dropped_in_all());
}

/// Frames that a hostile sender may try: valid ones of every kind, some with changed bytes, cut short, or pure noise.
struct HostileFrames {
    sound: Vec<Vec<u8>>,
    /// Seal fresh packets for the router's tunnels, the second in UDP.
    far: [OutboundAssociation; 2],
    random: Random,
}

impl HostileFrames {
    fn new(lab: &Laboratory) -> HostileFrames {
        let request = ArpMessage {
            operation: ArpOperation::Request,
            sender: (STATIONS[0], v4("10.1.0.9")),
            target: (Mac([0; 6]), v4("10.1.0.1")),
        };
        let datagram =
            ports::udp_v6(Ipv6Header::between(v6("2001:db8:1::2"), v6("2001:db8:2::9")), (1, 2), b"x");
        let error = icmp::error_v4(
            IcmpError::NoRoute,
            v4("10.1.0.1"),
            v4("10.2.0.2"),
            &udp_to("10.2.0.2", 64, b"x")[14..],
        );
        let sound = vec![
            udp_to("10.2.0.2", 64, b"data"),
            udp_to("10.2.0.77", 64, b"data"),
            udp_to("10.1.0.1", 64, b"data"),
            udp_to("203.0.113.1", 1, &[0; 200]),
            udp_to("10.2.0.2", 64, &[0; 1500]),
            udp_to("10.77.0.9", 64, b"through the tunnel"),
            udp_to("10.78.0.9", 64, b"through the tunnel in UDP"),
            at_udp_port(&[0xff]),
            at_udp_port(&[&[0; 4][..], b"IKE"].concat()),
            lab.arp(&request),
            frame_v4(0, &error),
            frame_v6(0, &NeighbourMessage::solicit(v6("2001:db8:1::1"), (STATIONS[0], v6("2001:db8:1::2")))),
            frame_v6(0, &datagram),
        ];
        let far = [SPI, SPI + 1].map(|spi| OutboundAssociation::new(spi, cipher(), 1 << 40));
        HostileFrames { sound, far, random: Random::new(1, Purpose::Test, 0) }
    }

    /// A sealed packet from the far end of a tunnel.
    fn sealed(&mut self) -> Vec<u8> {
        let in_udp = self.random.below(2) as usize;
        let from = ["10.77.0.9", "10.78.0.9"][in_udp];
        let inner = ports::udp_v4(Ipv4Header::between(v4(from), v4("10.2.0.2")), (1, 2), b"inside");
        let mut payload = Vec::new();
        self.far[in_udp].seal(4, &inner, &mut payload).expect("numbers are left");
        if in_udp == 1 {
            return at_udp_port(&payload);
        }
        let between = Ipv4Header::between(v4("10.1.0.2"), v4("10.1.0.1"));
        let header = Ipv4Header { protocol: 50, payload: payload.len() as u16, ..between }.to_bytes();
        frame_v4(0, &[&header[..], &payload].concat())
    }

    fn next(&mut self) -> Vec<u8> {
        let choice = self.random.below(self.sound.len() as u32 + 1) as usize;
        let mut frame = match self.sound.get(choice) {
            Some(frame) => frame.clone(),
            None => self.sealed(),
        };
        let random = &mut self.random;
        for _ in 0..random.below(5) {
            let at = random.below(frame.len() as u32) as usize;
            frame[at] = random.bits() as u8;
        }
        match random.below(8) {
            0 => frame.truncate(random.below(frame.len() as u32 + 1) as usize),
            1 => frame[14..].iter_mut().for_each(|byte| *byte = random.bits() as u8),
            2 => frame.resize(random.below(2000) as usize, 0x5a),
            _ => {}
        }
        frame
    }
}

/// A frame for the UDP port of the second tunnel.
fn at_udp_port(payload: &[u8]) -> Vec<u8> {
    let between = Ipv4Header::between(v4("10.1.0.2"), v4("10.1.0.1"));
    frame_v4(0, &ports::udp_v4(between, (4500, 4500), payload))
}

/// Number of frames: a million, or as many as `make hostile` sets.
fn hostile_count() -> usize {
    std::env::var("WEFT_HOSTILE_FRAMES").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_000)
}

/// Hostile frames through a running router: no crash, no buffer lost, every frame accounted for, caches within their bounds.
#[test]
fn hostile_frames_neither_crash_nor_leak() {
    let mut lab = Laboratory::new().with_stations();
    lab.route("10.77.0.0/16", NextHop::Tunnel(0));
    lab.route("10.78.0.0/16", NextHop::Tunnel(1));
    let (all, before) = (lab.free_buffers(), lab.counters().received);
    let mut frames = HostileFrames::new(&lab);
    let rounds = hostile_count() / 64;
    for round in 0..rounds {
        let batch: Vec<Vec<u8>> = (0..64).map(|_| frames.next()).collect();
        lab.receive_all(round % 2, &batch);
        if round % 16 == 0 {
            lab.advance(Span::from_ms(50));
            drop((lab.sent(0), lab.sent(1)));
            assert_eq!(lab.free_buffers(), all, "no buffer is lost");
        }
    }
    (0..10).for_each(|_| lab.advance(Span::from_s(1)));
    assert_eq!((lab.inside(), lab.counters().received - before), (0, rounds as u64 * 64));
    assert!(lab.control().read(|state| state.neighbours().len()) <= 2 * 4096);
    let counters = lab.counters();
    for cause in [
        DropCause::EspReplay,
        DropCause::EspInvalid,
        DropCause::EspUnknown,
        DropCause::EspPolicy,
        DropCause::Ike,
        DropCause::NatKeepalive,
        DropCause::Malformed,
    ] {
        assert!(counters.dropped(cause) > 0, "{}: {counters}", cause.name());
    }
    lab.receive(
        0,
        &lab.arp(&ArpMessage {
            operation: ArpOperation::Request,
            sender: (STATIONS[0], v4("10.1.0.2")),
            target: (Mac([0; 6]), v4("10.1.0.1")),
        }),
    );
    assert!(!lab.sent(0).is_empty(), "it still answers");
}

/// The packets that the station at the far end finds in sealed frames.
fn opened(far: &InboundAssociation, frames: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let open = |frame: &Vec<u8>| {
        let outer = Ipv4Packet::parse(&frame[14..]).expect("an IPv4 packet");
        let sealed = if outer.protocol == protocol::UDP { &outer.payload[8..] } else { outer.payload };
        let mut inner = Vec::new();
        assert_eq!(far.open(sealed, &mut inner), Ok(4));
        inner
    };
    frames.iter().map(open).collect()
}

/// A packet with one hop less to go.
fn one_hop_on(frame: &[u8]) -> Vec<u8> {
    let mut packet = frame[14..].to_vec();
    assert!(ipv4::decrement_ttl(&mut packet));
    packet
}

/// The frame with four bytes of IP options, which do nothing: the fast path does not take it.
fn with_options(frame: &[u8]) -> Vec<u8> {
    let mut frame = [&frame[..34], &[1; 4], &frame[34..]].concat();
    let total = (frame.len() - 14) as u16;
    frame[14] = 0x46;
    frame[16..18].copy_from_slice(&total.to_be_bytes());
    frame[24..26].fill(0);
    let sum = checksum::of(&frame[14..38]).to_be_bytes();
    frame[24..26].copy_from_slice(&sum);
    frame
}

#[test]
fn packets_of_every_length_enter_a_tunnel_by_either_path() {
    let mut lab = Laboratory::new().with_stations();
    lab.route("10.77.0.0/16", NextHop::Tunnel(0));
    lab.route("10.78.0.0/16", NextHop::Tunnel(1));
    let all = lab.free_buffers();
    let far = [(); 2].map(|()| InboundAssociation::new(300, cipher(), 64));
    for length in 0..1400 {
        for (to, far) in ["10.77.0.9", "10.78.0.9"].iter().zip(&far) {
            let data: Vec<u8> = (0..length).map(|n| n as u8).collect();
            let plain = udp_to(to, 64, &data);
            let unusual = with_options(&plain);
            lab.receive_all(0, &[plain.clone(), unusual.clone()]);
            let packets = opened(far, &lab.sent(0));
            assert_eq!(packets, [one_hop_on(&plain), one_hop_on(&unusual)], "{length} {to}");
        }
    }
    assert_eq!((lab.counters().sealed, lab.inside(), lab.free_buffers()), (5600, 0, all));
}

#[test]
fn packets_of_every_length_leave_a_tunnel_by_either_path() {
    let mut lab = Laboratory::new().with_stations();
    lab.route("10.77.0.0/16", NextHop::Tunnel(0));
    let (all, far) = (lab.free_buffers(), OutboundAssociation::new(SPI, cipher(), 1 << 40));
    for length in 0..1372 {
        let from = Ipv4Header::between(v4("10.77.0.9"), v4("10.2.0.2"));
        let inner = ports::udp_v4(Ipv4Header { traffic_class: 2, ..from }, (1, 2), &vec![0x77; length]);
        // The fast path takes no packet whose hops are used up; an outer one may be. Half of them are marked.
        for (ttl, traffic_class) in [(64, 0), (1, 0), (64, 3), (1, 3)] {
            let mut sealed = Vec::new();
            far.seal(4, &inner, &mut sealed).unwrap();
            let between = Ipv4Header::between(v4("10.1.0.2"), v4("10.1.0.1"));
            let payload = sealed.len() as u16;
            let header = Ipv4Header { protocol: 50, payload, ttl, traffic_class, ..between }.to_bytes();
            lab.receive(0, &frame_v4(0, &[&header[..], &sealed].concat()));
            let out = lab.sent(1).remove(0);
            let packet = Ipv4Packet::parse(&out[14..]).expect("a sound header");
            let class = if traffic_class == 3 { 3 } else { 2 };
            assert_eq!(
                (packet.ttl, packet.traffic_class, &out[34..]),
                (63, class, &inner[20..]),
                "{length} {ttl}"
            );
        }
    }
    assert_eq!((lab.counters().opened, lab.inside(), lab.free_buffers()), (4 * 1372, 0, all));
}

/// A tunnel needs a second buffer only to be fast.
#[test]
fn a_tunnel_gets_by_with_the_buffer_of_the_packet() {
    let mut lab = Laboratory::with_buffers(1).with_stations();
    lab.route("10.77.0.0/16", NextHop::Tunnel(0));
    let packet = udp_to("10.77.0.9", 64, b"sealed");
    lab.receive(0, &packet);
    assert_eq!(opened(&InboundAssociation::new(300, cipher(), 64), &lab.sent(0)), [one_hop_on(&packet)]);
    let inner = ports::udp_v4(Ipv4Header::between(v4("10.77.0.9"), v4("10.2.0.2")), (1, 2), b"inside");
    let mut sealed = Vec::new();
    OutboundAssociation::new(SPI, cipher(), 1).seal(4, &inner, &mut sealed).unwrap();
    let between = Ipv4Header::between(v4("10.1.0.2"), v4("10.1.0.1"));
    let header = Ipv4Header { protocol: 50, payload: sealed.len() as u16, ..between }.to_bytes();
    lab.receive(0, &frame_v4(0, &[&header[..], &sealed].concat()));
    assert_eq!((lab.sent(1).len(), lab.inside(), lab.free_buffers()), (1, 0, 1));
}

/// Port 0 carries 1500 bytes, 1446 of them in a tunnel.
#[test]
fn what_a_tunnel_cannot_carry_is_reported_with_its_mtu() {
    let mut lab = Laboratory::new().with_stations();
    lab.route("10.77.0.0/16", NextHop::Tunnel(0));
    lab.receive(0, &whole("10.77.0.9", &[0; 1446 - 28]));
    assert_eq!(lab.sent(0).remove(0).len(), 14 + 20 + 8 + 8 + 1448 + 16);
    lab.receive(0, &whole("10.77.0.9", &[0; 1447 - 28]));
    let error = lab.sent(0).remove(0);
    assert_eq!((error[34], error[35], &error[40..42]), (3, 4, &1446_u16.to_be_bytes()[..]));
    assert_eq!((lab.counters().dropped(DropCause::TooBig), lab.inside()), (1, 0));
}

/// Sealed packets take either of two links, 1500 and 1400 bytes wide.
#[test]
fn a_tunnel_over_several_links_is_as_wide_as_the_narrowest() {
    let mut lab = Laboratory::new().with_stations();
    lab.route("10.77.0.0/16", NextHop::Tunnel(0));
    let links = [(0, v4("10.1.0.2").into()), (1, v4("10.2.0.2").into())].map(NextHop::Station);
    lab.control().change(|state| state.fix_route("10.1.0.2/32".parse().unwrap(), &links)).unwrap();
    lab.receive(0, &whole("10.77.0.9", &[0; 1347 - 28]));
    let told = |error: &Vec<u8>| (error[34], error[35], [error[40], error[41]]);
    assert_eq!(lab.sent(0).iter().map(told).collect::<Vec<_>>(), [(3, 4, 1346_u16.to_be_bytes())]);
    lab.receive(0, &whole("10.77.0.9", &[0; 1346 - 28]));
    assert_eq!((lab.sent(0).len() + lab.sent(1).len(), lab.counters().dropped(DropCause::TooBig)), (1, 1));
}

/// A packet that the routes would not send through a tunnel does not come out of it.
#[test]
fn what_has_no_business_in_a_tunnel_does_not_come_out_of_it() {
    let mut lab = Laboratory::new().with_stations();
    lab.route("10.77.0.0/16", NextHop::Tunnel(0));
    let (all, far) = (lab.free_buffers(), OutboundAssociation::new(SPI, cipher(), 1));
    for (from, ttl) in [("10.78.0.9", 64), ("10.2.0.9", 64), ("10.78.0.9", 1), ("10.77.0.9", 64)] {
        let inner = ports::udp_v4(Ipv4Header::between(v4(from), v4("10.2.0.2")), (1, 2), b"inside");
        let mut sealed = Vec::new();
        far.seal(4, &inner, &mut sealed).unwrap();
        let between = Ipv4Header::between(v4("10.1.0.2"), v4("10.1.0.1"));
        let payload = sealed.len() as u16;
        let header = Ipv4Header { protocol: 50, payload, ttl, ..between }.to_bytes();
        lab.receive(0, &frame_v4(0, &[&header[..], &sealed].concat()));
        assert_eq!(lab.sent(1).len(), usize::from(from == "10.77.0.9"), "{from} {ttl}");
    }
    assert_eq!((lab.counters().dropped(DropCause::EspPolicy), lab.inside(), lab.free_buffers()), (3, 0, all));
}

/// A packet sealed by the far end of the first tunnel, in a frame.
fn sealed_by(far: &OutboundAssociation, next: u8, inner: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::new();
    far.seal(next, inner, &mut sealed).unwrap();
    let between = Ipv4Header::between(v4("10.1.0.2"), v4("10.1.0.1"));
    let header = Ipv4Header { protocol: 50, payload: sealed.len() as u16, ..between }.to_bytes();
    frame_v4(0, &[&header[..], &sealed].concat())
}

/// The IPv4 packet of a frame in another place of a datagram (offset in units of 8 bytes, below the flags), or with another hop limit.
fn with_header(frame: &[u8], (place, ttl): (u16, u8)) -> Vec<u8> {
    let mut frame = frame.to_vec();
    frame[20..22].copy_from_slice(&place.to_be_bytes());
    frame[22] = ttl;
    frame[24..26].fill(0);
    let sum = checksum::of(&frame[14..34]).to_be_bytes();
    frame[24..26].copy_from_slice(&sum);
    frame
}

/// A packet that is offered to ESP and appears to be a fragment must be discarded (RFC 4303, section 3.4.1).
#[test]
fn fragments_of_sealed_packets_are_not_opened() {
    let mut lab = Laboratory::new().with_stations();
    lab.route("10.77.0.0/16", NextHop::Tunnel(0));
    lab.route("10.78.0.0/16", NextHop::Tunnel(1));
    let far = [SPI, SPI + 1].map(|spi| OutboundAssociation::new(spi, cipher(), 1));
    let inner =
        |from| ports::udp_v4(Ipv4Header::between(v4(from), v4("10.2.0.2")), (1, 2), b"inside a fragment");
    let plain = sealed_by(&far[0], 4, &inner("10.77.0.9"));
    let mut sealed = Vec::new();
    far[1].seal(4, &inner("10.78.0.9"), &mut sealed).unwrap();
    let in_udp = at_udp_port(&sealed);
    // The slow path takes packets with one hop left.
    for ttl in [64, 1] {
        let parts = [(&plain, 0x2000), (&plain, 0x2005), (&plain, 5), (&in_udp, 0x2000)];
        for (frame, place) in parts {
            lab.receive(0, &with_header(frame, (place, ttl)));
            assert!(lab.sent(1).is_empty(), "{place:#x} {ttl}");
        }
        // A later fragment in UDP cannot be recognised.
        lab.receive(0, &with_header(&in_udp, (5, ttl)));
    }
    let dropped = [DropCause::EspFragment, DropCause::Local].map(|cause| lab.counters().dropped(cause));
    assert_eq!((dropped, lab.counters().opened), ([8, 2], 0), "{}", lab.counters());
    lab.receive_all(0, &[plain, in_udp]);
    assert_eq!((lab.sent(1).len(), lab.inside()), (2, 0), "they are no replays");
}

/// RFC 6040, figure 4: the mark of the outer packet counts if it is stronger than the inner one.
#[test]
fn the_marks_of_the_outer_packet_reach_the_inner_one() {
    const DROPPED: u8 = 9;
    // By the marks of the inner packet, then those of the outer one: not capable, ECT(1), ECT(0), congested.
    let expected = [[0, 0, 0, DROPPED], [1, 1, 1, 3], [2, 1, 2, 3], [3, 3, 3, 3]];
    let mut lab = Laboratory::new().with_stations();
    lab.route("10.77.0.0/16", NextHop::Tunnel(0));
    lab.route("2001:db8:77::/48", NextHop::Tunnel(0));
    let far = OutboundAssociation::new(SPI, cipher(), 1);
    for (inner, outer) in (0..4_u8).flat_map(|inner| (0..4_u8).map(move |outer| (inner, outer))) {
        let traffic_class = 0xb8 | inner;
        let ip = Ipv4Header { traffic_class, ..Ipv4Header::between(v4("10.77.0.9"), v4("10.2.0.2")) };
        let between = Ipv6Header::between(v6("2001:db8:77::9"), v6("2001:db8:2::2"));
        let packets = [
            (4, ports::udp_v4(ip, (1, 2), b"marked")),
            (41, ports::udp_v6(Ipv6Header { traffic_class, ..between }, (1, 2), b"marked")),
        ];
        for ((next, packet), ttl) in packets.iter().flat_map(|packet| [(packet, 64), (packet, 1)]) {
            let mut frame = sealed_by(&far, *next, packet);
            frame[15] = outer;
            lab.receive(0, &with_header(&frame, (0, ttl)));
            let left = lab.sent(1).first().map_or(DROPPED, |frame| match next {
                4 => Ipv4Packet::parse(&frame[14..]).unwrap().traffic_class ^ 0xb8,
                _ => Ipv6Packet::parse(&frame[14..]).unwrap().traffic_class ^ 0xb8,
            });
            assert_eq!(left, expected[usize::from(inner)][usize::from(outer)], "{inner} in {outer}, {next}");
        }
    }
    assert_eq!((lab.counters().dropped(DropCause::EspPolicy), lab.inside()), (4, 0));
}

/// A peer that hides how much it sends must not be reported as one with a wrong key.
#[test]
fn dummies_of_the_other_end_are_no_errors() {
    let mut lab = Laboratory::new().with_stations();
    lab.route("10.77.0.0/16", NextHop::Tunnel(0));
    let far = OutboundAssociation::new(SPI, cipher(), 1);
    for ttl in [64, 1] {
        lab.receive(0, &with_header(&sealed_by(&far, 59, &[0; 40]), (0, ttl)));
    }
    lab.receive(0, &sealed_by(&far, 60, &[0; 40]));
    assert!(lab.sent(0).is_empty() && lab.sent(1).is_empty());
    let dropped = [DropCause::EspDummy, DropCause::EspInvalid].map(|cause| lab.counters().dropped(cause));
    assert_eq!((dropped, lab.inside()), ([2, 1], 0));
}

/// Path MTU discovery through a tunnel: an error about a packet that came out of it goes back through it from an
/// address that the other end's routes also send through it, and not from the tunnel's own end.
#[test]
fn an_error_through_a_tunnel_comes_from_an_address_inside() {
    let mut lab = Laboratory::new().with_stations();
    lab.route("10.77.0.0/16", NextHop::Tunnel(0));
    lab.route("2001:db8:77::/48", NextHop::Tunnel(0));
    let far = OutboundAssociation::new(SPI, cipher(), 1);
    let between = Ipv4Header::between(v4("10.77.0.9"), v4("10.2.0.2"));
    let packet = ports::udp_v4(Ipv4Header { dont_fragment: true, ..between }, (1, 2), &[0; 1400]);
    lab.receive(0, &sealed_by(&far, 4, &packet));
    let error = opened(&InboundAssociation::new(300, cipher(), 64), &lab.sent(0)).remove(0);
    let error = Ipv4Packet::parse(&error).unwrap();
    assert_eq!((error.source, error.destination), (v4("10.2.0.1"), v4("10.77.0.9")));
    assert_eq!(
        (error.payload[..2].to_vec(), &error.payload[6..8]),
        (vec![3, 4], &1400_u16.to_be_bytes()[..])
    );
    let between = Ipv6Header::between(v6("2001:db8:77::9"), v6("2001:db8:2::2"));
    lab.receive(0, &sealed_by(&far, 41, &ports::udp_v6(between, (1, 2), &[0; 1380])));
    let (mut inner, sent) = (Vec::new(), lab.sent(0));
    let outer = Ipv4Packet::parse(&sent[0][14..]).unwrap();
    assert_eq!(InboundAssociation::new(300, cipher(), 64).open(outer.payload, &mut inner), Ok(41));
    let error = Ipv6Packet::parse(&inner).unwrap();
    assert_eq!((error.source, error.payload[0]), (v6("2001:db8:2::1"), 2));
    assert_eq!(lab.inside(), 0);
}

/// A router on the other end's side may have an address of any network: the packet that its error is about decides
/// (RFC 4301, section 6).
#[test]
fn an_error_about_a_packet_of_the_tunnel_comes_out_of_it() {
    let mut lab = Laboratory::new().with_stations();
    lab.route("10.77.0.0/16", NextHop::Tunnel(0));
    lab.route("2001:db8:77::/48", NextHop::Tunnel(0));
    let far = OutboundAssociation::new(SPI, cipher(), 1);
    let mut passes = |from: &str, about: (&str, &str), to: &str| {
        let about = ports::udp_v4(Ipv4Header::between(v4(about.0), v4(about.1)), (1, 2), b"x");
        let error = icmp::error_v4(IcmpError::TooBig(1300), v4(from), v4(to), &about);
        lab.receive(0, &sealed_by(&far, 4, &error));
        lab.sent(1).len() == 1
    };
    assert!(passes("192.0.2.99", ("10.2.0.2", "10.77.0.9"), "10.2.0.2"));
    assert!(
        !passes("192.0.2.99", ("10.2.0.2", "198.51.100.9"), "10.2.0.2"),
        "about a packet that goes another way"
    );
    assert!(!passes("192.0.2.99", ("10.2.0.9", "10.77.0.9"), "10.2.0.2"), "for another than its sender");
    let about = ports::udp_v6(Ipv6Header::between(v6("2001:db8:2::2"), v6("2001:db8:77::9")), (1, 2), b"x");
    let error = icmp::error_v6(IcmpError::TooBig(1300), v6("2001:db8:99::1"), v6("2001:db8:2::2"), &about);
    lab.receive(0, &sealed_by(&far, 41, &error));
    assert_eq!((lab.sent(1).len(), lab.counters().dropped(DropCause::EspPolicy), lab.inside()), (1, 2, 0));
}

/// A sealed packet waits, like any other, until the far end of its tunnel has answered.
#[test]
fn a_sealed_packet_waits_for_the_far_end() {
    let mut lab = Laboratory::new();
    lab.route("10.77.0.0/16", NextHop::Tunnel(0));
    let packet = frame_v4(1, &udp_to("10.77.0.9", 64, b"sealed")[14..]);
    lab.receive(1, &packet);
    let asked = lab.sent(0);
    let question = ArpMessage::parse(EthernetFrame::parse(&asked[0]).unwrap().payload).unwrap();
    assert_eq!((asked.len(), question.target.1), (1, v4("10.1.0.2")));
    lab.receive(0, &lab.arp(&question.answer(STATIONS[0])));
    let far = InboundAssociation::new(300, cipher(), 64);
    assert_eq!(opened(&far, &lab.sent(0)), [one_hop_on(&packet)]);
    assert_eq!(lab.inside(), 0);
}

/// A neighbour solicitation to a known address need not carry a MAC address; the answer goes to the station that
/// asked (RFC 4861, section 7.2.4).
#[test]
fn a_solicitation_without_a_source_address_option_is_answered_to_its_sender() {
    let mut lab = Laboratory::new().with_stations();
    let (from, to) = (v6("2001:db8:1::2"), v6("2001:db8:1::1"));
    lab.receive(0, &frame_v6(0, &solicitation_without_option(to, (from, to))));
    let sent = lab.sent(0);
    assert_eq!((sent.len(), &sent[0][..6]), (1, &STATIONS[0].0[..]));
    let packet = Ipv6Packet::parse(&sent[0][14..]).unwrap();
    let answer = NeighbourMessage::parse(&packet).unwrap().unwrap();
    assert_eq!(
        (packet.destination, answer.advertises, answer.solicited, lab.inside()),
        (from, true, true, 0)
    );
}

/// Bytes behind a packet in its frame, padding or memory of its sender, stay on its link.
#[test]
fn bytes_behind_a_packet_are_not_forwarded() {
    let mut lab = Laboratory::new().with_stations();
    let short = udp_to("10.2.0.2", 64, b"x");
    let header = Ipv6Header::between(v6("2001:db8:1::2"), v6("2001:db8:2::2"));
    let six = frame_v6(0, &ports::udp_v6(header, (1, 2), b"x"));
    for frame in [short, six] {
        lab.receive_all(0, &[[&frame[..], b"of another packet"].concat(), frame.clone()]);
        let sent = lab.sent(1);
        assert_eq!(sent.iter().map(Vec::len).collect::<Vec<_>>(), [frame.len(); 2]);
        assert_eq!(sent[0], sent[1]);
    }
    assert_eq!(lab.inside(), 0);
}

/// Packets of which the kernel has a copy are not lost.
#[test]
fn frames_for_the_kernel_are_consumed_and_not_dropped() {
    let mut lab = Laboratory::beside_kernel();
    lab.receive(0, &udp_to("10.1.0.1", 64, b"for the machine"));
    lab.receive(0, &udp_to("224.0.0.5", 1, b"a routing protocol"));
    let counters = lab.counters();
    assert_eq!((counters.consumed, counters.dropped_in_all(), lab.inside()), (2, 0, 0));
}

/// The default route has millions of slots; a worker that has a packet to resolve meanwhile gets the lock between slices of them,
/// while some slots have the old next hop and others the new one.
#[test]
fn a_change_of_the_default_route_lets_workers_pass() {
    let lab = Laboratory::new().with_stations();
    let control = lab.shared_control();
    let routes = control.read(|state| state.v4().reader());
    let (first, last) = (u32::from_be_bytes([1, 0, 0, 1]), u32::from_be_bytes([223, 0, 0, 1]));
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let mut half_painted = 0;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                control.resolve(weft_core::Time::ZERO, (1, IpAddr::from([10, 2, 0, 2])), &[]);
                let differs = |_: &_| routes.lookup(first) != routes.lookup(last);
                half_painted += u32::from(control.read(differs));
            }
            half_painted
        });
        for n in 0..10 {
            let next = NextHop::Station((1, IpAddr::from([10, 2, 0, n])));
            control.change(|state| state.set_route("0.0.0.0/0".parse().unwrap(), next)).unwrap();
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(worker.join().unwrap() > 0, "the lock was never free during a change");
    });
}

/// While a million changes of other prefixes go by, every packet of a prefix that stays arrives.
#[test]
fn a_storm_of_route_changes_loses_no_packet_of_other_prefixes() {
    let mut lab = Laboratory::new().with_stations();
    let station = |host: u8| NextHop::Station((1, IpAddr::from([10, 2, 0, host])));
    lab.route("198.51.100.0/24", station(2));
    let control = lab.shared_control();
    let flapping = std::thread::spawn(move || {
        let mut random = Random::new(2, Purpose::Test, 0);
        for _ in 0..500_000 {
            // Shorter, longer and neighbouring prefixes of the one that stays, and others.
            let address = [0xc633_6400, 0xc633_6500, 0xc600_0000, 0x0b00_0000][random.below(4) as usize];
            let length = match address {
                0xc633_6400 => 8 + random.below(16) as u8,
                0xc633_6500 => 24 + random.below(9) as u8,
                _ => 12 + random.below(21) as u8,
            };
            let noise = random.bits() as u32 & 0xff;
            let prefix = IpPrefix::around(Ipv4Addr::from(address | noise).into(), length).unwrap();
            let hop = NextHop::Station((1, IpAddr::from([10, 2, 1, random.below(250) as u8])));
            control.change(|state| state.set_route(prefix, hop)).unwrap();
            control.change(|state| state.remove_route(prefix));
        }
    });
    let mut sent = 0;
    let packets: Vec<Vec<u8>> =
        (0..64_u8).map(|n| udp_to(&format!("198.51.100.{}", n * 4), 64, b"x")).collect();
    while !flapping.is_finished() || sent == 0 {
        lab.receive_all(0, &packets);
        let out = lab.sent(1);
        assert_eq!(out.len(), packets.len());
        sent += out.len();
    }
    flapping.join().unwrap();
    assert_eq!((lab.inside(), lab.counters().dropped_in_all()), (0, 0));
    assert_eq!(lab.routes(), Laboratory::new().with_stations().routes() + 1);
}

/// A next hop that is silent: its packets wait when the router ends.
#[test]
fn packets_that_wait_at_the_end_are_counted() {
    let mut lab = Laboratory::new().with_stations();
    for _ in 0..3 {
        lab.receive(0, &udp_to("10.2.0.50", 64, b"x"));
    }
    assert_eq!(lab.counters().inside(), 3, "the packets wait for an answer to the request that was sent");
    let counters = lab.end();
    assert_eq!((counters.dropped(DropCause::Ended), counters.inside()), (3, 0), "{counters}");
    assert_eq!(
        counters.interfaces()[1].dropped(DropCause::Ended),
        3,
        "at the port that they would have left by"
    );
}
