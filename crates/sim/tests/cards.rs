//! Network cards: the order in which a host sends the packets of its flows, against closed forms.

mod lab;

use weft_core::record::{FlowRecord, Reason, RunRecord};
use weft_core::settings::Amount;
use weft_core::{Bytes, Rate, Span};
use weft_plan::Setup;
use weft_topology::shapes::single_switch::SingleSwitchSettings;
use weft_topology::{LinkSettings, TopologySettings};
use weft_transport::TransportSettings;
use weft_transport::card::{
    CardSettings, fifo::FifoCardSettings, marking::MarkingCardSettings, strict::StrictCardSettings,
};
use weft_transport::protocols::dctcp::TcpDctcpSettings;
use weft_transport::settings::Tcp;

const MSS: u64 = 1_460;

fn fifo(limit: Option<Bytes>) -> CardSettings {
    CardSettings::FifoCard(FifoCardSettings { limit })
}

/// Three hosts at a switch with ports of 10 Gb/s; windows open far enough for all of a flow. Flows end without FIN, so that hosts send
/// payload only: the sender's answer to the receiver's FIN would be one more frame.
fn star(flows: &[(u32, u64)]) -> Setup {
    star_of(flows, &[])
}

/// The same with thresholds of PIAS.
fn star_of(flows: &[(u32, u64)], thresholds: &[Bytes]) -> Setup {
    let topology = SingleSwitchSettings { hosts: 3, host_link: LinkSettings::of(Rate::from_gbps(10)) };
    let mut tcp =
        Tcp { handshake: false, close: false, initial_window: Amount::Packets(1_000), ..Tcp::default() };
    tcp.pias.thresholds = thresholds.to_vec();
    let transport = TransportSettings::Dctcp(TcpDctcpSettings { tcp, ..Default::default() });
    let mut setup = lab::setup(&TopologySettings::SingleSwitch(topology), &transport);
    let flow = |(destination, packets): &(u32, u64)| lab::flow(Span::ZERO, 0, *destination, packets * MSS);
    setup.flows = flows.iter().map(flow).collect::<Vec<_>>().into();
    setup
}

/// Of two flows of one host to two others, in numbers of full packets: when each is complete beyond its ideal, in packet times.
fn delays(card: CardSettings, flows: [u64; 2]) -> [f64; 2] {
    let mut setup = star(&[(1, flows[0]), (2, flows[1])]);
    setup.card = card;
    let packet = Rate::from_gbps(10).time_for(Bytes(u64::from(setup.transport.full_wire())));
    let record = lab::run(setup);
    let delay = |flow: &FlowRecord| {
        let taken = flow.end.expect("it finishes").since(flow.start);
        (taken.0 - flow.ideal.0) as f64 / packet.0 as f64
    };
    [delay(&record.flows[0]), delay(&record.flows[1])]
}

/// Two flows start at once with windows for all they have. A card with one queue sends all of the first and then the
/// second: the first is as fast as alone, the second late by the size of the first. One that serves in turn delays
/// each by the size of the smaller.
#[test]
fn one_queue_sends_in_order_of_demand_and_turns_share() {
    let first_of = |delays: [f64; 2], sizes: [u64; 2]| {
        // Which of two flows of one instant is first is drawn.
        assert!(delays == [0.0, sizes[0] as f64] || delays == [sizes[1] as f64, 0.0], "{delays:?}");
    };
    first_of(delays(fifo(None), [10, 100]), [10, 100]);
    first_of(delays(fifo(None), [100, 100]), [100, 100]);
    let [small, large] = delays(CardSettings::default(), [10, 100]);
    // The flow that starts first has two packets before the other's first; then they alternate.
    assert!([8.0, 11.0].contains(&small), "{small}: a packet of the other before nearly each of its own");
    assert_eq!(large, 10.0, "each packet of the small flow once");
}

/// A flow that starts later waits exactly for what is queued.
#[test]
fn a_later_flow_waits_for_what_is_queued() {
    let mut setup = star(&[(1, 100)]);
    setup.card = fifo(None);
    let packet = Rate::from_gbps(10).time_for(Bytes(u64::from(setup.transport.full_wire())));
    let late = lab::flow(packet * 40, 0, 2, MSS);
    setup.flows = vec![lab::flow(Span::ZERO, 0, 1, 100 * MSS), late].into();
    let record = lab::run(setup);
    let [first, late] = &record.flows[..] else { panic!("two flows") };
    let beyond = |flow: &FlowRecord| flow.end.expect("it finishes").since(flow.start) - flow.ideal;
    assert_eq!((beyond(first), beyond(late)), (Span::ZERO, packet * 60));
}

fn drops_at_hosts(record: &RunRecord) -> u64 {
    let at_hosts = record.drops.iter().filter(|drop| drop.hop == 0 && drop.reason == Reason::PortFull);
    at_hosts.map(|drop| drop.packets).sum()
}

/// A queue of 30 packets drops the rest of a window of 100, and TCP sends it again.
#[test]
fn a_limited_queue_drops_what_does_not_fit() {
    let mut setup = star(&[(1, 100)]);
    let full = u64::from(setup.transport.full_wire());
    setup.card = fifo(Some(Bytes(30 * full)));
    let record = lab::run(setup);
    assert!(drops_at_hosts(&record) >= 70, "{:?}", record.drops);
    assert!(record.flows[0].retransmitted.0 >= 70 * MSS && record.flows[0].end.is_some());
    let packets = record.packets;
    assert_eq!(packets.created, packets.delivered + packets.dropped + packets.left);
}

/// All of a window of 100 packets enters at once and leaves at the line's rate: the queue falls from 100 packets to none, a packet in each
/// packet time.
#[test]
fn the_queue_of_a_card_is_measured() {
    let mut setup = star(&[(1, 100)]);
    let full = u64::from(setup.transport.full_wire());
    let packet = Rate::from_gbps(10).time_for(Bytes(full));
    setup.card = fifo(None);
    let record = lab::run(setup);
    let link = &record.links[0];
    assert_eq!((link.peak, link.dropped), (Bytes(100 * full), 0));
    let bytes_over_time = (1..=100).map(|packets| packets * full * packet.0).sum::<u64>() as f64;
    assert!((link.mean_queue * record.ended.0 as f64 / bytes_over_time - 1.0).abs() < 1e-9);
    assert!(record.links[1..3].iter().all(|link| link.peak <= Bytes(84)), "others only acknowledge");
}

/// A packet is marked if it finds more than the threshold in the queue: of a window of 100 that enters at once, all but the
/// first 21 beyond a threshold of 20.
#[test]
fn packets_beyond_the_threshold_are_marked() {
    let mut setup = star(&[(1, 100)]);
    let full = u64::from(setup.transport.full_wire());
    let marking = MarkingCardSettings { threshold: Bytes(20 * full), limit: None };
    setup.card = CardSettings::MarkingCard(marking);
    let record = lab::run(setup.clone());
    assert_eq!(record.flows[0].ecn_marks, 100 - 21);
    assert_eq!(record.links.iter().map(|link| link.marked).sum::<u64>(), 100 - 21);
    setup.card = fifo(None);
    assert_eq!(lab::run(setup).flows[0].ecn_marks, 0);
}

/// The first 20 packets of a flow are of class 0. Those of a flow that starts later wait for the packet in transmission only, and the
/// other flow, which has come to class 1, for them; with one queue they wait for all that is queued. The limit is one for both classes.
#[test]
fn classes_overtake_in_a_card_with_strict_priority() {
    let mut setup = star_of(&[(1, 100)], &[Bytes(20 * MSS)]);
    let packet = Rate::from_gbps(10).time_for(Bytes(u64::from(setup.transport.full_wire())));
    let late = lab::flow(packet * 40 + packet / 4, 0, 2, 20 * MSS);
    setup.flows = vec![lab::flow(Span::ZERO, 0, 1, 100 * MSS), late].into();
    let waits = |card: CardSettings| {
        let record = lab::run(Setup { card, ..setup.clone() });
        let beyond = |flow: &FlowRecord| flow.end.expect("it finishes").since(flow.start) - flow.ideal;
        (beyond(&record.flows[0]), beyond(&record.flows[1]))
    };
    let strict = |limit| CardSettings::StrictCard(StrictCardSettings { threshold: None, limit });
    assert_eq!(waits(strict(None)), (packet * 20, packet * 3 / 4));
    assert_eq!(waits(fifo(None)).1, packet * 60 - packet / 4);
    let limit = Some(Bytes(30 * u64::from(setup.transport.full_wire())));
    let record = lab::run(Setup { card: strict(limit), ..setup.clone() });
    assert!(drops_at_hosts(&record) >= 70, "{:?}", record.drops);
}

/// A host with another card than the rest.
#[test]
fn a_group_of_hosts_has_cards_of_its_own() {
    let mut setup = star(&[(1, 50), (2, 50)]);
    setup.cards = [(weft_core::HostId(0), fifo(None))].into();
    let own = lab::run(setup.clone());
    setup.cards = [(weft_core::HostId(1), fifo(None))].into();
    let others = lab::run(setup);
    let ends = |record: &RunRecord| record.flows.iter().map(|flow| flow.end).collect::<Vec<_>>();
    assert_ne!(ends(&own), ends(&others));
}
