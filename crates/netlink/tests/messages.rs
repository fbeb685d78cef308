//! Messages as the kernel writes them, and any bytes.

use proptest::prelude::*;
use weft_netlink::{
    Dump, KernelHop, KernelMessage, KernelRoute, ObjectTarget, RouteKind, RoutePlace, dump_request, messages,
};

fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = ((4 + value.len()) as u16).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn message(kind: u16, body: &[u8]) -> Vec<u8> {
    let mut bytes = ((16 + body.len()) as u32).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend([0; 10]);
    bytes.extend(body);
    bytes
}

fn one(bytes: &[u8]) -> KernelMessage {
    let mut found: Vec<_> = messages(bytes).collect::<Result<_, _>>().unwrap();
    assert_eq!(found.len(), 1);
    found.remove(0)
}

/// The header of a route of 10.9.0.0/16 in the main table, learned from a routing daemon.
const ROUTE: [u8; 12] = [2, 16, 0, 0, 254, 11, 0, 1, 0, 0, 0, 0];

#[test]
fn a_route_with_two_next_hops_has_both_with_their_shares() {
    let hop = |index: u32, weight: u8, gateway: [u8; 4]| {
        let mut own = 16_u16.to_ne_bytes().to_vec();
        own.extend([0, weight - 1]);
        own.extend(index.to_ne_bytes());
        own.extend(attribute(5, &gateway));
        own
    };
    let hops = [hop(3, 1, [10, 1, 0, 9]), hop(4, 2, [10, 2, 0, 9])].concat();
    let metric = attribute(6, &20_u32.to_ne_bytes());
    let body = [&ROUTE[..], &attribute(1, &[10, 9, 0, 0]), &metric, &attribute(9, &hops)].concat();
    let KernelMessage::Route(route) = one(&message(24, &body)) else { panic!() };
    let expected = |interface, weight, gateway: &str| KernelHop {
        gateway: Some(gateway.parse().unwrap()),
        interface,
        weight,
        usable: true,
    };
    assert_eq!(route.hops, [expected(3, 1, "10.1.0.9"), expected(4, 2, "10.2.0.9")]);
    assert_eq!(
        (route.prefix, route.table, route.metric, route.kind, route.removed),
        (("10.9.0.0".parse().unwrap(), 16), KernelRoute::MAIN, 20, RouteKind::Unicast, false)
    );
}

/// The kernel uses the first of several routes with one prefix and metric.
#[test]
fn the_place_of_a_route_is_in_the_flags_of_its_message() {
    let body = [&ROUTE[..], &attribute(1, &[10, 9, 0, 0])].concat();
    for (flags, place) in [
        (0_u16, RoutePlace::First),
        (0x600, RoutePlace::First),
        (0x900, RoutePlace::Replaces),
        (0xc00, RoutePlace::Last),
        (0x22, RoutePlace::Next),
    ] {
        let mut bytes = message(24, &body);
        bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        let KernelMessage::Route(route) = one(&bytes) else { panic!() };
        assert_eq!(route.place, place, "{flags:#x}");
    }
}

#[test]
fn what_is_forbidden_is_told_from_what_cannot_be_reached() {
    for (kind, expected) in
        [(6, RouteKind::Blackhole), (7, RouteKind::Reject), (8, RouteKind::Prohibit), (9, RouteKind::Throw)]
    {
        let mut header = ROUTE;
        header[7] = kind;
        let body = [&header[..], &attribute(1, &[10, 9, 0, 0])].concat();
        let KernelMessage::Route(route) = one(&message(24, &body)) else { panic!() };
        assert_eq!(route.kind, expected);
    }
}

/// A route for some TOS, or for packets from some prefix, is no route for all packets to its prefix.
#[test]
fn routes_for_some_packets_only_are_no_routes() {
    for field in [2, 3] {
        let mut header = ROUTE;
        header[field] = 16;
        let body = [&header[..], &attribute(1, &[10, 9, 0, 0])].concat();
        assert_eq!(one(&message(24, &body)), KernelMessage::Other);
    }
}

#[test]
fn a_default_route_may_have_a_gateway_of_the_other_family() {
    let mut header = ROUTE;
    header[1] = 0;
    let via = [&10_u16.to_ne_bytes()[..], &[0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]].concat();
    let body = [&header[..], &attribute(4, &7_u32.to_ne_bytes()), &attribute(18, &via)].concat();
    let KernelMessage::Route(route) = one(&message(25, &body)) else { panic!() };
    assert_eq!((route.prefix, route.removed), (("0.0.0.0".parse().unwrap(), 0), true));
    assert_eq!((route.hops[0].interface, route.hops[0].gateway), (7, Some("fe80::1".parse().unwrap())));
}

#[test]
fn next_hops_that_are_objects_are_single_or_groups() {
    let header = [2, 0, 11, 0, 0, 0, 0, 0];
    let number = attribute(1, &12_u32.to_ne_bytes());
    let single =
        [&header[..], &number, &attribute(5, &3_u32.to_ne_bytes()), &attribute(6, &[10, 1, 0, 9])].concat();
    let KernelMessage::Object(object) = one(&message(104, &single)) else { panic!() };
    assert_eq!(object.number, 12);
    assert!(matches!(object.target, ObjectTarget::Hop(KernelHop { interface: 3, .. })));
    let member = |number: u32, weight: u8| [&number.to_ne_bytes()[..], &[weight - 1, 0, 0, 0]].concat();
    let group = [&header[..], &number, &attribute(2, &[member(12, 1), member(13, 3)].concat())].concat();
    let KernelMessage::Object(object) = one(&message(104, &group)) else { panic!() };
    assert_eq!(object.target, ObjectTarget::Group(vec![(12, 1), (13, 3)]));
}

#[test]
fn links_addresses_and_neighbours() {
    let mut header = vec![0; 16];
    header[2..4].copy_from_slice(&1_u16.to_ne_bytes());
    header[4..8].copy_from_slice(&5_u32.to_ne_bytes());
    header[8..12].copy_from_slice(&0x1_0001_u32.to_ne_bytes());
    let rest =
        [attribute(3, b"left\0"), attribute(1, &[2, 0, 0, 0, 0, 1]), attribute(4, &1400_u32.to_ne_bytes())];
    let KernelMessage::Link(link) = one(&message(16, &[header, rest.concat()].concat())) else { panic!() };
    assert_eq!((link.name.as_str(), link.index, link.up, link.mtu), ("left", 5, true, Some(1400)));
    assert!(link.ethernet);
    let body = [&[2, 24, 0, 0][..], &5_u32.to_ne_bytes(), &attribute(2, &[10, 1, 0, 1])].concat();
    let KernelMessage::Address(address) = one(&message(20, &body)) else { panic!() };
    assert_eq!((address.address, address.length), ("10.1.0.1".parse().unwrap(), 24));
    // The prefix of a link between two is that of the far end.
    let two = [attribute(1, &[10, 9, 0, 2]), attribute(2, &[10, 1, 0, 1])].concat();
    let body = [&[2, 24, 0, 0][..], &5_u32.to_ne_bytes(), &two].concat();
    let KernelMessage::Address(address) = one(&message(20, &body)) else { panic!() };
    assert_eq!((address.address, address.length), ("10.1.0.1".parse().unwrap(), 32));
    for (state, known, permanent) in
        [(0x04_u16, true, false), (0x20, false, false), (0x40, true, true), (0x80, true, true)]
    {
        let header = [&[2, 0, 0, 0][..], &5_u32.to_ne_bytes(), &state.to_ne_bytes(), &[0, 1]].concat();
        let body = [header, attribute(1, &[10, 1, 0, 9]), attribute(2, &[2, 0, 0, 0, 0, 9])].concat();
        let KernelMessage::Neighbour(neighbour) = one(&message(28, &body)) else { panic!() };
        assert_eq!(neighbour.mac.is_some(), known, "a failed entry has no address");
        assert_eq!(neighbour.permanent, permanent);
    }
}

#[test]
fn a_request_is_a_message_of_its_own_length() {
    for dump in Dump::ALL {
        let request = dump_request(dump, 9);
        assert_eq!(request[..4], (request.len() as u32).to_ne_bytes());
        assert!(messages(&request).all(|message| message.is_ok()));
    }
}

proptest! {
    #[test]
    fn any_bytes_are_messages_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = messages(&bytes).count();
    }

    /// The same with sound headers, so that every parser sees the noise.
    #[test]
    fn any_body_of_any_kind_is_read(kind in 0_u16..110, body in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert_eq!(messages(&message(kind, &body)).count(), 1);
    }
}

#[test]
fn a_port_that_leaves_a_bridge_is_not_gone() {
    const AF_BRIDGE: u8 = 7;
    let mut body = vec![AF_BRIDGE, 0, 1, 0];
    body.extend(4_u32.to_ne_bytes());
    body.extend(1_u32.to_ne_bytes());
    body.extend([0; 4]);
    body.extend(attribute(3, b"right\0"));
    assert_eq!(one(&message(17, &body)), KernelMessage::Other);
    body[0] = 0;
    assert!(matches!(one(&message(17, &body)), KernelMessage::Link(link) if link.removed));
}
