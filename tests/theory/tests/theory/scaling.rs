//! A loaded network has no absolute time scale: all rates doubled and all times halved, the same packets are lost and every
//! flow takes half as long.

use weft_core::record::RunRecord;
use weft_core::{Rate, Span, Time};
use weft_switch::BalancerSettings;
use weft_theory_tests::lab;
use weft_topology::{Graph, LinkSettings, Wiring};
use weft_transport::settings::Tcp;
use weft_workload::Flow;

/// All times of the transport in units of `step`.
fn tcp(step: Span) -> Tcp {
    Tcp {
        initial_rto: step * 10_000,
        min_rto: step * 2_000,
        max_rto: step * 1_000_000,
        delayed_ack_timeout: step * 400,
        tlp_slack: step * 20,
        tlp_delayed_ack: step * 2_000,
        ..Tcp::default()
    }
}

/// Four leaves with eight hosts each under four spines, all at 1 Gb/s in the slow form. Every cable has a delay of its
/// own, and times are multiples of two picoseconds in the slow form: equal paths and coarse times would let packets meet at
/// the same instant, and who is first then is drawn from the instant.
fn network(fast: u64, step: Span) -> Graph {
    let mut wiring = Wiring::default();
    let mut draws = lab::draws(4);
    let mut link = || LinkSettings {
        delay: step / 2 + step * u64::from(draws.below(4_999_999)) / 10_000_000,
        ..LinkSettings::of(Rate::from_gbps(fast))
    };
    let (leaves, spines) = (wiring.switches("leaf", 4), wiring.switches("spine", 4));
    for leaf in leaves {
        (0..8).for_each(|_| wiring.hosts_on(leaf, 1, &link()));
        spines.iter().for_each(|spine| wiring.cable(leaf, *spine, &link()));
    }
    wiring.finish().expect("a connected network")
}

/// Crowded network; `fast` halves all times. With the same seed every draw is the same.
fn crowded(fast: u64, balancer: &BalancerSettings) -> RunRecord {
    let step = Span::from_us(20) / fast;
    let mut setup = lab::on(network(fast, step), &lab::newreno(tcp(step)));
    setup.switch.latency = step / 4;
    setup.switch.sharing = lab::port_buffer(60_000);
    setup.balancer = balancer.clone();
    setup.flows = flows(step).into();
    setup.until = Time::ZERO + step * 1_000_000;
    lab::run(setup)
}

/// 600 flows of 60 kB on average within 600 steps.
fn flows(step: Span) -> Vec<Flow> {
    let mut draws = lab::draws(3);
    let mut flow = || {
        let source = draws.below(32);
        let destination = (source + 1 + draws.below(31)) % 32;
        let start =
            step * u64::from(draws.below(600)) + step * u64::from(draws.below(9_999_991)) / 10_000_000;
        lab::flow(start, source, destination, 1 + draws.exponential(60_000.0) as u64)
    };
    let mut flows: Vec<_> = (0..600).map(|_| flow()).collect();
    flows.sort_by_key(|flow| flow.start);
    flows
}

/// Picoseconds by which a flow may be off: smoothed round trips round to whole picoseconds, and time-outs follow them.
const ROUNDING: u64 = 100;

#[test]
fn losses_stay_and_times_halve_when_rates_double() {
    for balancer in [BalancerSettings::Ecmp(Default::default()), BalancerSettings::Drill(Default::default())]
    {
        let (slow, fast) = (crowded(1, &balancer), crowded(2, &balancer));
        let lost: u64 = slow.drops.iter().map(|drop| drop.packets).sum();
        assert!(lost > 100, "the network is crowded: {lost} packets lost");
        assert_eq!(slow.drops, fast.drops);
        assert_eq!(slow.packets, fast.packets);
        for (slow, fast) in slow.flows.iter().zip(&fast.flows) {
            assert_eq!((slow.retransmitted, slow.timeouts), (fast.retransmitted, fast.timeouts));
            let (slow, fast) = (lab::completion(slow), lab::completion(fast) * 2);
            assert!(slow.0.abs_diff(fast.0) <= ROUNDING, "{slow} {fast}");
        }
    }
}
