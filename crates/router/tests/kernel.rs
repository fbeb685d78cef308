//! Messages of the kernel, and the resulting routes.

use std::net::IpAddr;
use std::sync::Arc;

use weft_netlink::{
    KernelAddress, KernelHop, KernelLink, KernelMessage, KernelNeighbour, KernelObject, KernelRoute,
    ObjectTarget, RouteKind, RoutePlace,
};
use weft_packet::Mac;
use weft_router::Interface;
use weft_router::control::{Control, NextHop};
use weft_router::kernel::KernelMirror;
use weft_router::neighbours::NeighbourLimits;

/// A router with the ports `left` and `right`, whose interfaces have the indices 7 and 8.
struct Fixture {
    control: Control,
    mirror: KernelMirror,
}

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn hop(interface: u32, gateway: &str) -> KernelHop {
    KernelHop { gateway: Some(address(gateway)), interface, weight: 1, usable: true }
}

fn route(prefix: &str, metric: u32, hops: &[KernelHop]) -> KernelRoute {
    let (to, length) = prefix.split_once('/').unwrap();
    KernelRoute {
        removed: false,
        prefix: (address(to), length.parse().unwrap()),
        table: KernelRoute::MAIN,
        metric,
        place: RoutePlace::First,
        kind: RouteKind::Unicast,
        hops: hops.to_vec(),
        object: None,
    }
}

impl Fixture {
    fn new() -> Fixture {
        let names = ["left", "right"].map(str::to_owned);
        let port =
            |name: &String| Interface { name: name.clone(), mac: Mac([2; 6]), mtu: 1500, addresses: vec![] };
        let control =
            Control::new(names.iter().map(port).collect::<Arc<_>>(), NeighbourLimits::default()).unwrap();
        let mut fixture = Fixture { control, mirror: KernelMirror::new(names.to_vec()) };
        (7..).zip(["left", "right"]).for_each(|(index, name)| fixture.link(index, name, true));
        fixture
    }

    fn link(&mut self, index: u32, name: &str, up: bool) {
        let name = name.to_owned();
        let link = KernelLink {
            removed: false,
            index,
            name,
            ethernet: true,
            up,
            mtu: Some(1400),
            mac: Some([2, 0, 0, 0, 0, 7]),
            queues: None,
        };
        self.say(KernelMessage::Link(link));
    }

    fn say(&mut self, message: KernelMessage) {
        self.control.change(|state| self.mirror.apply(state, message));
    }

    fn route(&mut self, route: KernelRoute) {
        self.say(KernelMessage::Route(route));
    }

    /// The next hop of a prefix; lists in full.
    fn next(&self, prefix: &str) -> Vec<(NextHop, u16)> {
        self.control.read(|state| match state.route(prefix.parse().unwrap()) {
            Some(NextHop::Multipath(number)) => state.list(number).unwrap().to_vec(),
            Some(next) => vec![(next, 1)],
            None => vec![],
        })
    }
}

fn station(port: u16, text: &str) -> NextHop {
    NextHop::Station((port, address(text)))
}

#[test]
fn the_lowest_metric_wins_and_the_next_takes_over() {
    let mut router = Fixture::new();
    router.route(route("10.9.0.0/16", 20, &[hop(8, "10.2.0.9")]));
    router.route(route("10.9.0.0/16", 10, &[hop(7, "10.1.0.9")]));
    router.route(route("10.9.0.0/16", 30, &[hop(7, "10.1.0.8")]));
    assert_eq!(router.next("10.9.0.0/16"), [(station(0, "10.1.0.9"), 1)]);
    router.route(KernelRoute { removed: true, ..route("10.9.0.0/16", 10, &[hop(7, "10.1.0.9")]) });
    assert_eq!(router.next("10.9.0.0/16"), [(station(1, "10.2.0.9"), 1)]);
    let own =
        KernelRoute { table: KernelRoute::LOCAL, kind: RouteKind::Local, ..route("10.9.0.0/16", 0, &[]) };
    router.route(own.clone());
    assert_eq!(router.next("10.9.0.0/16"), [(NextHop::Local, 1)]);
    router.route(KernelRoute { removed: true, ..own });
    assert_eq!(router.next("10.9.0.0/16"), [(station(1, "10.2.0.9"), 1)]);
}

#[test]
fn routes_without_next_hops_keep_their_kinds() {
    let mut router = Fixture::new();
    for (kind, next) in [
        (RouteKind::Reject, NextHop::Reject),
        (RouteKind::Throw, NextHop::Reject),
        (RouteKind::Prohibit, NextHop::Prohibit),
        (RouteKind::Blackhole, NextHop::Blackhole),
    ] {
        router.route(KernelRoute { place: RoutePlace::Replaces, kind, ..route("10.9.0.0/16", 0, &[]) });
        assert_eq!(router.next("10.9.0.0/16"), [(next, 1)]);
    }
}

#[test]
fn flows_are_divided_among_the_next_hops_that_work() {
    let mut router = Fixture::new();
    let heavy = KernelHop { weight: 3, ..hop(8, "10.2.0.9") };
    let both = [hop(7, "10.1.0.9"), heavy];
    router.route(route("10.9.0.0/16", 0, &both));
    assert_eq!(router.next("10.9.0.0/16"), [(station(0, "10.1.0.9"), 1), (station(1, "10.2.0.9"), 3)]);
    router.route(route("10.9.0.0/16", 0, &[both[0], KernelHop { usable: false, ..heavy }]));
    assert_eq!(router.next("10.9.0.0/16"), [(station(0, "10.1.0.9"), 1)]);
    // One of several IPv6 next hops is taken away by name, the whole route without names.
    let six = [hop(7, "2001:db8:1::9"), hop(8, "2001:db8:2::9")];
    router.route(route("2001:db8::/32", 0, &six));
    router.route(KernelRoute { removed: true, ..route("2001:db8::/32", 0, &six[..1]) });
    assert_eq!(router.next("2001:db8::/32"), [(station(1, "2001:db8:2::9"), 1)]);
    router.route(KernelRoute { removed: true, ..route("2001:db8::/32", 0, &[]) });
    assert_eq!(router.next("2001:db8::/32"), []);
}

#[test]
fn routes_through_objects_change_with_them() {
    let mut router = Fixture::new();
    let object = |number, target| KernelMessage::Object(KernelObject { removed: false, number, target });
    router.say(object(1, ObjectTarget::Hop(hop(7, "10.1.0.9"))));
    router.say(object(2, ObjectTarget::Hop(hop(8, "10.2.0.9"))));
    router.say(object(3, ObjectTarget::Group(vec![(1, 1), (2, 2)])));
    router.route(KernelRoute { object: Some(3), ..route("10.9.0.0/16", 0, &[]) });
    assert_eq!(router.next("10.9.0.0/16"), [(station(0, "10.1.0.9"), 1), (station(1, "10.2.0.9"), 2)]);
    router.say(object(3, ObjectTarget::Group(vec![(2, 1)])));
    assert_eq!(router.next("10.9.0.0/16"), [(station(1, "10.2.0.9"), 1)]);
    // A group of itself ends.
    router.say(object(3, ObjectTarget::Group(vec![(3, 1), (3, 1)])));
    assert_eq!(router.next("10.9.0.0/16"), [(NextHop::Reject, 1)]);
}

#[test]
fn what_a_second_reading_does_not_mention_is_gone() {
    let mut router = Fixture::new();
    router.route(route("10.9.0.0/16", 0, &[hop(7, "10.1.0.9")]));
    router.route(route("10.8.0.0/16", 0, &[hop(7, "10.1.0.9")]));
    let own = |text: &str| {
        KernelMessage::Address(KernelAddress {
            removed: false,
            interface: 7,
            address: address(text),
            length: 24,
        })
    };
    router.say(own("10.1.0.1"));
    router.say(own("10.3.0.1"));
    assert!(!router.mirror.take_doubt());
    router.link(8, "right", false);
    assert!(router.mirror.take_doubt() && !router.mirror.take_doubt(), "IPv4 routes vanish without a word");
    router.mirror.begin_reading();
    router.route(route("10.8.0.0/16", 0, &[hop(7, "10.1.0.9")]));
    router.say(own("10.1.0.1"));
    router.control.change(|state| router.mirror.end_reading(state));
    assert_eq!((router.next("10.9.0.0/16").len(), router.next("10.8.0.0/16").len()), (0, 1));
    router.control.read(|state| {
        let left = &state.ports()[0];
        assert_eq!((left.addresses.as_slice(), left.mtu), (&[(address("10.1.0.1"), 24)][..], 1400));
    });
}

#[test]
fn routes_that_no_router_forwards_stay_as_they_are() {
    let mut router = Fixture::new();
    for prefix in ["127.0.0.0/8", "fe80::/64", "ff00::/8", "224.0.0.0/4"] {
        router.route(route(prefix, 0, &[hop(7, "10.1.0.9")]));
    }
    assert_eq!(router.next("127.0.0.0/8"), [(NextHop::Reject, 1)]);
    assert_eq!(router.next("fe80::/64"), []);
    // A route by an interface that is not a port is unreachable from here, instead of following a shorter prefix.
    router.route(route("0.0.0.0/0", 0, &[hop(3, "192.0.2.1")]));
    assert_eq!(router.next("0.0.0.0/0"), [(NextHop::Reject, 1)]);
}

#[test]
fn the_routes_of_the_file_stay_whatever_the_kernel_says() {
    let mut router = Fixture::new();
    let prefix = "10.9.0.0/16".parse().unwrap();
    router.control.change(|state| state.fix_route(prefix, &[NextHop::Tunnel(0)])).unwrap();
    let other = route("10.9.0.0/16", 0, &[hop(7, "10.1.0.9")]);
    router.route(other.clone());
    assert_eq!(router.next("10.9.0.0/16"), [(NextHop::Tunnel(0), 1)], "nothing leaves in clear");
    router.route(route("10.9.0.0/16", 0, &[hop(7, "10.1.0.9"), hop(8, "10.2.0.9")]));
    assert_eq!(router.next("10.9.0.0/16"), [(NextHop::Tunnel(0), 1)]);
    router.route(KernelRoute { removed: true, ..other });
    router.mirror.begin_reading();
    router.control.change(|state| router.mirror.end_reading(state));
    assert_eq!(router.next("10.9.0.0/16"), [(NextHop::Tunnel(0), 1)]);
}

/// The kernel keeps several routes with one prefix and metric, and uses the first.
#[test]
fn routes_with_one_metric_stand_in_the_kernels_order() {
    let mut router = Fixture::new();
    let by = |gateway: &str, place| KernelRoute { place, ..route("10.9.0.0/16", 5, &[hop(7, gateway)]) };
    let gone = |gateway: &str| KernelRoute { removed: true, ..by(gateway, RoutePlace::First) };
    let uses = |router: &Fixture, gateway: &str| {
        assert_eq!(router.next("10.9.0.0/16"), [(station(0, gateway), 1)]);
    };
    router.route(by("10.1.0.1", RoutePlace::First));
    router.route(by("10.1.0.2", RoutePlace::Last));
    uses(&router, "10.1.0.1");
    router.route(by("10.1.0.3", RoutePlace::First));
    uses(&router, "10.1.0.3");
    router.route(gone("10.1.0.3"));
    uses(&router, "10.1.0.1");
    router.route(by("10.1.0.4", RoutePlace::Replaces));
    uses(&router, "10.1.0.4");
    router.route(gone("10.1.0.2"));
    uses(&router, "10.1.0.4");
    // A reading mentions all routes, in order; during it the first stays.
    router.mirror.begin_reading();
    router.route(by("10.1.0.5", RoutePlace::Next));
    uses(&router, "10.1.0.5");
    router.route(by("10.1.0.4", RoutePlace::Next));
    uses(&router, "10.1.0.5");
    router.control.change(|state| router.mirror.end_reading(state));
    router.route(gone("10.1.0.5"));
    uses(&router, "10.1.0.4");
    router.route(gone("10.1.0.4"));
    assert_eq!(router.next("10.9.0.0/16"), []);
}

/// For the kernel, other shares make another IPv4 route: `ip route prepend` puts it first, and both stay.
#[test]
fn a_route_with_other_shares_is_another_route() {
    let mut router = Fixture::new();
    let shared = |share, place| {
        let heavy = KernelHop { weight: share, ..hop(8, "10.2.0.9") };
        KernelRoute { place, ..route("10.9.0.0/16", 5, &[hop(7, "10.1.0.9"), heavy]) }
    };
    let uses = |router: &Fixture, share| {
        let both = [(station(0, "10.1.0.9"), 1), (station(1, "10.2.0.9"), share)];
        assert_eq!(router.next("10.9.0.0/16"), both);
    };
    router.route(shared(3, RoutePlace::First));
    router.route(route("10.9.0.0/16", 5, &[hop(7, "10.1.0.8")]));
    router.route(shared(5, RoutePlace::First));
    uses(&router, 5);
    router.route(shared(7, RoutePlace::Last));
    uses(&router, 5);
    router.route(KernelRoute { removed: true, ..shared(5, RoutePlace::First) });
    assert_eq!(router.next("10.9.0.0/16"), [(station(0, "10.1.0.8"), 1)]);
    router.route(shared(3, RoutePlace::First));
    uses(&router, 3);
    // Replacing means the first, not one like the new.
    router.route(shared(9, RoutePlace::Replaces));
    router.route(KernelRoute { removed: true, ..shared(9, RoutePlace::First) });
    assert_eq!(router.next("10.9.0.0/16"), [(station(0, "10.1.0.8"), 1)]);
}

/// Next hops die with the last address of a link and revive with the first: the kernel reports neither.
#[test]
fn an_address_that_comes_or_goes_makes_routes_doubtful() {
    let mut router = Fixture::new();
    let address = |removed| {
        let address = address("10.2.0.1");
        KernelMessage::Address(KernelAddress { removed, interface: 8, address, length: 24 })
    };
    router.mirror.begin_reading();
    router.say(address(false));
    router.control.change(|state| router.mirror.end_reading(state));
    assert!(!router.mirror.take_doubt(), "the first reading tells of all that there is");
    for removed in [true, false] {
        router.say(address(removed));
        assert!(router.mirror.take_doubt(), "removed: {removed}");
        router.say(address(removed));
        assert!(!router.mirror.take_doubt(), "nothing new");
    }
}

/// The kernel merges IPv6 routes by gateways, and keeps those by links separate.
#[test]
fn routes_by_two_links_are_two_routes() {
    let mut router = Fixture::new();
    let on = |interface| KernelHop { gateway: None, ..hop(interface, "::1") };
    router.route(route("2001:db8::/64", 256, &[on(7)]));
    router.route(route("2001:db8::/64", 256, &[on(8)]));
    assert_eq!(router.next("2001:db8::/64"), [(NextHop::Link(0), 1)], "the first one");
    router.route(KernelRoute { removed: true, ..route("2001:db8::/64", 256, &[on(7)]) });
    assert_eq!(router.next("2001:db8::/64"), [(NextHop::Link(1), 1)]);
}

#[test]
fn permanent_neighbours_stay_until_they_are_taken_away() {
    let mut router = Fixture::new();
    let there = address("10.1.0.9");
    let set = |mac: u8, permanent, removed| KernelNeighbour {
        removed,
        interface: 7,
        address: there,
        mac: (!removed).then_some([2, 0, 0, 0, 0, mac]),
        permanent,
    };
    let known = |router: &Fixture| router.control.read(|state| state.neighbours().mac((0, there)));
    let mac = |last| Some(Mac([2, 0, 0, 0, 0, last]));
    router.say(KernelMessage::Neighbour(set(9, true, false)));
    let hour = weft_core::Time::ZERO + weft_core::Span::from_s(3600);
    assert!(router.control.due(hour).ask.is_empty(), "nobody asks for it");
    assert_eq!(known(&router), mac(9));
    router.say(KernelMessage::Neighbour(set(8, true, false)));
    assert_eq!(known(&router), mac(8), "a change applies");
    router.say(KernelMessage::Neighbour(set(8, false, true)));
    assert_eq!(known(&router), None, "so does a deletion");
    // Messages may be lost: routes that a reading does not mention are gone.
    router.say(KernelMessage::Neighbour(set(7, true, false)));
    router.mirror.begin_reading();
    router.control.change(|state| router.mirror.end_reading(state));
    assert_eq!(known(&router), None);
    // The file takes precedence.
    router.control.change(|state| state.fix_neighbour((0, there), Mac([6; 6])));
    router.say(KernelMessage::Neighbour(set(7, true, false)));
    router.say(KernelMessage::Neighbour(set(7, false, true)));
    assert_eq!(known(&router), Some(Mac([6; 6])));
}
