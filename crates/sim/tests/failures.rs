//! Links that fail: packets on them are lost and counted, local ports are avoided at once, remote ones after
//! convergence, and flows survive.

mod lab;

use std::sync::Arc;

use weft_core::record::{Reason, Stop};
use weft_core::settings::{Setting, Value};
use weft_core::{Grouping, Rate, Span, Time};
use weft_plan::{Division, Setup};
use weft_switch::BalancerSettings;
use weft_topology::shapes::explicit::{ExplicitSettings, LinkEntry};
use weft_topology::timeline::Convergence;
use weft_topology::{
    FailurePlan, FailureSettings, LinkSettings, Outage, RoutingSettings, TopologySettings, Wiring, plan,
    timeline,
};
use weft_transport::{Transport, TransportSettings};

/// Leaf 0 loses its first spine at 100 us; repaired at 30 ms if asked.
fn broken(routing: &RoutingSettings, repair: Option<Span>) -> Setup {
    let mut setup = lab::leaf_spine();
    let failure = FailureSettings {
        cables: vec!["leaf0-spine0".into()],
        at: Some(Span::from_us(100)),
        repair_at: repair,
        ..Default::default()
    };
    let plan = plan(&setup.graph, &[failure], 1).expect("the cable exists");
    setup.timeline = Arc::new(timeline(&setup.graph, &plan, routing, Grouping::Together));
    setup.balancer = BalancerSettings::RoundRobin(Default::default());
    setup.flows = (0..4).map(|host| lab::flow(Span::ZERO, host, 12 + host, 3_000_000)).collect();
    setup.until = Time::ZERO + Span::from_s(5);
    setup
}

fn sent(setup: &Setup, record: &weft_core::record::RunRecord, cable: &str) -> u64 {
    let cable = setup.graph.cable_named(cable).expect("the cable exists");
    setup.graph.links_of_cable(cable).iter().map(|link| record.links[link.index()].packets).sum()
}

#[test]
fn flows_survive_and_the_dead_port_is_not_used() {
    let setup = broken(&RoutingSettings::default(), None);
    let record = lab::run(setup.clone());
    assert_eq!(record.stop, Stop::Finished);
    let lost: u64 =
        record.drops.iter().filter(|drop| drop.reason == Reason::LinkDown).map(|drop| drop.packets).sum();
    assert!(lost > 0, "what was on the cable is lost");
    // 100 us at 10 Gb/s are at most 82 full packets each way, and far more acknowledgements cannot pass.
    assert!(sent(&setup, &record, "leaf0-spine0") < 400);
    assert!(sent(&setup, &record, "leaf0-spine1") > 2_000);
    let link = setup.graph.links_of_cable(setup.graph.cable_named("leaf0-spine0").unwrap())[0];
    assert!(record.links[link.index()].failed);
}

/// Failures 20 us apart, less than any bin of a time series: each has the packets lost until the next.
#[test]
fn losses_belong_to_the_last_failure_before_them() {
    let run = |second: u64, threads: usize| {
        let mut setup = broken(&RoutingSettings::default(), None);
        let failure = |cable: &str, at: u64| FailureSettings {
            cables: vec![cable.into()],
            at: Some(Span::from_us(at)),
            ..Default::default()
        };
        let failures = [failure("leaf0-spine0", 100), failure("leaf1-spine1", second)];
        let plan = plan(&setup.graph, &failures, 1).expect("the cables exist");
        let routing = RoutingSettings::default();
        setup.timeline = Arc::new(timeline(&setup.graph, &plan, &routing, Grouping::Together));
        setup.flows = (0..8).map(|host| lab::flow(Span::ZERO, host, 15 - host, 3_000_000)).collect();
        lab::run(Setup { division: Division::threads(threads), ..setup })
    };
    for threads in [1, 2] {
        let near = run(120, threads);
        let lost: Vec<u64> = near.incidents.iter().map(|incident| incident.lost).collect();
        let reasons = [Reason::LinkDown, Reason::NoRoute];
        let drops = near.drops.iter().filter(|drop| reasons.contains(&drop.reason));
        assert_eq!(lost.iter().sum::<u64>(), drops.map(|drop| drop.packets).sum::<u64>());
        let far = run(20_000, threads);
        let first = far.incidents[0].lost;
        assert!(0 < lost[0] && lost[0] < first && lost[1] > 0, "{lost:?}, alone {first}");
    }
}

/// Constant traffic towards leaf 0: spine 0 is a dead end until every switch has converged.
#[test]
fn remote_switches_send_into_the_dead_end_until_routing_has_converged() {
    let black_hole = |spf_delay| {
        let routing = RoutingSettings { spf_delay, ..RoutingSettings::default() };
        let mut setup = broken(&routing, None);
        setup.flows = vec![lab::constant(Span::ZERO, 12, 0, 20_000_000, Rate::from_gbps(4))].into();
        setup.until = Time::ZERO + Span::from_ms(30);
        lab::run(setup).packets.dropped as f64
    };
    // A quarter of 4 Gb/s in 1538-byte packets while routing is wrong.
    let per_ms = 4e9 / 4.0 / (8.0 * 1538.0) / 1e3;
    for ms in [1, 5, 10] {
        let (lost, expected) = (black_hole(Span::from_ms(ms)), per_ms * ms as f64);
        assert!((lost - expected).abs() < 0.1 * expected + 10.0, "{lost} lost, about {expected} expected");
    }
}

/// A line a-b-c-d and a longer way a-e-f-g-d. When c-d fails, the news takes `flooding` from switch to switch: c sends back to
/// b while b still sends to c, then b to a while a still sends to b. Packets circle until their hop limit is used up, after
/// some 150 us, so that what is sent during both loops is lost; shorter loops delay packets only.
#[test]
fn what_circles_longer_than_its_hop_limit_is_lost() {
    let cable = |from: &str, to: &str| LinkEntry {
        from: from.into(),
        to: to.into(),
        rate: Rate::from_gbps(10),
        ..Default::default()
    };
    let (line, around) = (["host0", "a", "b", "c", "d", "host1"], ["a", "e", "f", "g", "d"]);
    let links = line.windows(2).chain(around.windows(2)).map(|pair| cable(pair[0], pair[1]));
    let topology = TopologySettings::Explicit(ExplicitSettings {
        hosts: 2,
        switches: ["a", "b", "c", "d", "e", "f", "g"].map(str::to_owned).into(),
        links: links.collect(),
        ..Default::default()
    });
    let lost = |flooding: Span| {
        let mut setup = lab::setup(&topology, &TransportSettings::Udp(Default::default()));
        let failure =
            FailureSettings { cables: vec!["c-d".into()], at: Some(Span::from_ms(2)), ..Default::default() };
        let plan = plan(&setup.graph, &[failure], 1).expect("the cable exists");
        let (spf_delay, none) = (Span::from_ms(1), Span::ZERO);
        let routing =
            RoutingSettings { flooding, spf_delay, detection: none, install: none, ..Default::default() };
        setup.timeline = Arc::new(timeline(&setup.graph, &plan, &routing, Grouping::Together));
        setup.flows = vec![lab::constant(Span::ZERO, 0, 1, 750_000, Rate::from_mbps(100))].into();
        setup.until = Time::ZERO + Span::from_ms(100);
        let record = lab::run(setup);
        let packets = |reason: Reason| -> u64 {
            record.drops.iter().filter(|drop| drop.reason == reason).map(|drop| drop.packets).sum()
        };
        assert_eq!(record.incidents[0].lost, record.packets.dropped, "all of it is due to the failure");
        (packets(Reason::HopLimit), record.packets.dropped - packets(Reason::HopLimit))
    };
    // The rate is that of payload, 1472 bytes each.
    let per_ms = 1e8 / (8.0 * 1472.0) / 1e3;
    let ((circled, ended), (short, also_ended)) = (lost(Span::from_ms(10)), lost(Span::from_us(10)));
    assert!((circled as f64 - 20.0 * per_ms).abs() < 4.0, "{circled} of {} in loops", 20.0 * per_ms);
    assert!((ended as f64 - per_ms).abs() < 2.0 && also_ended == ended, "{ended} and {also_ended}");
    assert_eq!(short, 0, "a loop of 10 us ends before the hop limit");
}

#[test]
fn a_repaired_cable_carries_again() {
    let routing = RoutingSettings { spf_delay: Span::from_ms(1), ..RoutingSettings::default() };
    let mut setup = broken(&routing, Some(Span::from_ms(3)));
    setup.flows = vec![lab::constant(Span::ZERO, 0, 12, 20_000_000, Rate::from_gbps(4))].into();
    setup.until = Time::ZERO + Span::from_ms(30);
    let record = lab::run(setup.clone());
    assert!(sent(&setup, &record, "leaf0-spine0") > 500, "{}", sent(&setup, &record, "leaf0-spine0"));
}

/// The only way between two racks is down for a second. Every transport that retransmits has consecutive time-outs,
/// and reports them; datagrams have none.
#[test]
fn a_flow_that_is_cut_off_starves_under_every_transport_that_retransmits() {
    for member in TransportSettings::FAMILY.members {
        let value = Value::Member(member.name, Box::new(member.table.defaults()));
        let transport = TransportSettings::from_value(&value);
        let mut setup = lab::leaf_spine();
        let failure = FailureSettings {
            cables: (0..4).map(|spine| format!("leaf0-spine{spine}")).collect(),
            at: Some(Span::from_us(100)),
            repair_at: Some(Span::from_s(1)),
            ..Default::default()
        };
        let plan = plan(&setup.graph, &[failure], 1).expect("the cables exist");
        let routing = RoutingSettings::default();
        setup.timeline = Arc::new(timeline(&setup.graph, &plan, &routing, Grouping::Together));
        setup.transport = Arc::new(Transport::new(&transport));
        setup.flows = vec![lab::flow(Span::ZERO, 0, 12, 1_000_000)].into();
        setup.until = Time::ZERO + Span::from_s(5);
        let record = lab::run(setup);
        let (flow, name) = (&record.flows[0], transport.name());
        let retransmits = !matches!(transport, TransportSettings::Udp(_));
        let in_a_row = flow.timeouts_in_a_row;
        assert!((in_a_row >= 2) == retransmits && in_a_row <= flow.timeouts, "{name}: {flow:?}");
    }
}

/// All uplinks of leaf 0 fail, come back, fail and come back: traffic over them stalls twice and resumes twice.
#[test]
fn flows_over_a_flapping_cable_stall_and_resume_twice() {
    let mut setup = lab::leaf_spine();
    let fails = |at, repair| FailureSettings {
        cables: (0..4).map(|spine| format!("leaf0-spine{spine}")).collect(),
        at: Some(Span::from_ms(at)),
        repair_at: Some(Span::from_ms(repair)),
        ..Default::default()
    };
    let routing = RoutingSettings { spf_delay: Span::from_us(100), ..RoutingSettings::default() };
    // The later one first: the order of entries does not matter.
    let plan = plan(&setup.graph, &[fails(6, 9), fails(2, 4)], 1).expect("intervals that do not overlap");
    setup.timeline = Arc::new(timeline(&setup.graph, &plan, &routing, Grouping::Together));
    setup.transport = Arc::new(Transport::new(&lab::dctcp(|tcp| {
        (tcp.min_rto, tcp.max_rto) = (Span::from_us(500), Span::from_us(500));
    })));
    let steady = lab::constant(Span::ZERO, 1, 13, 12_500_000, Rate::from_gbps(4));
    setup.flows = vec![lab::flow(Span::ZERO, 0, 12, 12_500_000), steady].into();
    let delivered = |us: u64| {
        let until = Time::ZERO + Span::from_us(us);
        let record = lab::run(Setup { until, ..setup.clone() });
        [0, 1].map(|flow| record.flows[flow].delivered.0)
    };
    let [before, down, back, again, still, at_last] =
        [2_000, 2_100, 6_000, 6_100, 9_000, 12_000].map(delivered);
    assert_eq!(delivered(3_990), down, "nothing passes while all uplinks are down");
    assert_eq!(still, again, "nor the second time");
    for flow in [0, 1] {
        assert!(before[flow] > 500_000, "{before:?}");
        // 2 ms are 2.4 MB at line rate and 1 MB at 4 Gb/s; part of it passes while the flow recovers.
        assert!(back[flow] > down[flow] + 400_000, "{down:?} {back:?}");
        assert!(at_last[flow] > still[flow] + 400_000, "{still:?} {at_last:?}");
    }
    let record = lab::run(setup);
    assert!(record.flows[0].end.is_some() && record.flows[0].timeouts >= 2, "{:?}", record.flows[0]);
}

/// Two lines of 100 us side by side, and two flows of datagrams exactly in step over them: events on one happen at
/// the same instant on the other.
fn twins() -> Setup {
    let mut wiring = Wiring::default();
    let link = |us| LinkSettings { delay: Span::from_us(us), ..LinkSettings::of(Rate::from_gbps(10)) };
    let switches = wiring.switches("s", 4);
    switches.iter().for_each(|switch| wiring.hosts_on(*switch, 1, &link(1)));
    for (pair, delay) in [((0, 1), 100), ((1, 2), 1), ((2, 3), 100)] {
        wiring.cable(switches[pair.0], switches[pair.1], &link(delay));
    }
    let graph = wiring.finish().expect("a connected network");
    let mut setup = lab::on(graph, &TransportSettings::Udp(Default::default()));
    let flow = |from, to| lab::constant(Span::ZERO, from, to, DATAGRAMS * 1_472, Rate::from_gbps(1));
    setup.flows = vec![flow(0, 1), flow(2, 3)].into();
    setup
}

const DATAGRAMS: u64 = 2_000;

/// A cable that comes back while the arrival of lost packets is still expected: nothing else is lost or affected, and
/// time continues as if nothing had happened.
#[test]
fn a_cable_that_blinks_loses_what_is_on_it_and_nothing_else() {
    let undisturbed = lab::run(twins());
    let instant = RoutingSettings { convergence: Convergence::Instant, ..Default::default() };
    for blink in [1, 20, 70] {
        let mut setup = twins();
        let cable = setup.graph.cable_named("s0-s1").expect("the cable exists");
        // Not in step with the datagrams: 2 us later among them each time.
        let at = |n: u64| Time::ZERO + Span::from_us(300 + n * 1_003);
        let outage =
            |n| Outage { cables: vec![cable], at: Some(at(n)), repair: Some(at(n) + Span::from_us(blink)) };
        let plan = FailurePlan { outages: (0..20).map(outage).collect() };
        setup.timeline = Arc::new(timeline(&setup.graph, &plan, &instant, Grouping::Together));
        let record = lab::run(setup);
        assert_eq!(record.flows[1], undisturbed.flows[1], "the other line does not notice");
        let flow = &record.flows[0];
        assert_eq!((flow.end, flow.out_of_order), (None, 0), "it is open, for datagrams are missing");
        // A datagram each 11.776 us: those within 100 us, and those that come while the cable is down, one more or less.
        let missing = DATAGRAMS as f64 - flow.delivered.0 as f64 / 1_472.0;
        let lost = 20.0 * (100.0 + blink as f64) / 11.776;
        assert!((missing - lost).abs() <= 20.0, "{blink} us: {missing} lost, about {lost} expected");
    }
}

/// Host 0 loses its cable, or leaf 0 all of its, and nobody has set a limit: the run ends when the other flows are done, at the
/// same instant on one thread and on two.
#[test]
fn a_run_ends_when_only_flows_are_open_that_are_cut_off_for_good() {
    for cables in [vec!["host0-leaf0"], vec!["leaf0-spine0", "leaf0-spine1", "leaf0-spine2", "leaf0-spine3"]]
    {
        let lonely = |repair_at, threads| {
            let mut setup = lab::leaf_spine();
            let failure = FailureSettings {
                cables: cables.iter().map(|name| (*name).into()).collect(),
                at: Some(Span::from_us(100)),
                repair_at,
                ..Default::default()
            };
            let plan = plan(&setup.graph, &[failure], 1).expect("the cables exist");
            let routing = RoutingSettings::default();
            setup.timeline = Arc::new(timeline(&setup.graph, &plan, &routing, Grouping::Together));
            let late = lab::flow(Span::from_ms(300), 8, 12, 3_000_000);
            setup.flows = [lab::flow(Span::ZERO, 0, 12, 3_000_000), late].into_iter().collect();
            setup.until = Time::NEVER;
            setup.division = Division::threads(threads);
            lab::run(setup)
        };
        let record = lonely(None, 1);
        assert_eq!(record.stop, Stop::Stuck, "{cables:?}");
        let ends: Vec<bool> = record.flows.iter().map(|flow| flow.end.is_some()).collect();
        assert_eq!(ends, [false, true], "{cables:?}");
        let late = record.flows[1].end.expect("it is done");
        assert!(
            record.ended > late && record.ended < late + Span::from_ms(5),
            "{cables:?}: {:?}",
            record.ended
        );
        assert_eq!(record, lonely(None, 2), "{cables:?}");
        let repaired = lonely(Some(Span::from_ms(200)), 1);
        assert_eq!(repaired.stop, Stop::Finished, "{cables:?}");
    }
}
