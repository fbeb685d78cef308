//! The same bytes from any number of threads and under any cut of the network, in networks that are crowded.

mod lab;

use lab::cases::{case, failing};
use lab::laws::same;
use weft_core::record::{FlowRecord, RunRecord, Stop};
use weft_core::{Span, SwitchId, Time};
use weft_plan::{Division, Setup};
use weft_sim::{Simulation, Tap};
use weft_topology::TopologySettings;
use weft_topology::shapes::leaf_spine::LeafSpineSettings;

fn divided(setup: &Setup, domains: usize, scatter: Option<u64>) -> RunRecord {
    lab::run(Setup { division: Division { scatter, ..Division::threads(domains) }, ..setup.clone() })
}

fn on_threads(setup: &Setup, threads: usize) -> Simulation {
    Simulation::new(Setup { division: Division::threads(threads), ..setup.clone() })
}

fn assert_same(a: &RunRecord, b: &RunRecord, what: &str) {
    same(a, b).unwrap_or_else(|why| panic!("{what}: {why}"));
}

#[test]
fn any_number_of_threads_and_any_cut_give_the_same_record() {
    for seed in 1..=16 {
        let setup = if seed % 2 == 0 { case(seed) } else { failing(seed) };
        let alone = lab::run(setup.clone());
        for threads in 2..=4 {
            assert_same(&alone, &divided(&setup, threads, None), &format!("seed {seed}, {threads} threads"));
        }
        let scattered = divided(&setup, 2 + seed as usize % 3, Some(seed));
        assert_same(&alone, &scattered, &format!("seed {seed}, scattered"));
    }
}

/// Events at one switch are seen in the same order, whichever thread drives the others.
#[test]
fn a_tap_sees_the_same_alone_and_divided() {
    let setup = lab::leaf_spine();
    let setup = Setup { flows: lab::random_flows(&setup, 200, Span::from_us(200), 50_000).into(), ..setup };
    for switch in [SwitchId(0), SwitchId(5)] {
        let (alone, seen) = Simulation::new(setup.clone()).run_tapped(Tap::new(switch));
        assert!(seen.seen.len() > 1_000, "{} things seen", seen.seen.len());
        for threads in 2..=4 {
            let simulation = on_threads(&setup, threads);
            assert_eq!(simulation.threads(), threads);
            let (record, other) = simulation.run_tapped(Tap::new(switch));
            assert_same(&alone, &record, &format!("{switch:?}, {threads} threads"));
            assert_eq!(seen.seen, other.seen, "{switch:?}, {threads} threads");
        }
    }
}

/// Threads that would mostly wait for each other are not started; an explicit number is obeyed as far as it goes.
#[test]
fn threads_are_for_networks_that_have_work_between_two_meetings() {
    let up_to = |setup: &Setup, most| {
        Simulation::new(Setup { division: Division::up_to(most), ..setup.clone() }).threads()
    };
    let busy = lab::leaf_spine();
    assert_eq!(up_to(&busy, 1), 1);
    let all = up_to(&busy, usize::MAX);
    assert_eq!(up_to(&busy, 2), all.min(2));
    let wide = lab::setup(
        &TopologySettings::LeafSpine(LeafSpineSettings { leaves: 16, spines: 16, ..Default::default() }),
        &lab::dctcp(|_| {}),
    );
    assert_eq!(up_to(&wide, 2), 2, "hundreds of links between two meetings");
    assert!(up_to(&wide, usize::MAX) > all, "more links, more threads");
    let one = lab::setup(&TopologySettings::SingleSwitch(Default::default()), &lab::dctcp(|_| {}));
    assert_eq!(on_threads(&one, 4).threads(), 1, "a switch stays with its hosts");
}

/// The time limit cuts flows, queues and packets in flight.
#[test]
fn a_run_that_is_cut_short_is_the_same_too() {
    for seed in 1..=20 {
        let setup = Setup { until: Time::ZERO + Span::from_us(150 + 13 * seed), ..case(seed) };
        let alone = lab::run(setup.clone());
        assert_eq!(alone.stop, Stop::TimeLimit);
        assert!(alone.packets.left > 0, "something is on its way");
        assert_same(&alone, &divided(&setup, 3, Some(seed)), &format!("seed {seed}"));
    }
}

/// Records as they are handed out, and the record of the run without them.
fn streamed(simulation: Simulation) -> (Vec<FlowRecord>, RunRecord) {
    let mut flows = Vec::new();
    let record = simulation.run_into(
        &mut |flow| {
            flows.push(flow.clone());
            true
        },
        &mut |_| true,
    );
    (flows, record)
}

/// Every flow is handed out once, when it is done, in an order that does not depend on threads; whether the run finishes or
/// is cut in the middle.
#[test]
fn records_of_flows_stream_out_in_one_order() {
    let setup = lab::leaf_spine();
    let setup = Setup { flows: lab::random_flows(&setup, 2_000, Span::from_ms(2), 50_000).into(), ..setup };
    for until in [Time::NEVER, Time::ZERO + Span::from_us(1_500)] {
        let setup = Setup { until, ..setup.clone() };
        let (alone, record) = streamed(Simulation::new(setup.clone()));
        assert!(record.flows.is_empty());
        assert!(alone.iter().any(|flow| flow.end.is_none()) == (until != Time::NEVER));
        let mut sorted = alone.clone();
        sorted.sort_by_key(|flow| flow.flow);
        assert_ne!(sorted, alone, "flows overtake each other");
        assert_eq!(sorted, Simulation::new(setup.clone()).run(&mut |_| true).flows);
        for threads in 2..=4 {
            assert!(streamed(on_threads(&setup, threads)).0 == alone, "{threads} threads");
        }
    }
}

/// The receiver of the records can stop the run.
#[test]
fn a_full_sink_stops_the_run() {
    let setup = lab::leaf_spine();
    let setup = Setup { flows: lab::random_flows(&setup, 20_000, Span::from_ms(50), 5_000).into(), ..setup };
    for threads in [1, 3] {
        let mut taken = 0;
        let sink = &mut |_: &FlowRecord| {
            taken += 1;
            taken < 100
        };
        let record = on_threads(&setup, threads).run_into(sink, &mut |_| true);
        assert_eq!(record.stop, Stop::Interrupted);
        assert!((100..10_000).contains(&taken), "{taken}");
    }
}

/// The watcher is called from one thread only and stops all of them.
#[test]
fn a_watcher_stops_all_threads() {
    let setup = lab::leaf_spine();
    let setup =
        Setup { flows: lab::random_flows(&setup, 600, Span::from_us(300), 1_000_000).into(), ..setup };
    let simulation = on_threads(&setup, 3);
    assert_eq!(simulation.threads(), 3);
    let record = simulation.run(&mut |_| false);
    assert_eq!(record.stop, Stop::Interrupted, "{} events", record.events);
    let packets = record.packets;
    assert_eq!(packets.created, packets.delivered + packets.dropped + packets.left);
}

/// Between two small flows there are only samples; the watcher is still called.
#[test]
fn a_watcher_stops_a_run_of_samples() {
    let setup = lab::leaf_spine();
    let flows = vec![lab::flow(Span::ZERO, 0, 9, 1_000), lab::flow(Span::from_ms(100), 1, 9, 1_000)];
    let setup = Setup { flows: flows.into(), queues_every: Some(Span::from_us(1)), ..setup };
    for threads in [1, 3] {
        let record = on_threads(&setup, threads).run(&mut |_| false);
        assert_eq!(record.stop, Stop::Interrupted, "{threads} threads");
        assert!(record.ended < Time::ZERO + Span::from_ms(50), "{:?}", record.ended);
    }
}
