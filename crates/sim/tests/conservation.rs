//! Whatever the network, the balancer, the buffer and the failures: nothing appears, nothing disappears, every flow
//! finishes in order, and the same input gives the same bytes.

mod lab;

use weft_core::Span;
use weft_core::record::{RunRecord, Stop};
use weft_sim::{FlowSampling, Setup};
use weft_switch::BalancerSettings;

use lab::cases::case;

fn check(setup: &Setup, record: &RunRecord) {
    let packets = record.packets;
    assert_eq!(packets.created, packets.delivered + packets.dropped + packets.left, "packets are conserved");
    let counted: u64 = record.drops.iter().map(|drop| drop.packets).sum();
    let by_link: u64 = record.links.iter().map(|link| link.dropped).sum();
    assert_eq!((counted, by_link), (packets.dropped, packets.dropped), "every drop has a place and a reason");
    let sent: u64 = record.links.iter().map(|link| link.packets).sum();
    assert_eq!(sent, record.packet_hops);
    assert!(record.links.iter().all(|link| link.peak.0 <= 200_000), "no buffer is exceeded");
    assert_eq!(record.stop, Stop::Finished, "every flow finishes");
    for (flow, spec) in record.flows.iter().zip(&setup.flows) {
        assert_eq!((flow.size, flow.delivered), (spec.size, spec.size));
        // Packets on several slow paths at once may beat the single path of the closed form.
        let single_path =
            matches!(setup.balancer, BalancerSettings::Ecmp(_) | BalancerSettings::FlowDrill(_));
        let taken = flow.end.expect("finished").since(flow.start);
        assert!(taken >= flow.ideal || !single_path, "{taken} beats the empty network's {}", flow.ideal);
    }
}

#[test]
fn random_networks_conserve_packets_and_finish_every_flow() {
    let mut dropped = 0;
    for seed in 1..=60 {
        let setup = case(seed);
        let record = lab::run(setup.clone());
        check(&setup, &record);
        dropped += record.packets.dropped;
    }
    assert!(dropped > 1_000, "the cases lose packets: {dropped}");
}

#[test]
fn the_same_input_gives_the_same_record() {
    for seed in [3, 4, 5, 6] {
        assert_eq!(lab::run(case(seed)), lab::run(case(seed)));
    }
}

/// Sampling queues and flows, or watching the progress, changes nothing but the samples.
#[test]
fn looking_changes_nothing() {
    for seed in [7, 8] {
        let (mut with, mut without) = (case(seed), case(seed));
        with.queues_every = Some(Span::from_us(1));
        with.flow_samples = Some(FlowSampling { every: Span::from_us(3), flows: 10 });
        (without.queues_every, without.flow_samples) = (None, None);
        let (with, without) = (lab::run(with), lab::run(without));
        let series = with.flow_series.expect("flows were sampled");
        assert!(series.rows.iter().all(|row| row.flow.0 < 10 && row.time.0.is_multiple_of(series.every.0)));
        let seen = |flow: u32| series.rows.iter().rfind(|row| row.flow.0 == flow);
        let lengthy: Vec<_> = with.flows[..10].iter().filter(|flow| seen(flow.flow.0).is_some()).collect();
        assert!(!lengthy.is_empty(), "a look meets at least one open flow");
        for flow in lengthy {
            let last = seen(flow.flow.0).expect("it was seen");
            assert!(last.acknowledged <= flow.size && last.cwnd.0 > 0 && last.time >= flow.start);
        }
        assert_eq!(with.flows, without.flows);
        assert_eq!((with.packet_hops, with.ended), (without.packet_hops, without.ended));
    }
}
