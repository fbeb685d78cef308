//! Factors that shape sending: bursts of hosts with offload, the receiver's window, the clock of datagrams.

use std::sync::Arc;

use weft_core::settings::Amount;
use weft_core::{Bytes, FlowId, PacketKind, Rate, Span, Time};
use weft_transport::settings::Tcp;
use weft_transport::{FlowSite, Receiver, Sender, Transport, TransportSettings};

use crate::path::{Pair, Path, Setup};
use crate::{MSS, newreno, seconds};

/// Lengths of runs of data packets that the card sent back to back.
fn bursts(pair: &Pair, card: Rate) -> Vec<usize> {
    let mut all: Vec<usize> = Vec::new();
    let mut free = Time::NEVER;
    for (time, out) in pair.sent.iter().filter(|(_, out)| out.kind == PacketKind::Data) {
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
            // No growth, so that bursts come only from the rule.
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

/// When each data segment was sent, over 20 ms and 100 Mb/s.
fn paced(edit: impl FnOnce(&mut Tcp)) -> Vec<Time> {
    let settings = newreno(|tcp| {
        (tcp.pacing, tcp.quick_acks) = (true, 1_000);
        edit(tcp);
    });
    let setup = Setup { rate: Rate::from_mbps(100), delay: Span::from_ms(10), ..Setup::default() };
    let mut path = Path::new(&settings, setup, &[200 * MSS]);
    assert!(path.run(seconds(2)));
    let data = path.pairs[0].sent.iter().filter(|(_, out)| out.kind == PacketKind::Data);
    data.map(|(time, _)| *time).collect()
}

/// Milliseconds from one segment to another.
fn between(sent: &[Time], from: usize, to: usize) -> f64 {
    sent[to].since(sent[from]).seconds() * 1e3
}

/// The first ten go at once; then the pace is two windows per round trip, so that a doubled window takes half of one.
#[test]
fn a_paced_sender_spreads_its_second_window_over_half_a_round_trip() {
    let sent = paced(|_| {});
    assert!(between(&sent, 0, 9) < 0.05, "{}", between(&sent, 0, 9));
    assert!((9.0..11.5).contains(&between(&sent, 10, 29)), "{}", between(&sent, 10, 29));
    let slower = paced(|tcp| tcp.pacing_slow_start = 1.25);
    assert!((14.0..18.5).contains(&between(&slower, 10, 29)), "{}", between(&slower, 10, 29));
}

/// At 2.9 MB/s, 1/1024 s carries less than two segments of 1460 bytes; two are the minimum.
#[test]
fn a_burst_is_what_the_pace_carries_in_a_while_but_not_less_than_the_least() {
    let pairs = |least| {
        let sent = paced(|tcp| {
            (tcp.tso, tcp.tso_time, tcp.tso_divisor) = (true, Some(Span(976_562_500)), 1_000);
            tcp.tso_min_segments = least;
        });
        sent[10..30].windows(2).filter(|pair| pair[1].since(pair[0]) < Span::from_us(10)).count()
    };
    let (one, two) = (pairs(1), pairs(2));
    assert!(one <= 4, "{one} of 19 follow closely when one segment is enough");
    assert!((8..=11).contains(&two), "{two} of 19 follow closely when bursts have two");
}

/// A third of 24 segments is worth waiting for, but only for the configured time.
#[test]
fn nobody_waits_longer_for_a_burst_than_is_said() {
    let longest = |wait| {
        let settings = newreno(|tcp| {
            (tcp.tso, tcp.tso_wait, tcp.delayed_ack) = (true, wait, 1);
            (tcp.initial_window, tcp.receive_window) = (Amount::Packets(24), Some(Bytes(24 * MSS)));
        });
        let card = Rate::from_gbps(10);
        let setup = Setup { card, rate: Rate::from_mbps(100), ..Setup::default() };
        let mut path = Path::new(&settings, setup, &[240 * MSS]);
        assert!(path.run(seconds(1)));
        bursts(&path.pairs[0], card)[1..].iter().copied().max().unwrap_or(0)
    };
    assert_eq!(longest(None), 8);
    assert!(longest(Some(Span::from_us(300))) <= 4, "three segments take 370 us");
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
        ..FlowSite::default()
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
        assert!(sender.is_ready() && !sender.finished());
        let out = sender.poll(now).expect("it said it was ready");
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
    let udp = weft_transport::protocols::udp::UdpSettings::default();
    let transport = Arc::new(Transport::new(&TransportSettings::Udp(udp)));
    let site = FlowSite { size: Bytes(50 * 1472), ..FlowSite::default() };
    let mut sender = Sender::new(&transport, &site, Time::ZERO);
    assert_eq!(std::iter::from_fn(|| sender.poll(Time::ZERO)).count(), 50);
    assert!(sender.finished());
}
