//! The estimator against its closed form, its quantiser, and itself: informed in advance or as packets leave.

use super::*;
use weft_core::settings::Share;
use weft_core::{Purpose, Random, Span};

fn us(n: u64) -> Time {
    Time::ZERO + Span::from_us(n)
}

fn link(gbps: u64) -> (Decay, Estimator) {
    let decay = Decay::new(&CongestionSettings::default());
    (decay, Estimator::new(&decay, Rate::from_gbps(gbps)))
}

/// A packet of 100 bytes every 100 ns, R = 1 byte per ns, for a number of periods; the bytes before and after each decay.
fn steady(periods: u64) -> Vec<(f64, f64)> {
    let (decay, mut link) = link(10);
    let mut around = Vec::new();
    for period in 0..periods {
        for n in 0..160 {
            link.sends(&decay, Time((16_000 * period + 100 * n + 50) * 1_000), 100);
        }
        let before = link.sent.bytes;
        link.metric_at(&decay, us(16 * (period + 1)));
        around.push((before, link.sent.bytes));
    }
    around
}

#[test]
fn a_steady_rate_gives_the_rate_times_the_time_constant() {
    let around = steady(400);
    let (before, after) = around[399];
    // R T / alpha and R T (1 - alpha) / alpha with R T = 16 000 bytes.
    assert!((before - 160_000.0).abs() < 1e-6, "{before}");
    assert!((after - 144_000.0).abs() < 1e-6, "{after}");
}

#[test]
fn it_rises_within_the_time_constant() {
    // After n periods 1 - 0.9^n of the final value: 1 - 1/e between the ninth and the tenth, 144 us and 160 us.
    let around = steady(12);
    for (n, (before, _)) in around.iter().enumerate() {
        let expected = 160_000.0 * (1.0 - 0.9f64.powi(n as i32 + 1));
        assert!((before - expected).abs() < 1e-6, "{n}: {before}");
    }
    let reached = |n: usize| around[n].0 / 160_000.0;
    assert!(reached(8) < 1.0 - (-1.0f64).exp() && reached(9) > 1.0 - (-1.0f64).exp());
}

#[test]
fn nothing_is_cut_off_at_a_decay() {
    let (decay, mut link) = link(10);
    link.sends(&decay, Time(1), 84);
    for n in 1..=40 {
        link.metric_at(&decay, us(16 * n));
        assert!((link.sent.bytes - 84.0 * 0.9f64.powi(n as i32)).abs() < 1e-9, "{}", link.sent.bytes);
    }
}

#[test]
fn the_metric_is_the_share_of_the_capacity_in_eighths() {
    // C tau = 10 Gb/s times 160 us = 200 000 bytes.
    for (bytes, metric) in [
        (0, 0),
        (24_999, 0),
        (25_001, 1),
        (99_999, 3),
        (100_001, 4),
        (174_999, 6),
        (175_001, 7),
        (199_999, 7),
    ] {
        let (decay, mut link) = link(10);
        for _ in 0..bytes / 50_000 {
            link.sends(&decay, Time(1), 50_000);
        }
        let last = link.sends(&decay, Time(1), (bytes % 50_000) as u16);
        assert_eq!(last, metric, "{bytes} bytes");
    }
}

#[test]
fn a_burst_never_exceeds_the_bits_of_the_metric() {
    for metric_bits in 1..=6 {
        let settings =
            CongestionSettings { metric_bits, dre_decay: Share(0.5), ..CongestionSettings::default() };
        let decay = Decay::new(&settings);
        let mut link = Estimator::new(&decay, Rate::from_gbps(1));
        let greatest = (0..1_000).map(|_| link.sends(&decay, Time(5), 60_000)).max();
        assert_eq!(greatest, Some((1 << metric_bits) - 1));
    }
}

/// A port that foresees and one that is asked count the same packets at the same instants, whenever they are read.
#[test]
fn what_is_foreseen_is_what_happens() {
    for seed in 0..50 {
        let mut dice = Random::new(seed, Purpose::Test, 0);
        let (decay, mut asked) = link(10);
        let mut foreseeing = link(10).1;
        let (mut now, mut idle_at) = (Time::ZERO, None::<Time>);
        let mut queue = std::collections::VecDeque::<(Time, u16, u8)>::new();
        for _ in 0..400 {
            now += Span(u64::from(dice.below(3)) * 40_000 * u64::from(dice.below(20)));
            // The asked port sends first what began before this instant.
            while let Some((start, wire, metric)) = queue.front().copied().filter(|(at, ..)| *at < now) {
                assert_eq!(asked.sends(&decay, start, wire), metric);
                queue.pop_front();
            }
            if dice.below(2) == 0 {
                assert_eq!(asked.metric_at(&decay, now), foreseeing.metric_at(&decay, now));
            }
            let wire = 50 * (1 + dice.below(30) as u16);
            let start = idle_at.map_or(now, |at| at.max(now));
            let end = start + Span(u64::from(wire) * 800);
            let metric = foreseeing.will_send(&decay, now, (start, end), wire);
            if idle_at.is_none_or(|at| at < now) {
                assert_eq!(asked.sends(&decay, now, wire), metric);
            } else {
                queue.push_back((start, wire, metric));
            }
            idle_at = Some(end);
        }
    }
}
