//! TLT over queue pairs: no time-out is needed while green packets arrive.

use super::*;
use weft_core::{PacketKind, Purpose, Random};
use weft_tlt::settings::QueuePairTltSettings;

use crate::flags;

fn tlt(settings: &mut QueuePairSettings) {
    settings.tlt = Some(QueuePairTltSettings { every: 10 });
}

fn by_window(settings: &mut QueuePairSettings) {
    tlt(settings);
    settings.recovery = RoceRecovery::Selective;
    settings.window = Some(weft_core::Bytes(15_000));
}

/// Go-back-N with a window of fewer packets than `every`.
fn narrow(settings: &mut QueuePairSettings) {
    settings.tlt = Some(QueuePairTltSettings::default());
    settings.window = Some(weft_core::Bytes(7_000));
}

/// A card that waits for gaps to fill.
fn patient(settings: &mut QueuePairSettings) {
    tlt(settings);
    settings.reorder_buffer = Some(weft_core::Bytes(8_000));
    settings.reorder_timeout = Span::from_us(3);
}

fn narrow_and_patient(settings: &mut QueuePairSettings) {
    patient(settings);
    narrow(settings);
}

/// Red packets are lost with this chance; answers and green packets arrive.
fn run(pairs: &Arc<QueuePairs>, size: u64, (share, seed): (f64, u64)) -> Pair {
    let mut pair = Pair::new(pairs, size);
    let mut random = Random::new(seed, Purpose::Test, 1);
    let mut fate = |red: bool| if red && random.chance(share) { Fate::Lose } else { Fate::Pass };
    while !pair.sender.needs().done && pair.now < Time(1_000_000_000_000) {
        pair.step_colored(&mut fate);
        let important = pair.important();
        assert!(important <= 1 || !pairs.selective(), "{important} important at {:?}", pair.now);
        let done = pair.sender.needs().done;
        let sends = pair.sender.needs().ready || pair.receiver.needs().ready;
        let begun = pair.sent.iter().any(|(_, header, _)| header.kind == PacketKind::Data);
        let here = important == 1 || sends || !begun || done;
        assert!(here || !pairs.selective(), "none important at {:?}", pair.now);
    }
    assert!(pair.sender.needs().done, "stuck: {:?}", pair.sender.report());
    assert_eq!(pair.receiver.report().delivered.0, size);
    pair
}

#[test]
fn whatever_red_packets_are_lost_no_timer_expires() {
    for seed in 0..200 {
        let mut random = Random::new(seed, Purpose::Test, 0);
        let share = [0.01, 0.1, 0.5, 1.0][random.below(4) as usize];
        let size = 1 + u64::from(random.below(120_000));
        for change in [tlt as fn(&mut QueuePairSettings), by_window, narrow, patient, narrow_and_patient] {
            let pairs = plain(change);
            let pair = run(&pairs, size, (share, seed));
            assert_eq!(pair.sender.report().timeouts, 0, "seed {seed}: {:?}", pairs.settings());
        }
    }
}

/// The tail of a message is lost, and a packet is sent again. With rates, the last packet is green and its answer
/// asks for the rest; with a window, the echo proves the loss.
#[test]
fn a_lost_tail_needs_no_time_out_and_plain_queue_pairs_do() {
    for change in [tlt as fn(&mut QueuePairSettings), by_window] {
        let pairs = plain(change);
        let mut pair = Pair::new(&pairs, 20_000);
        let mut left = 3;
        let mut fate = |red: bool, segment: &Segment| {
            let loses = red && left > 0 && segment.sequence >= 17_000;
            left -= i32::from(loses);
            if loses { Fate::Lose } else { Fate::Pass }
        };
        while !pair.sender.needs().done {
            pair.step_by(&mut |payload, header: &Header, segment: &Segment| {
                fate(payload && header.kind == PacketKind::Red, segment)
            });
        }
        assert_eq!(pair.sender.report().timeouts, 0);
        assert!(pair.now < Time::ZERO + Span::from_us(80), "{:?}", pair.now);
    }
    let mut pair = Pair::new(&plain(selective), 20_000);
    pair.run(|payload, n, _| if payload && (17..20).contains(&n) { Fate::Lose } else { Fate::Pass });
    assert_eq!(pair.sender.report().timeouts, 1);
}

/// With a window, an empty packet asks for an echo if nothing is likely to be lost.
#[test]
fn without_losses_nothing_is_sent_again() {
    for change in [tlt as fn(&mut QueuePairSettings), by_window] {
        let pair = run(&plain(change), 100_000, (0.0, 1));
        let again: Vec<_> =
            pair.sent.iter().filter(|(_, _, segment)| !segment.flags.has(flags::FORCED)).collect();
        assert_eq!(again.len(), 100, "every packet once");
    }
}

/// One green packet per window, not every one that an acknowledgement lets through.
#[test]
fn a_narrow_window_has_one_green_packet() {
    let pair = run(&plain(narrow), 70_000, (0.0, 1));
    let green = pair.sent.iter().filter(|(_, header, _)| header.kind == PacketKind::Data).count();
    assert_eq!(green, 10);
}

/// An important packet is answered at once, even if it is kept beyond a gap or the gap has been reported.
#[test]
fn an_important_packet_beyond_a_gap_is_answered() {
    let mut receiver = QueueReceiver::new(
        &plain(patient),
        &FlowSite { size: weft_core::Bytes(90_000), ..FlowSite::default() },
    );
    let mut answer = |sequence: u64, kind: PacketKind| {
        let packet = Segment { sequence, length: 1_000, ..Segment::default() };
        receiver.on_packet(Time::ZERO, &Header { kind, ..Header::default() }, &packet);
        let (mut header, mut segment) = (Header::default(), Segment::default());
        let ready = receiver.needs().ready;
        ready.then(|| {
            receiver.send(Time::ZERO, &mut header, &mut segment);
            segment.flags.has(flags::NEGATIVE)
        })
    };
    assert_eq!(answer(1_000, PacketKind::Red), None, "it is kept");
    assert_eq!(answer(2_000, PacketKind::Data), Some(false), "kept and answered");
    assert_eq!(answer(20_000, PacketKind::Red), Some(true), "beyond the buffer: the gap is reported");
    assert_eq!(answer(30_000, PacketKind::Red), None, "once");
    assert_eq!(answer(40_000, PacketKind::Data), Some(false));
}

/// A request for the packet that a retransmission has just reached: the receiver does not repeat it, so the answer must be
/// green although the sender need not go back.
#[test]
fn the_answer_to_a_request_is_green_wherever_the_sender_is() {
    let size = weft_core::Bytes(30_000);
    let site = FlowSite { size, line_rate: Rate::from_gbps(10), ..FlowSite::default() };
    let mut sender = QueueSender::new(&plain(patient), &site, Time::ZERO);
    let mut now = Time::ZERO;
    let mut send = |sender: &mut QueueSender| {
        while !sender.needs().ready {
            now = sender.needs().wake;
            sender.on_wakeup(now);
        }
        let (mut header, mut segment) = (Header::default(), Segment::default());
        sender.send(now, &mut header, &mut segment);
        (segment.sequence, header.kind)
    };
    let answer =
        |ack, flags| Segment { ack, flags: weft_core::segment::Flags::ACK.with(flags), ..Segment::default() };
    (0..9).for_each(|_| assert_eq!(send(&mut sender).1, PacketKind::Red));
    sender.on_packet(Time::ZERO, &answer(2_000, flags::NEGATIVE));
    let round: Vec<_> = (0..3).map(|_| send(&mut sender)).collect();
    assert_eq!(round, [(2_000, PacketKind::Data), (3_000, PacketKind::Red), (4_000, PacketKind::Red)]);
    sender.on_packet(Time::ZERO, &answer(5_000, Default::default()));
    sender.on_packet(Time::ZERO, &answer(5_000, flags::NEGATIVE));
    assert_eq!(send(&mut sender), (5_000, PacketKind::Data));
}
