//! Jobs with the hybrid engine: bytes are conserved, results do not depend on threads, an unloaded network gives the
//! results of packets, and unsupported features are refused.

use std::sync::Arc;
use weft_core::record::{FlowRecord, RunRecord, Stop};
use weft_core::settings::{Kind, Setting, Share, Value};
use weft_core::{Bytes, Grouping, HostId, Purpose, Random, Rate, Span, Time};
use weft_hybrid::{Hybrid, misfits};
use weft_plan::{Division, Engine, Finished, Setup, Storm, keeping_flows};
use weft_sim::Packets;
use weft_topology::shapes::leaf_spine::{LeafSpineSettings, Slow};
use weft_topology::{
    FailurePlan, LinkSettings, Node, Outage, RoutingSettings, TopologySettings, build, timeline,
};
use weft_transport::protocols::htcp::TcpHtcpSettings;
use weft_transport::settings::Tcp;
use weft_transport::{Transport, TransportSettings};
use weft_workload::pattern::terasort::TeraSortSettings;
use weft_workload::{Cluster, ClusterJob, Flow, Flows, FrameworkSettings};

fn hosts(range: std::ops::Range<u32>) -> Vec<HostId> {
    range.map(HostId).collect()
}

/// Sixteen maps of 64 MB on four hosts, and eight reducers.
fn settings() -> TeraSortSettings {
    TeraSortSettings {
        input: Bytes(1_024_000_000),
        block: Bytes(64_000_000),
        reducers: 8,
        map_rate: Rate::from_gbps(1),
        reduce_rate: Rate::from_gbps(1),
        runs: FrameworkSettings {
            container_start: Span::from_ms(100),
            submit: Span::from_ms(600),
            job_calls: 20,
            ends_run: true,
            ..FrameworkSettings::default()
        },
        ..TeraSortSettings::default()
    }
}

/// Four hosts that compute behind one leaf, and three that store files behind another.
fn setup(others: Vec<Flow>, settings: &TeraSortSettings) -> Setup {
    setup_with(others, settings, Bytes(1_000_000))
}

/// Two leaves and two spines.
fn leaf_spine() -> LeafSpineSettings {
    LeafSpineSettings {
        leaves: 2,
        spines: 2,
        hosts_per_leaf: 4,
        host_link: LinkSettings::of(Rate::from_gbps(25)),
        fabric_link: LinkSettings::of(Rate::from_gbps(100)),
        ..LeafSpineSettings::default()
    }
}

/// The same with another receive window.
fn setup_with(others: Vec<Flow>, settings: &TeraSortSettings, window: Bytes) -> Setup {
    let graph = build(&TopologySettings::LeafSpine(leaf_spine())).expect("it is a network");
    let routing = RoutingSettings::default();
    let timeline = timeline(&graph, &FailurePlan::default(), &routing, Grouping::Together);
    let tcp = Tcp { mtu: Bytes(9_000), receive_window: Some(window), ..Tcp::default() };
    let transport = TransportSettings::Htcp(TcpHtcpSettings { tcp, ..TcpHtcpSettings::default() });
    let cluster = Cluster { compute: hosts(4..8), data: hosts(1..4), master: HostId(0) };
    let random = Random::new(1, Purpose::Stragglers, 0);
    let job = ClusterJob::new(settings.plan(), cluster, (0, Time::ZERO), random);
    let flows: Flows = others.into();
    Setup {
        flows: flows.with_jobs(vec![job]),
        tags: vec!["terasort".to_owned(), "background".to_owned()],
        ..Setup::new(graph, timeline, Transport::new(&transport))
    }
}

/// A flow from every host that computes to the next.
fn ring(start: Span) -> Vec<Flow> {
    let next = |at: u32| (HostId(4 + at), HostId(4 + (at + 1) % 4));
    let flow = |at: u32| Flow::new(1, Time::ZERO + start, next(at), Bytes(1 << 50));
    (0..4).map(flow).collect()
}

fn run(setup: Setup) -> (RunRecord, Vec<(String, String)>) {
    let mut facts = Vec::new();
    let record = keeping_flows(|sink| {
        let finished = Hybrid.attempt(setup, sink, &mut |_| true).expect("it can be run");
        let Finished { record, facts: found, .. } = finished;
        facts = found;
        record
    });
    (record, facts)
}

fn seconds(record: &RunRecord) -> f64 {
    record.job_measures()[0].expect("the job has ended")
}

#[test]
fn every_byte_that_a_job_asks_for_is_carried() {
    let (record, _) = run(setup(Vec::new(), &settings()));
    assert_eq!(record.stop, Stop::Finished);
    let carried: u64 = record.flows.iter().map(|flow| flow.delivered.0).sum();
    assert_eq!(carried, record.jobs[0].transferred.0);
    assert_eq!(record.jobs[0].shuffled, Bytes(1_024_000_000));
    assert!(record.flows.is_sorted_by_key(|flow| flow.start));
    // Except for the head of the last packet, no flow is faster than alone.
    let spare = Span::from_us(1);
    let alone = |flow: &FlowRecord| flow.end.is_some_and(|end| end.since(flow.start) + spare >= flow.ideal);
    assert!(record.flows.iter().all(alone));
}

#[test]
fn without_other_traffic_a_job_takes_as_long_as_with_packets() {
    let (hybrid, facts) = run(setup(Vec::new(), &settings()));
    let packets = Packets.run_keeping_flows(setup(Vec::new(), &settings()), &mut |_| true);
    let error = seconds(&hybrid) / seconds(&packets) - 1.0;
    assert!(error.abs() < 0.01, "{} with packets, {} without", seconds(&packets), seconds(&hybrid));
    assert_eq!(hybrid.flows.len(), packets.flows.len());
    assert!(facts.iter().any(|(name, words)| name == "probe" && words.starts_with("none")));
}

/// The cables to one spine run at 1 instead of 100 Gb/s: balancers that weigh paths send hardly anything by it, ECMP every other transfer.
#[test]
fn unequal_paths_carry_what_the_balancer_gives_them() {
    let rate = Rate::from_gbps(40);
    let runs = FrameworkSettings { disk_rate: rate, seek: Span::ZERO, ..settings().runs };
    let bound_by_links = TeraSortSettings { map_rate: rate, reduce_rate: rate, runs, ..settings() };
    let uneven = |name: &str| {
        let slow = Slow { rate: Rate::from_gbps(1), share: Share(0.5), draw: Some(1) };
        let topology = LeafSpineSettings { slow: Some(slow), ..leaf_spine() };
        let mut setup = setup(Vec::new(), &bound_by_links);
        setup.graph = build(&TopologySettings::LeafSpine(topology)).expect("it is a network").into();
        setup.balancer = called(name);
        let (plan, routing) = (FailurePlan::default(), RoutingSettings::default());
        setup.timeline = timeline(&setup.graph, &plan, &routing, setup.balancer.grouping()).into();
        setup
    };
    let both = |name: &str| {
        let packets = Packets.run_keeping_flows(uneven(name), &mut |_| true);
        [seconds(&run(uneven(name)).0), seconds(&packets)]
    };
    let ecmp = both("ecmp");
    for name in ["wcmp", "drill"] {
        let [hybrid, packets] = both(name);
        assert!((hybrid / packets - 1.0).abs() < 0.1, "{name}: {packets} s with packets, {hybrid} without");
        assert!(
            ecmp[0] > 1.5 * hybrid && ecmp[1] > 1.5 * packets,
            "{name} {hybrid} {packets}, ECMP {ecmp:?}"
        );
    }
}

/// The balancer of this name.
fn called<B: Setting>(name: &str) -> B {
    let Kind::Family(family) = B::KIND else { panic!("balancers are a family") };
    let member = family.members.iter().find(|member| member.name == name).expect("it exists");
    B::from_value(&Value::Member(member.name, Box::new(member.table.defaults())))
}

#[test]
fn calls_beside_other_traffic_take_what_the_probe_has_seen() {
    let (quiet, _) = run(setup(Vec::new(), &settings()));
    let (record, facts) = run(setup(ring(Span::from_ms(50)), &settings()));
    assert_eq!(record.stop, Stop::Finished);
    assert!(seconds(&record) > seconds(&quiet));
    // Calls of hosts with other traffic wait; in an unloaded network none does.
    let waits = |record: &RunRecord| -> Vec<Span> {
        let is_call = |flow: &&FlowRecord| flow.tag == 0 && flow.size == FrameworkSettings::default().call;
        let late = |flow: &FlowRecord| flow.end.unwrap_or(flow.start).since(flow.start + flow.ideal);
        record.flows.iter().filter(is_call).map(late).collect()
    };
    let waiting = |record: &RunRecord| waits(record).iter().filter(|wait| **wait > Span::from_us(1)).count();
    assert_eq!(waiting(&quiet), 0);
    assert!(waiting(&record) * 2 > waits(&record).len(), "{:?}", waits(&record));
    let open: Vec<_> = record.flows.iter().filter(|flow| flow.tag == 1).collect();
    assert!(
        open.len() == 4 && open.iter().all(|flow| flow.end.is_none() && flow.delivered > Bytes(100_000_000))
    );
    for moment in ["before", "beside", "after"] {
        assert!(facts.iter().any(|(name, _)| name.starts_with(&format!("calls {moment}"))), "{facts:?}");
    }
}

#[test]
fn the_record_is_the_same_for_any_number_of_threads_and_any_repetition() {
    let with = |threads: usize| {
        let setup = setup(ring(Span::from_ms(50)), &settings());
        run(Setup { division: Division::threads(threads), ..setup })
    };
    let one = with(1);
    assert_eq!(one, with(1));
    assert_eq!(one, with(2));
}

#[test]
fn other_traffic_must_outlast_the_jobs() {
    let short = ring(Span::from_ms(50)).into_iter().map(|flow| Flow { size: Bytes(5_000_000_000), ..flow });
    let result = Hybrid.attempt(setup(short.collect(), &settings()), &mut |_| true, &mut |_| true);
    let told = result.expect_err("the flows end");
    assert!(told.contains("`background`") && told.contains("must outlast"), "{told}");
}

/// Flows of 30 GB last longer than the probe, but not until the job begins.
#[test]
fn other_traffic_that_outlasts_the_probe_alone_is_refused() {
    let long = ring(Span::from_ms(50)).into_iter().map(|flow| Flow { size: Bytes(30_000_000_000), ..flow });
    let runs = FrameworkSettings { submit: Span::from_s(20), ..settings().runs };
    let setup = setup(long.collect(), &TeraSortSettings { runs, ..settings() });
    let told = Hybrid.attempt(setup, &mut |_| true, &mut |_| true).expect_err("the flows end");
    assert!(told.contains("`background`") && told.contains("must outlast"), "{told}");
}

#[test]
fn what_cannot_be_treated_is_refused_with_what_can() {
    let good = || setup(ring(Span::from_ms(50)), &settings());
    assert_eq!(misfits(&good()), Vec::<String>::new());
    let refused = |setup: Setup, word: &str| {
        let reasons = misfits(&setup);
        assert!(reasons.len() == 1 && reasons[0].contains(word), "{word}: {reasons:?}");
        let result = Hybrid.attempt(setup, &mut |_| true, &mut |_| true);
        assert!(result.is_err_and(|told| told.contains(word)));
    };
    refused(Setup { flows: Vec::new().into(), ..good() }, "there is no job");
    let storm = Storm { host: HostId(1), from: Time::ZERO, until: Time::NEVER };
    refused(Setup { storms: vec![storm], ..good() }, "pause storms");
    let rates = ring(Span::ZERO).into_iter().map(|flow| Flow { rate: Rate::from_gbps(1), ..flow });
    refused(setup(rates.collect(), &settings()), "constant rate");
    let late = ring(Span::ZERO).into_iter().chain(ring(Span::from_s(1)));
    refused(setup(late.collect(), &settings()), "start over time");
    let goes_on =
        TeraSortSettings { runs: FrameworkSettings { ends_run: false, ..settings().runs }, ..settings() };
    refused(setup(ring(Span::ZERO), &goes_on), "ends_run");
}

/// With windows of 1 MB, transfers to one host overflow its port of 1 MB and wait for time-outs, as a run of packets shows; with
/// windows of 50 kB nothing is lost. The engine sees the first only in its probe, and says so.
#[test]
fn where_transfers_wait_for_time_outs_it_says_that_it_neglects_them() {
    for (window, loses) in [(1_000_000, true), (50_000, false)] {
        let at = || setup_with(ring(Span::from_ms(50)), &settings(), Bytes(window));
        let packets = Packets.run_keeping_flows(at(), &mut |_| true);
        let late = packets.flows.iter().filter(|flow| flow.tag == 0 && flow.timeouts > 0).count();
        assert_eq!(late > 0, loses, "{late} flows wait for time-outs with {window} B");
        let (_, facts) = run(at());
        let caution = facts.iter().find(|(name, _)| name == "caution");
        assert_eq!(caution.is_some(), loses, "{facts:?}");
        assert!(
            caution.is_none_or(|(_, words)| words.starts_with("In this scenario losses lead to time-outs"))
        );
    }
}

/// The rules refuse such a scenario; a program that makes its own setup learns it before a flow without links would end at once.
#[test]
#[should_panic(expected = "hosts 1 and 4 are not connected")]
fn hosts_that_are_not_connected_exchange_nothing() {
    let mut apart = setup(Vec::new(), &settings());
    let uplinks = apart
        .graph
        .links()
        .iter()
        .filter(|link| matches!((link.from, link.to), (Node::Switch(_), Node::Switch(_))));
    let cables = uplinks.map(|link| link.cable).collect();
    let plan = FailurePlan { outages: vec![Outage { cables, at: None, repair: None }] };
    apart.timeline = Arc::new(timeline(&apart.graph, &plan, &RoutingSettings::default(), Grouping::Together));
    run(apart);
}
