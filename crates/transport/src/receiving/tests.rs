//! When a receiver answers, and what.

use super::*;
use crate::segment::{BlockCount, Flags};
use std::sync::Arc;

use crate::protocols::{TransportSettings, dctcp::TcpDctcpSettings, newreno::TcpNewRenoSettings};
use crate::settings::{EcnUse, Tcp};
use weft_core::{Bytes, FlowId, Rate, Span};

const MSS: u64 = 1460;

fn receiver(change: impl FnOnce(&mut Tcp)) -> Receiver {
    let mut settings = TcpNewRenoSettings::default();
    settings.tcp.quick_acks = 0;
    change(&mut settings.tcp);
    of(&TransportSettings::NewReno(settings), 100)
}

fn of(settings: &TransportSettings, segments: u64) -> Receiver {
    let site = FlowSite { flow: FlowId(3), size: Bytes(segments * MSS), ..FlowSite::default() };
    Receiver::new(&Arc::new(Transport::new(settings)), &site, Time::ZERO)
}

fn reply_after_close(transport: &Transport, segment: &Segment, now: Time) -> Option<Segment> {
    let reply = transport.reply_after_close(&Header::default(), &Body::from(*segment), now);
    reply.map(|(_, body)| *body.view())
}

fn us(n: u64) -> Time {
    Time::ZERO + Span::from_us(n)
}

fn segment(n: u64) -> Segment {
    Segment { sequence: n * MSS, length: MSS as u16, sent: us(n), ..Segment::default() }
}

/// Segment `n` arrives at `n` + 100 us; the answers.
fn arrive(receiver: &mut Receiver, n: u64) -> Vec<Segment> {
    receive(receiver, us(n + 100), Ecn::NotCapable, &segment(n))
}

fn receive(receiver: &mut Receiver, now: Time, ecn: Ecn, segment: &Segment) -> Vec<Segment> {
    receiver.on_packet(now, ecn, segment);
    drain(receiver, now)
}

fn drain(receiver: &mut Receiver, now: Time) -> Vec<Segment> {
    std::iter::from_fn(|| receiver.poll(now)).map(|out| out.segment).collect()
}

fn numbers(acks: &[Segment]) -> Vec<u64> {
    acks.iter().map(|ack| ack.ack / MSS).collect()
}

#[test]
fn every_second_segment_is_answered_and_a_single_one_after_the_time_out() {
    let mut receiver = receiver(|_| {});
    assert_eq!(numbers(&arrive(&mut receiver, 0)), [0; 0]);
    assert_eq!(receiver.next_wakeup(), us(100) + Span::from_ms(40));
    let acks = arrive(&mut receiver, 1);
    assert_eq!((numbers(&acks), acks[0].echo), (vec![2], us(0)), "the echo is that of the first");
    assert_eq!(receiver.next_wakeup(), Time::NEVER);
    arrive(&mut receiver, 2);
    receiver.on_wakeup(us(102) + Span::from_ms(39));
    assert!(!receiver.is_ready(), "called early");
    receiver.on_wakeup(us(102) + Span::from_ms(40));
    assert_eq!(numbers(&drain(&mut receiver, us(50_000))), [3]);
}

#[test]
fn the_first_packets_are_answered_at_once() {
    let mut receiver = receiver(|tcp| tcp.quick_acks = 3);
    let answered: Vec<usize> = (0..7).map(|n| arrive(&mut receiver, n).len()).collect();
    assert_eq!(answered, [1, 1, 1, 0, 1, 0, 1]);
}

#[test]
fn each_packet_beyond_a_gap_and_the_one_that_fills_it_are_answered_at_once() {
    let mut receiver = receiver(|_| {});
    arrive(&mut receiver, 0);
    let first = arrive(&mut receiver, 2);
    assert_eq!((numbers(&first), first[0].echo), (vec![1], us(0)), "segment 0 was still to be answered");
    let second = arrive(&mut receiver, 3);
    assert_eq!((numbers(&second), second[0].echo), (vec![1], us(3)));
    assert_eq!(second[0].sacked().collect::<Vec<_>>(), [(2 * MSS, 4 * MSS)]);
    assert_eq!(numbers(&arrive(&mut receiver, 1)), [4]);
    assert_eq!(receiver.report().dupacks, 1); // The first acknowledged segment 0, and advanced.
}

#[test]
fn what_has_arrived_before_is_answered_as_a_duplicate() {
    let mut receiver = receiver(|_| {});
    (0..2).for_each(|n| drop(arrive(&mut receiver, n)));
    let again = Segment { flags: Flags::AGAIN, ..segment(0) };
    let acks = receive(&mut receiver, us(200), Ecn::NotCapable, &again);
    assert!(acks[0].flags.has(Flags::DUPLICATE.with(Flags::AGAIN)));
    assert_eq!((acks[0].ack, acks[0].duplicate(), receiver.report().dupacks), (2 * MSS, Some(0), 0));
    arrive(&mut receiver, 5);
    let held =
        receive(&mut receiver, us(300), Ecn::NotCapable, &Segment { flags: Flags::AGAIN, ..segment(5) });
    assert_eq!((held[0].ack, held[0].duplicate()), (2 * MSS, Some(5 * MSS)), "beyond the gap");
    assert_eq!(held[0].sacked().collect::<Vec<_>>(), [(5 * MSS, 6 * MSS)]);
}

#[test]
fn duplicates_wait_for_a_busy_card_each_for_itself() {
    let mut receiver = receiver(|_| {});
    for n in 1..6 {
        receiver.on_packet(us(n), Ecn::NotCapable, &segment(n));
    }
    let acks = drain(&mut receiver, us(9));
    let reached: Vec<u64> = acks.iter().map(|ack| u64::from(ack.blocks[0].length) / MSS).collect();
    assert_eq!(reached, [1, 2, 3, 4, 5], "each tells what was known when it became due");
}

#[test]
fn without_selective_acknowledgements_no_blocks_are_sent() {
    let mut receiver = receiver(|tcp| tcp.sack = false);
    receiver.on_packet(us(1), Ecn::NotCapable, &segment(3));
    let ack = receiver.poll(us(1)).expect("a duplicate");
    assert_eq!((ack.segment.blocks_used, ack.wire), (BlockCount::Zero, 84));
}

#[test]
fn a_classic_mark_is_echoed_until_the_window_was_reduced() {
    let mut receiver = receiver(|tcp| (tcp.ecn, tcp.delayed_ack) = (EcnUse::On, 1));
    let echo = |receiver: &mut Receiver, n, ecn, flags| {
        let acks = receive(receiver, us(n), ecn, &Segment { flags, ..segment(n) });
        acks[0].flags.has(Flags::ECE)
    };
    let none = Flags::default();
    assert!(!echo(&mut receiver, 0, Ecn::Capable, none));
    assert!(echo(&mut receiver, 1, Ecn::Marked, none));
    assert!(echo(&mut receiver, 2, Ecn::Capable, none));
    assert!(!echo(&mut receiver, 3, Ecn::Capable, Flags::CWR));
    assert!(echo(&mut receiver, 4, Ecn::Marked, Flags::CWR), "a mark on the news itself counts");
}

#[test]
fn a_change_of_marks_first_answers_what_came_before_it() {
    let mut settings = TcpDctcpSettings::default();
    (settings.tcp.quick_acks, settings.tcp.delayed_ack) = (0, 4);
    let mut receiver = of(&TransportSettings::Dctcp(settings), 100);
    let marks = [false, false, true, true, true, true, true, false, false, false, false];
    let mut seen = Vec::new();
    for (n, marked) in (0..).zip(marks) {
        let ecn = if marked { Ecn::Marked } else { Ecn::Capable };
        for ack in receive(&mut receiver, us(n), ecn, &segment(n)) {
            seen.push((ack.ack / MSS, ack.flags.has(Flags::ECE)));
        }
    }
    assert_eq!(seen, [(2, false), (6, true), (7, true), (11, false)]);
}

#[test]
fn receive_offload_answers_once_per_batch() {
    let mut receiver = receiver(|tcp| tcp.gro = true);
    let answered: usize = (0..44).map(|n| arrive(&mut receiver, n).len()).sum();
    assert_eq!(answered, 0);
    assert_eq!(numbers(&arrive(&mut receiver, 44)), [44], "65536 bytes are 44 segments");
    assert_eq!(receiver.next_wakeup(), us(144) + Span::from_us(20));
    receiver.on_wakeup(us(164));
    assert_eq!(numbers(&drain(&mut receiver, us(164))), [0; 0], "one segment alone is still delayed");
    assert_eq!(receiver.report().gro_batches, 2);
}

#[test]
fn a_closed_host_acknowledges_everything_and_nothing_else() {
    let transport = Transport::new(&TransportSettings::default());
    let again = Segment { flags: Flags::AGAIN, ..segment(7) };
    let reply = reply_after_close(&transport, &again, us(9)).expect("payload is answered");
    assert_eq!((reply.ack, reply.echo), (Segment::EVERYTHING, us(7)));
    assert!(reply.flags.has(Flags::ACK.with(Flags::FIN)));
    let ack = Segment { length: 0, flags: Flags::ACK, ..segment(7) };
    assert_eq!(reply_after_close(&transport, &ack, us(9)), None);
    let datagram = Segment { flags: Flags::DATAGRAM, ..segment(7) };
    assert_eq!(reply_after_close(&transport, &datagram, us(9)), None);
}

#[test]
fn datagrams_are_complete_with_the_last_missing_byte() {
    let transport = Arc::new(Transport::new(&TransportSettings::default()));
    let site = FlowSite { size: Bytes(4_000), rate: Some(Rate::from_gbps(1)), ..FlowSite::default() };
    let flags = Flags::DATAGRAM;
    let at = |sequence, length| Segment { sequence, length, flags, ..Segment::default() };
    let mut receiver = Receiver::new(&transport, &site, Time::ZERO);
    assert!(receive(&mut receiver, us(1), Ecn::NotCapable, &at(0, 1472)).is_empty());
    receive(&mut receiver, us(3), Ecn::NotCapable, &at(2944, 1056));
    let report = receiver.report();
    assert_eq!((report.completed, report.delivered), (None, Bytes(2528)), "1472 B are missing");
    receive(&mut receiver, us(4), Ecn::NotCapable, &at(1472, 1472));
    let report = receiver.report();
    assert_eq!((report.completed, report.delivered), (Some(us(4)), Bytes(4_000)));
    assert!(receiver.closed());
}

#[test]
fn a_receiver_is_small() {
    assert!(size_of::<Receiver>() <= 384, "{} bytes", size_of::<Receiver>());
}

/// As in Linux: the first segment wakes the application up; while it has not read, a second full segment is not answered;
/// once it has, all there is; what lies beyond a gap is answered at once.
#[test]
fn an_application_that_reads_late_is_waited_for() {
    let mut receiver = receiver(|tcp| tcp.read_delay = Some(Span::from_ms(1)));
    assert!((0..4).all(|n| arrive(&mut receiver, n).is_empty()), "nothing is read within 3 us");
    let read = receiver.next_wakeup();
    assert!(read > us(103) && read < us(100) + Span::from_ms(40), "{read:?}");
    receiver.on_wakeup(read);
    assert_eq!(numbers(&drain(&mut receiver, read)), [4]);
    let beyond = receive(&mut receiver, read + Span::from_us(1), Ecn::NotCapable, &segment(5));
    assert_eq!(numbers(&beyond), [4]);
}

#[test]
fn the_first_packets_do_not_wait_for_the_application() {
    let mut receiver = receiver(|tcp| (tcp.read_delay, tcp.quick_acks) = (Some(Span::from_ms(1)), 2));
    let answered: Vec<usize> = (0..4).map(|n| arrive(&mut receiver, n).len()).collect();
    assert_eq!(answered, [1, 1, 0, 0]);
}
