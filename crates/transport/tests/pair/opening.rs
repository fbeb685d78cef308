//! Opening, closing, and flows of odd sizes.

use weft_core::settings::Amount;
use weft_core::{Bytes, PacketKind, Span, Time};
use weft_transport::segment::Flags;

use crate::path::{Path, Setup};
use crate::{MSS, newreno, seconds};

/// When a flow of one packet is complete in an empty network: the opening and the packet, each sent by the card and
/// again by the bottleneck; the answer to the opening returns without a queue.
fn unloaded(size: u64) -> Time {
    let Setup { rate, delay, .. } = Setup::default();
    let time = |wire: u64| rate.time_for(Bytes(wire));
    Time::ZERO + (time(90) + time((size + 78).max(84))) * 2 + delay * 3
}

#[test]
fn a_flow_of_one_packet_takes_a_round_trip_and_a_half() {
    for size in [1, 5, 1459, 1460] {
        let mut path = Path::new(&newreno(|_| {}), Setup::default(), &[size]);
        assert!(path.run(seconds(10)), "size {size}");
        assert_eq!(path.pairs[0].receiver.completed(), Some(unloaded(size)), "size {size}");
    }
}

#[test]
fn every_size_arrives_whole_and_closes() {
    for size in [1, 2, 1459, 1460, 1461, 14_600, 14_601, 1_000_000, 1_000_003] {
        let mut path = Path::new(&newreno(|_| {}), Setup::default(), &[size]);
        assert!(path.run(seconds(10)), "size {size}");
        let pair = &path.pairs[0];
        assert_eq!(pair.receiver.report().delivered, Bytes(size));
        assert!(pair.receiver.closed());
        let data = pair.sent.iter().filter(|(_, out)| out.kind == PacketKind::Data);
        assert_eq!(data.clone().count() as u64, size.div_ceil(MSS));
        assert_eq!(data.map(|(_, out)| u64::from(out.segment.length)).sum::<u64>(), size);
        assert_eq!(pair.sender.report().timeouts, 0);
        assert_eq!(pair.sender.next_wakeup(), Time::NEVER);
    }
}

#[test]
fn the_last_packet_closes_and_is_answered_twice() {
    let mut path = Path::new(&newreno(|_| {}), Setup::default(), &[3 * MSS]);
    assert!(path.run(seconds(1)));
    let pair = &path.pairs[0];
    let closing: Vec<bool> = pair.sent.iter().map(|(_, out)| out.segment.flags.has(Flags::FIN)).collect();
    assert_eq!(closing, [false, false, false, true, false], "SYN, three data, the answer to the other FIN");
    assert!(pair.acks.last().is_some_and(|(_, ack)| ack.flags.has(Flags::FIN) && ack.ack == 3 * MSS));
}

#[test]
fn without_handshake_and_close_only_data_and_acknowledgements_travel() {
    let bare = newreno(|tcp| (tcp.handshake, tcp.close) = (false, false));
    let mut path = Path::new(&bare, Setup::default(), &[3 * MSS]);
    assert!(path.run(seconds(1)));
    assert!(path.pairs[0].sent.iter().all(|(_, out)| out.kind == PacketKind::Data));
    assert_eq!(path.pairs[0].sent.len(), 3);
}

#[test]
fn slow_start_ends_where_the_settings_say() {
    let window = |threshold| {
        let settings = newreno(|tcp| (tcp.delayed_ack, tcp.initial_ssthresh) = (1, threshold));
        let mut path = Path::new(&settings, Setup::default(), &[100 * MSS]);
        assert!(path.run(seconds(1)));
        path.pairs[0].sender.report()
    };
    let early = window(Some(Amount::Packets(16)));
    assert_eq!(early.ssthresh, Bytes(16 * MSS));
    assert!((16 * MSS..22 * MSS).contains(&early.cwnd.0), "a segment per round trip from there: {early:?}");
    let never = window(None);
    assert!(never.ssthresh == Bytes(u64::MAX) && never.cwnd.0 > 60 * MSS, "{never:?}");
}

#[test]
fn a_lost_opening_costs_the_initial_time_out_and_each_further_one_twice_as_much() {
    for (lost, expected) in [(1, 1), (2, 3), (3, 7)] {
        let mut left = lost;
        let lose = Box::new(move |out: &weft_transport::Outgoing, _| {
            let lose = out.kind == PacketKind::Control && left > 0;
            left -= u64::from(lose);
            lose
        });
        let mut path = Path::new(&newreno(|_| {}), Setup { lose, ..Setup::default() }, &[MSS]);
        assert!(path.run(seconds(20)));
        let end = path.pairs[0].receiver.completed().expect("it finished");
        assert_eq!(end, unloaded(MSS) + Span::from_s(expected));
        assert_eq!(u64::from(path.pairs[0].sender.report().timeouts), lost);
    }
}

/// After a lost SYN, data wait 3 s for their first acknowledgement, or as long as a first time-out below the standard's
/// (RFC 6298, section 5.7).
#[test]
fn after_a_lost_opening_lost_data_wait_three_seconds() {
    let first = |initial: Span| {
        let mut lost = (false, false);
        let lose = Box::new(move |out: &weft_transport::Outgoing, _| {
            let seen = if out.kind == PacketKind::Control { &mut lost.0 } else { &mut lost.1 };
            !std::mem::replace(seen, true)
        });
        let settings = newreno(|tcp| tcp.initial_rto = initial);
        let mut path = Path::new(&settings, Setup { lose, ..Setup::default() }, &[MSS]);
        assert!(path.run(seconds(20)));
        // The round trip of the opening: nothing measures it, because the SYN was sent twice.
        let end = path.pairs[0].receiver.completed().expect("it finished");
        end.since(unloaded(MSS))
    };
    assert_eq!(first(Span::from_s(1)), Span::from_s(1 + 3));
    assert_eq!(first(Span::from_ms(1)), Span::from_ms(1 + 1));
}

#[test]
fn a_lost_answer_to_the_opening_costs_the_same() {
    let mut left = 1;
    let lose_ack = Box::new(move |out: &weft_transport::Outgoing, _| {
        let lose = out.segment.flags.has(Flags::SYN) && left > 0;
        left -= u64::from(lose);
        lose
    });
    let mut path = Path::new(&newreno(|_| {}), Setup { lose_ack, ..Setup::default() }, &[MSS]);
    assert!(path.run(seconds(20)));
    assert_eq!(path.pairs[0].receiver.completed(), Some(unloaded(MSS) + Span::from_s(1)));
}

#[test]
fn a_lost_last_acknowledgement_is_answered_by_the_closed_host() {
    let lose_ack =
        Box::new(|out: &weft_transport::Outgoing, nth| out.segment.flags.has(Flags::FIN) && nth == 2);
    let mut path = Path::new(&newreno(|_| {}), Setup { lose_ack, ..Setup::default() }, &[3 * MSS]);
    assert!(path.run(seconds(20)));
    let report = path.pairs[0].sender.report();
    assert_eq!((report.timeouts, report.retransmitted), (1, Bytes(MSS)));
    assert_eq!(path.pairs[0].receiver.report().delivered, Bytes(3 * MSS));
}
