//! pFabric as published (Alizadeh et al., SIGCOMM 2013): flows finish in the order of their sizes at the rate of the
//! link that they share, and a small flow hardly notices large ones.

mod lab;

use weft_core::record::{Reason, RunRecord};
use weft_core::trace::{FlowTrace, TraceStep};
use weft_core::{Bytes, FlowId, Rate, Span, Time};
use weft_plan::Setup;
use weft_sim::Simulation;
use weft_switch::SwitchSettings;
use weft_switch::order::OrderSettings;
use weft_switch::share::{SharingSettings, fixed::FixedSharingSettings};
use weft_topology::shapes::single_switch::SingleSwitchSettings;
use weft_topology::{LinkSettings, TopologySettings};
use weft_transport::TransportSettings;
use weft_transport::protocols::pfabric::{self, PfabricSettings};

/// Payload of a full packet, and what it is on the wire.
const MSS: u64 = 1_460;
const WIRE: u64 = 1_538;
const LINE: Rate = Rate::from_gbps(10);
const RTO: Span = Span::from_us(45);

/// Hosts at one switch whose ports hold two bandwidth-delay products and serve by rank.
fn star(hosts: u32, sizes: &[u64]) -> Setup {
    let host_link = LinkSettings { delay: Span::from_us(2), ..LinkSettings::of(LINE) };
    let topology = SingleSwitchSettings { hosts, host_link };
    let transport = TransportSettings::Pfabric(PfabricSettings { rto: RTO, ..Default::default() });
    let mut setup = lab::setup(&TopologySettings::SingleSwitch(topology), &transport);
    setup.switch = SwitchSettings {
        sharing: SharingSettings::Fixed(FixedSharingSettings { per_port: Bytes(36_864) }),
        order: OrderSettings::Ranked(Default::default()),
        ..Default::default()
    };
    let flows = sizes.iter().enumerate();
    let to_the_first = |(number, size): (usize, &u64)| lab::flow(Span::ZERO, number as u32 + 1, 0, *size);
    setup.flows = flows.map(to_the_first).collect::<Vec<_>>().into();
    setup
}

fn times(record: &RunRecord) -> Vec<Span> {
    record.flows.iter().map(|flow| flow.end.expect("it finishes").since(Time::ZERO)).collect()
}

fn on_the_line(bytes: u64) -> Span {
    LINE.time_for(Bytes(bytes.div_ceil(MSS) * WIRE))
}

/// Of flows that begin together the smallest takes as long as alone; the others wait, are dropped, probe, and resume
/// when the line is free, at the latest a time-out and a round trip later.
#[test]
fn a_small_flow_goes_as_if_alone() {
    let alone = times(&lab::run(star(4, &[292_000])))[0];
    let record = lab::run(star(4, &[292_000, 1_460_000, 2_920_000]));
    let taken = times(&record);
    assert!(
        taken[0] <= alone + LINE.time_for(Bytes(2 * WIRE)),
        "{alone:?} alone, {:?} beside others",
        taken[0]
    );
    let least = on_the_line(292_000) + on_the_line(1_460_000) + on_the_line(2_920_000);
    assert!(taken[2] >= least && taken[2] <= least + RTO * 4, "{:?} of {least:?}", taken[2]);
    let evicted = record.drops.iter().filter(|drop| drop.reason == Reason::Evicted);
    assert!(evicted.map(|drop| drop.packets).sum::<u64>() > 0, "larger ones give way");
    assert_eq!(record.flows[0].retransmitted, Bytes::ZERO);
    assert!(record.flows[2].retransmitted > Bytes::ZERO);
}

/// Flows that begin together finish as under shortest remaining first: the i-th when the i smallest have passed.
#[test]
fn flows_finish_in_the_order_of_their_sizes() {
    let sizes: Vec<u64> = [7, 3, 12, 1, 9, 5].iter().map(|units| units * 100 * MSS).collect();
    let taken = times(&lab::run(star(7, &sizes)));
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|flow| sizes[*flow]);
    let mut passed = 0;
    for (place, flow) in order.into_iter().enumerate() {
        passed += sizes[flow];
        let (least, slack) = (on_the_line(passed), RTO * (3 * place as u64 + 1));
        assert!(
            taken[flow] >= least && taken[flow] <= least + slack,
            "{flow}: {:?} of {least:?}",
            taken[flow]
        );
    }
}

/// The card of a host also serves by rank: of two flows to different hosts the smaller takes as long as alone, and
/// the larger as long as both.
#[test]
fn a_host_sends_its_smaller_flow_first() {
    let run = |sizes: &[u64]| {
        let mut setup = star(3, &[]);
        let flows = sizes.iter().enumerate();
        let from_the_first =
            |(number, size): (usize, &u64)| lab::flow(Span::ZERO, 0, number as u32 + 1, *size);
        setup.flows = flows.map(from_the_first).collect::<Vec<_>>().into();
        times(&lab::run(setup))
    };
    // Windows that keep the line busy: the larger flow sends only while the smaller waits for answers.
    let (alone, both) = (run(&[1_460_000])[0], run(&[2_920_000, 1_460_000]));
    assert!(both[1] <= alone + on_the_line(MSS), "{alone:?} alone, {:?} beside a larger flow", both[1]);
    let least = on_the_line(2_920_000) + on_the_line(1_460_000);
    assert!(both[0] >= least && both[0] <= least + RTO, "{:?} of {least:?}", both[0]);
}

/// With ranks by size the same switch serves shortest job first, and with ranks by bytes sent least attained service:
/// equal flows then share the line to the end.
#[test]
fn least_attained_service_shares_the_line() {
    let run = |rank| {
        let mut setup = star(3, &[1_460_000, 1_460_000]);
        let settings = PfabricSettings { rto: Span::from_ms(1), rank, ..Default::default() };
        setup.transport = weft_transport::Transport::new(&TransportSettings::Pfabric(settings)).into();
        let taken = times(&lab::run(setup));
        taken[0].micros().min(taken[1].micros()) / on_the_line(1_460_000).micros()
    };
    assert!(run(pfabric::RankBy::Remaining) < 1.1, "one goes first");
    assert!(run(pfabric::RankBy::Sent) > 1.8, "they take turns");
}

#[test]
fn threads_agree_on_ranked_queues() {
    let mut setup = lab::leaf_spine();
    let transport = TransportSettings::Pfabric(PfabricSettings::default());
    setup.transport = weft_transport::Transport::new(&transport).into();
    setup.switch.sharing = SharingSettings::Fixed(FixedSharingSettings { per_port: Bytes(36_864) });
    setup.switch.order = OrderSettings::Ranked(Default::default());
    setup.flows = lab::random_flows(&setup, 400, Span::from_us(500), 60_000).into();
    let alone = lab::run(setup.clone());
    assert!(alone.drops.iter().any(|drop| drop.reason == Reason::Evicted), "{:?}", alone.drops);
    lab::laws::same_on_threads(&setup, &alone, 2..=4);
}

/// An observer of the flows sees every packet that made room for another as dropped.
#[test]
fn evictions_are_seen_by_who_follows_a_flow() {
    let sizes = [300_000, 200_000, 100_000, 50_000, 25_000, 10_000];
    let record = lab::run(star(7, &sizes));
    let of_run = |reason: Reason| {
        let drops = record.drops.iter().filter(|drop| drop.reason == reason);
        drops.map(|drop| drop.packets).sum::<u64>()
    };
    let of_traces = |reason: Reason| {
        let follow = |flow: u32| Simulation::new(star(7, &sizes)).run_traced(FlowId(flow)).1;
        let dropped = |trace: &FlowTrace| {
            trace.events.iter().filter(|event| event.step == TraceStep::Dropped(reason)).count() as u64
        };
        (0..sizes.len() as u32).map(|flow| dropped(&follow(flow))).sum::<u64>()
    };
    assert!(of_run(Reason::Evicted) > 20, "{:?}", record.drops);
    for reason in [Reason::Evicted, Reason::PortFull] {
        assert_eq!(of_traces(reason), of_run(reason), "{reason:?}");
    }
}
