//! Balancers in whole networks: what their papers claim of flowlets, paths and reordering, on the smallest fabric that
//! can show it.

mod lab;

use lab::{constant, flow};
use weft_core::record::RunRecord;
use weft_core::{Rate, Span, Time};
use weft_sim::Setup;
use weft_switch::balance::letflow;
use weft_switch::{BalancerSettings, flowlet};
use weft_topology::shapes::diamond;
use weft_topology::{LinkSettings, TopologySettings};

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
    BalancerSettings::LetFlow(letflow::Settings { flowlets })
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
