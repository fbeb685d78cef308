//! The same bytes from any number of threads and under any cut of the network, in networks that are crowded.

mod lab;

use lab::cases::{case, failing};
use lab::laws::same;
use weft_core::record::{RunRecord, Stop};
use weft_core::{Span, Time};
use weft_sim::{Division, Setup, Simulation};

fn divided(setup: &Setup, domains: usize, scatter: Option<u64>) -> RunRecord {
    lab::run(Setup { division: Division { domains, scatter }, ..setup.clone() })
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
