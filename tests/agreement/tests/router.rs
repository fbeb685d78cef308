//! Bit for bit: what the simulator decides, the router decides.

use std::collections::BTreeSet;
use std::path::Path;

use weft_agreement_tests::{Deeds, Played, arrivals, dropped, marked, simulated, switched};
use weft_core::record::Reason;
use weft_core::{Bytes, Header, PortId, SwitchId, Time};
use weft_plan::Setup;
use weft_prepare::{Prepared, prepare};
use weft_sim::Seen;

fn cases() -> Vec<Prepared> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/busy.toml");
    prepare(&file, &[], false).unwrap_or_else(|error| panic!("{error}"))
}

/// What the router sends and drops is what the simulator does, with each of these numbers of workers: for each port and each worker in the
/// same order; and its queues read alike. Returns what happened.
fn agree(setup: &Setup, switch: SwitchId, workers: &[u16]) -> (Deeds, usize) {
    let (seen, ours) = simulated(setup, switch);
    let arrived = |seen: &Seen| match seen {
        Seen::Arrived { port, .. } => Some(port.index()),
        _ => None,
    };
    let inputs: Vec<usize> = seen.iter().filter_map(arrived).collect();
    let read = |workers: &u16| {
        let mut played = Played::new(setup, switch, *workers);
        let (theirs, counters) = played.play(&seen);
        queues_explain_ports(&played, &ours);
        let readers = Played::readers(setup, switch, *workers);
        for (worker, deeds) in theirs.iter().enumerate() {
            let is_own = |packet: u32| readers[inputs[packet as usize]] == worker;
            for (port, (ours, theirs)) in ours.sent.iter().zip(&deeds.sent).enumerate() {
                let own: Vec<_> = ours.iter().copied().filter(|(packet, _)| is_own(*packet)).collect();
                // The simulation stops with its last flow, and the router empties the switch: it may send more, but nothing else.
                assert_eq!(own[..], theirs[..own.len()], "port {port}, worker {worker}");
                assert!(theirs.len() - own.len() < 10, "port {port}, worker {worker}");
            }
            assert_eq!(ours.dropped, deeds.dropped);
        }
        assert_eq!((dropped(&counters), counters.inside()), (ours.dropped.iter().sum(), 0));
        played.ports()
    };
    let readings: Vec<_> = workers.iter().map(read).collect();
    assert!(readings.windows(2).all(|two| two[0] == two[1]), "{readings:?}");
    (ours, inputs.len())
}

/// What the queues of a port have lost is what the port has lost, for the same reasons as in the simulator; and the port held at most
/// what its queues held at most, but no less than one of them.
fn queues_explain_ports(played: &Played, ours: &Deeds) {
    let mut by_reason = vec![0; Reason::ALL.len()];
    for ((dropped, peak), queues) in played.ports() {
        let lost: u64 = queues.iter().flat_map(|queue| &queue.drops).map(|(_, count)| count).sum();
        assert_eq!(lost, dropped);
        let peaks: Vec<u64> = queues.iter().map(|queue| queue.peak.0).collect();
        let (most, sum) = (peaks.iter().max().copied().unwrap_or(0), peaks.iter().sum::<u64>());
        assert!((most..=sum).contains(&peak.0), "{peaks:?} and {peak}");
        assert!(queues.iter().all(|queue| queue.waiting == Bytes::ZERO), "the switch is empty");
        queues
            .iter()
            .flat_map(|queue| &queue.drops)
            .for_each(|(reason, count)| by_reason[*reason as usize] += count);
    }
    assert_eq!(by_reason, ours.dropped);
}

#[test]
fn every_balancer_marker_and_scheduler_agrees() {
    let (mut arrived, mut met, mut lost) = (0, 0, 0);
    for case in cases() {
        let setup = case.setup(7).expect("builds");
        for switch in [0, 3] {
            println!("{:?} at switch {switch}", case.labels);
            let (deeds, packets) = agree(&setup, SwitchId(switch), &[1]);
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

/// Datagrams between the same addresses and ports are other flows than TCP's: the router decides about them as the switch does about
/// headers with the protocol number of UDP, with one worker and with four.
#[test]
fn datagrams_are_flows_of_their_own() {
    let (mut compared, mut apart) = (0, 0);
    for case in cases().iter().filter(|case| ["ecmp", "wcmp", "letflow"].contains(&&*case.labels[0])) {
        let (setup, switch) = (case.setup(7).expect("builds"), SwitchId(0));
        let (seen, _) = simulated(&setup, switch);
        let of_tcp = arrivals(&seen);
        let as_udp = |(time, port, header): &(Time, PortId, Header)| (*time, *port, header.with_protocol(17));
        let of_udp: Vec<_> = of_tcp.iter().map(as_udp).collect();
        let [as_tcp, expected] = [&of_tcp, &of_udp].map(|all| switched(&setup, switch, all));
        let arrived = |(time, port, header): &(Time, PortId, Header)| Seen::Arrived {
            time: *time,
            port: *port,
            header: *header,
        };
        let datagrams: Vec<Seen> = of_udp.iter().map(arrived).collect();
        for workers in [1, 4] {
            let (deeds, _) = Played::new(&setup, switch, workers).play(&datagrams);
            for (port, expected) in expected.iter().enumerate() {
                let sent = deeds.iter().flat_map(|worker| &worker.sent[port]).map(|(packet, _)| *packet);
                let (sent, expected): (BTreeSet<u32>, BTreeSet<u32>) =
                    (sent.collect(), expected.iter().copied().collect());
                assert_eq!(sent, expected, "{:?}, port {port}, {workers} workers", case.labels);
                compared += sent.len();
            }
        }
        apart += as_tcp.iter().zip(&expected).filter(|(tcp, udp)| tcp != udp).count();
    }
    assert!(compared > 10_000 && apart >= 6, "{compared} compared, {apart} ports differ");
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
            let (deeds, packets) = agree(&setup, switch, &[4, 1]);
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
