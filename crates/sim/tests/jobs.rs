//! Jobs in a network: every byte they ask for is carried, the record is the same for any number of threads, and an
//! unloaded network matches their closed form.

mod lab;

use std::sync::Arc;

use lab::laws::same;
use weft_core::record::{FlowRecord, RunRecord, Stop};
use weft_core::settings::Amount;
use weft_core::{Bytes, HostId, Purpose, Random, Rate, Span, Time};
use weft_plan::{Division, Engine, EngineProgress, Setup, Stacks};
use weft_sim::Packets;
use weft_switch::mark::{MarkerSettings, step::StepSettings};
use weft_topology::shapes::single_switch::SingleSwitchSettings;
use weft_topology::{FailurePlan, Outage, RoutingSettings, TopologySettings, timeline};
use weft_transport::protocols::newreno::TcpNewRenoSettings;
use weft_transport::settings::{EcnUse, Tcp};
use weft_transport::{Transport, TransportSettings};
use weft_workload::pattern::terasort::TeraSortSettings;
use weft_workload::{Cluster, ClusterJob, Flow, Flows, Framework, FrameworkSettings};

const FRAMEWORKS: [Framework; 3] = [Framework::MapReduce, Framework::Tez, Framework::Spark];

fn hosts(range: std::ops::Range<u32>) -> Vec<HostId> {
    range.map(HostId).collect()
}

/// Eight maps of 2 MB on four hosts with fast disks and cores, so that the network matters.
fn settings() -> TeraSortSettings {
    TeraSortSettings {
        input: Bytes(16_000_000),
        block: Bytes(2_000_000),
        reducers: 4,
        map_rate: Rate::from_gbps(100),
        reduce_rate: Rate::from_gbps(100),
        runs: FrameworkSettings {
            map_containers: 1,
            reduce_containers: 1,
            disk_rate: Rate::from_gbps(100),
            seek: Span::from_us(100),
            heartbeat: Span::from_ms(10),
            container_start: Span::from_ms(1),
            submit: Span::from_ms(1),
            commit: Span::from_ms(1),
            output_replicas: 2,
            ..FrameworkSettings::default()
        },
        ..TeraSortSettings::default()
    }
}

fn job(settings: &TeraSortSettings) -> ClusterJob {
    let cluster = Cluster { compute: hosts(4..8), data: hosts(1..4), master: HostId(0) };
    ClusterJob::new(
        settings.plan(),
        cluster,
        (0, Time::ZERO + Span::from_us(5)),
        Random::new(1, Purpose::Stragglers, 0),
    )
}

fn with_job(setup: Setup, settings: &TeraSortSettings) -> Setup {
    let flows: Flows = Vec::new().into();
    Setup { flows: flows.with_jobs(vec![job(settings)]), tags: vec!["terasort".to_owned()], ..setup }
}

fn carried(record: &RunRecord) -> u64 {
    record.flows.iter().map(|flow| flow.delivered.0).sum()
}

#[test]
fn a_job_ends_and_the_network_carries_exactly_what_it_asked_for() {
    let setup = with_job(lab::leaf_spine(), &settings());
    let record = lab::run(setup);
    assert_eq!(record.stop, Stop::Finished);
    let job = &record.jobs[0];
    assert_eq!(job.unfinished().collect::<Vec<_>>(), Vec::<&str>::new());
    assert_eq!(carried(&record), job.transferred.0);
    assert_eq!(job.shuffled, Bytes(16_000_000));
    assert!(record.ended >= job.end.expect("it has ended"));
    assert!(record.flows.iter().all(|flow| flow.end.is_some()));
    // Every flow of a job starts after the submission, and its numbers follow the order of starts.
    assert!(record.flows.is_sorted_by_key(|flow| flow.start) && record.flows[0].start >= job.start);
}

#[test]
fn a_job_is_the_same_whatever_the_number_of_threads() {
    let setup = with_job(lab::leaf_spine(), &settings());
    let alone = lab::run(setup.clone());
    for threads in [2, 4] {
        let other = lab::run(Setup { division: Division::threads(threads), ..setup.clone() });
        same(&alone, &other).unwrap_or_else(|why| panic!("{threads} threads: {why}"));
        assert_eq!(alone.jobs, other.jobs);
    }
}

/// On a connection that is open a message goes one way; otherwise SYN and SYN-ACK go before it. Both take as long as their
/// ideals say, behind at most one acknowledgement of the message before.
#[test]
fn a_call_on_an_open_connection_has_no_handshake() {
    let calls = |persistent_calls| {
        let runs = FrameworkSettings { persistent_calls, job_calls: 100, ..settings().runs };
        let record = lab::run(with_job(lab::leaf_spine(), &TeraSortSettings { runs, ..settings() }));
        let step = record.jobs[0].steps.iter().find(|step| step.name == "set up").expect("it calls");
        let took = step.end.expect("it is done").since(step.start);
        let calls =
            record.flows.into_iter().filter(move |flow| flow.start >= step.start && flow.size == Bytes(512));
        (took, calls.take(100).collect::<Vec<_>>())
    };
    let ((apart, new), (kept, open)) = (calls(false), calls(true));
    let duration = |flow: &FlowRecord| flow.end.expect("it arrives").since(flow.start);
    let acknowledgement = Rate::from_gbps(10).time_for(Bytes(84));
    for flow in new.iter().chain(&open) {
        let late = duration(flow).0 - flow.ideal.0;
        assert!(late == 0 || late == acknowledgement.0, "{late} ps late: {flow:?}");
    }
    // The first opens its connection either way.
    assert_eq!(new[0].ideal, open[0].ideal);
    assert_eq!(apart.0, new.iter().map(|flow| duration(flow).0).sum::<u64>());
    assert_eq!(kept.0, open.iter().map(|flow| duration(flow).0).sum::<u64>());
    assert!(kept.0 * 2 < apart.0, "{kept} on an open connection, {apart} on new ones");
}

/// An open connection knows its round trip: a lost message is sent again after the minimum time-out, not after a second.
#[test]
fn a_message_lost_on_an_open_connection_waits_for_the_minimum_time_out() {
    let lost = |round_trip| {
        let flow = Flow { round_trip, ..lab::flow(Span::ZERO, 0, 4, 512) };
        let mut setup = lab::leaf_spine();
        let (at, repair) = (Some(Time::ZERO), Some(Time::ZERO + Span::from_ms(100)));
        let plan = FailurePlan { outages: vec![Outage { cables: setup.graph.fabric_cables(), at, repair }] };
        let routing = RoutingSettings::default();
        setup.timeline = Arc::new(timeline(&setup.graph, &plan, &routing, setup.balancer.grouping()));
        let until = Time::ZERO + Span::from_s(5);
        let record = lab::run(Setup { flows: vec![flow].into(), until, ..setup });
        let flow = &record.flows[0];
        (flow.end.expect("it arrives").since(flow.start), flow.timeouts, flow.syn_timeouts)
    };
    let ((new, ..), (open, timeouts, of_opening)) = (lost(Span::ZERO), lost(Span::from_us(50)));
    assert!(new > Span::from_s(1), "{new}");
    assert!(open > Span::from_ms(200) && open < Span::from_ms(201), "{open}");
    assert_eq!((timeouts, of_opening), (1, 0));
}

/// Two jobs on the same hosts, whose only disk takes 20 ms for each request: it works no longer than time passes.
#[test]
fn jobs_share_the_disks_of_their_hosts() {
    let runs = FrameworkSettings { disks: 1, seek: Span::from_ms(20), ..settings().runs };
    let one = job(&TeraSortSettings { runs, ..settings() });
    let flows: Flows = Vec::new().into();
    let flows = flows.with_jobs(vec![one.clone(), one]);
    let record = lab::run(Setup { flows, tags: vec!["terasort".to_owned()], ..lab::leaf_spine() });
    let [a, b] = record.jobs.as_slice() else { panic!("there are two jobs") };
    assert!(a.end.is_some() && b.end.is_some() && a.disks.width() == b.disks.width());
    let all = a.disks.bins().iter().zip(b.disks.bins()).map(|(a, b)| a + b);
    let most = a.disks.width().0 * a.disk_count;
    let busy = all.max().unwrap_or(0);
    assert!(busy > most / 2 && busy <= most + 1_000, "{busy} of {most} ps");
}

/// Flows drawn in advance keep their numbers, and the run waits for both.
#[test]
fn a_job_shares_the_network_with_other_traffic() {
    let setup = lab::leaf_spine();
    let others = lab::random_flows(&setup, 50, Span::from_us(100), 50_000);
    let alone = lab::run(with_job(setup.clone(), &settings()));
    let flows: Flows = others.clone().into();
    let flows = flows.with_jobs(vec![job(&settings())]);
    let both = lab::run(Setup { flows, tags: vec!["terasort".to_owned()], ..setup });
    assert_eq!(both.stop, Stop::Finished);
    assert_eq!(both.flows.len(), others.len() + alone.flows.len());
    let drawn: u64 = others.iter().map(|flow| flow.size.0).sum();
    assert_eq!(carried(&both), drawn + both.jobs[0].transferred.0);
    assert_eq!(both.arrivals, None, "a job decides when flows arrive");
}

/// A flow that would take hours is cut off with the end of the job, and counted as unfinished.
#[test]
fn a_job_that_ends_the_run_takes_the_background_with_it() {
    let settings =
        TeraSortSettings { runs: FrameworkSettings { ends_run: true, ..settings().runs }, ..settings() };
    let endless =
        Flow { size: Bytes(1 << 50), ..lab::random_flows(&lab::leaf_spine(), 1, Span::from_us(1), 1)[0] };
    let flows: Flows = vec![endless].into();
    let flows = flows.with_jobs(vec![job(&settings)]);
    let record = lab::run(Setup { flows, tags: vec!["terasort".to_owned()], ..lab::leaf_spine() });
    assert_eq!(record.stop, Stop::Finished);
    let end = record.jobs[0].end.expect("the job is done");
    assert!(record.ended >= end && record.ended.since(end) < Span::from_ms(1), "the run ends with the job");
    let open: Vec<u64> =
        record.flows.iter().filter(|flow| flow.end.is_none()).map(|flow| flow.size.0).collect();
    assert_eq!(open, [1 << 50]);
}

/// When the files are cut off for good while tasks wait, heartbeats and searches for stragglers continue without any
/// effect.
#[test]
fn a_job_that_is_cut_off_is_stuck_whatever_still_ticks() {
    let whole = lab::run(with_job(lab::leaf_spine(), &settings())).jobs.remove(0);
    let first = |name| whole.steps.iter().find(|step| step.name == name).expect("it has this step").start;
    for (framework, speculation) in FRAMEWORKS.into_iter().flat_map(|one| [(one, false), (one, true)]) {
        let runs = FrameworkSettings { framework, speculation, ..settings().runs };
        let mut setup = with_job(lab::leaf_spine(), &TeraSortSettings { runs, ..settings() });
        let at = Some(first("map") + Span::from_us(500));
        let plan =
            FailurePlan { outages: vec![Outage { cables: setup.graph.fabric_cables(), at, repair: None }] };
        let routing = RoutingSettings::default();
        setup.timeline = Arc::new(timeline(&setup.graph, &plan, &routing, setup.balancer.grouping()));
        let mut patient = |told: &EngineProgress| told.now < Time::ZERO + Span::from_s(60);
        let setup = Setup { until: Time::NEVER, ..setup };
        let record = Packets.run(setup, &mut |_| true, &mut patient).record;
        assert_eq!(record.stop, Stop::Stuck, "{framework:?}, speculation {speculation}");
        assert!(record.ended < Time::ZERO + Span::from_s(10) && record.jobs[0].open_tasks() > 0);
    }
}

#[test]
fn a_job_cut_short_names_what_is_open_and_counts_its_flows() {
    let whole = lab::run(with_job(lab::leaf_spine(), &settings()));
    let until = Time(whole.ended.0 / 2);
    let record = lab::run(Setup { until, ..with_job(lab::leaf_spine(), &settings()) });
    assert_eq!(record.stop, Stop::TimeLimit);
    let job = &record.jobs[0];
    assert_eq!(job.unfinished().next(), Some("job"));
    assert!(job.unfinished().count() > 1);
    let tasks = whole.jobs[0].own_tasks();
    let later = tasks.iter().filter(|task| task.end.is_some_and(|end| end > until)).count();
    assert_eq!(
        (job.open_tasks(), whole.jobs[0].open_tasks()),
        (later, 0),
        "the job itself is none of its tasks"
    );
    let open = record.flows.iter().filter(|flow| flow.end.is_none()).count();
    let steps = job.steps.iter().filter(|step| step.end.is_none()).count();
    assert!(open > 0 || steps > 0, "something was open at {until}");
    let delivered = record.flows.iter().filter(|flow| flow.end.is_some());
    assert_eq!(delivered.map(|flow| flow.size.0).sum::<u64>(), job.transferred.0);
}

/// One map and one reducer, each alone on its links: the time of the job is the sum of its fixed parts and of flows
/// that take their ideal time.
#[test]
fn a_job_of_one_map_takes_its_fixed_times_and_the_ideal_times_of_its_flows() {
    let settings = TeraSortSettings {
        input: Bytes(2_000_000),
        reducers: 1,
        spills: 0,
        runs: FrameworkSettings {
            map_containers: 1,
            heartbeat: Span::from_ms(10),
            output_replicas: 1,
            seek: Span::ZERO,
            ..settings().runs
        },
        ..settings()
    };
    let single = TopologySettings::SingleSwitch(SingleSwitchSettings { hosts: 8, ..Default::default() });
    let record = lab::run(with_job(lab::setup(&single, &lab::dctcp(|_| {})), &settings));
    let job = &record.jobs[0];
    let by_hand: Span = ["allocate", "open", "map", "report", "fetch", "reduce"]
        .iter()
        .flat_map(|name| job.steps.iter().filter(move |step| step.name == *name))
        .map(|step| step.end.expect("the job is done").since(step.start))
        .sum();
    let flows: Span = record.flows.iter().map(|flow| flow.ideal).sum();
    let slack = by_hand.seconds() / flows.seconds();
    assert!((0.99..1.25).contains(&slack), "steps take {by_hand}, their flows alone {flows}");
}

/// Hosts that compute open all connections but those from replica to replica: with ECN at these and `accept` at those that
/// store, payload can be marked in both directions, and only copies cannot. With `off` at those that store, only
/// transfers among those that compute can.
#[test]
fn both_directions_of_a_job_s_connections_agree_on_ecn() {
    for handshake in [true, false] {
        for stores in [EcnUse::Accept, EcnUse::Off] {
            let newreno = |ecn| {
                let tcp = Tcp { ecn, handshake, ..Tcp::default() };
                Transport::new(&TransportSettings::NewReno(TcpNewRenoSettings { tcp, ..Default::default() }))
            };
            let mut setup = with_job(lab::leaf_spine(), &settings());
            let step = StepSettings { threshold: Amount::Bytes(Bytes(1)), ..Default::default() };
            setup.switch.ecn = MarkerSettings::Step(step);
            setup.stacks = Stacks {
                all: vec![Arc::new(newreno(stores)), Arc::new(newreno(EcnUse::On))],
                group_of_host: (0..16).map(|host| u16::from(host == 0 || host >= 4)).collect(),
                senders: vec![vec![0], vec![1]],
                receivers: vec![vec![vec![0], vec![1]]; 2],
            };
            let record = lab::run(setup);
            assert_eq!(record.stop, Stop::Finished);
            let is_store = |host: HostId| (1..4).contains(&host.0);
            let kind = |flow: &FlowRecord| (is_store(flow.source), is_store(flow.destination));
            for ends in [(false, false), (false, true), (true, false), (true, true)] {
                let marked: Vec<bool> = record
                    .flows
                    .iter()
                    .filter(|flow| kind(flow) == ends)
                    .map(|flow| flow.ecn_marks > 0)
                    .collect();
                assert!(!marked.is_empty(), "{ends:?}");
                let agree = match ends {
                    (false, false) => true,
                    (true, true) => false,
                    _ => stores == EcnUse::Accept,
                };
                assert!(marked.iter().all(|marked| *marked == agree), "{stores:?} {ends:?} {marked:?}");
            }
        }
    }
}
