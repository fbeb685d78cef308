//! Priority classes of traffic entries, from the card to the last switch: who is served first, who is paused, who shares.

mod lab;

use weft_core::record::{RunRecord, Stop};
use weft_core::settings::Amount;
use weft_core::{Bytes, Class, HostId, Rate, Span, Time};
use weft_plan::{Setup, Storm};
use weft_switch::mark::{At, MarkerSettings, NonEct, step::StepSettings};
use weft_switch::schedule::{
    SchedulerSettings, drr::DrrSettings, strict_drr::StrictDrrSettings, strict_wrr::StrictWrrSettings,
    wrr::WrrSettings,
};
use weft_switch::share::{SharingSettings, fixed::FixedSharingSettings};
use weft_switch::{PfcSettings, SwitchSettings};
use weft_topology::shapes::single_switch::SingleSwitchSettings;
use weft_topology::{LinkSettings, TopologySettings};
use weft_transport::TransportSettings;
use weft_workload::Flow;

/// Hosts 0 and 1 send to host 2 at the line rate of 10 Gb/s, each in an entry of its own, of classes 0 and 1.
fn rivals(transport: &TransportSettings, schedule: SchedulerSettings, size: u64) -> Setup {
    let host_link = LinkSettings::of(Rate::from_gbps(10));
    let topology = TopologySettings::SingleSwitch(SingleSwitchSettings { hosts: 4, host_link });
    let mut setup = lab::setup(&topology, transport);
    setup.switch = SwitchSettings {
        queues: 2,
        schedule,
        sharing: SharingSettings::Infinite(Default::default()),
        ..SwitchSettings::default()
    };
    setup.classes = vec![Some(Class(0)), Some(Class(1))];
    setup.tags = vec!["first".into(), "second".into()];
    let flow = |tag: u16| Flow { tag, ..lab::flow(Span::ZERO, u32::from(tag), 2, size) };
    setup.flows = vec![flow(0), flow(1)].into();
    setup
}

fn finished(record: &RunRecord) -> [f64; 2] {
    assert_eq!(record.stop, Stop::Finished);
    let of =
        |tag| record.flows.iter().find(|flow| flow.tag == tag).and_then(|flow| flow.end).expect("finished");
    [0, 1].map(|tag| of(tag).since(Time::ZERO).seconds())
}

/// Under strict priority class 0 takes the line as if it were alone; under deficit round robin of weights 3 to 1 it is
/// done when 4/3 of its bytes have passed. So it is with TCP and with datagrams.
#[test]
fn schedulers_know_the_class_of_an_entry() {
    let size = 3_000_000_u64;
    let alone = size as f64 * 8.0 / 1e10;
    for transport in [TransportSettings::Udp(Default::default()), TransportSettings::default()] {
        let strict = rivals(&transport, SchedulerSettings::Strict(Default::default()), size);
        let [first, second] = finished(&lab::run(strict));
        assert!(
            (1.0..1.12).contains(&(first / alone)) && (1.9..2.4).contains(&(second / alone)),
            "{first} {second}"
        );
        let drr = DrrSettings { weights: vec![3, 1], ..Default::default() };
        let shared = rivals(&transport, SchedulerSettings::Drr(drr), size);
        let [first, second] = finished(&lab::run(shared));
        assert!(
            (1.25..1.6).contains(&(first / alone)) && (1.9..2.4).contains(&(second / alone)),
            "{first} {second}"
        );
    }
}

/// A host whose flows have different classes, one of which is paused: the other continues at line rate. Then the
/// paused one.
#[test]
fn a_pause_holds_the_flows_of_its_class_only() {
    for transport in [TransportSettings::Udp(Default::default()), TransportSettings::default()] {
        let size = 1_000_000;
        let mut setup = rivals(&transport, SchedulerSettings::Strict(Default::default()), size);
        setup.switch.pfc = PfcSettings {
            classes: vec![1],
            xoff: Some(Bytes(20_000)),
            quanta: 500,
            ..PfcSettings::default()
        };
        // Both from host 0, to different hosts; host 3 stops class 1 for 4 ms, and so does then the switch.
        let flow = |tag: u16, to| Flow { tag, ..lab::flow(Span::ZERO, 0, to, size) };
        setup.flows = vec![flow(0, 2), flow(1, 3)].into();
        setup.storms =
            vec![Storm { host: HostId(3), from: Time::ZERO, until: Time::ZERO + Span::from_ms(4) }];
        let record = lab::run(setup);
        let [first, second] = finished(&record);
        let alone = size as f64 * 8.0 / 1e10;
        assert_eq!(record.packets.dropped, 0);
        assert!(first < 1.15 * alone, "{first} s, alone {alone} s");
        assert!(second > 0.004 && second < 0.004 + 2.0 * alone, "{second}");
    }
}

/// A packet that a marker drops on departure costs its queue nothing: two greedy classes of equal weight, whose packets
/// are not ECN-capable, still send equally much. Behind strict priority, an idle class comes first.
#[test]
fn drops_on_departure_are_charged_to_no_queue() {
    let (drr, wrr) = (DrrSettings::default(), WrrSettings::default());
    let (ahead_drr, ahead_wrr) = (StrictDrrSettings::default(), StrictWrrSettings::default());
    for (schedule, classes) in [
        (SchedulerSettings::Drr(drr), [0, 1]),
        (SchedulerSettings::Wrr(wrr), [0, 1]),
        (SchedulerSettings::StrictDrr(ahead_drr), [1, 2]),
        (SchedulerSettings::StrictWrr(ahead_wrr), [1, 2]),
    ] {
        let mut setup = rivals(&TransportSettings::Udp(Default::default()), schedule, 1 << 40);
        setup.switch.queues = 3;
        setup.switch.ecn = MarkerSettings::Step(StepSettings {
            threshold: Amount::Bytes(Bytes(30_000)),
            at: At::Dequeue,
            non_ect: NonEct::Drop,
            ..Default::default()
        });
        setup.classes = classes.map(|class| Some(Class(class))).into();
        setup.until = Time::ZERO + Span::from_ms(10);
        let record = lab::run(setup);
        let [first, second] = [0, 1].map(|flow| record.flows[flow].delivered.0 as f64);
        assert!((first / second - 1.0).abs() < 0.02, "{first} and {second} bytes");
        assert!(first + second > 0.93 * 1.25e7, "the line is full");
    }
}

/// The LINE Yahoo study's map on two queues: default traffic, class 0, goes to queue 1, and class 1 to queue 0. With strict
/// priority class 1 then has the line first; each class pauses as its queue does.
#[test]
fn a_map_gives_classes_their_queues() {
    let size = 3_000_000;
    let alone = size as f64 * 8.0 / 1e10;
    for transport in [TransportSettings::Udp(Default::default()), TransportSettings::default()] {
        let mut mapped = rivals(&transport, SchedulerSettings::Strict(Default::default()), size);
        mapped.switch.class_map = vec![1, 0];
        let [first, second] = finished(&lab::run(mapped));
        assert!(
            (1.0..1.12).contains(&(second / alone)) && (1.9..2.4).contains(&(first / alone)),
            "{first} {second}"
        );
    }
}

#[test]
fn a_map_and_exchanged_classes_cancel() {
    let drr = DrrSettings { weights: vec![3, 1], ..Default::default() };
    let mut setup = rivals(&TransportSettings::default(), SchedulerSettings::Drr(drr), 3_000_000);
    setup.switch.sharing = SharingSettings::Fixed(FixedSharingSettings { per_port: Bytes(40_000) });
    let ends = |record: &RunRecord| {
        record.flows.iter().map(|flow| (flow.end, flow.retransmitted)).collect::<Vec<_>>()
    };
    let plain = lab::run(setup.clone());
    assert!(plain.packets.dropped > 0);
    setup.switch.class_map = vec![1, 0];
    setup.classes = vec![Some(Class(1)), Some(Class(0))];
    assert_eq!(ends(&lab::run(setup)), ends(&plain));
}

/// Queue 1 is lossless, so class 0 loses nothing and class 1 does; a host obeys a pause of queue 1 with its flows of class 0.
#[test]
fn lossless_queues_and_pauses_follow_the_map() {
    let mut setup = rivals(
        &TransportSettings::Udp(Default::default()),
        SchedulerSettings::Drr(Default::default()),
        2_000_000,
    );
    setup.switch.class_map = vec![1, 0];
    setup.switch.buffer = Some(Bytes(1_000_000));
    setup.switch.sharing = SharingSettings::Fixed(FixedSharingSettings { per_port: Bytes(60_000) });
    setup.switch.pfc = PfcSettings { classes: vec![1], xoff: Some(Bytes(30_000)), ..PfcSettings::default() };
    let record = lab::run(setup);
    let lost =
        |tag| record.flows.iter().filter(|flow| flow.tag == tag).any(|flow| flow.delivered < flow.size);
    assert!(!lost(0) && lost(1), "{:?}", record.flows);
    let paused = |flow: usize| record.flows[flow].end.map(|end| end.since(Time::ZERO).seconds());
    assert!(
        paused(0).is_some_and(|end| end > 1.5 * 2_000_000.0 * 8.0 / 1e10),
        "held to its half of the line"
    );
    assert!(record.pauses.iter().any(|pause| pause.class == 1 && pause.stopped > 0));
}
