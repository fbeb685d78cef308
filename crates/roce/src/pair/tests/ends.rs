//! One end by itself: the requests of a receiver, and the vain waits of a sender.

use super::*;
use weft_core::segment::Flags;

/// A buffer of three packets holds packets up to its last byte, and not a byte more.
#[test]
fn a_buffer_of_reordering_holds_what_it_says() {
    let mut receiver = receiver(|s| s.reorder_buffer = Some(Bytes(3_000)));
    receiver.on_packet(Time::ZERO, &Header::default(), &packet(2_000));
    assert_eq!(receiver.report().nacks, 0);
    receiver.on_packet(Time::ZERO, &Header::default(), &packet(3_000));
    assert_eq!(receiver.report().nacks, 1);
}

fn packet(sequence: u64) -> Segment {
    Segment { sequence, length: 1_000, ..Segment::default() }
}

fn receiver(change: impl FnOnce(&mut QueuePairSettings)) -> QueueReceiver {
    QueueReceiver::new(&plain(change), &FlowSite { size: Bytes(90_000), ..FlowSite::default() })
}

#[test]
fn answers_come_every_so_many_packets() {
    let mut receiver = receiver(|s| s.ack_every = 4);
    let (mut header, mut segment) = (Header::default(), Segment::default());
    let answered = (1..=12).filter(|n| {
        receiver.on_packet(Time::ZERO, &Header::default(), &packet((n - 1) * 1_000));
        let ready = receiver.needs().ready;
        if ready {
            receiver.send(Time::ZERO, &mut header, &mut segment);
        }
        ready
    });
    assert_eq!(answered.collect::<Vec<u64>>(), [4, 8, 12]);
}

/// Once the buffer was too small, its time no longer matters.
#[test]
fn a_card_that_has_asked_waits_for_no_time() {
    let mut receiver = receiver(|s| s.reorder_buffer = Some(Bytes(3_000)));
    receiver.on_packet(Time::ZERO, &Header::default(), &packet(2_000));
    assert_eq!(receiver.needs().wake, Time(100_000_000));
    receiver.on_packet(Time::ZERO, &Header::default(), &packet(5_000));
    receiver.on_packet(Time::ZERO, &Header::default(), &packet(1_000));
    assert_eq!((receiver.report().nacks, receiver.needs().wake), (1, Time::NEVER));
}

/// Sends everything it may; returns the time of the last packet.
fn send_all(sender: &mut QueueSender, mut now: Time) -> Time {
    let (mut header, mut segment) = (Header::default(), Segment::default());
    loop {
        let needs = sender.needs();
        if needs.ready {
            sender.send(now, &mut header, &mut segment);
        } else if needs.wake < now + Span::from_us(100) {
            now = needs.wake;
            sender.on_wakeup(now);
        } else {
            return now;
        }
    }
}

fn sender(size: u64, change: impl FnOnce(&mut QueuePairSettings)) -> QueueSender {
    let site = FlowSite { size: Bytes(size), line_rate: Rate::from_gbps(10), seed: 3, ..FlowSite::default() };
    QueueSender::new(&plain(change), &site, Time::ZERO)
}

fn ack(bytes: u64, now: Time) -> Segment {
    Segment { flags: Flags::ACK, ack: bytes, echo: now, ..Segment::default() }
}

#[test]
fn time_outs_grow_up_to_a_limit_until_something_arrives() {
    let mut sender = sender(2_000, |_| {});
    send_all(&mut sender, Time::ZERO);
    let (mut since, mut now) = (Time::ZERO, Time::ZERO);
    for expected in [4, 8, 16, 32, 64, 64] {
        now = sender.needs().wake;
        let (waited, least) = (now.since(since), Span::from_ms(expected));
        assert!(waited >= least && waited < least + least / 8, "{waited} after {least}");
        since = now;
        sender.on_wakeup(now);
        now = send_all(&mut sender, now);
    }
    sender.on_packet(now, &ack(1_000, now));
    assert_eq!(sender.needs().wake.since(now), Span::from_ms(4));
}

/// Three packets in flight are few, four are not.
#[test]
fn few_in_flight_have_the_short_time_out() {
    for (size, micros) in [(4_000, 400), (5_000, 4_000)] {
        let mut sender = sender(size, |s| s.retry_timeout_low = Some(Span::from_us(400)));
        let now = send_all(&mut sender, Time::ZERO);
        sender.on_packet(now, &ack(1_000, now));
        assert_eq!(sender.needs().wake.since(now), Span::from_us(micros), "{size}");
    }
}
