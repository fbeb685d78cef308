//! Victims and causes of pauses, compared with values computed by hand.

mod lab;

use weft_core::record::{FlowPauses, RunRecord, Stop};
use weft_core::{Bytes, HostId, Rate, Span, Time};
use weft_plan::{Division, Setup, Storm};
use weft_switch::share::{SharingSettings, infinite::InfiniteSharingSettings};
use weft_switch::{PfcSettings, SwitchSettings};
use weft_topology::shapes::{leaf_spine::LeafSpineSettings, single_switch::SingleSwitchSettings};
use weft_topology::{LinkSettings, TopologySettings};
use weft_transport::TransportSettings;

const LINE: Rate = Rate::from_gbps(10);
/// Payload and wire bytes of a full datagram.
const PAYLOAD: u64 = 1_472;
const WIRE: u64 = 1_538;
const DELAY: Span = Span::from_ns(100);

/// How long a full datagram and a pause frame occupy the line.
fn times() -> (Span, Span) {
    (LINE.time_for(Bytes(WIRE)), LINE.time_for(Bytes(84)))
}

fn setup(topology: &TopologySettings, pfc: PfcSettings) -> Setup {
    let setup = lab::setup(topology, &TransportSettings::Udp(Default::default()));
    let switch = SwitchSettings {
        sharing: SharingSettings::Infinite(InfiniteSharingSettings {}),
        pfc: PfcSettings { classes: vec![0], ..pfc },
        latency: Span::ZERO,
        ..SwitchSettings::default()
    };
    Setup { switch, ..setup }
}

fn link() -> LinkSettings {
    LinkSettings { delay: DELAY, ..LinkSettings::of(LINE) }
}

fn star(hosts: u32, pfc: PfcSettings) -> Setup {
    setup(&TopologySettings::SingleSwitch(SingleSwitchSettings { hosts, host_link: link() }), pfc)
}

fn caused(record: &RunRecord) -> Vec<(String, u64)> {
    record.causes_of_pauses()
}

/// Host 1 stops the switch from `H0` on for 512 us; datagrams for it come every 2355.2 ns.
fn stopped() -> (Setup, Time, Span) {
    let response = Some(Span::from_us(1));
    let xoff = Some(Bytes(2_000_000));
    let mut setup = star(2, PfcSettings { xoff, response, quanta: 10_000, ..PfcSettings::default() });
    let from = Time::ZERO + Span::from_us(50);
    setup.storms = vec![Storm { host: HostId(1), from, until: from + Span(1) }];
    setup.flows = vec![lab::constant(Span::ZERO, 0, 1, 400 * PAYLOAD, Rate::from_gbps(5))].into();
    (setup, from + times().1 + DELAY + Span::from_us(1), Rate::from_gbps(5).time_for(Bytes(PAYLOAD)))
}

/// How long the datagrams that come during a hold wait.
fn waits(from: Time, until: Time, interval: Span) -> (u32, Span) {
    let arrivals = (0..400).map(|n| Time::ZERO + times().0 + DELAY + interval * n);
    let held: Vec<_> = arrivals.filter(|at| (from..until).contains(at)).map(|at| until.since(at)).collect();
    (held.len() as u32, held.into_iter().fold(Span::ZERO, |sum, wait| sum + wait))
}

#[test]
fn packets_are_charged_what_they_wait_while_their_queue_is_held() {
    let (setup, from, interval) = stopped();
    let record = lab::run(setup);
    let (packets, held) = waits(from, from + Span::from_us(512), interval);
    let expected = FlowPauses { held, packets, at_host: Span::ZERO, congested: false };
    assert_eq!(record.flows[0].pauses, expected);
    assert!(packets > 200 && expected.is_victim(), "a storm makes victims and no culprits");
    assert_eq!(caused(&record), []);
}

/// The run ends 200 us after the hold has begun: what waits then has waited until then.
#[test]
fn what_still_waits_at_the_end_counts() {
    let (setup, from, interval) = stopped();
    let until = from + Span::from_us(200);
    let record = lab::run(Setup { until, ..setup });
    assert_eq!(record.stop, Stop::TimeLimit);
    let (packets, held) = waits(from, until + Span(1), interval);
    assert_eq!((record.flows[0].pauses.packets, record.flows[0].pauses.held), (packets, held));
}

/// Host 0 has a flow in an incast and another one: its card is held because of the first, and both wait.
#[test]
fn a_card_that_is_held_holds_its_other_flows() {
    let xoff = Some(Bytes(30_000));
    let mut setup = star(4, PfcSettings { xoff, ..PfcSettings::default() });
    let flow = |from, to, gbps| lab::constant(Span::ZERO, from, to, 1_000_000, Rate::from_gbps(gbps));
    setup.flows = vec![flow(0, 2, 6), flow(0, 3, 2), flow(1, 2, 9)].into();
    let record = lab::run(setup);
    let pauses = record.flows.iter().map(|flow| (flow.destination.0, flow.pauses));
    let paused = record.pauses.iter().find(|pause| pause.link.0 == 0).expect("host 0 is stopped");
    for (to, pauses) in pauses {
        assert_eq!((pauses.congested, pauses.is_victim()), (to == 2, to == 3));
        assert_eq!(pauses.held, Span::ZERO, "no queue of the switch is held");
    }
    // It waits as long as it has something to send; before that its next datagram is not due, or the card is still
    // sending.
    let (victim, interval) = (record.flows[1].pauses, Rate::from_gbps(2).time_for(Bytes(PAYLOAD)));
    assert!(victim.at_host <= paused.paused, "{victim:?} {paused:?}");
    assert!(victim.at_host + interval * paused.stopped >= paused.paused, "{victim:?} {paused:?}");
    assert_eq!(
        caused(&record).iter().map(|(port, _)| port.as_str()).collect::<Vec<_>>(),
        ["switch0 > host2, class 0"]
    );
}

/// Two leaves. Host 0 (left) and host 3 (right) send 7 datagrams each to host 4 (right), line rate against line rate,
/// those of host 3 half a datagram ahead. With T for a datagram on the line, host 4's port sends host 3's nth from 2
/// n T on and host 0's from (2 n + 1) T on. As host 0's arrive, from T/2 on, the switch holds 1, 2, 2, 3, 3, 4 of
/// them: with an XOFF of 3.5 the sixth, at 5.5 T, stops the spine, and host 4's queue is congested. The seventh still
/// comes. The spine resumes when no more than 2.5 are left: when the fifth leaves, at 10 T. The victim's two
/// datagrams from host 1 (left) to host 5 (right) come to the spine behind the incast's, while it is held.
fn incast_beside_a_victim() -> Setup {
    let topology = LeafSpineSettings {
        leaves: 2,
        spines: 1,
        hosts_per_leaf: 3,
        host_link: link(),
        fabric_link: link(),
        ..Default::default()
    };
    let pfc = PfcSettings {
        xoff: Some(Bytes(WIRE * 7 / 2)),
        xon_offset: Bytes(WIRE),
        response: Some(Span::ZERO),
        ..PfcSettings::default()
    };
    let mut setup = setup(&TopologySettings::LeafSpine(topology), pfc);
    let (t, _) = times();
    // The first of the incast comes to the right leaf three hops after it was sent, that of host 3 after one.
    let first = (t + DELAY) * 3;
    let half = Span(t.0 / 2);
    let local = Span(first.0 - (half + t + DELAY).0);
    // The victim comes to the left leaf 100 ns after the last of the incast has left it, 5 T - 2 DELAY after `first`.
    let victim = Span((first + t * 5 + Span::from_ns(100)).0 - (DELAY * 3 + t).0);
    setup.flows = vec![
        lab::constant(Span::ZERO, 0, 4, 7 * PAYLOAD, LINE),
        lab::constant(local, 3, 4, 7 * PAYLOAD, LINE),
        lab::constant(victim, 1, 5, 2 * PAYLOAD, LINE),
    ]
    .into();
    setup
}

#[test]
fn a_victim_is_held_behind_an_incast_that_it_has_no_part_in() {
    let setup = incast_beside_a_victim();
    let (t, frame) = times();
    let alone = lab::run(setup.clone());
    // Held from 5.5 T to 10 T, both later by frame and cable; the victim's first comes at 6.5 T - DELAY + 100 ns, the second a
    // datagram later.
    let known = frame + DELAY * 2 + Span(t.0 / 2);
    let first = Span((known + t * 3).0 - 100_000);
    let second = Span((known + t * 2).0 - 100_000);
    let victim = &alone.flows[2];
    let expected = FlowPauses { held: first + second, packets: 2, at_host: Span::ZERO, congested: false };
    assert_eq!(victim.pauses, expected);
    let fct = victim.end.expect("it finishes").since(victim.start);
    assert_eq!(fct, victim.ideal + first, "it is late by what its first datagram waited");
    for culprit in &alone.flows[..2] {
        let expected = FlowPauses { congested: true, ..FlowPauses::default() };
        assert_eq!(culprit.pauses, expected, "neither has anything left to send when it is held");
    }
    assert_eq!(caused(&alone), [("leaf1 > host4, class 0".to_owned(), 2)], "it stopped the spine and host 3");
    for scatter in [None, Some(1), Some(2)] {
        let division = Division { scatter, ..Division::threads(3) };
        assert_eq!(lab::run(Setup { division, ..setup.clone() }), alone, "{scatter:?}");
    }
}
