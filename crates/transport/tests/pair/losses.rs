//! Losses: time-outs, recovery with and without selective acknowledgements, probes, reordering.

use std::sync::Arc;

use weft_core::settings::Amount;
use weft_core::{Bytes, Ecn, PacketKind, Rate, Span, Time};
use weft_transport::segment::Flags;
use weft_transport::settings::{LossDetection, Recovery, Tcp};
use weft_transport::{FlowSite, Outgoing, RtoFloor, Segment, Sender, Transport};

use crate::path::{Pair, Path, Script, Setup};
use crate::{MSS, newreno, seconds};

/// Loses the first transmission of these segments.
pub(crate) fn lose_first(segments: &'static [u64]) -> Script {
    Box::new(move |out: &Outgoing, _| {
        out.kind == PacketKind::Data
            && !out.segment.flags.has(Flags::AGAIN)
            && segments.contains(&(out.segment.sequence / MSS))
    })
}

fn retransmissions(pair: &Pair) -> Vec<(Time, u64)> {
    let again = pair
        .sent
        .iter()
        .filter(|(_, out)| out.kind == PacketKind::Data && out.segment.flags.has(Flags::AGAIN));
    again.map(|(time, out)| (*time, out.segment.sequence / MSS)).collect()
}

fn window(packets: u64) -> impl FnOnce(&mut Tcp) {
    move |tcp| tcp.initial_window = Amount::Packets(packets)
}

/// A flow of 60 segments and a first window of 20, losing some.
fn lossy(change: impl FnOnce(&mut Tcp), segments: &'static [u64]) -> Path {
    let settings = newreno(|tcp| {
        window(20)(tcp);
        change(tcp);
    });
    let setup = Setup { lose: lose_first(segments), ..Setup::default() };
    let mut path = Path::new(&settings, setup, &[60 * MSS]);
    assert!(path.run(seconds(30)));
    assert_eq!(path.pairs[0].receiver.report().delivered, Bytes(60 * MSS));
    path
}

/// When a black-holed flow repeats its first segment, measured from its first transmission.
fn repeats(change: impl FnOnce(&mut Tcp)) -> Vec<Span> {
    let lose = Box::new(|out: &Outgoing, _| out.kind == PacketKind::Data);
    let mut path = Path::new(&newreno(change), Setup { lose, ..Setup::default() }, &[MSS]);
    assert!(!path.run(seconds(400)));
    let times: Vec<Time> = path.pairs[0].sent.iter().skip(1).map(|(time, _)| *time).collect();
    times.windows(2).map(|pair| pair[1].since(pair[0])).collect()
}

#[test]
fn a_black_hole_doubles_the_time_out_each_time() {
    let gaps = repeats(|_| {});
    let first = gaps[0];
    let slack = first.0 - Span::from_ms(200).0;
    assert!(slack > 0 && slack < Span::from_us(300).0, "linux: round trip + 200 ms, got {first}");
    for (n, gap) in gaps.iter().take(9).enumerate() {
        assert_eq!(*gap, first * (1 << n));
    }
    assert_eq!(gaps[10], Span::from_s(120), "the greatest time-out");
    let rfc = repeats(|tcp| (tcp.rto_floor, tcp.min_rto) = (RtoFloor::Rfc, Span::from_ms(5)));
    assert_eq!(rfc[..3], [Span::from_ms(5), Span::from_ms(10), Span::from_ms(20)]);
}

/// RACK counts segments (RFC 8985, section 6.2, step 4): three that have arrived end the wait for reordering, also if the
/// last is short.
#[test]
fn three_segments_beyond_a_gap_are_enough_for_rack_although_one_is_short() {
    let repaired = |size| {
        let settings = newreno(|tcp| (tcp.loss_detection, tcp.delayed_ack) = (LossDetection::Rack, 1));
        let setup = Setup { lose: lose_first(&[0]), ..Setup::default() };
        let mut path = Path::new(&settings, setup, &[size]);
        assert!(path.run(seconds(2)));
        let pair = &path.pairs[0];
        let third =
            pair.acks.iter().filter(|(_, ack)| ack.sacked().count() > 0).nth(2).expect("three arrive").0;
        retransmissions(pair)[0].0.since(third)
    };
    assert_eq!([repaired(3 * MSS + 100), repaired(4 * MSS)], [Span::from_us(50); 2]);
}

/// The first segment needs four time-outs (10, 20, 40 and 80 ms). The acknowledgement of its retransmission measures nothing
/// (Karn), so the next time-out is of 160 ms, not of 10.
#[test]
fn a_retransmission_that_arrives_does_not_end_the_back_off() {
    let settings = newreno(|tcp| (tcp.rto_floor, tcp.min_rto) = (RtoFloor::Rfc, Span::from_ms(10)));
    let at = |millis| Time::ZERO + Span::from_ms(millis);
    let lose: Script = Box::new(move |out: &Outgoing, _| {
        let until = if out.segment.sequence == 0 { at(100) } else { at(152) };
        out.kind == PacketKind::Data && out.segment.sent < until
    });
    let mut path = Path::new(&settings, Setup { lose, ..Setup::default() }, &[2 * MSS]);
    assert!(path.run(seconds(2)));
    let end = path.pairs[0].receiver.completed().expect("it finished");
    assert!(end > at(310) && end < at(311), "{end:?}");
    let report = path.pairs[0].sender.report();
    assert_eq!((report.timeouts, report.timeouts_in_a_row), (5, 4), "progress ends a row of them");
}

#[test]
fn three_losses_in_a_window_take_one_round_trip_with_blocks_and_three_without() {
    let round_trip = Span::from_us(100);
    let times = |sack: bool| {
        let path = lossy(|tcp| tcp.sack = sack, &[5, 7, 9]);
        assert_eq!(path.pairs[0].sender.report().timeouts, 0);
        retransmissions(&path.pairs[0])
    };
    let with = times(true);
    assert_eq!(with.iter().map(|(_, segment)| *segment).collect::<Vec<_>>(), [5, 7, 9]);
    assert!(with[2].0.since(with[0].0) < round_trip);
    let without = times(false);
    assert_eq!(without.iter().map(|(_, segment)| *segment).collect::<Vec<_>>(), [5, 7, 9]);
    for pair in without.windows(2) {
        let gap = pair[1].0.since(pair[0].0);
        assert!(gap > round_trip && gap < round_trip * 2, "one hole per round trip, got {gap}");
    }
}

#[test]
fn one_loss_halves_the_window_once() {
    for (recovery, sack) in [(Recovery::Prr, true), (Recovery::Halve, true), (Recovery::Halve, false)] {
        let path = lossy(|tcp| (tcp.recovery, tcp.sack) = (recovery, sack), &[3]);
        let report = path.pairs[0].sender.report();
        assert_eq!((report.timeouts, report.recoveries, report.retransmitted), (0, 1, Bytes(MSS)));
        // Three segments arrived in order, each opening the window by one: 23, or what was in flight of it.
        assert!((20 * MSS / 2..=23 * MSS / 2).contains(&report.ssthresh.0), "{report:?}");
    }
}

#[test]
fn during_recovery_what_is_sent_follows_what_arrives_in_proportion() {
    let path = lossy(|_| {}, &[3]);
    let pair = &path.pairs[0];
    let (begin, _) = retransmissions(pair)[0];
    let within = |time: Time| time > begin && time.since(begin) < Span::from_us(95);
    let sent = pair.sent.iter().filter(|(time, _)| within(*time)).count();
    // The third duplicate finds 25 segments sent and a target of 11; 13 more of the first window arrive.
    assert!((13 * 11 / 25..=7).contains(&sent), "11 for each 25 that arrive, got {sent}");
}

#[test]
fn limited_transmit_sends_one_new_segment_per_early_duplicate() {
    let after = |on: bool| {
        // The third duplicate never comes: of the first window only two segments follow the loss.
        let settings = newreno(|tcp| {
            window(4)(tcp);
            tcp.limited_transmit = on;
        });
        let setup = Setup { lose: lose_first(&[1]), ..Setup::default() };
        let mut path = Path::new(&settings, setup, &[60 * MSS]);
        assert!(path.run(seconds(30)));
        path.pairs[0].sender.report().timeouts
    };
    assert_eq!(
        (after(true), after(false)),
        (0, 0),
        "the acknowledgement of segment 0 opens the window by two"
    );
    let only_duplicates = |on: bool| {
        let settings = newreno(|tcp| {
            window(3)(tcp);
            tcp.limited_transmit = on;
        });
        let setup = Setup { lose: lose_first(&[0]), ..Setup::default() };
        let mut path = Path::new(&settings, setup, &[60 * MSS]);
        assert!(path.run(seconds(30)));
        path.pairs[0].sender.report().timeouts
    };
    assert_eq!((only_duplicates(true), only_duplicates(false)), (0, 1));
}

fn tail_loss(size: u64, segment: &'static [u64], change: impl FnOnce(&mut Tcp)) -> (Span, Span) {
    let setup = Setup { lose: lose_first(segment), ..Setup::default() };
    let mut path = Path::new(&newreno(change), setup, &[size * MSS]);
    assert!(path.run(seconds(30)));
    let report = path.pairs[0].sender.report();
    (path.pairs[0].receiver.completed().expect("it finished").since(Time::ZERO), report.srtt)
}

fn rack(tcp: &mut Tcp) {
    (tcp.loss_detection, tcp.tlp) = (LossDetection::Rack, true);
}

#[test]
fn the_loss_of_the_last_segment_costs_a_time_out_unless_it_is_probed() {
    let (without, _) = tail_loss(8, &[7], |_| {});
    assert!(without > Span::from_ms(200) && without < Span::from_ms(202));
    let (with, round_trip) = tail_loss(8, &[6, 7], rack);
    assert!(with < round_trip * 6 + Span::from_ms(2), "took {with}");
    let (single, _) = tail_loss(1, &[0], rack);
    assert!(single > Span::from_ms(200), "the receiver might have delayed its answer");
}

#[test]
fn a_probe_that_repairs_a_loss_halves_the_window_and_one_in_vain_does_not() {
    let setup = Setup { lose: lose_first(&[7]), ..Setup::default() };
    let mut path = Path::new(&newreno(rack), setup, &[8 * MSS]);
    assert!(path.run(seconds(1)));
    let report = path.pairs[0].sender.report();
    assert_eq!((report.probes, report.timeouts), (1, 0));
    assert!(report.ssthresh < Bytes(20 * MSS), "{report:?}");
    let settings = newreno(|tcp| {
        rack(tcp);
        tcp.tlp_slack = Span::ZERO;
        (tcp.quick_acks, tcp.delayed_ack) = (0, 3);
        tcp.delayed_ack_timeout = Span::from_ms(1);
        tcp.close = false;
    });
    let mut path = Path::new(&settings, Setup::default(), &[8 * MSS]);
    assert!(path.run(seconds(1)));
    let report = path.pairs[0].sender.report();
    assert_eq!((report.probes, report.timeouts, report.ssthresh), (1, 0, Bytes(u64::MAX)), "{report:?}");
}

#[test]
fn a_lost_retransmission_costs_a_time_out_unless_time_is_watched() {
    let timeouts = |detection| {
        let mut left = 2;
        let lose = Box::new(move |out: &Outgoing, _| {
            let lose = out.kind == PacketKind::Data && out.segment.sequence == 5 * MSS && left > 0;
            left -= u64::from(lose);
            lose
        });
        let settings = newreno(|tcp| {
            window(20)(tcp);
            tcp.loss_detection = detection;
        });
        let mut path = Path::new(&settings, Setup { lose, ..Setup::default() }, &[200 * MSS]);
        assert!(path.run(seconds(30)));
        path.pairs[0].sender.report().timeouts
    };
    assert_eq!((timeouts(LossDetection::DupThresh), timeouts(LossDetection::Rack)), (1, 0));
}

/// `by` segments overtake segment 5.
fn overtaken(by: u64, change: impl FnOnce(&mut Tcp)) -> Path {
    let detour = Box::new(move |out: &Outgoing, _| {
        let late = out.kind == PacketKind::Data && out.segment.sequence == 5 * MSS;
        if late { Span::from_ns(1_231 * by + 600) } else { Span::ZERO }
    });
    let settings = newreno(|tcp| {
        window(20)(tcp);
        change(tcp);
    });
    let mut path = Path::new(&settings, Setup { detour, ..Setup::default() }, &[60 * MSS]);
    assert!(path.run(seconds(30)));
    path
}

#[test]
fn reordering_by_two_is_harmless_and_by_three_is_taken_for_a_loss() {
    for by in 1..=5 {
        let path = overtaken(by, |_| {});
        let received = path.pairs[0].receiver.report();
        assert_eq!((received.out_of_order, u64::from(received.displacement)), (1, by));
        assert_eq!((u64::from(received.dupacks), u64::from(received.dupacks_reorder)), (by, by));
        let sent = path.pairs[0].sender.report();
        assert_eq!(sent.retransmitted, Bytes(if by >= 3 { MSS } else { 0 }), "overtaken by {by}");
    }
}

#[test]
fn time_tells_reordering_from_loss_and_a_shim_hides_it() {
    let settled = overtaken(5, |tcp| tcp.loss_detection = LossDetection::Rack);
    assert_eq!(settled.pairs[0].sender.report().retransmitted, Bytes(MSS), "the first time nobody can know");
    let hidden = overtaken(5, |tcp| tcp.reorder_shim = true);
    let received = hidden.pairs[0].receiver.report();
    assert_eq!((received.out_of_order, received.displacement, received.dupacks), (1, 5, 0));
    assert_eq!(hidden.pairs[0].sender.report().retransmitted, Bytes(0));
}

#[test]
fn duplicates_because_of_a_loss_are_not_reordering() {
    let path = lossy(|_| {}, &[3]);
    let received = path.pairs[0].receiver.report();
    assert!(received.dupacks >= 16, "{received:?}");
    assert_eq!((received.dupacks_reorder, received.out_of_order), (0, 0));
}

#[test]
fn losing_a_whole_window_is_repaired_after_one_time_out() {
    let all: &[u64] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19];
    for sack in [true, false] {
        let path = lossy(|tcp| tcp.sack = sack, all);
        let report = path.pairs[0].sender.report();
        assert_eq!((report.timeouts, report.retransmitted), (1, Bytes(20 * MSS)));
        assert_eq!(report.ssthresh, Bytes(10 * MSS));
    }
}

/// A flow of 20 segments, all in the first window, losing some: there is no new data to send in recovery.
fn short(segments: &'static [u64]) -> Vec<u64> {
    let setup = Setup { lose: lose_first(segments), ..Setup::default() };
    let mut path = Path::new(&newreno(window(20)), setup, &[20 * MSS]);
    assert!(path.run(seconds(30)));
    assert_eq!(path.pairs[0].sender.report().timeouts, 0);
    retransmissions(&path.pairs[0]).iter().map(|(_, segment)| *segment).collect()
}

#[test]
fn with_nothing_new_to_send_recovery_repeats_what_may_be_lost() {
    // The rescue is sent before anything is known about 17. Only two segments arrive beyond 17: too few to call it
    // lost.
    assert_eq!(short(&[10, 17]), [10, 19, 17], "rules 1, 4 and 3 of NextSeg");
    // 14 is repeated when one segment beyond it has arrived, and not once more when enough have.
    assert_eq!(short(&[10, 14]), [10, 14, 19], "rules 1, 3 and 4 of NextSeg");
}

#[test]
fn a_tail_lost_in_recovery_is_rescued_without_a_time_out() {
    // Nothing arrives beyond 18; the rescue of 19 makes 18 suspect.
    assert_eq!(short(&[10, 18, 19]), [10, 19, 18], "rule 4, then rule 3 of NextSeg");
}

#[test]
fn the_timer_starts_anew_when_the_first_segment_is_repeated() {
    let settings = newreno(|tcp| {
        (tcp.rto_floor, tcp.min_rto, tcp.initial_rto) = (RtoFloor::Rfc, Span::ZERO, Span::from_ms(100));
        (tcp.delayed_ack, tcp.receive_window) = (1, Some(Bytes(20 * MSS)));
    });
    // 20 packets of 123 us are a steady round trip without variation; three duplicates more come too late for a timer that
    // began with the last progress.
    let delay = Span::from_us(1_150);
    let setup = Setup { rate: Rate::from_mbps(100), delay, lose: lose_first(&[500]), ..Setup::default() };
    let mut path = Path::new(&settings, setup, &[1_000 * MSS]);
    assert!(path.run(seconds(30)));
    let report = path.pairs[0].sender.report();
    assert_eq!((report.timeouts, report.recoveries), (0, 1));
}

#[test]
fn duplicates_up_to_the_end_of_a_time_out_do_not_begin_a_recovery() {
    let settings = newreno(|tcp| (tcp.sack, tcp.handshake) = (false, false));
    let transport = Arc::new(Transport::new(&settings));
    let site = FlowSite { size: Bytes(100 * MSS), ..FlowSite::default() };
    let mut sender = Sender::new(&transport, &site, Time::ZERO);
    let mut now = Time::ZERO;
    while sender.poll(now).is_some() {}
    now = sender.next_wakeup();
    sender.on_wakeup(now);
    assert_eq!(sender.poll(now).map(|out| out.segment.sequence), Some(0));
    let ack = |ack: u64| Segment { flags: Flags::ACK, ack: ack * MSS, echo: now, ..Segment::default() };
    // All ten of the first window had arrived except the first; the next segments are new.
    sender.on_packet(now, Ecn::NotCapable, &ack(10));
    assert_eq!(sender.poll(now).map(|out| out.segment.sequence), Some(10 * MSS));
    (0..5).for_each(|_| sender.on_packet(now, Ecn::NotCapable, &ack(10)));
    assert_eq!(sender.report().recoveries, 0, "they may answer what was sent again (RFC 6582, section 3.2)");
    sender.on_packet(now, Ecn::NotCapable, &ack(11));
    while sender.poll(now).is_some() {}
    (0..3).for_each(|_| sender.on_packet(now, Ecn::NotCapable, &ack(11)));
    assert_eq!(sender.report().recoveries, 1, "beyond, they mean a loss");
}

#[test]
fn a_reordering_network_teaches_rack_to_wait() {
    let settings = newreno(|tcp| {
        window(40)(tcp);
        rack(tcp);
    });
    // Every 50th packet is late by a fifth of the round trip. A spurious retransmission changes no estimate (RFC
    // 8985, section 6.2, step 3), so it takes several before a late packet counts as in time.
    let late = Span::from_us(20);
    let detour = Box::new(
        move |out: &Outgoing, nth: u64| {
            if out.kind == PacketKind::Data && nth % 50 == 10 { late } else { Span::ZERO }
        },
    );
    let mut path = Path::new(&settings, Setup { detour, ..Setup::default() }, &[5_000 * MSS]);
    assert!(path.run(seconds(30)));
    let report = path.pairs[0].sender.report();
    assert!(path.pairs[0].receiver.report().out_of_order > 90);
    assert!(report.recoveries <= 10 && report.timeouts == 0, "{report:?}");
    let by_count = newreno(window(40));
    let detour = Box::new(
        move |out: &Outgoing, nth: u64| {
            if out.kind == PacketKind::Data && nth % 50 == 10 { late } else { Span::ZERO }
        },
    );
    let mut path = Path::new(&by_count, Setup { detour, ..Setup::default() }, &[5_000 * MSS]);
    assert!(path.run(seconds(30)));
    assert!(path.pairs[0].sender.report().recoveries > 20);
}

#[test]
fn with_new_data_the_probe_is_new_data() {
    let settings = newreno(|tcp| {
        rack(tcp);
        (tcp.tlp_slack, tcp.initial_window) = (Span::ZERO, Amount::Packets(4));
    });
    // The whole first window is lost.
    let setup = Setup { lose: lose_first(&[0, 1, 2, 3]), ..Setup::default() };
    let mut path = Path::new(&settings, setup, &[50 * MSS]);
    assert!(path.run(seconds(30)));
    let report = path.pairs[0].sender.report();
    assert_eq!((report.probes, report.timeouts, report.recoveries), (1, 0, 1));
    let again: Vec<u64> = retransmissions(&path.pairs[0]).iter().map(|(_, segment)| *segment).collect();
    assert_eq!(again, [0, 1, 2, 3], "segment 4 was the probe");
}
