//! Tracing a flow does not change the run, and accounts for every packet.

mod lab;

use std::collections::BTreeMap;

use lab::laws::same_but_foreseen;
use weft_core::record::{Reason, RunRecord};
use weft_core::segment::Flags;
use weft_core::trace::{FlowTrace, TraceStep};
use weft_core::{Bytes, FlowId, Span, Time};
use weft_plan::Setup;
use weft_sim::Simulation;
use weft_switch::SwitchSettings;
use weft_switch::share::{SharingSettings, fixed::FixedSharingSettings};
use weft_transport::Transport;
use weft_transport::card::{CardSettings, fifo::FifoCardSettings};

/// Random flows between sixteen hosts; small buffers, so that packets are dropped.
fn crowded() -> Setup {
    let mut setup = lab::leaf_spine();
    setup.flows = lab::random_flows(&setup, 300, Span::from_us(200), 60_000).into();
    setup.switch = SwitchSettings {
        sharing: SharingSettings::Fixed(FixedSharingSettings { per_port: Bytes(30_000) }),
        ..SwitchSettings::default()
    };
    setup
}

fn steps(trace: &FlowTrace) -> BTreeMap<u32, Vec<TraceStep>> {
    let mut steps: BTreeMap<u32, Vec<TraceStep>> = BTreeMap::new();
    trace.events.iter().for_each(|event| steps.entry(event.packet).or_default().push(event.step));
    steps
}

/// The flow with the most retransmitted payload.
fn troubled(record: &RunRecord) -> FlowId {
    let worst = record.flows.iter().max_by_key(|flow| (flow.retransmitted, std::cmp::Reverse(flow.flow)));
    worst.expect("there are flows").flow
}

#[test]
fn following_a_flow_changes_nothing() {
    let setup = crowded();
    let plain = lab::run(setup.clone());
    let (record, trace) = Simulation::new(setup).run_traced(troubled(&plain));
    same_but_foreseen(&plain, &record).expect("the same run");
    assert!(!trace.events.is_empty());
}

/// Every packet is sent once, passes switches in order and is received or dropped; as many are dropped and sent again as the
/// flow's record says.
#[test]
fn every_packet_of_the_flow_is_accounted_for() {
    let setup = crowded();
    let flow = troubled(&lab::run(setup.clone()));
    let (record, trace) = Simulation::new(setup).run_traced(flow);
    let own = &record.flows[flow.0 as usize];
    assert!(own.retransmitted.0 > 0 && own.end.is_some(), "{own:?}");
    for (packet, steps) in steps(&trace) {
        assert_eq!(steps[0], TraceStep::Sent, "packet {packet}");
        let last = steps.last().expect("it was sent");
        assert!(matches!(last, TraceStep::Received | TraceStep::Dropped(_)), "packet {packet}: {steps:?}");
        for pair in steps[1..].windows(2) {
            let fits = matches!(
                pair,
                [TraceStep::Queued, TraceStep::Left | TraceStep::Dropped(_)]
                    | [TraceStep::Left, TraceStep::Queued | TraceStep::Received]
            );
            assert!(fits, "packet {packet}: {steps:?}");
        }
    }
    let again: u64 = trace
        .packets
        .iter()
        .filter(|packet| packet.forward && packet.segment.is_some_and(|s| s.flags.has(Flags::AGAIN)))
        .map(|packet| packet.payload)
        .sum();
    assert_eq!(again, own.retransmitted.0, "payload sent again");
    let carried: u64 =
        trace.packets.iter().filter(|packet| packet.forward).map(|packet| packet.payload).sum();
    assert_eq!(carried, own.size.0 + own.retransmitted.0);
    let end = trace
        .events
        .iter()
        .filter(|event| event.step == TraceStep::Received && event.node == own.destination.0);
    assert!(end.map(|event| event.time).any(|time| Some(time) == own.end), "the flow ends with a packet");
    assert!(trace.events.windows(2).all(|pair| pair[0].time <= pair[1].time), "in order of time");
}

/// A card has room for three of a window of ten packets: the trace has all ten, and a drop at the host of a packet
/// that was never sent.
#[test]
fn packets_that_the_card_drops_are_in_the_trace() {
    let mut setup = lab::leaf_spine();
    setup.transport = Transport::new(&lab::dctcp(|tcp| tcp.handshake = false)).into();
    let full = u64::from(setup.transport.full_wire());
    setup.card = CardSettings::FifoCard(FifoCardSettings { limit: Some(Bytes(3 * full)) });
    setup.flows = vec![lab::flow(Span::ZERO, 0, 15, 10 * 1_460)].into();
    let (record, trace) = Simulation::new(setup).run_traced(FlowId(0));
    let dropped = |steps: &Vec<TraceStep>| steps[0] == TraceStep::Dropped(Reason::PortFull);
    let dropped: Vec<_> = steps(&trace).into_values().filter(dropped).collect();
    assert_eq!(trace.packets.len() as u64, record.packets.created);
    assert!(dropped.len() >= 7 && dropped.len() as u64 == record.packets.dropped, "{dropped:?}");
    assert!(dropped.iter().all(|steps| steps.len() == 1));
    let first = trace.events.iter().filter(|event| event.time == Time::ZERO);
    assert_eq!(first.filter(|event| event.step != TraceStep::Sent).count(), 7, "one leaves, two wait");
}

/// The sender's window is recorded with every acknowledgement and equals the sender's own.
#[test]
fn acknowledgements_come_with_the_sender_s_window() {
    let mut setup = lab::leaf_spine();
    setup.flows = vec![lab::flow(Span::ZERO, 0, 15, 100_000)].into();
    let (record, trace) = Simulation::new(setup).run_traced(FlowId(0));
    let windows: Vec<u64> = trace.events.iter().filter_map(|event| Some(event.sender?.cwnd.0)).collect();
    assert!(windows.len() > 5, "{windows:?}");
    assert!(windows.windows(2).all(|pair| pair[0] <= pair[1]), "alone, it only grows: {windows:?}");
    let acknowledged = trace.events.iter().filter_map(|event| Some(event.sender?.acknowledged.0)).max();
    assert!(acknowledged.is_some_and(|bytes| bytes > 50_000), "{acknowledged:?}");
    assert_eq!(record.flows[0].end.map(|end| end > Time::ZERO), Some(true));
}
