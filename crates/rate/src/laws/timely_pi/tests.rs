//! Checks of the law alone.

use super::*;
use crate::rig::{assert_gbps, site, us};

fn law(flow: u32) -> TimelyPi {
    let mut settings = TimelyPiSettings::default();
    settings.measured.initial_rates = vec![Rate::from_gbps(5)];
    TimelyPi::new(&settings, RateLawSite { flow, ..site(10) })
}

/// At the reference nothing integrates, and the rate settles at `2 step / p`, which the draw at the start decides.
#[test]
fn differences_at_the_start_stay_for_ever() {
    let rates = [0, 1, 2, 3].map(|flow| {
        let mut law = law(flow);
        let factor = law.factor;
        for n in 1..200_000 {
            law.on_round_trip(us(n * 50), Span::from_us(275));
        }
        assert!((law.factor - factor).abs() < 1e-12);
        let settled = (2.0 * law.step / law.factor).clamp(0.1e9, 10e9);
        assert_gbps(law.rate(), settled / 1e9);
        settled
    });
    let (least, most) = rates.iter().fold((f64::MAX, 0.0f64), |(a, b), r| (a.min(*r), b.max(*r)));
    assert!(most > 1.5 * least, "{rates:?}");
}

#[test]
fn too_much_delay_raises_the_factor() {
    let mut law = law(0);
    let factor = law.factor;
    law.on_round_trip(us(50), Span::from_us(275));
    law.on_round_trip(us(100), Span::from_us(285));
    let (gain, deviation, elapsed) = (3.547e-6 * 1.0005, 10e9 * 10e-6, 50e-6);
    assert!((law.factor - factor - gain * deviation * elapsed).abs() < 1e-12);
}

#[test]
fn factors_are_drawn_below_their_bound() {
    let all: Vec<f64> = (0..1_000).map(|flow| law(flow).factor).collect();
    let mean = all.iter().sum::<f64>() / 1e3;
    assert!(all.iter().all(|p| (0.0..0.01).contains(p)) && (mean - 0.005).abs() < 4e-4);
}

/// The law is incremental: at a constant deviation only `ratio - 1` of it counts.
#[test]
fn a_constant_deviation_raises_the_factor_slowly() {
    let mut law = law(0);
    law.on_round_trip(us(50), Span::from_us(285));
    let factor = law.factor;
    law.on_round_trip(us(100), Span::from_us(285));
    let expected = law.gain * (law.ratio - 1.0) * 10e9 * 10e-6 * 50e-6;
    assert!((law.factor - factor - expected).abs() < 1e-3 * expected, "{}", law.factor - factor);
}

#[test]
fn the_factor_stays_a_share() {
    let mut law = law(0);
    (1..100_000).for_each(|n| law.on_round_trip(us(n * 50), Span::from_us(20)));
    assert_eq!(law.factor, 0.0, "short round trips take nothing");
    let rate = law.rate();
    law.on_round_trip(us(5_000_000), Span::from_us(20));
    assert!(law.rate() >= rate);
}
