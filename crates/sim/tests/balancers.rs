//! Balancers in whole networks: the claims of their papers about flowlets, paths and reordering, on the smallest
//! fabric that can show them.

mod lab;

use std::collections::BTreeMap;
use std::sync::Arc;

use lab::{constant, flow};
use weft_core::label::{PathLabel, cell_of};
use weft_core::record::RunRecord;
use weft_core::{Header, PacketKind, PortId, Rate, Span, SwitchId, Time};
use weft_plan::Setup;
use weft_sim::{Seen, Simulation, Tap};
use weft_switch::balance::{conga::CongaSettings, letflow::LetFlowSettings, presto::PrestoSettings};
use weft_switch::{BalancerSettings, congestion::CongestionSettings, flowlet::FlowletSettings};
use weft_topology::shapes::diamond::DiamondSettings;
use weft_topology::{
    FailureSettings, LinkSettings, RoutingSettings, TopologySettings, Wiring, plan, timeline,
};
use weft_transport::settings::{ShimRule, Tcp};
use weft_transport::{Transport, TransportSettings};

/// Two leaves with a given number of hosts at 10 Gb/s each, joined by two paths.
fn diamond(hosts: u32, a: LinkSettings, b: LinkSettings) -> Setup {
    let shape = DiamondSettings { hosts_per_leaf: hosts, path_a: a, path_b: b, ..Default::default() };
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
    let flowlets = FlowletSettings { gap, ..Default::default() };
    BalancerSettings::LetFlow(LetFlowSettings { flowlets, ..Default::default() })
}

fn late_packets(record: &RunRecord) -> u32 {
    record.flows.iter().map(|flow| flow.out_of_order).sum()
}

/// 60 flows of DCTCP without end over paths of 10 and 5 Gb/s.
fn long_flows(gap: Span, length: Span) -> Setup {
    let mut setup = diamond(10, gbps(10), gbps(5));
    setup.balancer = letflow(gap);
    setup.flows =
        (0..60).map(|n| flow(Span::from_us(n), n as u32 % 10, 10 + n as u32 % 10, 1 << 30)).collect();
    setup.until = Time::ZERO + length;
    setup
}

/// Flows on the slower path wait for their windows more often; their flowlets end sooner, and bytes move away.
#[test]
fn flowlets_are_elastic_where_windows_are() {
    for gap in [Span::from_us(100), Span::from_us(300)] {
        let setup = long_flows(gap, Span::from_ms(80));
        let [fast, slow] = shares(&setup, &lab::run(setup.clone()));
        assert!(fast / (fast + slow) > 0.6, "{fast} and {slow} bytes with a gap of {gap}");
    }
}

/// The mean logarithm of the lengths of the flowlets that leaf 0 sends by each of two ports, in bytes on the wire: a flowlet
/// consists of packets of a flow that reach the switch at most `gap` apart; and the variance of that mean. The logarithm,
/// because a single flowlet of a flow that never pauses decides a mean of lengths. The first and the last
/// of a flow are cut off by the run and left out.
fn flowlet_lengths(setup: Setup, gap: Span) -> BTreeMap<PortId, (f64, f64)> {
    let (_, tap) = Simulation::new(setup).run_tapped(Tap::new(SwitchId(0)));
    let (mut arrived, mut flows) = (Vec::new(), BTreeMap::<_, Vec<(Time, u64, PortId)>>::new());
    for seen in &tap.seen {
        match seen {
            Seen::Arrived { time, header, .. } => arrived.push((*time, *header)),
            Seen::Left { port, packet, .. } => {
                let (time, header) = arrived[*packet as usize];
                if header.kind == PacketKind::Data && header.source.0 < 10 {
                    let packets = flows.entry((header.source, header.ports)).or_default();
                    packets.push((time, u64::from(header.wire), *port));
                }
            }
            Seen::Dropped { .. } => {}
        }
    }
    let mut lengths = BTreeMap::<PortId, Vec<f64>>::new();
    for packets in flows.values_mut() {
        packets.sort_by_key(|(time, ..)| *time);
        let flowlets: Vec<_> = packets.chunk_by(|a, b| b.0.since(a.0) <= gap).collect();
        for flowlet in flowlets.iter().skip(1).rev().skip(1) {
            let bytes: u64 = flowlet.iter().map(|(_, wire, _)| wire).sum();
            lengths.entry(flowlet[0].2).or_default().push((bytes as f64).ln());
        }
    }
    let of_port = |of: Vec<f64>| {
        let count = of.len() as f64;
        let mean = of.iter().sum::<f64>() / count;
        (mean, of.iter().map(|length| (length - mean).powi(2)).sum::<f64>() / (count * (count - 1.0)))
    };
    lengths.into_iter().map(|(port, of)| (port, of_port(of))).collect()
}

/// The mechanism behind that share: ports are drawn evenly, but a flowlet lasts longer on the faster path.
#[test]
fn flowlets_are_longer_on_the_faster_path() {
    for gap in [Span::from_us(100), Span::from_us(300)] {
        let lengths: Vec<(f64, f64)> =
            flowlet_lengths(long_flows(gap, Span::from_ms(240)), gap).into_values().collect();
        let [fast, slow] = lengths[..] else { panic!("two paths are used: {lengths:?}") };
        let errors = (fast.0 - slow.0) / (fast.1 + slow.1).sqrt();
        assert!(
            errors > 4.0,
            "logarithms of bytes {fast:?} and {slow:?} with a gap of {gap}: {errors} errors"
        );
    }
}

/// Flows at a constant rate do not pause more on the slower path, so their flowlets are spread evenly.
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
    let mut flows: Vec<_> = (0..30).map(|n| between(n, 0, 15, 300)).collect();
    flows.extend((0..30).map(|n| between(n, 15, 0, 30)));
    flows.sort_by_key(|flow| flow.start);
    setup.flows = flows.into();
    setup.until = Time::ZERO + Span::from_ms(40);
}

fn conga(feedback: bool) -> BalancerSettings {
    BalancerSettings::Conga(CongaSettings {
        flowlets: FlowletSettings { exact: true, ..Default::default() },
        congestion: CongestionSettings { feedback, metric_bits: 6, ..Default::default() },
    })
}

/// 10 and 5 Gb/s lie ahead: CONGA fills both equally. A balancer that only sees its own uplinks overloads none of
/// them, but sends half of the traffic into the narrow link.
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
        }
        .into();
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
    let flowlets = FlowletSettings { gap: Span::from_ms(13), exact: true, ..Default::default() };
    setup.balancer = BalancerSettings::Conga(CongaSettings { flowlets, ..Default::default() });
    setup.flows = lab::random_flows(&setup, 200, Span::from_us(500), 60_000).into();
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

// ---- Presto ----

fn presto() -> BalancerSettings {
    BalancerSettings::Presto(Default::default())
}

/// The payload packets of host 0 as they reach leaf 0: their times and headers.
fn sent_by_host_0(setup: Setup) -> Vec<(Time, Header)> {
    let (_, tap) = Simulation::new(setup).run_tapped(Tap::new(SwitchId(0)));
    let of_host = |seen: &Seen| match seen {
        Seen::Arrived { time, port: PortId(0), header } if header.kind == PacketKind::Data => {
            Some((*time, *header))
        }
        _ => None,
    };
    tap.seen.iter().filter_map(of_host).collect()
}

fn uplink(header: &Header) -> u16 {
    PathLabel::of(header.note).port(1).expect("a leaf has a choice").0
}

/// 440 packets of 1460 bytes, 44 in a flowcell: ten flowcells by four paths in turn.
#[test]
fn a_flow_is_cut_into_flowcells_that_take_the_paths_in_turn() {
    for tso in [false, true] {
        let mut setup = lab::leaf_spine();
        setup.transport = Arc::new(Transport::new(&lab::dctcp(|tcp| tcp.tso = tso)));
        setup.balancer = presto();
        setup.flows = vec![flow(Span::ZERO, 0, 12, 640_000)].into();
        let mut cells: Vec<(u16, u16)> =
            sent_by_host_0(setup).iter().map(|(_, header)| (cell_of(header.note), uplink(header))).collect();
        cells.dedup();
        assert!(cells.iter().map(|(cell, _)| *cell).eq(0..cells.len() as u16), "{cells:?}");
        // Bursts are never cut, so that flowcells may be shorter.
        assert!(if tso { cells.len() >= 10 } else { cells.len() == 10 }, "{cells:?}");
        let paths: Vec<u16> = cells.iter().map(|(_, path)| *path).collect();
        let mut round = paths[..4].to_vec();
        assert!(paths.iter().enumerate().all(|(n, path)| *path == round[n % 4]), "{paths:?}");
        round.sort_unstable();
        assert_eq!(round, [4, 5, 6, 7], "hosts have ports 0 to 3");
    }
}

#[test]
fn what_fits_into_a_flowcell_takes_one_path_and_is_not_reordered() {
    let slow = LinkSettings { delay: Span::from_us(100), ..gbps(10) };
    let late = |size| {
        let mut setup = diamond(4, gbps(10), slow.clone());
        setup.balancer = presto();
        setup.flows = (0..40).map(|n| flow(Span::from_us(n), n as u32 % 4, 4 + n as u32 % 4, size)).collect();
        late_packets(&lab::run(setup))
    };
    assert_eq!(late(44 * 1_460), 0);
    assert!(late(300_000) > 0, "two flowcells may overtake each other");
}

/// 90 flowcells of datagrams over 10 and 5 Gb/s.
#[test]
fn lists_are_weighted_by_the_capacity_of_paths() {
    let mut setup = diamond(1, gbps(10), gbps(5));
    setup.balancer = presto();
    setup.flows = vec![constant(Span::ZERO, 0, 1, 90 * 44 * 1_472, Rate::from_gbps(3))].into();
    let [wide, narrow] = shares(&setup, &lab::run(setup.clone()));
    assert!((wide - 2.0 * narrow).abs() <= 44.0 * 1_538.0, "{wide} and {narrow}");
}

/// Stages of a failure: in turn over four uplinks; the next uplink takes the packets of the one that is gone; new
/// lists over the remaining three, once routing has converged and the controller's delay has passed.
#[test]
fn a_failure_has_three_stages() {
    let mut setup = lab::leaf_spine();
    let (cells, gone) = (|n: u64| Span::from_us(177 * n), "leaf0-spine1");
    let controller_delay = Span::from_ms(10);
    setup.balancer = BalancerSettings::Presto(PrestoSettings { controller_delay, ..Default::default() });
    let failure =
        FailureSettings { cables: vec![gone.into()], at: Some(Span::from_ms(10)), ..Default::default() };
    let plan = plan(&setup.graph, &[failure], 1).expect("the cable exists");
    let routing = RoutingSettings { spf_delay: Span::from_ms(10), ..Default::default() };
    setup.timeline = Arc::new(timeline(&setup.graph, &plan, &routing, setup.balancer.grouping()));
    // A flowcell takes 44 packets at 3 Gb/s, 173 us.
    setup.flows = vec![constant(Span::ZERO, 0, 12, 20 << 20, Rate::from_gbps(3))].into();
    setup.until = Time::ZERO + Span::from_ms(50);
    let (_, tap) = Simulation::new(setup).run_tapped(Tap::new(SwitchId(0)));
    let left = |from: Span, until: Span| {
        let mut counts = [0u64; 4];
        for seen in &tap.seen {
            if let Seen::Left { time, port, .. } = seen
                && (4..8).contains(&port.0)
                && (Time::ZERO + from..Time::ZERO + until).contains(time)
            {
                counts[usize::from(port.0) - 4] += 1;
            }
        }
        counts.map(|count| (count as f64 / 44.0).round() as i64)
    };
    let near = |counts: [i64; 4], expected: [i64; 4]| {
        assert!(counts.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 2), "{counts:?}, not {expected:?}");
    };
    near(left(cells(1), cells(53)), [13, 13, 13, 13]);
    near(left(cells(60), cells(112)), [13, 0, 26, 13]);
    // Routes are new after 20 ms, lists after 30 ms: until then the switch continues as before.
    near(left(cells(116), cells(168)), [13, 0, 26, 13]);
    near(left(cells(175), cells(227)), [17, 0, 17, 17]);
}

/// Paths that differ by 40 us: without a buffer the receiver sends duplicate acknowledgements; Presto's hides nearly
/// all of the reordering.
#[test]
fn the_receivers_buffer_hides_what_flowcells_reorder() {
    let run = |shim: bool| {
        let slow = LinkSettings { delay: Span::from_us(20), ..gbps(10) };
        let mut setup = diamond(2, gbps(10), slow);
        let tcp = |tcp: &mut Tcp| {
            (tcp.reorder_shim, tcp.shim_rule) = (shim, ShimRule::Flowcells);
            (tcp.min_rto, tcp.initial_rto) = (Span::from_ms(1), Span::from_ms(2));
        };
        setup.transport = Arc::new(Transport::new(&lab::dctcp(tcp)));
        setup.balancer = presto();
        setup.flows = (0..2).map(|n| flow(Span::ZERO, n, 2 + n, 10 << 20)).collect();
        let record = lab::run(setup);
        let dupacks: u32 = record.flows.iter().map(|flow| flow.dupacks).sum();
        let last = record.flows.iter().filter_map(|flow| flow.end).max().expect("they finish");
        (late_packets(&record), dupacks, last)
    };
    let (bare, buffered) = (run(false), run(true));
    assert!(bare.0 > 500 && buffered.0 > 500, "the network reorders: {bare:?} {buffered:?}");
    assert!(buffered.1 * 20 < bare.1, "{} and {} duplicate acknowledgements", buffered.1, bare.1);
    assert!(buffered.2 < bare.2, "and the flows end sooner");
}
