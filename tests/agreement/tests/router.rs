//! Bit for bit: what the simulator decides, the router decides.

use std::path::Path;

use weft_agreement_tests::{Deeds, Played, dropped, marked, simulated};
use weft_core::SwitchId;
use weft_plan::Setup;
use weft_prepare::{Prepared, prepare};
use weft_sim::Seen;

fn cases() -> Vec<Prepared> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/busy.toml");
    prepare(&file, &[], false).unwrap_or_else(|error| panic!("{error}"))
}

/// What the router sends and drops is what the simulator does: for each port and each worker in the same order. Returns what happened.
fn agree(setup: &Setup, switch: SwitchId, workers: u16) -> (Deeds, usize) {
    let (seen, ours) = simulated(setup, switch);
    let (theirs, counters) = Played::new(setup, switch, workers).play(&seen);
    let readers = Played::readers(setup, switch, workers);
    let worker_of: Vec<usize> = seen
        .iter()
        .filter_map(|seen| match seen {
            Seen::Arrived { port, .. } => Some(readers[port.index()]),
            _ => None,
        })
        .collect();
    for (worker, deeds) in theirs.iter().enumerate() {
        for (port, (ours, theirs)) in ours.sent.iter().zip(&deeds.sent).enumerate() {
            let own: Vec<_> =
                ours.iter().copied().filter(|(packet, _)| worker_of[*packet as usize] == worker).collect();
            // The simulation stops with its last flow, and the router empties the switch: it may send more, but nothing else.
            assert_eq!(own[..], theirs[..own.len()], "port {port}, worker {worker}");
            assert!(theirs.len() - own.len() < 10, "port {port}, worker {worker}");
        }
        assert_eq!(ours.dropped, deeds.dropped);
    }
    assert_eq!((dropped(&counters), counters.inside()), (ours.dropped.iter().sum(), 0));
    (ours, worker_of.len())
}

#[test]
fn every_balancer_marker_and_scheduler_agrees() {
    let (mut arrived, mut met, mut lost) = (0, 0, 0);
    for case in cases() {
        let setup = case.setup(7).expect("builds");
        for switch in [0, 3] {
            println!("{:?} at switch {switch}", case.labels);
            let (deeds, packets) = agree(&setup, SwitchId(switch), 1);
            (arrived, met) = (arrived + packets, met + marked(&deeds));
            lost += deeds.dropped.iter().sum::<u64>();
        }
    }
    // A comparison of nothing would prove nothing.
    assert!(
        arrived > 100_000 && met > 1_000 && lost > 300,
        "{arrived} packets, {met} marked, {lost} dropped"
    );
}

/// Each worker decides with its own engines and locks only the port of a packet.
#[test]
fn four_workers_decide_as_one() {
    let (mut arrived, mut met, mut lost) = (0, 0, 0);
    for case in cases() {
        let setup = case.setup(7).expect("builds");
        for switch in [0, 3].map(SwitchId) {
            if let Some(why) = setup.build_switch(switch).indivisible() {
                assert!(why.contains("virtual output queues"), "{why}");
                continue;
            }
            println!("{:?} at {switch:?}", case.labels);
            let (deeds, packets) = agree(&setup, switch, 4);
            (arrived, met) = (arrived + packets, met + marked(&deeds));
            lost += deeds.dropped.iter().sum::<u64>();
        }
    }
    assert!(
        arrived > 100_000 && met > 1_000 && lost > 300,
        "{arrived} packets, {met} marked, {lost} dropped"
    );
}

/// On threads that run at their own pace the order of packets varies, but none is lost, and all memory is given back.
#[test]
fn threads_at_their_own_pace_lose_nothing() {
    for case in cases().iter().filter(|case| ["drill", "letflow", "strict"].contains(&&*case.labels[0])) {
        let setup = case.setup(7).expect("builds");
        let (seen, _) = simulated(&setup, SwitchId(0));
        let (arrived, counters) = Played::new(&setup, SwitchId(0), 4).race(&seen);
        let sent = counters.sent + dropped(&counters);
        assert_eq!((counters.received, sent, counters.inside()), (arrived, arrived, 0), "{:?}", case.labels);
        assert!(arrived > 1_000 && counters.sent > arrived / 2, "{arrived} {counters}");
    }
}
