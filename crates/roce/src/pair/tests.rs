//! Recovery, pacing and notifications, packet by packet.

use super::*;
use weft_core::segment::Flags;
use weft_core::{Bytes, FlowId, Purpose, Random};
use weft_rate::{dcqcn::DcqcnSettings, timely::TimelySettings};

use crate::flags;

mod ends;

fn pass(_: bool, _: usize, _: &Segment) -> Fate {
    Fate::Pass
}

#[test]
fn without_loss_everything_goes_once_at_line_rate() {
    for pairs in [plain(|_| {}), plain(selective), plain(|s| s.ack_every = 4)] {
        let mut pair = Pair::new(&pairs, 10_500);
        pair.run(pass);
        assert_eq!(pair.sequences(), (0..=10).collect::<Vec<_>>());
        let gaps: Vec<u64> = pair.sent.windows(2).map(|two| two[1].0.since(two[0].0).0).collect();
        assert!(gaps.iter().all(|gap| *gap == 1_082 * 800), "{gaps:?}");
        assert_eq!(pair.receiver.report().delivered, Bytes(10_500));
        assert_eq!(pair.sender.report().retransmitted, Bytes(0));
    }
}

#[test]
fn go_back_n_goes_back_to_the_first_gap_and_is_asked_once() {
    let mut pair = Pair::new(&plain(|_| {}), 30_000);
    pair.run(|data, n, _| if data && n == 4 { Fate::Lose } else { Fate::Pass });
    let sent = pair.sequences();
    let back = sent.iter().rposition(|packet| *packet == 4).unwrap();
    assert_eq!(sent[back..], (4..30).collect::<Vec<_>>()[..]);
    assert_eq!(pair.receiver.report().nacks, 1);
    assert_eq!((pair.sender.report().recoveries, pair.sender.report().timeouts), (1, 0));
}

#[test]
fn a_lost_packet_of_the_second_round_waits_for_the_time_out() {
    let mut pair = Pair::new(&plain(|_| {}), 30_000);
    pair.run(|data, _, s| {
        let lost = data && s.sequence == 4_000 && (!s.flags.has(Flags::AGAIN) || s.sent < Time(40_000_000));
        if lost { Fate::Lose } else { Fate::Pass }
    });
    assert_eq!((pair.receiver.report().nacks, pair.sender.report().timeouts), (1, 1));
}

/// The packet is lost twice: the repeated request brings it a third time, long before the time-out.
#[test]
fn a_repeated_request_replaces_the_time_out() {
    let mut pair = Pair::new(&plain(|s| s.nack_every = Some(Span::from_us(10))), 100_000);
    pair.run(|data, _, s| {
        let lost = data && s.sequence == 4_000 && (!s.flags.has(Flags::AGAIN) || s.sent < Time(40_000_000));
        if lost { Fate::Lose } else { Fate::Pass }
    });
    assert_eq!(pair.sender.report().timeouts, 0);
    assert!(pair.receiver.report().nacks > 1, "{}", pair.receiver.report().nacks);
    assert_eq!(pair.receiver.report().delivered, Bytes(100_000));
}

#[test]
fn selective_repair_sends_only_what_is_missing() {
    let mut pair = Pair::new(&plain(selective), 30_000);
    pair.run(|data, n, _| if data && [4, 5, 9].contains(&n) { Fate::Lose } else { Fate::Pass });
    let sent = pair.sequences();
    assert_eq!(sent.len(), 33);
    let again: Vec<u64> = pair
        .sent
        .iter()
        .filter(|(_, _, s)| s.flags.has(Flags::AGAIN))
        .map(|(_, _, s)| s.sequence / 1_000)
        .collect();
    assert_eq!(again, [4, 5, 9]);
    assert_eq!((pair.sender.report().recoveries, pair.sender.report().timeouts), (1, 0));
}

#[test]
fn the_last_packet_is_repaired_by_the_time_out_low_if_few_are_in_flight() {
    for (low, least, most) in [(None, 4_000, 4_100), (Some(Span::from_us(400)), 400, 500)] {
        let mut pair = Pair::new(
            &plain(|s| {
                selective(s);
                s.retry_timeout_low = low;
            }),
            3_000,
        );
        let end = pair.run(|data, n, _| if data && n == 2 { Fate::Lose } else { Fate::Pass });
        assert!((least..most).contains(&(end.0 / 1_000_000)), "{end:?}");
    }
}

/// The window of IRN: no more payload than that is ever in flight.
#[test]
fn a_window_bounds_what_is_in_flight() {
    let mut pair = Pair::new(
        &plain(|s| {
            selective(s);
            (s.window, s.ack_every) = (Some(Bytes(4_000)), 16);
        }),
        40_000,
    );
    let mut most = 0;
    let (mut acked, mut high) = (0, 0);
    pair.run(|data, _, s| {
        if data {
            high = high.max(s.end());
        } else {
            acked = acked.max(s.ack);
        }
        most = most.max(high.saturating_sub(acked));
        Fate::Pass
    });
    assert_eq!((most, pair.sender.report().timeouts), (4_000, 0));
}

/// A message that fits into the window goes at once, although its last packet is short.
#[test]
fn a_message_that_fits_into_the_window_needs_no_answer() {
    for (window, packets) in [(10_000, 10), (9_700, 10), (9_699, 9)] {
        let mut pair = Pair::new(&plain(|s| s.window = Some(Bytes(window))), 9_700);
        pair.run(pass);
        let heard = pair.answers.first().expect("it is answered").0 + DELAY;
        let early = pair.sent.iter().filter(|(at, _, _)| *at < heard).count();
        assert_eq!(early, packets, "{window}");
    }
}

/// Overtaking by one packet: go-back-N asks at once, a card with a buffer does not.
#[test]
fn a_card_that_restores_the_order_asks_for_nothing() {
    let late = |data: bool, n: usize, _: &Segment| {
        if data && n.is_multiple_of(3) { Fate::Late(Span::from_us(4)) } else { Fate::Pass }
    };
    let mut strict = Pair::new(&plain(|_| {}), 60_000);
    strict.run(late);
    let mut patient = Pair::new(&plain(|s| s.reorder_buffer = Some(Bytes(64_000))), 60_000);
    patient.run(late);
    assert!(strict.receiver.report().nacks > 0 && strict.sender.report().retransmitted > Bytes(0));
    let report = patient.receiver.report();
    assert_eq!((report.nacks, patient.sender.report().retransmitted), (0, Bytes(0)));
    assert!(report.out_of_order > 10 && report.completed.is_some());
}

#[test]
fn such_a_card_asks_when_the_time_or_the_buffer_is_over() {
    for (buffer, after) in [(180_000, 100), (3_000, 0)] {
        let mut pair = Pair::new(&plain(|s| s.reorder_buffer = Some(Bytes(buffer))), 200_000);
        let mut lost_at = Time::ZERO;
        pair.run(|data, n, s| {
            if data && n == 4 {
                lost_at = s.sent;
                return Fate::Lose;
            }
            Fate::Pass
        });
        let asked = pair.answers.iter().find(|(_, _, s)| s.flags.has(flags::NEGATIVE)).unwrap().0;
        let micros = asked.since(lost_at).0 / 1_000_000;
        assert!((after + 5..after + 12).contains(&micros), "{micros} us with {buffer} bytes");
        assert_eq!(pair.receiver.report().nacks, 1);
        let resent = pair.sender.report().retransmitted.0;
        assert!(resent <= 130_000, "what was kept is not needed again: {resent}");
    }
}

/// Reordering and loss at random, with every receiver: always complete, payload exactly once.
#[test]
fn no_queue_pair_gets_stuck() {
    for seed in 0..60u64 {
        let mut random = Random::new(seed, Purpose::Test, 0);
        let pairs = plain(|s| {
            match seed % 4 {
                0 => {}
                1 => s.reorder_buffer = Some(Bytes(20_000)),
                2 => selective(s),
                _ => (s.recovery, s.window) = (RoceRecovery::Selective, Some(Bytes(12_000))),
            }
            s.ack_every = 1 + random.below(5);
            s.feedback_jitter = Span::from_us(u64::from(random.below(2) * 20));
            (s.retry_timeout, s.retry_timeout_max) = (Span::from_us(200), Span::from_ms(1));
        });
        let size = 1 + u64::from(random.below(200_000));
        let mut pair = Pair::new(&pairs, size);
        pair.run(|_, _, _| match random.below(20) {
            0 => Fate::Lose,
            1..4 => Fate::Late(Span::from_ns(u64::from(random.below(30_000)))),
            _ => Fate::Pass,
        });
        assert_eq!(pair.receiver.report().delivered, Bytes(size), "seed {seed}");
    }
}

/// How long a sender of one packet waits before each of ten attempts, when nothing ever answers.
fn waits_in_vain(flow: u32, retry_backoff: bool) -> Vec<f64> {
    let pairs = plain(|s| {
        (s.retry_timeout, s.retry_timeout_max) = (Span::from_us(100), Span::from_us(1_600));
        s.retry_backoff = retry_backoff;
    });
    let site = FlowSite { flow: FlowId(flow), size: Bytes(500), seed: 3, ..FlowSite::default() };
    let mut sender = QueueSender::new(&pairs, &site, Time::ZERO);
    let (mut header, mut segment) = (Header::default(), Segment::default());
    sender.send(Time::ZERO, &mut header, &mut segment);
    let mut began = Time::ZERO;
    let mut attempt = |_| {
        let now = sender.needs().wake;
        sender.on_wakeup(now);
        sender.send(now, &mut header, &mut segment);
        now.since(std::mem::replace(&mut began, now)).0 as f64 / 1e6
    };
    (0..10).map(&mut attempt).collect()
}

/// Two time-outs as set, then each up to an eighth longer, differently for each sender: none stay in step.
#[test]
fn repeated_time_outs_double_and_leave_step() {
    let (first, second) = (waits_in_vain(1, true), waits_in_vain(2, true));
    assert_eq!((first[0], second[1]), (100.0, 200.0));
    for (n, (one, other)) in first.iter().zip(&second).enumerate().skip(2) {
        let least = (100.0 * f64::from(1 << n)).min(1_600.0);
        let inside = |wait: f64| (least..least * 1.125).contains(&wait);
        assert!(inside(*one) && inside(*other) && one != other, "attempt {n}: {one} us and {other} us");
    }
    assert_eq!(first, waits_in_vain(1, true));
    assert_eq!(waits_in_vain(1, false), [100.0; 10]);
}

/// Packets out of order never change the rate under any kind of recovery, unless a setting asks for it.
#[test]
fn the_order_of_arrival_moves_the_rate_only_if_chosen() {
    let recoveries: [fn(&mut QueuePairSettings); 3] = [
        |_| {},
        selective,
        |s| (s.reorder_buffer, s.reorder_timeout) = (Some(Bytes(2_000)), Span::from_us(1)),
    ];
    for recovery in recoveries {
        for cut_on_nack in [false, true] {
            let law = RateLawSettings::Dcqcn(DcqcnSettings::default());
            let change = |s: &mut QueuePairSettings| {
                recovery(s);
                s.cut_on_nack = cut_on_nack;
            };
            let mut pair = Pair::new(&pairs(law, change), 100_000);
            let late = |data: bool, n: usize| {
                if data && n % 7 == 3 { Fate::Late(Span::from_us(6)) } else { Fate::Pass }
            };
            let mut slowest = Rate::from_gbps(10);
            while !pair.sender.needs().done {
                pair.step(&mut |data, n, _| late(data, n));
                slowest = slowest.min(pair.sender.report().rate.unwrap());
            }
            assert!(pair.receiver.report().nacks > 0);
            assert_eq!(slowest < Rate::from_gbps(10), cut_on_nack);
            assert_eq!(pair.sender.report().notifications, 0);
        }
    }
}

#[test]
fn marks_become_notifications_in_the_highest_class() {
    let law = RateLawSettings::Dcqcn(DcqcnSettings::default());
    let mut pair = Pair::new(&pairs(law, |_| {}), 200_000);
    pair.run(|data, _, _| if data { Fate::Mark } else { Fate::Pass });
    let notifications: Vec<_> =
        pair.answers.iter().filter(|(_, _, s)| s.flags.has(flags::NOTIFICATION)).collect();
    let report = pair.sender.report();
    assert_eq!(report.notifications as usize, notifications.len());
    assert!(notifications.len() > 3);
    for two in notifications.windows(2) {
        assert!(two[1].0.since(two[0].0) >= Span::from_us(50));
    }
    for (_, header, _) in notifications {
        assert_eq!((header.class.0, header.marks.ecn, header.wire), (0, Ecn::NotCapable, 98));
    }
    assert!(pair.sent.iter().all(|(_, header, _)| (header.class.0, header.marks.ecn) == (3, Ecn::Capable)));
    // Each notification about halves the rate, so that gaps grow to many times the first.
    let gap = |two: &[(Time, Header, Segment)]| two[1].0.since(two[0].0).0;
    let (first, last) = (gap(&pair.sent[..2]), gap(&pair.sent[pair.sent.len() - 2..]));
    assert!(first == 1_082 * 800 && last > 50 * first, "{first} {last}");
}

#[test]
fn notifications_take_the_time_the_card_needs() {
    let law = RateLawSettings::Dcqcn(DcqcnSettings::default());
    let notification = NotificationSettings { cnp_delay: Span::from_us(30), ..Default::default() };
    let settings = QueuePairSettings {
        mtu: Bytes(1_044),
        feedback_jitter: Span::from_us(10),
        ..QueuePairSettings::default()
    };
    let pairs = Arc::new(QueuePairs::new(law, Some(notification), settings));
    let mut pair = Pair::new(&pairs, 2_000_000);
    pair.run(|data, _, _| if data { Fate::Mark } else { Fate::Pass });
    let at: Vec<u64> = pair
        .answers
        .iter()
        .filter(|(_, _, s)| s.flags.has(flags::NOTIFICATION))
        .map(|(time, _, _)| time.0)
        .collect();
    let first = 1_082 * 800 + DELAY.0;
    assert!((first + 30_000_000..first + 40_000_000 + 1_000_000).contains(&at[0]));
    let gaps: Vec<u64> = at.windows(2).map(|two| (two[1] - two[0]) / 1_000_000).collect();
    assert!(gaps.iter().any(|gap| *gap < 49) && gaps.iter().any(|gap| *gap > 51), "{gaps:?}");
}

fn timely_law(pacing: weft_rate::segments::Pacing) -> RateLawSettings {
    let mut settings = TimelySettings::default();
    settings.measured.initial_rates = vec![Rate::from_gbps(2)];
    settings.measured.segments.pacing = pacing;
    RateLawSettings::Timely(settings)
}

/// Round trips are measured once per segment: propagation, the answer, and nothing of the segment's own time on the wire.
#[test]
fn round_trips_are_those_of_the_path() {
    use weft_rate::segments::Pacing;
    for pacing in [Pacing::PerPacket, Pacing::PerBurst] {
        let mut pair = Pair::new(&pairs(timely_law(pacing), |_| {}), 160_000);
        let mut trips = Vec::new();
        pair.run(|data, n, s| {
            if !data && s.flags.has(flags::MEASURED) {
                trips.push((n, s.echo));
            }
            Fate::Pass
        });
        assert_eq!(trips.len(), 11, "160 packets of 1082 bytes, 15 to a segment");
        let answered = |n: usize| pair.answers[n].0 + Rate::from_gbps(10).time_for(Bytes(86)) + DELAY;
        for (n, counted) in &trips {
            let nanos = answered(*n).since(*counted).0 / 1_000;
            assert!((10_068..10_080).contains(&nanos), "{pacing:?}: {nanos} ns");
        }
        // Below the lower threshold every sample adds a step.
        assert_eq!(pair.sender.report().rate, Some(Rate::from_mbps(2_110)));
    }
}

#[test]
fn bursts_go_at_line_rate_and_keep_the_rate_on_average() {
    let mut pair = Pair::new(&pairs(timely_law(weft_rate::segments::Pacing::PerBurst), |_| {}), 60_000);
    pair.run(pass);
    let gaps: Vec<u64> = pair.sent.windows(2).map(|two| two[1].0.since(two[0].0).0).collect();
    for (n, gap) in gaps.iter().enumerate() {
        if (n + 1) % 15 == 0 {
            let pause = Rate::from_gbps(2).time_for(Bytes(15 * 1_082)).0 - 14 * 1_082 * 800;
            assert!(*gap <= pause && *gap > pause * 98 / 100, "{gap} of {pause}");
        } else {
            assert_eq!(*gap, 1_082 * 800);
        }
    }
}

/// The second gap opens after the first is closed.
#[test]
fn each_gap_is_asked_for() {
    let mut pair = Pair::new(&plain(|_| {}), 40_000);
    let mut lost = [false; 2];
    pair.run(|data, _, s| {
        let gap = [4_000, 30_000].iter().position(|start| data && s.sequence == *start);
        match gap {
            Some(gap) if !std::mem::replace(&mut lost[gap], true) => Fate::Lose,
            _ => Fate::Pass,
        }
    });
    assert_eq!((pair.receiver.report().nacks, pair.sender.report().timeouts), (2, 0));
}

/// The end of a segment is answered however rarely others are.
#[test]
fn measured_packets_ask_for_an_answer() {
    let law = timely_law(weft_rate::segments::Pacing::PerPacket);
    let mut pair = Pair::new(&pairs(law, |s| s.ack_every = 1_000), 60_000);
    pair.run(pass);
    let measured = pair.sent.iter().filter(|(_, _, s)| s.flags.has(flags::MEASURED));
    assert!(measured.clone().count() >= 4 && measured.clone().all(|(_, _, s)| s.flags.has(flags::REQUEST)));
}

/// A packet every 8.7 ms, each answered at once: silence because nothing was sent is no loss.
#[test]
fn a_slow_sender_does_not_time_out() {
    let law = FixedRateSettings { initial_rates: vec![Rate::from_mbps(1)] };
    let mut pair = Pair::new(&pairs(RateLawSettings::FixedRate(law), |_| {}), 4_000);
    pair.run(pass);
    assert_eq!((pair.sender.report().timeouts, pair.sequences()), (0, vec![0, 1, 2, 3]));
}

/// Everything sent before 10 ms is lost, and so is the last packet the first time it is sent after that.
#[test]
fn time_outs_in_a_row_end_with_progress() {
    let mut pair = Pair::new(&plain(|_| {}), 5_000);
    let mut last_lost = false;
    let until = Time::ZERO + Span::from_ms(10);
    pair.run(|data, _, s| {
        let early = data && s.sent < until;
        let tail = data && !early && s.sequence == 4_000 && !std::mem::replace(&mut last_lost, true);
        if early || tail { Fate::Lose } else { Fate::Pass }
    });
    let report = pair.sender.report();
    assert_eq!((report.timeouts, report.timeouts_in_a_row), (3, 2));
}
