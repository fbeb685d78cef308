//! NDP as published (Handley et al., SIGCOMM'17): incast without a time-out at the rate of the receiver's link,
//! permutations at nearly all of the capacity, short flows beside long ones at nearly their ideal time, and receivers
//! that choose.

mod lab;

use weft_core::record::{RunRecord, Stop};
use weft_core::settings::{Amount, Share};
use weft_core::{Bytes, Class, Rate, Span, Time};
use weft_plan::{Division, Setup};
use weft_switch::balance::presto::PrestoSettings;
use weft_switch::schedule::{SchedulerSettings, wrr::WrrSettings};
use weft_switch::share::{SharingSettings, fixed::FixedSharingSettings};
use weft_switch::{BalancerSettings, SwitchSettings, TrimSettings};
use weft_topology::shapes::fat_tree::FatTreeSettings;
use weft_topology::{LinkSettings, TopologySettings};
use weft_transport::TransportSettings;
use weft_transport::protocols::ndp::{self, NdpSettings};
use weft_workload::Flow;

/// Payload of a full packet, and what it is on the wire.
const MSS: u64 = 8_960;
const WIRE: u64 = 9_038;

/// A full-bisection fat tree of 10 Gb/s whose switches hold eight packets and as many bytes of headers per port; senders spread
/// their packets over all paths, each in an order of its own.
fn tree(k: u32) -> Setup {
    tree_of(k, LinkSettings::of(Rate::from_gbps(10)))
}

fn tree_of(k: u32, link: LinkSettings) -> Setup {
    let topology = FatTreeSettings { k, host_link: link.clone(), fabric_link: link, ..Default::default() };
    let transport = TransportSettings::Ndp(NdpSettings::default());
    let mut setup = lab::setup(&TopologySettings::FatTree(topology), &transport);
    setup.switch = SwitchSettings {
        queues: 2,
        schedule: SchedulerSettings::Wrr(WrrSettings { weights: vec![10, 1] }),
        sharing: SharingSettings::Fixed(FixedSharingSettings { per_port: Bytes(2 * 8 * WIRE) }),
        trim: TrimSettings { queue: Some(Amount::Packets(8)), ..Default::default() },
        ..Default::default()
    };
    setup.balancer = BalancerSettings::Presto(PrestoSettings { cell: Bytes(1), ..Default::default() });
    setup
}

fn incast(k: u32, senders: u32, packets: u64) -> Setup {
    let mut setup = tree(k);
    let flow = |host| lab::flow(Span::ZERO, host, 0, packets * MSS);
    setup.flows = (1..=senders).map(flow).collect::<Vec<_>>().into();
    setup
}

fn trimmed(record: &RunRecord) -> u64 {
    record.links.iter().map(|link| link.trimmed).sum()
}

fn time_outs(record: &RunRecord) -> u32 {
    record.flows.iter().map(|flow| flow.timeouts).sum()
}

/// The last flow's completion time.
fn last(record: &RunRecord) -> Span {
    let end = record.flows.iter().map(|flow| flow.end.expect("it finishes")).max();
    end.expect("there are flows").since(Time::ZERO)
}

/// Figure 8 of the paper, and section 6.1.3: whatever the fan-in, the last flow finishes when the receiver's link has
/// carried everything, and only headers are lost on the way.
#[test]
fn incast_takes_as_long_as_the_receivers_link() {
    for (senders, packets) in [(1, 50), (8, 50), (100, 2), (100, 50)] {
        let record = lab::run(incast(8, senders, packets));
        let line = Rate::from_gbps(10).time_for(Bytes(WIRE * packets * u64::from(senders)));
        let (took, ideal) = (last(&record).micros(), line.micros());
        assert_eq!(record.packets.dropped, 0, "headers go back instead");
        assert_eq!(time_outs(&record), 0, "{senders} senders");
        // Beyond the line's time: a round trip and a first window of trimmed headers.
        assert!(took >= ideal && took < 1.02 * ideal + 100.0, "{senders} x {packets}: {took} us of {ideal}");
        assert_eq!(trimmed(&record) > 0, senders > 1, "{} trimmed", trimmed(&record));
        assert!(record.flows.iter().all(|flow| flow.delivered == flow.size));
    }
}

/// With fair pulls equal flows end together; with pulls in order of arrival, one after the other.
#[test]
fn receivers_share_their_link_among_flows_as_they_are_told() {
    let ends = |order| {
        let mut setup = incast(4, 8, 100);
        let settings = NdpSettings { pull_order: order, ..Default::default() };
        let transport = TransportSettings::Ndp(settings);
        setup.transport = std::sync::Arc::new(weft_transport::Transport::new(&transport));
        let record = lab::run(setup);
        let mut ends: Vec<f64> = record
            .flows
            .iter()
            .map(|flow| flow.end.expect("it finishes").since(Time::ZERO).micros())
            .collect();
        ends.sort_by(f64::total_cmp);
        ends
    };
    let (fair, fifo) = (ends(ndp::PullOrder::Fair), ends(ndp::PullOrder::Fifo));
    assert!(fair[0] > 0.9 * fair[7], "{fair:?}");
    assert!(fifo[0] < 0.6 * fifo[7], "{fifo:?}");
    assert!((fifo[7] - fair[7]).abs() < 0.03 * fair[7], "the link is as busy: {fair:?} {fifo:?}");
}

/// Section 6.2.1: in a permutation flows get more than nine tenths of their links, and the slowest nearly that.
#[test]
fn a_permutation_fills_the_tree() {
    let mut setup = tree(4);
    let hosts = setup.graph.hosts();
    setup.flows = (0..hosts)
        .map(|host| lab::flow(Span::ZERO, host, (host + hosts / 2 + host % 3) % hosts, 1 << 40))
        .collect::<Vec<Flow>>()
        .into();
    setup.until = Time::ZERO + Span::from_ms(10);
    let record = lab::run(setup);
    let share = |flow: &weft_core::record::FlowRecord| flow.delivered.bits() as f64 / (10e9 * 10e-3);
    let mut into = vec![0.0; hosts as usize];
    record.flows.iter().for_each(|flow| into[flow.destination.index()] += share(flow));
    let busy: Vec<f64> = into.into_iter().filter(|share| *share > 0.0).collect();
    let mean = busy.iter().sum::<f64>() / busy.len() as f64;
    assert!(mean > 0.92, "{mean}: {busy:?}");
    assert!(busy.iter().all(|share| *share > 0.8), "{busy:?}");
    assert_eq!((record.packets.dropped, time_outs(&record)), (0, 0));
}

/// How much longer flows of ten packets to an idle host take than alone, while all hosts except the idle ones send
/// long flows to each other. Senders are taken in turn from `from`.
fn slowdowns(idle: &[u32], from: &[u32]) -> Vec<f64> {
    let mut setup = tree(4);
    let hosts = setup.graph.hosts();
    let busy: Vec<u32> = (0..hosts - 1).filter(|host| !idle.contains(host)).collect();
    let long = |place: usize| lab::flow(Span::ZERO, busy[place], busy[(place + 4) % busy.len()], 1 << 40);
    let mut flows: Vec<Flow> = (0..busy.len()).map(long).collect();
    let sender = |n: u64| from[n as usize % from.len()];
    flows.extend((0..20).map(|n| lab::flow(Span::from_us(200 * n + 500), sender(n), hosts - 1, 10 * MSS)));
    setup.flows = flows.into();
    setup.until = Time::ZERO + Span::from_ms(6);
    let record = lab::run(setup);
    let short = record.flows.iter().filter(|flow| flow.size == Bytes(10 * MSS));
    let slowdown = |flow: &weft_core::record::FlowRecord| {
        flow.end.expect("it finishes").since(flow.start).micros() / flow.ideal.micros()
    };
    let all: Vec<f64> = short.map(slowdown).collect();
    assert_eq!(all.len(), 20);
    all
}

/// Section 6.1.1: a short flow between idle hosts takes little longer than alone, although the fabric between them is full of
/// long flows: of eight packets that a queue may hold, it finds one or two.
#[test]
fn short_flows_between_idle_hosts_are_nearly_as_fast_as_alone() {
    let all = slowdowns(&[0, 5, 10], &[0, 5, 10]);
    let mean = all.iter().sum::<f64>() / 20.0;
    assert!(mean < 1.35 && all.iter().all(|slowdown| *slowdown < 2.0), "{mean}: {all:?}");
}

/// A sender whose card also serves a long flow has half of its line: such flows take about twice as long.
#[test]
fn short_flows_of_busy_hosts_share_their_cards() {
    let all = slowdowns(&[], &(0..15).collect::<Vec<_>>());
    let mean = all.iter().sum::<f64>() / 20.0;
    assert!((1.5..2.6).contains(&mean) && all.iter().all(|slowdown| *slowdown < 4.0), "{mean}: {all:?}");
}

/// Section 3.2.2: a receiver that prefers a flow gives it its link, whatever the switches hold of others.
#[test]
fn a_preferred_flow_is_pulled_first() {
    let took = |class: Option<u8>| {
        let mut setup = tree(4);
        setup.tags = vec!["others".into(), "preferred".into()];
        setup.classes = vec![Some(Class(2)), class.map(Class)];
        let mut flows: Vec<Flow> = (1..7).map(|host| lab::flow(Span::ZERO, host, 0, 4_000 * MSS)).collect();
        flows.push(Flow { tag: 1, ..lab::flow(Span::from_ms(1), 8, 0, 1_000_000) });
        setup.flows = flows.into();
        setup.until = Time::ZERO + Span::from_ms(20);
        let record = lab::run(setup);
        let flow = record.flows.iter().find(|flow| flow.tag == 1).expect("it has started");
        flow.end.expect("it finishes").since(flow.start).micros()
    };
    let alone = 1_000_000.0 * 8.0 / 10e3;
    let (first, fair) = (took(Some(1)), took(Some(2)));
    // Its first window meets a full queue: what the others have been asked for takes a round trip, then it has the link.
    assert!(first < 1.4 * alone, "{first} us, alone {alone}");
    assert!(fair > 3.0 * first, "{fair} us in turn, {first} us first");
}

/// Lost packets are sent again after a time-out, and a sender whose pulls were lost asks for them.
#[test]
fn losses_and_failures_are_survived() {
    let lossy = LinkSettings { loss: Share(0.01), ..LinkSettings::of(Rate::from_gbps(10)) };
    let flows = incast(4, 10, 50).flows;
    let setup = Setup { flows, until: Time::ZERO + Span::from_s(10), ..tree_of(4, lossy) };
    let record = lab::run(setup);
    assert_eq!(record.stop, Stop::Finished);
    assert!(record.packets.dropped > 50 && time_outs(&record) > 10, "{:?}", record.packets);
    assert!(record.flows.iter().all(|flow| flow.delivered == flow.size));
}

#[test]
fn threads_give_the_same_record() {
    let mut setup = incast(4, 15, 60);
    let mut flows: Vec<Flow> = setup.flows.iter().collect();
    flows.extend(lab::random_flows(&setup, 200, Span::from_us(500), 60_000));
    flows.sort_by_key(|flow| flow.start);
    setup.flows = flows.into();
    let alone = lab::run(setup.clone());
    assert!(trimmed(&alone) > 100 && alone.stop == Stop::Finished);
    for domains in [2, 3] {
        let divided = Setup { division: Division::threads(domains), ..setup.clone() };
        assert_eq!(lab::run(divided), alone);
    }
}
