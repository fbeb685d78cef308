//! A packet costs no allocation: three times the packets over the same flows and network allocate no more than a few
//! buffers of the event list that still grow. Flows that are over, or still to come, cost no memory.

mod lab;

use std::sync::Arc;

use weft_core::Span;
use weft_core::record::FlowRecord;
use weft_plan::Setup;
use weft_sim::Simulation;
use weft_switch::BalancerSettings;
use weft_switch::mark::MarkerSettings;
use weft_topology::TopologySettings;
use weft_topology::shapes::fat_tree::FatTreeSettings;
use weft_transport::Transport;
use weft_transport::settings::Tcp;
use weft_workload::Flows;

/// Six flows of `size` bytes across the fabric.
fn crossing(balancer: BalancerSettings, size: u64) -> Setup {
    let mut setup = lab::leaf_spine();
    setup.balancer = balancer;
    setup.switch.ecn = MarkerSettings::Step(Default::default());
    setup.flows =
        (0..6).map(|host| lab::flow(Span::from_us(u64::from(host)), host, (host + 4) % 16, size)).collect();
    setup
}

/// Allocations and packet hops of a run.
fn cost(setup: Setup) -> (u64, u64) {
    let mut hops = 0;
    let counted = allocation_counter::measure(|| hops = lab::run(setup).packet_hops);
    (counted.count_total, hops)
}

/// Allocations per packet hop beyond those of a third of the packets.
fn per_hop(balancer: &BalancerSettings) -> f64 {
    let (few, few_hops) = cost(crossing(balancer.clone(), 8_000_000));
    let (many, many_hops) = cost(crossing(balancer.clone(), 24_000_000));
    let (more, extra) = (many.saturating_sub(few) as f64, (many_hops - few_hops) as f64);
    assert!(extra > 100_000.0, "{extra}");
    more / extra
}

#[test]
fn packets_do_not_allocate() {
    for balancer in [
        BalancerSettings::Ecmp(Default::default()),
        BalancerSettings::Drill(Default::default()),
        BalancerSettings::Presto(Default::default()),
    ] {
        let cost = per_hop(&balancer);
        assert!(cost < 1e-3, "{cost} allocations per packet hop under {}", balancer.name());
    }
}

/// Flows of one packet in a fat tree of eight pods, one every 20 us, from the pod and to the pod that `pods` names.
fn between_pods(pods: impl Iterator<Item = (u32, u32)>) -> Setup {
    let tree = FatTreeSettings { k: 8, ..FatTreeSettings::default() };
    let mut setup = lab::setup(&TopologySettings::FatTree(tree), &lab::dctcp(|_| {}));
    let flow = |(n, (from, to)): (u32, (u32, u32))| {
        lab::flow(Span::from_us(20) * u64::from(n), 16 * from + n % 16, 16 * to + n % 16, 1_000)
    };
    setup.flows = (0..).zip(pods).map(flow).collect();
    setup
}

/// The ideal of a flow needs the paths between two pods. They are found when the first flow between these ends, in
/// buffers that are kept: 56 pairs of pods cost a few allocations per pod, not several per pair.
#[test]
fn pairs_of_pods_do_not_allocate() {
    let pairs = || (0..8).flat_map(|from| (0..8).filter(move |to| *to != from).map(move |to| (from, to)));
    let (one, _) = cost(between_pods(pairs().map(|_| (0, 1))));
    let (all, _) = cost(between_pods(pairs()));
    assert!(all < one + 8 * 12, "{one} allocations with one pair of pods, {all} with 56");
}

/// Peak memory that a run of this many flows needs beyond its network, one every 2 us, each of two packets. Time-outs are short: the timers of
/// a flow stay in the event list until they would expire.
fn peak(flows: u32) -> u64 {
    let mut setup = lab::leaf_spine();
    let short = Span::from_us(500);
    let timers = |tcp: &mut Tcp| (tcp.initial_rto, tcp.min_rto) = (short, short);
    setup.transport = Arc::new(Transport::new(&lab::dctcp(timers)));
    let flow = |n: u32| lab::flow(Span::from_us(2) * u64::from(n), n % 16, (n + 5) % 16, 2_500);
    let mut handed_out = 0;
    setup.flows = Flows::counted((0..flows).map(flow), usize::MAX - 1).expect("they are counted");
    let simulation = Simulation::new(setup);
    let sink = &mut |_: &FlowRecord| {
        handed_out += 1;
        true
    };
    let counted = allocation_counter::measure(|| {
        let _ = simulation.run_into(sink, &mut |_| true);
    });
    assert_eq!(handed_out, flows);
    counted.bytes_max
}

/// Ten times as many flows: the same peak within 1 %, and less than one byte per additional flow.
#[test]
fn memory_does_not_grow_with_the_length_of_a_run() {
    let (short, long) = (peak(5_000), peak(50_000));
    assert!(long < short + short / 100 && long < short + 45_000, "{short} and {long} bytes");
}
