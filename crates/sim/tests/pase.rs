//! PASE as published (Munir et al., SIGCOMM 2014): on one link flows finish shortest first, and without arbitration it is
//! DCTCP.

mod lab;

use weft_core::record::RunRecord;
use weft_core::{Bytes, Rate, Span, Time};
use weft_plan::Setup;
use weft_switch::SwitchSettings;
use weft_switch::arbiter::{ArbiterSettings, pase::PaseArbiterSettings};
use weft_switch::mark::{MarkerSettings, step::StepSettings};
use weft_switch::schedule::SchedulerSettings;
use weft_topology::shapes::pods_and_planes::PodsAndPlanesSettings;
use weft_topology::shapes::single_switch::SingleSwitchSettings;
use weft_topology::{LinkSettings, TopologySettings};
use weft_transport::TransportSettings;
use weft_transport::protocols::pase::PaseSettings;

/// Payload of a full packet, and what it is on the wire.
const MSS: u64 = 1_444;
const WIRE: u64 = 1_538;
const LINE: Rate = Rate::from_gbps(10);
/// Two cables each way, and the switch twice.
const ROUND_TRIP: Span = Span::from_us(41);

fn pase() -> TransportSettings {
    TransportSettings::Pase(PaseSettings { round_trip: ROUND_TRIP, ..Default::default() })
}

/// Eight strict queues that mark at 65 packets, with arbiters.
fn arbitrated() -> SwitchSettings {
    SwitchSettings {
        queues: 8,
        schedule: SchedulerSettings::Strict(Default::default()),
        ecn: MarkerSettings::Step(StepSettings::default()),
        arbiter: ArbiterSettings::PaseArbiter(PaseArbiterSettings::default()),
        ..Default::default()
    }
}

/// Hosts at one switch; flows of these sizes in packets, each from a different host to the first, all at once.
fn star(sizes: &[u64], transport: &TransportSettings, switch: SwitchSettings) -> Setup {
    let host_link = LinkSettings { delay: Span::from_us(10), ..LinkSettings::of(LINE) };
    let topology = SingleSwitchSettings { hosts: sizes.len() as u32 + 1, host_link };
    let mut setup = lab::setup(&TopologySettings::SingleSwitch(topology), transport);
    setup.switch = switch;
    let flows = sizes.iter().enumerate();
    let flows = flows.map(|(number, packets)| lab::flow(Span::ZERO, number as u32 + 1, 0, packets * MSS));
    setup.flows = flows.collect::<Vec<_>>().into();
    setup
}

fn times(record: &RunRecord) -> Vec<Span> {
    record.flows.iter().map(|flow| flow.end.expect("it finishes").since(Time::ZERO)).collect()
}

fn on_the_line(packets: u64) -> Span {
    LINE.time_for(Bytes(packets * WIRE))
}

/// Shortest first finishes the n-th smallest flow when the n smallest have passed. PASE needs a round trip more for
/// each change of order; the ten packets that each other flow sends before it has to wait delay all.
#[test]
fn on_one_link_flows_finish_shortest_first() {
    let sizes = [2_000, 500, 4_000, 1_000];
    let record = lab::run(star(&sizes, &pase(), arbitrated()));
    let taken = times(&record);
    let mut order = [0, 1, 2, 3];
    order.sort_by_key(|flow| sizes[*flow]);
    let mut passed = 0;
    for (place, flow) in order.into_iter().enumerate() {
        passed += sizes[flow];
        let least = on_the_line(passed);
        let most = on_the_line(passed + 10 * sizes.len() as u64) + ROUND_TRIP * (4 + 3 * place as u64);
        assert!(
            taken[flow] >= least && taken[flow] <= most,
            "{flow}: {:?}, {least:?} to {most:?}",
            taken[flow]
        );
    }
    assert!(record.drops.is_empty() && record.flows.iter().all(|flow| flow.timeouts == 0));
}

/// A late, small flow takes little more than alone.
#[test]
fn a_smaller_flow_takes_precedence() {
    let mut setup = star(&[5_000, 50], &pase(), arbitrated());
    let mouse = lab::flow(Span::from_us(500), 2, 0, 50 * MSS);
    setup.flows = vec![lab::flow(Span::ZERO, 1, 0, 5_000 * MSS), mouse].into();
    let record = lab::run(setup);
    let taken = record.flows[1].end.expect("it finishes").since(record.flows[1].start);
    let alone = record.flows[1].ideal;
    assert!(taken <= alone + ROUND_TRIP * 3 + on_the_line(65), "{taken:?}, alone {alone:?}");
}

/// With arbitration off, equal flows have the completion times of TCP with DCTCP in one queue.
#[test]
fn without_arbitration_it_is_dctcp() {
    let plain = SwitchSettings { ecn: MarkerSettings::Step(StepSettings::default()), ..Default::default() };
    let off = TransportSettings::Pase(PaseSettings { arbitration: false, ..Default::default() });
    let mean = |transport: &TransportSettings| {
        let taken = times(&lab::run(star(&[1_000; 4], transport, plain.clone())));
        taken.iter().map(|time| time.micros()).sum::<f64>() / 4.0
    };
    let (off, dctcp) = (mean(&off), mean(&TransportSettings::Dctcp(Default::default())));
    assert!((off / dctcp - 1.0).abs() < 0.05, "{off} us, DCTCP {dctcp} us");
}

/// Over several links and domains.
#[test]
fn threads_agree_on_classes() {
    let mut setup = lab::leaf_spine();
    setup.transport = weft_transport::Transport::new(&pase()).into();
    setup.switch = arbitrated();
    setup.flows = lab::random_flows(&setup, 400, Span::from_us(500), 60_000).into();
    let alone = lab::run(setup.clone());
    assert!(alone.flows.iter().all(|flow| flow.end.is_some()));
    lab::laws::same_on_threads(&setup, &alone, 2..=4);
}

/// Two pods of two racks with eight hosts each; a rack's two cables up are as fast as its hosts together, the two links above half as fast as
/// the racks below them.
fn pods(delegation: bool) -> Setup {
    let link = |gbps| LinkSettings { delay: Span::from_us(2), ..LinkSettings::of(Rate::from_gbps(gbps)) };
    let topology = PodsAndPlanesSettings {
        pods: 2,
        racks_per_pod: 2,
        planes: 2,
        spines_per_plane: 2,
        hosts_per_rack: 8,
        host_link: link(10),
        rack_link: link(40),
        spine_link: link(20),
    };
    let mut setup = lab::setup(&TopologySettings::PodsAndPlanes(topology), &pase());
    let pase = PaseArbiterSettings { delegation, ..Default::default() };
    setup.switch = SwitchSettings { arbiter: ArbiterSettings::PaseArbiter(pase), ..arbitrated() };
    setup
}

/// From every host of the first pod a flow to the other pod, all at once, twice as many as the upper links carry:
/// small flows among large ones take about as long as without delegation, and much less than the large ones.
#[test]
fn with_delegation_small_flows_still_finish_first() {
    let mice = |delegation| {
        let mut setup = pods(delegation);
        let flows = (0..16).map(|host| {
            let (start, packets) = if host % 4 == 3 { (Span::from_us(700), 60) } else { (Span::ZERO, 3_000) };
            lab::flow(start, host, 16 + host, packets * MSS)
        });
        setup.flows = flows.collect::<Vec<_>>().into();
        let record = lab::run(setup);
        assert!(record.drops.is_empty() && record.flows.iter().all(|flow| flow.timeouts == 0));
        let small = record.flows.iter().filter(|flow| flow.size == Bytes(60 * MSS));
        let slowdowns = small.map(|flow| {
            let taken = flow.end.expect("it finishes").since(flow.start);
            taken.seconds() / flow.ideal.seconds()
        });
        slowdowns.fold(0.0, f64::max)
    };
    let (with, without) = (mice(true), mice(false));
    assert!(with < 2.5 && with < without * 1.5, "slowest small flow: {with} times alone, without {without}");
}

/// Leaves take the decisions that arbiters of upper links took before; their reports and the slices in answer are far
/// fewer.
#[test]
fn delegation_spares_upper_links_more_requests_than_it_takes_messages() {
    let counts = |delegation| {
        let mut setup = pods(delegation);
        setup.flows = lab::random_flows(&setup, 400, Span::from_ms(2), 400_000).into();
        let record = lab::run(setup);
        assert!(record.flows.iter().all(|flow| flow.end.is_some()));
        record.arbitration
    };
    let (with, without) = (counts(true), counts(false));
    assert_eq!((with.upper, without.spared, without.reports, without.slices), (0, 0, 0, 0));
    assert!(with.slices <= with.reports && with.reports > 0, "{with:?}");
    assert!(with.spared as f64 > 0.7 * without.upper as f64, "{with:?}, {without:?}");
    assert!((with.reports + with.slices) * 3 < without.upper, "{with:?}, {without:?}");
}

/// Slices that travel between domains.
#[test]
fn threads_agree_on_slices() {
    let mut setup = pods(true);
    setup.flows = lab::random_flows(&setup, 400, Span::from_us(500), 100_000).into();
    let alone = lab::run(setup.clone());
    assert!(alone.flows.iter().all(|flow| flow.end.is_some()) && alone.arbitration.slices > 0);
    lab::laws::same_on_threads(&setup, &alone, 2..=4);
}

/// Each packet passes one queue that marks, and nothing is dropped: flows count as many marks as the switch.
#[test]
fn flows_count_the_marks_that_arrive() {
    let plain = SwitchSettings { ecn: MarkerSettings::Step(StepSettings::default()), ..Default::default() };
    let off = TransportSettings::Pase(PaseSettings { arbitration: false, ..Default::default() });
    let record = lab::run(star(&[1_000; 4], &off, plain));
    let counted: u64 = record.flows.iter().map(|flow| u64::from(flow.ecn_marks)).sum();
    let marked: u64 = record.links.iter().map(|link| link.marked).sum();
    assert!(counted == marked && marked > 0 && record.drops.is_empty(), "{counted} of {marked}");
}
