//! Checks of the law alone.

use super::*;
use crate::rig::{assert_gbps, site, us};

fn law(change: impl FnOnce(&mut TimelySettings)) -> Timely {
    let mut settings = TimelySettings::default();
    settings.measured.initial_rates = vec![Rate::from_gbps(5)];
    change(&mut settings);
    Timely::new(&settings, site(10))
}

fn trip(law: &mut Timely, micros: u64) {
    law.on_round_trip(Time::ZERO, Span::from_us(micros));
}

/// With the rate `R` a segment of 16 kB takes `Seg/R`, so that `dR/dt = step R / Seg`.
#[test]
fn below_the_lower_threshold_the_rate_doubles_in_nine_milliseconds() {
    let mut law = law(|s| s.measured.initial_rates = vec![Rate::from_gbps(1)]);
    let mut seconds = 0.0;
    while law.rate() < Rate::from_gbps(2) {
        seconds += 128_000.0 / law.rate().0 as f64;
        trip(&mut law, 30);
    }
    let expected = 2.0f64.ln() * 128_000.0 / 10e6;
    assert!((seconds / expected - 1.0).abs() < 0.01, "{seconds} s instead of {expected}");
}

#[test]
fn far_above_the_upper_threshold_a_fifth_is_left() {
    let mut law = law(|_| {});
    trip(&mut law, 500_000_000);
    assert_gbps(law.rate(), 1.0 + 4.0 * 1e-6);
    let mut at_twice = self::law(|_| {});
    trip(&mut at_twice, 1_000);
    assert_gbps(at_twice.rate(), 5.0 * (1.0 - 0.8 * 0.5));
}

#[test]
fn the_filter_passes_a_step_completely() {
    let mut gradient = Gradient::new(&TimelySharedSettings::default());
    gradient.add(100e-6);
    let parts: Vec<f64> = (0..40).map(|_| gradient.add(120e-6)).collect();
    assert!((parts[0] - 0.875).abs() < 1e-9 && (parts[1] - 0.875 * 0.125).abs() < 1e-9);
    assert!((parts.iter().sum::<f64>() - 1.0).abs() < 1e-9);
}

#[test]
fn five_increases_in_a_row_make_it_hyperactive_above_the_lower_threshold_only() {
    let mut law = law(|_| {});
    let mut steps = |micros: u64, n: usize| -> Vec<u64> {
        let mut step = |_| {
            let before = law.rate().0;
            trip(&mut law, micros);
            (law.rate().0 - before) / 10_000_000
        };
        (0..n).map(&mut step).collect()
    };
    assert_eq!(steps(40, 8), [1; 8]);
    assert_eq!(steps(39, 1), [1]);
    let mut flat = self::law(|_| {});
    let mut rise = |_| {
        let before = flat.rate().0;
        trip(&mut flat, 100);
        (flat.rate().0 - before) / 10_000_000
    };
    assert_eq!([0, 1, 2, 3, 4, 5].map(&mut rise), [1, 1, 1, 1, 5, 5]);
    let mut never = self::law(|s| s.hai_after = 0);
    (0..10).for_each(|_| trip(&mut never, 100));
    assert_gbps(never.rate(), 5.1);
}

#[test]
fn increases_below_the_lower_threshold_may_become_hyperactive() {
    let mut law = law(|s| s.hai_below_low = true);
    let mut rise = |micros: u64| {
        let before = law.rate().0;
        trip(&mut law, micros);
        (law.rate().0 - before) / 10_000_000
    };
    assert_eq!([40; 6].map(&mut rise), [1, 1, 1, 1, 5, 5]);
}

/// Samples every 10 us of round trips of 30 us: one in three was sent after the last change.
#[test]
fn the_rate_may_change_once_per_window() {
    for (once, base, changes) in [(false, 0, 30), (true, 0, 10), (true, 10, 8)] {
        let mut law = law(|s| {
            s.once_per_window = once;
            s.measured.segments.base_rtt = Span::from_us(base);
        });
        let mut changed = 0;
        for n in 3..33 {
            let before = law.rate();
            law.on_round_trip(us(10 * n), Span::from_us(30));
            changed += u32::from(law.rate() != before);
        }
        assert_eq!(changed, changes);
    }
}

#[test]
fn a_rising_round_trip_lowers_the_rate_by_its_gradient() {
    let mut law = law(|_| {});
    trip(&mut law, 100);
    trip(&mut law, 110);
    let gradient = 0.875 * 10.0 / 20.0;
    assert_gbps(law.rate(), 5.01 * (1.0 - 0.8 * gradient));
    trip(&mut law, 490);
    assert_gbps(law.rate(), 0.1);
}

#[test]
fn steps_may_be_scaled_by_the_time_they_cover() {
    let mut law = law(|s| s.scale_by_min_rtt = true);
    law.on_round_trip(us(5), Span::from_us(30));
    assert_gbps(law.rate(), 5.0025);
    law.on_round_trip(us(105), Span::from_us(1_000_000));
    assert_gbps(law.rate(), 5.0025 / 2.0);
}

#[test]
fn flows_of_a_host_start_with_equal_shares() {
    let third = Timely::new(&TimelySettings::default(), RateLawSite { others: 2, ..site(9) });
    assert_gbps(third.rate(), 3.0);
}

/// A round trip above the upper threshold ends the row of increases; one below the lower threshold interrupts it.
#[test]
fn too_long_a_round_trip_forgets_the_rises() {
    for (micros, kept) in [(600, 0), (30, 4)] {
        let mut law = law(|_| {});
        (0..4).for_each(|_| trip(&mut law, 100));
        assert_eq!(law.rises, 4);
        trip(&mut law, micros);
        assert_eq!(law.rises, kept, "{micros} us");
    }
}
