//! Shared memory and early drops in a running network.

use weft_core::record::{Reason, RunRecord};
use weft_core::{Bytes, PortId, Rate, Span, SwitchId, Time};
use weft_plan::Setup;
use weft_switch::mark::{MarkerSettings, NonEct, step::StepSettings};
use weft_switch::share::{SharingSettings, dynamic::DynamicSharingSettings};
use weft_theory_tests::lab::{self, SharedPath};
use weft_theory_tests::port;
use weft_topology::shapes::single_switch::SingleSwitchSettings;
use weft_topology::{LinkSettings, TopologySettings};
use weft_transport::TransportSettings;

const BUFFER: u64 = 1_000_000;
const WIRE: u64 = 1_538;

/// One switch with dynamic thresholds; each hot host gets datagrams at line rate from two others, from its own instant
/// on. Hosts 0 to `starts` are hot.
fn hot(alpha: f64, starts: &[Span]) -> Setup {
    let rate = Rate::from_gbps(10);
    let hot = starts.len() as u32;
    let shape = SingleSwitchSettings { hosts: 3 * hot, host_link: LinkSettings::of(rate) };
    let transport = TransportSettings::Udp(Default::default());
    let mut setup = lab::setup(&TopologySettings::SingleSwitch(shape), &transport);
    setup.switch.buffer = Some(Bytes(BUFFER));
    setup.switch.sharing = SharingSettings::Dynamic(DynamicSharingSettings { alpha, minimum: Bytes(0) });
    let to = |host: u32| {
        let start = starts[host as usize];
        [1, 2].map(|n| lab::datagrams(start, (n * hot + host, host), lab::ENDLESS, rate))
    };
    setup.flows = (0..hot).flat_map(to).collect();
    setup.until = Time::ZERO + Span::from_ms(12);
    setup
}

fn dropped(record: &RunRecord, reason: Reason) -> u64 {
    record.drops.iter().filter(|drop| drop.reason == reason).map(|drop| drop.packets).sum()
}

/// Choudhury and Hahne 1998: one hot queue holds alpha B / (1 + alpha). Exact but for a packet: the threshold is
/// computed from the memory before it enters, and it enters whole or not at all.
#[test]
fn one_hot_port_holds_its_dynamic_threshold() {
    for alpha in [0.5, 1.0, 2.0, 8.0] {
        let record = lab::run(hot(alpha, &[Span::ZERO]));
        let peak = record.links.iter().map(|link| link.peak.0).max().expect("links") as f64;
        let expected = alpha * BUFFER as f64 / (1.0 + alpha);
        assert!((peak - expected).abs() <= WIRE as f64, "alpha {alpha}: {peak}, {expected}");
        assert!(dropped(&record, Reason::Threshold) > 0);
        assert_eq!(dropped(&record, Reason::BufferFull), 0);
    }
}

/// A third hot port pushes the first two from alpha B / (1 + 2 alpha) down to alpha B / (1 + 3 alpha): they drain, nothing
/// of theirs is thrown out, and all three end equal.
#[test]
fn a_third_hot_port_pushes_the_first_two_down() {
    let late = Span::from_ms(6);
    for observed in [0, 1, 2] {
        let setup = hot(1.0, &[Span::ZERO, Span::ZERO, late]);
        let (seen, record) = port::watch(setup, SwitchId(0), PortId(observed), Span::ZERO);
        let queue = seen.queue();
        let at = |time: Time| queue[queue.partition_point(|(change, _)| *change <= time) - 1].1 as f64;
        let third = BUFFER as f64 / 3.0;
        let quarter = BUFFER as f64 / 4.0;
        let near = |bytes: f64, expected: f64| (bytes - expected).abs() <= 3.0 * WIRE as f64;
        if observed < 2 {
            assert!(near(at(Time::ZERO + late), third), "{observed}: {}", at(Time::ZERO + late));
        }
        // Packets still queued at the end have not left and are not seen: look well before the end.
        let settled = Time::ZERO + Span::from_ms(11);
        assert!(near(at(settled), quarter), "{observed}: {}", at(settled));
        assert_eq!(dropped(&record, Reason::BufferFull), 0);
    }
}

/// A NewReno flow that does not understand marks, at a port that marks above 20 packets.
fn unmarked(non_ect: NonEct) -> RunRecord {
    let path = SharedPath { senders: 1, rate: Rate::from_gbps(1), round_trip: Span::from_us(250) };
    let mut setup = path.setup(&lab::newreno(lab::model_tcp()));
    let MarkerSettings::Step(marking) = lab::step_marking(20) else {
        unreachable!("step marking was asked for")
    };
    setup.switch.ecn = MarkerSettings::Step(StepSettings { non_ect, ..marking });
    setup.switch.sharing = lab::port_buffer(100 * lab::PACKET);
    setup.flows = path.endless(Span::ZERO).into();
    setup.until = Time::ZERO + Span::from_ms(500);
    lab::run(setup)
}

/// RFC 3168, section 7: what cannot be marked is dropped. Then the threshold is the buffer; otherwise the buffer is.
#[test]
fn packets_that_cannot_be_marked_are_dropped_early_or_meet_the_tail() {
    let early = unmarked(NonEct::Drop);
    let peak = |record: &RunRecord| record.links.iter().map(|link| link.peak.0).max().expect("links");
    assert!(
        dropped(&early, Reason::Early) > 10 && dropped(&early, Reason::PortFull) == 0,
        "{:?}",
        early.drops
    );
    assert_eq!(peak(&early), 20 * lab::PACKET);
    let tail = unmarked(NonEct::Pass);
    assert!(dropped(&tail, Reason::PortFull) > 10 && dropped(&tail, Reason::Early) == 0, "{:?}", tail.drops);
    assert_eq!(peak(&tail), 100 * lab::PACKET);
    assert!(tail.links.iter().all(|link| link.marked == 0));
}
