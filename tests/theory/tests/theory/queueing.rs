//! Waiting at a port whose packets come from many sources by chance: an M/D/1 queue, an M/G/1 queue where sizes differ, and
//! what breaks the chance.

use weft_core::record::RunRecord;
use weft_core::{Rate, Span};
use weft_plan::Setup;
use weft_switch::BalancerSettings;
use weft_theory_tests::lab;
use weft_transport::TransportSettings;

const HOSTS: u32 = 160;
const UPLINKS: u32 = 2;
const RATE: Rate = Rate::from_gbps(10);
/// Payload of a datagram of 1538 bytes on the wire.
const PAYLOAD: u64 = 1_472;

/// Wire bytes that a datagram has beyond its payload: IP and UDP headers and framing.
const OVERHEAD: u64 = 66;

/// Single full datagrams from one leaf to the other, a Poisson process that offers `load` to each of two uplinks.
fn poisson(load: f64, packets: u32) -> Setup {
    poisson_of(&[PAYLOAD], load, packets)
}

/// The same with payloads drawn from these, each as likely as the others.
fn poisson_of(payloads: &[u64], load: f64, packets: u32) -> Setup {
    let transport = TransportSettings::Udp(Default::default());
    let mut setup = lab::leaf_spine((2, UPLINKS, HOSTS), (RATE, RATE), &transport);
    let mut draws = lab::draws(1);
    let service = moment(payloads, 1);
    let mut time = 0.0;
    let arrivals = (0..packets).map(|_| {
        time += draws.exponential(service / load / f64::from(UPLINKS));
        let ends = (draws.below(HOSTS), HOSTS + draws.below(HOSTS));
        let payload = match payloads {
            [only] => *only,
            _ => payloads[draws.below(payloads.len() as u32) as usize],
        };
        lab::datagrams(Span(time as u64), ends, payload, RATE)
    });
    setup.flows = arrivals.collect();
    setup.balancer = BalancerSettings::PerPacketRandom(Default::default());
    setup
}

/// A moment of the service time, in picoseconds.
fn moment(payloads: &[u64], power: i32) -> f64 {
    let service = |payload: &u64| RATE.time_for(weft_core::Bytes(payload + OVERHEAD)).0 as f64;
    payloads.iter().map(|payload| service(payload).powi(power)).sum::<f64>() / payloads.len() as f64
}

/// Mean wait at a hop in service times.
fn wait(record: &RunRecord, hop: usize) -> f64 {
    record.hops[hop].wait_ns.mean() / 1_230.4
}

/// Pollaczek and Khinchine: the mean wait is rho / (2 (1 - rho)) services, the mean number waiting rho^2 / (2 (1 - rho))
/// by Little. 5 %: the noise of 300 000 packets at 80 % load, and the 160 cards, which keep packets of one host apart.
#[test]
fn random_spreading_makes_uplinks_md1_queues() {
    for load in [0.3, 0.5, 0.8] {
        let record = lab::run(poisson(load, 300_000));
        let expected = load / (2.0 * (1.0 - load));
        assert!(
            lab::near(wait(&record, 1), expected, 0.05),
            "{load}: {}, expected {expected}",
            wait(&record, 1)
        );
        let uplinks = record.links.iter().filter(|link| link.from == 2 * HOSTS && link.to > 2 * HOSTS + 1);
        for uplink in uplinks {
            let packets = uplink.mean_queue / 1_538.0;
            let system = load + load * expected;
            assert!(lab::near(packets, system, 0.06), "{load}: {packets} queued, expected {system}");
        }
    }
}

/// Pollaczek and Khinchine for packets of any size: the mean wait is lambda E[S^2] / (2 (1 - rho)), and the idle share is
/// still 1 - rho. Half acknowledgement-like, a quarter middle-sized, a quarter full: E[S^2] is 2.2 times the square of the
/// mean. 5 % as above.
#[test]
fn packets_of_mixed_sizes_wait_as_in_an_mg1_queue() {
    let payloads = [34, 34, 534, PAYLOAD];
    for load in [0.3, 0.5, 0.8] {
        let record = lab::run(poisson_of(&payloads, load, 300_000));
        let lambda = load / moment(&payloads, 1);
        let expected = lambda * moment(&payloads, 2) / (2.0 * (1.0 - load)) / 1e3;
        let waits = &record.hops[1].wait_ns;
        assert!(lab::near(waits.mean(), expected, 0.05), "{load}: {} ns, expected {expected}", waits.mean());
        let at_once = waits.buckets().filter(|(value, _)| *value == 0).map(|(_, count)| count).sum::<u64>();
        let share = at_once as f64 / waits.count() as f64;
        assert!((share - (1.0 - load)).abs() < 0.02, "{load}: {share}");
    }
}

/// A packet finds an idle uplink with probability 1 - rho. 2 %: noise, and the cards as above.
#[test]
fn packets_find_an_idle_uplink_with_probability_one_minus_rho() {
    for load in [0.3, 0.5, 0.8] {
        let record = lab::run(poisson(load, 300_000));
        let waits = &record.hops[1].wait_ns;
        let at_once = waits.buckets().filter(|(value, _)| *value == 0).map(|(_, count)| count).sum::<u64>();
        let share = at_once as f64 / waits.count() as f64;
        assert!((share - (1.0 - load)).abs() < 0.02, "{load}: {share}");
    }
}

/// Behind a queue of the same rate nothing waits, for packets come no faster than they leave.
#[test]
fn a_queue_behind_a_queue_of_its_rate_stays_empty() {
    let record = lab::run(poisson(0.8, 50_000));
    assert!(wait(&record, 1) > 1.0);
    assert_eq!(record.hops[2].wait_ns.max(), 0);
}

/// Taking turns makes the gaps between a port's packets more even (Erlang instead of exponential), looking at the queues
/// makes the ports one system: both wait less than chance, and DRILL less than taking turns at high load of equal packets
/// only by sharing what is left; so only the order against chance is asserted.
#[test]
fn turns_and_drill_wait_less_than_chance() {
    let by = |balancer: BalancerSettings| {
        let mut setup = poisson(0.8, 100_000);
        setup.balancer = balancer;
        wait(&lab::run(setup), 1)
    };
    let random = by(BalancerSettings::PerPacketRandom(Default::default()));
    let turns = by(BalancerSettings::RoundRobin(Default::default()));
    let drill = by(BalancerSettings::Drill(Default::default()));
    // Two ports with a common queue, M/D/2 at 80 %, wait half as long as two M/D/1 queues (Cosmetatos 1975: 0.9 services).
    assert!(turns < 0.8 * random && drill < 0.8 * random, "random {random}, turns {turns}, drill {drill}");
    assert!(drill > 0.85 && turns > 0.85, "better than a common queue: turns {turns}, drill {drill}");
}
