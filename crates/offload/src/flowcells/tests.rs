//! Each row of the paper's table, time-outs, and the learning of the mean.

use super::*;
use weft_core::{Purpose, Random};

const LEN: u64 = 1_000;

fn us(n: u64) -> Time {
    Time::ZERO + Span::from_us(n)
}

fn buffer() -> FlowcellBuffer<u64> {
    FlowcellBuffer::new(&FlowcellSettings::default())
}

/// Packet `n` of a flow whose flowcells have ten packets arrives; which packets go up?
fn arrive(buffer: &mut FlowcellBuffer<u64>, now: Time, n: u64) -> Vec<u64> {
    arrive_as(buffer, now, n, (n / 10) as u16)
}

fn arrive_as(buffer: &mut FlowcellBuffer<u64>, now: Time, n: u64, cell: u16) -> Vec<u64> {
    let mut out = Vec::new();
    buffer.on_segment(now, (n * LEN..(n + 1) * LEN, cell), n, &mut out);
    out
}

fn wake(buffer: &mut FlowcellBuffer<u64>, now: Time) -> Vec<u64> {
    let mut out = Vec::new();
    buffer.on_wakeup(now, &mut out);
    out
}

#[test]
fn in_sequence_nothing_is_held() {
    let mut buffer = buffer();
    for n in 0..20_000 {
        assert_eq!(arrive(&mut buffer, us(n), n), [n], "cells are counted beyond their circle");
        assert_eq!((buffer.next_wakeup(), buffer.held()), (Time::NEVER, Bytes::ZERO));
    }
    assert_eq!(buffer.mean(), Span::from_us(50));
}

#[test]
fn a_gap_within_a_flowcell_is_a_loss_and_goes_up_at_once() {
    let mut buffer = buffer();
    for n in [0, 1, 4, 5] {
        assert_eq!(arrive(&mut buffer, us(n), n), [n]);
    }
    assert_eq!(arrive_as(&mut buffer, us(9), 2, 0), [2], "what comes late of the same flowcell too");
}

#[test]
fn a_gap_at_a_border_waits_until_it_is_filled() {
    let mut buffer = buffer();
    (0..9).for_each(|n| assert_eq!(arrive(&mut buffer, us(n), n), [n]));
    for n in [10, 11, 12, 21, 20] {
        assert_eq!(arrive(&mut buffer, us(n), n), []);
    }
    assert_eq!(buffer.held(), Bytes(5 * LEN));
    assert_eq!(arrive(&mut buffer, us(30), 9), [9, 10, 11, 12]);
    assert_eq!(arrive(&mut buffer, us(31), 13), [13]);
    for n in 14..19 {
        assert_eq!(arrive(&mut buffer, us(n + 18), n), [n]);
    }
    assert_eq!(arrive(&mut buffer, us(37), 19), [19, 20, 21]);
    assert_eq!((buffer.held(), buffer.next_wakeup()), (Bytes::ZERO, Time::NEVER));
}

#[test]
fn a_border_that_stays_open_is_given_up_after_alpha_means() {
    let mut buffer = buffer();
    arrive(&mut buffer, us(0), 0);
    arrive(&mut buffer, us(10), 10);
    assert_eq!(buffer.next_wakeup(), us(110), "2 times 50 us");
    assert_eq!(wake(&mut buffer, us(109)), []);
    assert_eq!(wake(&mut buffer, us(110)), [10]);
    assert_eq!(arrive(&mut buffer, us(111), 11), [11], "its flowcell goes up from here on");
    assert_eq!(arrive(&mut buffer, us(112), 1), [1], "what comes late goes up at once");
    assert_eq!(buffer.mean(), Span::from_us(50), "a time-out teaches nothing");
}

#[test]
fn a_segment_that_packets_join_is_kept_for_a_part_of_the_mean() {
    let mut buffer = buffer();
    arrive(&mut buffer, us(0), 0);
    arrive(&mut buffer, us(0), 10);
    arrive(&mut buffer, us(95), 11);
    assert_eq!(buffer.next_wakeup(), us(120), "25 us after the last, not 100 us after the first");
    assert_eq!(wake(&mut buffer, us(100)), []);
    assert_eq!(wake(&mut buffer, us(120)), [10, 11]);
}

#[test]
fn what_is_sent_again_goes_up_at_once() {
    let mut buffer = buffer();
    (0..15).filter(|n| *n != 3).for_each(|n| assert_eq!(arrive(&mut buffer, us(n), n), [n]));
    assert_eq!(arrive_as(&mut buffer, us(20), 3, 1), [3], "with the flowcell of today");
    assert_eq!(arrive_as(&mut buffer, us(21), 4, 2), [4], "or the next, which begins with it");
    assert_eq!(arrive_as(&mut buffer, us(22), 15, 2), [15]);
    assert_eq!(arrive_as(&mut buffer, us(23), 14, 0), [14], "or an old one");
}

#[test]
fn the_mean_follows_the_time_that_gaps_take() {
    let fills = |wait: u64, times: u64| {
        let mut buffer = buffer();
        let mut now = us(0);
        for cell in 0..times {
            // The first packet of the next flowcell comes before the last of this one.
            for n in (0..9).chain([10, 9]) {
                now += if n == 9 { Span::from_us(wait) } else { Span::ZERO };
                if n != 0 || cell == 0 {
                    arrive(&mut buffer, now, cell * 10 + n);
                }
            }
        }
        buffer.mean().seconds() * 1e6
    };
    assert!((fills(30, 1) - 47.5).abs() < 1e-6, "50 + (30 - 50) / 8");
    assert!((fills(30, 200) - 30.0).abs() < 1e-3, "{}", fills(30, 200));
    assert!((fills(1, 200) - 10.0).abs() < 1e-6, "not below the least");
}

/// Whatever arrives, in whatever order: each packet is passed up once, and nothing stays forever.
#[test]
fn every_packet_goes_up_exactly_once() {
    for seed in 0..200 {
        let mut dice = Random::new(seed, Purpose::Test, 0);
        let mut order: Vec<u64> = (0..100).collect();
        for n in 0..99 {
            order.swap(n, (n + dice.below(15) as usize).min(99));
        }
        let (mut buffer, mut up, mut now) = (buffer(), Vec::new(), us(0));
        for n in order {
            now += Span::from_ns(u64::from(dice.below(20_000)));
            up.extend(wake(&mut buffer, now));
            let late = dice.below(8) == 0;
            up.extend(arrive_as(
                &mut buffer,
                now,
                n,
                if late { dice.below(12) as u16 } else { (n / 10) as u16 },
            ));
        }
        while buffer.next_wakeup() != Time::NEVER {
            now = buffer.next_wakeup();
            let more = wake(&mut buffer, now);
            assert!(!more.is_empty(), "seed {seed}: a wake-up lets something up");
            up.extend(more);
        }
        up.sort_unstable();
        assert_eq!(up, (0..100).collect::<Vec<_>>(), "seed {seed}");
    }
}

/// Flowcells of 44 packets, 1.2 us apart, in turn over two paths, one of which takes longer by less than a flowcell
/// lasts.
#[test]
fn nothing_is_held_for_longer_than_the_paths_differ() {
    for longer in [5, 20, 50] {
        let mut arrivals: Vec<(Time, u64)> =
            (0..4_400u64).map(|n| (Time(n * 1_200_000) + Span::from_us(longer * (n / 44 % 2)), n)).collect();
        arrivals.sort();
        let (mut buffer, mut worst) = (buffer(), Span::ZERO);
        let arrived = |n: u64| arrivals.iter().find(|(_, other)| *other == n).expect("it arrived").0;
        let mut next = 0;
        for (now, n) in &arrivals {
            assert!(buffer.next_wakeup() > *now, "no wait runs out");
            for up in arrive_as(&mut buffer, *now, *n, (n / 44) as u16) {
                assert_eq!(up, next, "in order");
                next += 1;
                worst = worst.max(now.since(arrived(up)));
            }
        }
        assert_eq!(next, 4_400);
        let bound = Span::from_us(longer);
        assert!(worst <= bound && worst >= bound - Span::from_us(3), "{worst} of {bound}");
    }
}
