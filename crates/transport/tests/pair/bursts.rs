//! What shapes the sending: bursts of hosts with offload, the receiver's window, the clock of datagrams.

use std::sync::Arc;

use weft_core::settings::Amount;
use weft_core::{Bytes, FlowId, Kind, Rate, Span, Time};
use weft_transport::segment::Flags;
use weft_transport::{FlowSite, Receiver, Sender, Transport, TransportSettings};

use crate::path::{Pair, Path, Setup};
use crate::{MSS, newreno, seconds};

/// Lengths of runs of data packets that the card sent back to back.
fn bursts(pair: &Pair, card: Rate) -> Vec<usize> {
    let mut all: Vec<usize> = Vec::new();
    let mut free = Time::NEVER;
    for (time, out) in pair.sent.iter().filter(|(_, out)| out.kind == Kind::Data) {
        match all.last_mut() {
            Some(last) if *time == free => *last += 1,
            _ => all.push(1),
        }
        free = *time + card.time_for(Bytes(u64::from(out.wire)));
    }
    all
}

#[test]
fn with_offload_a_host_sends_a_third_of_the_window_back_to_back() {
    let run = |tso: bool| {
        let settings = newreno(|tcp| {
            tcp.tso = tso;
            (tcp.delayed_ack, tcp.initial_window) = (1, Amount::Packets(24));
            // No growth, so that bursts come from the rule alone.
            tcp.receive_window = Some(Bytes(24 * MSS));
        });
        let card = Rate::from_gbps(10);
        let setup = Setup { card, rate: Rate::from_gbps(1), ..Setup::default() };
        let mut path = Path::new(&settings, setup, &[240 * MSS]);
        assert!(path.run(seconds(1)));
        bursts(&path.pairs[0], card)
    };
    let without = run(false);
    assert_eq!((without[0], without[1..].iter().max()), (24, Some(&1)), "then one for each acknowledgement");
    let with = run(true);
    let full = with[1..].iter().filter(|length| **length >= 8).count();
    assert!(full >= with.len() - 3, "{with:?}");
}

#[test]
fn waiting_for_a_burst_does_not_stop_the_window_from_growing() {
    let grown = |tso: bool| {
        let mut path = Path::new(&newreno(|tcp| tcp.tso = tso), Setup::default(), &[400 * MSS]);
        assert!(path.run(seconds(1)));
        path.pairs[0].sender.report().cwnd.0 / MSS
    };
    assert!(grown(true) + 8 >= grown(false), "{} and {}", grown(true), grown(false));
}

#[test]
fn nobody_sends_more_than_the_receiver_takes() {
    let settings = newreno(|tcp| tcp.receive_window = Some(Bytes(7 * MSS + 100)));
    let mut path = Path::new(&settings, Setup::default(), &[100 * MSS]);
    while !path.pairs[0].sender.finished() {
        path.step();
        assert!(path.pairs[0].sender.report().in_flight <= Bytes(7 * MSS));
    }
    let round_trip = path.pairs[0].sender.report().srtt.seconds();
    let took = path.pairs[0].receiver.completed().expect("it finished").seconds();
    assert!((took / round_trip - 100.0 / 7.0).abs() < 3.0, "seven segments per round trip");
}

fn datagrams(rate: Rate, size: u64) -> (Sender, Receiver) {
    let transport = Arc::new(Transport::new(&TransportSettings::default()));
    let site = FlowSite {
        flow: FlowId(1),
        size: Bytes(size),
        line_rate: Rate::from_gbps(10),
        rate: Some(rate),
        seed: 1,
    };
    (Sender::new(&transport, &site, Time::ZERO), Receiver::new(&transport, &site, Time::ZERO))
}

#[test]
fn datagrams_follow_the_clock_of_the_application() {
    let rate = Rate::from_mbps(100);
    let (mut sender, mut receiver) = datagrams(rate, 10 * 1472 + 5);
    let interval = rate.time_for(Bytes(1472));
    let mut now = Time::ZERO;
    for n in 0..11 {
        assert!(sender.ready(now) && !sender.finished());
        let out = sender.poll(now).expect("it said it was ready");
        assert_eq!(out.segment.flags.has(Flags::FIN), n == 10);
        assert_eq!(u64::from(out.segment.length), if n < 10 { 1472 } else { 5 });
        receiver.on_packet(now, out.ecn, &out.segment);
        assert!(sender.poll(now).is_none());
        let next = sender.next_wakeup();
        if n < 10 {
            assert_eq!(next, now + interval);
            sender.on_wakeup(next);
            assert_eq!(sender.next_wakeup(), Time::NEVER, "now only the card is waited for");
            now = next;
        }
    }
    assert!(sender.finished() && receiver.closed() && sender.next_wakeup() == Time::NEVER);
    assert_eq!(receiver.report().delivered, Bytes(10 * 1472 + 5));
}

#[test]
fn a_busy_card_delays_datagrams_but_not_their_clock() {
    let (mut sender, _) = datagrams(Rate::from_mbps(100), 100 * 1472);
    let late = Time::ZERO + Rate::from_mbps(100).time_for(Bytes(1472)) * 4 + Span::from_us(1);
    let sent = std::iter::from_fn(|| sender.poll(late)).count();
    assert_eq!(sent, 5, "those of the instants 0 to 4");
}

#[test]
fn without_a_rate_datagrams_go_as_fast_as_the_card() {
    let udp = weft_transport::protocols::udp::Settings::default();
    let transport = Arc::new(Transport::new(&TransportSettings::Udp(udp)));
    let site = FlowSite { size: Bytes(50 * 1472), ..FlowSite::default() };
    let mut sender = Sender::new(&transport, &site, Time::ZERO);
    assert_eq!(std::iter::from_fn(|| sender.poll(Time::ZERO)).count(), 50);
    assert!(sender.finished());
}
