//! Checks of the law alone.

use super::*;
use crate::rig::{assert_gbps, site};

fn law(gbps: u64) -> PatchedTimely {
    let mut settings = PatchedTimelySettings::default();
    settings.measured.initial_rates = vec![Rate::from_gbps(gbps)];
    PatchedTimely::new(&settings, site(10))
}

fn settled(law: &mut PatchedTimely, trip: Span, samples: u32) {
    (0..samples).for_each(|_| law.on_round_trip(Time::ZERO, trip));
}

/// `q* = low (1 + N step / (beta C))`: two flows of 5 Gb/s at 62.5 us stay.
#[test]
fn the_fixed_point_is_fixed() {
    let mut law = law(5);
    settled(&mut law, Span::from_ns(62_500), 1_000);
    assert_gbps(law.rate(), 5.0);
}

/// At that round trip any other rate moves towards it.
#[test]
fn it_is_the_only_one() {
    for (start, closer) in [(7, 6.9), (3, 3.1)] {
        let mut law = law(start);
        settled(&mut law, Span::from_ns(62_500), 2_000);
        let rate = law.rate().gbps();
        assert!((rate - 5.0).abs() < (closer - 5.0f64).abs(), "{start}: {rate}");
    }
}

#[test]
fn far_above_the_upper_threshold_a_step_costs_less_than_a_hundredth() {
    let mut law = law(5);
    settled(&mut law, Span::from_s(500), 1);
    assert_gbps(law.rate(), 5.0 * (0.992 + 0.008 * 1e-6));
}

#[test]
fn the_weight_is_a_continuous_ramp() {
    assert_eq!([-1.0, -0.25, 0.0, 0.125, 0.25, 1.0].map(|g| weight(g, 2.0)), [0.0, 0.0, 0.5, 0.75, 1.0, 1.0]);
    assert_eq!(weight(0.5, 0.5), 0.75);
    let rate = |gradient: f64| {
        let law = law(5);
        law.inside(100e-6, gradient)
    };
    for edge in [-0.25, 0.25] {
        assert!((rate(edge - 1e-9) - rate(edge + 1e-9)).abs() < 1.0);
    }
}

/// At weight 3/4 a quarter of the step is added and three quarters of the decrease is taken.
#[test]
fn step_and_decrease_share_the_weight() {
    let law = law(5);
    let (next, expected) = (law.inside(100e-6, 0.125), 10e6 * 0.25 + 5e9 * (1.0 - 0.008 * 0.75));
    assert!((next / expected - 1.0).abs() < 1e-9, "{next} instead of {expected}");
}
