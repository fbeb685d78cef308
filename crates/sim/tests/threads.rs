//! The same bytes from any number of threads, under any cut of the network, and whether switches foresee departures or
//! are asked for every packet.

mod lab;

use std::sync::Arc;

use lab::cases::{case, failing};
use weft_core::record::{RunRecord, Stop};
use weft_core::{Span, Time};
use weft_sim::{Division, Setup, Simulation};
use weft_topology::{Change, Timeline};

fn divided(setup: &Setup, domains: usize, scatter: Option<u64>) -> RunRecord {
    lab::run(Setup { division: Division { domains, scatter }, ..setup.clone() })
}

/// The first difference in words, because a record is too long to print.
fn assert_same(a: &RunRecord, b: &RunRecord, what: &str) {
    for (a, b) in a.flows.iter().zip(&b.flows) {
        assert_eq!(a, b, "{what}: flow");
    }
    for (number, (a, b)) in a.links.iter().zip(&b.links).enumerate() {
        assert_eq!(a, b, "{what}: link {number}");
    }
    assert_eq!(a.packets, b.packets, "{what}: packets");
    assert_eq!((a.stop, a.ended), (b.stop, b.ended), "{what}: end");
    assert_eq!((a.events, a.packet_hops), (b.events, b.packet_hops), "{what}: events");
    assert!(a.hops == b.hops && a.drops == b.drops, "{what}: hops or drops");
    assert!(a.queues == b.queues && a.imbalance == b.imbalance, "{what}: samples");
    assert_eq!(a, b, "{what}");
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

/// A cable that "comes back" although it was never down changes nothing, but makes its ports be asked for every packet.
#[test]
fn foreseen_departures_change_nothing_but_the_number_of_events() {
    let mut fewer = 0;
    for seed in 1..=60 {
        let setup = case(seed);
        let late = |cable| (Time::ZERO + Span::from_s(50), Change::CableUp(cable));
        let changes = (0..setup.graph.cables().len()).map(late).collect();
        let asked = Timeline { changes, ..(*setup.timeline).clone() };
        let asked = lab::run(Setup { timeline: Arc::new(asked), ..setup.clone() });
        let foreseen = lab::run(setup);
        fewer += usize::from(foreseen.events < asked.events);
        assert_same(&RunRecord { events: asked.events, ..foreseen }, &asked, &format!("seed {seed}"));
    }
    assert!(fewer > 10, "many cases foresee: {fewer}");
}

/// The watcher is told from one thread only, and stops all.
#[test]
fn a_watcher_stops_all_threads() {
    let setup = Setup { flows: lab::random_flows(&case(4), 600, Span::from_us(300), 1_000_000), ..case(4) };
    let setup = Setup { division: Division::threads(3), ..setup };
    let record = Simulation::new(setup).run(&mut |_| false);
    assert_eq!(record.stop, Stop::Interrupted, "{} events", record.events);
    let packets = record.packets;
    assert_eq!(packets.created, packets.delivered + packets.dropped + packets.left);
}
