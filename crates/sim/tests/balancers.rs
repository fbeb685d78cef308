//! Balancers in whole networks: what their papers claim of flowlets, paths and reordering, on the smallest fabric that
//! can show it.

mod lab;

use std::sync::Arc;

use lab::{constant, flow};
use weft_core::record::RunRecord;
use weft_core::{Rate, Span, Time};
use weft_sim::Setup;
use weft_switch::balance::{conga, letflow};
use weft_switch::{BalancerSettings, congestion, flowlet};
use weft_topology::shapes::diamond;
use weft_topology::{LinkSettings, TopologySettings, Wiring, timeline};
use weft_transport::TransportSettings;

/// Two leaves with so many hosts at 10 Gb/s each, joined by two paths.
fn diamond(hosts: u32, a: LinkSettings, b: LinkSettings) -> Setup {
    let shape = diamond::Settings { hosts_per_leaf: hosts, path_a: a, path_b: b, ..Default::default() };
    let transport = lab::dctcp(|tcp| (tcp.min_rto, tcp.initial_rto) = (Span::from_ms(1), Span::from_ms(2)));
    lab::setup(&TopologySettings::Diamond(shape), &transport)
}

fn gbps(rate: u64) -> LinkSettings {
    LinkSettings::of(Rate::from_gbps(rate))
}

/// Wire bytes that leaf 0 sent by path a, and by path b.
fn shares(setup: &Setup, record: &RunRecord) -> [f64; 2] {
    ["leaf0-spine0", "leaf0-spine1"].map(|name| {
        let cable = setup.graph.cable_named(name).expect("a diamond has it");
        record.links[setup.graph.links_of_cable(cable)[0].index()].sent.0 as f64
    })
}

fn letflow(gap: Span) -> BalancerSettings {
    let flowlets = flowlet::Settings { gap, ..Default::default() };
    BalancerSettings::LetFlow(letflow::Settings { flowlets, ..Default::default() })
}

fn late_packets(record: &RunRecord) -> u32 {
    record.flows.iter().map(|flow| flow.out_of_order).sum()
}

/// Flows on the slower path wait for their windows more often; their flowlets end sooner, and bytes move away.
#[test]
fn flowlets_are_elastic_where_windows_are() {
    for gap in [Span::from_us(100), Span::from_us(300)] {
        let mut setup = diamond(10, gbps(10), gbps(5));
        setup.balancer = letflow(gap);
        setup.flows =
            (0..60).map(|n| flow(Span::from_us(n), n as u32 % 10, 10 + n as u32 % 10, 1 << 30)).collect();
        setup.until = Time::ZERO + Span::from_ms(80);
        let [fast, slow] = shares(&setup, &lab::run(setup.clone()));
        assert!(fast / (fast + slow) > 0.6, "{fast} and {slow} bytes with a gap of {gap}");
    }
}

/// What is sent at a constant rate does not pause more on the slower path: its flowlets are spread evenly.
#[test]
fn flowlets_without_windows_are_spread_evenly() {
    let mut setup = diamond(10, gbps(10), gbps(5));
    setup.balancer = letflow(Span::from_us(100));
    // A packet every 120 us each: every one is a flowlet.
    let rate = Rate(1_472 * 8 * 1_000_000 / 120);
    setup.flows = (0..60)
        .map(|n| constant(Span::from_us(2 * n), n as u32 % 10, 10 + n as u32 % 10, 1 << 30, rate))
        .collect();
    setup.until = Time::ZERO + Span::from_ms(50);
    let [fast, slow] = shares(&setup, &lab::run(setup.clone()));
    // 25 000 packets: half of them, with a standard deviation of 0.3 %.
    assert!((fast / (fast + slow) - 0.5).abs() < 0.013, "{fast} and {slow} bytes");
}

/// A pause longer than the paths differ leaves nothing to overtake.
#[test]
fn gaps_longer_than_the_paths_differ_reorder_nothing() {
    let late = |gap| {
        let slow = LinkSettings { delay: Span::from_us(50), ..gbps(10) };
        let mut setup = diamond(4, gbps(10), slow);
        setup.balancer = letflow(gap);
        let rate = Rate::from_mbps(150);
        setup.flows =
            (0..4).map(|n| constant(Span::from_us(20 * n), n as u32, 4 + n as u32, 4 << 20, rate)).collect();
        setup.until = Time::ZERO + Span::from_s(1);
        late_packets(&lab::run(setup))
    };
    // Packets are 79 us apart, the paths differ by 100 us.
    assert!(late(Span::from_us(70)) > 100);
    assert_eq!(late(Span::from_us(101)), 0);
    assert_eq!(late(Span(u64::MAX)), 0);
}

#[test]
fn without_a_gap_flowlets_reorder_as_random_packets_do() {
    let late = |balancer| {
        let slow = LinkSettings { delay: Span::from_us(5), ..gbps(10) };
        let mut setup = diamond(4, gbps(10), slow);
        setup.balancer = balancer;
        setup.flows = (0..4).map(|n| constant(Span::ZERO, n, 4 + n, 4 << 20, Rate::from_gbps(4))).collect();
        late_packets(&lab::run(setup))
    };
    let (flowlets, packets) = (
        f64::from(late(letflow(Span::ZERO))),
        f64::from(late(BalancerSettings::PerPacketRandom(Default::default()))),
    );
    assert!((flowlets / packets - 1.0).abs() < 0.05, "{flowlets} and {packets} late packets");
}

// ---- CONGA ----

/// Two leaves of 15 hosts and two spines; the second spine's link to leaf 1 has half the rate of the others.
fn narrow_downlink() -> Setup {
    let mut wiring = Wiring::default();
    let leaves = wiring.switches("leaf", 2);
    let spines = wiring.switches("spine", 2);
    for leaf in &leaves {
        wiring.hosts_on(*leaf, 15, &gbps(10));
    }
    for (leaf, spine, rate) in [(0, 0, 10), (0, 1, 10), (1, 0, 10), (1, 1, 5)] {
        wiring.cable(leaves[leaf], spines[spine], &gbps(rate));
    }
    let graph = wiring.finish().expect("a valid network");
    lab::on(graph, &TransportSettings::Dctcp(Default::default()))
}

/// 9 Gb/s in 30 flows that begin one after the other, and a little in the opposite direction.
fn steady(setup: &mut Setup) {
    let between = |n: u32, from, to, rate| {
        let start = Span::from_us(u64::from(n) * 400);
        constant(start, from + n % 15, to + n % 15, 1 << 30, Rate::from_mbps(rate))
    };
    setup.flows = (0..30).map(|n| between(n, 0, 15, 300)).collect();
    setup.flows.extend((0..30).map(|n| between(n, 15, 0, 30)));
    setup.flows.sort_by_key(|flow| flow.start);
    setup.until = Time::ZERO + Span::from_ms(40);
}

fn conga(feedback: bool) -> BalancerSettings {
    BalancerSettings::Conga(conga::Settings {
        flowlets: flowlet::Settings { exact: true, ..Default::default() },
        congestion: congestion::Settings { feedback, metric_bits: 6, ..Default::default() },
    })
}

/// 10 and 5 Gb/s lie ahead: CONGA fills both alike. Who looks at the own uplinks only overloads nothing of its own and
/// sends half of all into the narrow link.
#[test]
fn feedback_splits_traffic_by_the_capacity_beyond_the_next_switch() {
    let share = |feedback| {
        let mut setup = narrow_downlink();
        setup.balancer = conga(feedback);
        steady(&mut setup);
        let [wide, narrow] = shares(&setup, &lab::run(setup.clone()));
        wide / (wide + narrow)
    };
    let (path, local) = (share(true), share(false));
    assert!((path - 2.0 / 3.0).abs() < 0.03, "{path}");
    assert!((local - 0.5).abs() < 0.03, "{local}");
}

/// A flow that is alone has no reason to move, whatever it does to its own path.
#[test]
fn a_lone_flow_keeps_its_path() {
    for rate in [None, Some(Rate::from_mbps(5)), Some(Rate::from_gbps(9))] {
        let mut setup = diamond(1, gbps(10), gbps(10));
        setup.balancer = BalancerSettings::Conga(Default::default());
        setup.flows = match rate {
            None => vec![flow(Span::ZERO, 0, 1, 20 << 20)],
            Some(rate) => vec![constant(Span::ZERO, 0, 1, 1 << 18, rate)],
        };
        let mut sent = shares(&setup, &lab::run(setup.clone()));
        sent.sort_by(f64::total_cmp);
        assert_eq!(sent[0], 0.0, "{rate:?}");
        assert!(sent[1] > f64::from(1 << 18));
    }
}

/// With the largest of all gaps every flow is decided once (CONGA-Flow): nothing is reordered.
#[test]
fn conga_flow_reorders_nothing() {
    let mut setup = lab::leaf_spine();
    let flowlets = flowlet::Settings { gap: Span::from_ms(13), exact: true, ..Default::default() };
    setup.balancer = BalancerSettings::Conga(conga::Settings { flowlets, ..Default::default() });
    setup.flows = lab::random_flows(&setup, 200, Span::from_us(500), 60_000);
    assert_eq!(late_packets(&lab::run(setup)), 0);
}

// ---- WCMP ----

/// 1000 flows over 10 and 5 Gb/s: two of three by the wider path, to within chance; ECMP puts half on either.
#[test]
fn weights_follow_the_capacity_of_paths() {
    let share = |balancer: BalancerSettings| {
        let mut setup = narrow_downlink();
        let timeline = timeline(&setup.graph, &Default::default(), &Default::default(), balancer.grouping());
        (setup.timeline, setup.balancer) = (Arc::new(timeline), balancer);
        setup.flows =
            (0..1_000).map(|n| flow(Span::from_us(u64::from(n)), n % 15, 15 + n % 14, 1_000)).collect();
        let [wide, narrow] = shares(&setup, &lab::run(setup.clone()));
        wide / (wide + narrow)
    };
    // Standard deviation 1.5 %.
    assert!((share(BalancerSettings::Wcmp(Default::default())) - 2.0 / 3.0).abs() < 0.05);
    assert!((share(BalancerSettings::default()) - 0.5).abs() < 0.05);
}
