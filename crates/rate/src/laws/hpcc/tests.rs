//! The algorithm against numbers worked out by hand: a card and links of 100 Gb/s and T = 8 us, so that a window is 100 kB.

use weft_core::telemetry::{LinkReport, Telemetry};
use weft_core::{Bytes, Rate, Span};

use super::{Hpcc, HpccSettings};
use crate::rig::{site, us};
use crate::{PathReport, RateLaw};

const LINE: Rate = Rate::from_gbps(100);

fn law(change: impl FnOnce(&mut HpccSettings)) -> Hpcc {
    let mut settings =
        HpccSettings { base_rtt: Span::from_us(8), additive_step: Bytes(1_000), ..HpccSettings::default() };
    change(&mut settings);
    Hpcc::new(&settings, site(100))
}

/// Reports at an instant: for each link, kilobytes sent so far and kilobytes that wait.
fn reports(at: u64, links: &[(u64, u64)]) -> Telemetry {
    let mut telemetry = Telemetry::EMPTY;
    for (number, (sent, queued)) in links.iter().enumerate() {
        telemetry.push(LinkReport {
            link: number as u64 + 1,
            at: us(at),
            sent: Bytes(sent * 1_000),
            queued: Bytes(queued * 1_000),
            line: LINE,
        });
    }
    telemetry
}

fn hears(law: &mut Hpcc, links: &Telemetry, (acknowledged, sent): (u64, u64)) -> f64 {
    law.on_report(&PathReport { links, acknowledged, sent });
    law.window
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6 * expected, "{found} instead of {expected}");
}

#[test]
fn flows_start_with_one_line_rate_in_flight() {
    let law = law(|_| ());
    assert_eq!((law.rate(), law.window()), (LINE, Some(Bytes(100_000))));
}

/// Two links; in 4 us the second sends 50 kB, which is its line rate, while never fewer than 20 kB wait: it is busy to
/// 20/100 + 1 = 1.2. Half a round trip has passed: U = (1 + 1.2) / 2 = 1.1, and W = 100 kB * 0.95 / 1.1 + 1 kB.
#[test]
fn the_busiest_link_sets_the_window() {
    let mut law = law(|_| ());
    near(hears(&mut law, &reports(0, &[(0, 0), (0, 20)]), (1, 100)), 100_000.0);
    near(hears(&mut law, &reports(4, &[(10, 0), (50, 30)]), (2, 100)), 100_000.0 * 0.95 / 1.1 + 1_000.0);
    near(law.utilization, 1.1);
    assert_eq!(law.reference, 100_000.0, "the round trip is not over");
}

/// Within a round trip every report starts from the same reference; the first beyond it moves the reference.
#[test]
fn a_window_is_cut_once_per_round_trip() {
    let mut law = law(|_| ());
    hears(&mut law, &reports(0, &[(0, 100)]), (0, 90));
    for step in 1..=4 {
        let window = hears(&mut law, &reports(8 * step, &[(100 * step, 100)]), (90, 90 + step));
        near(window, 100_000.0 * 0.95 / 2.0 + 1_000.0);
    }
    near(hears(&mut law, &reports(40, &[(500, 100)]), (91, 200)), 48_500.0);
    assert_eq!((law.reference, law.round), (48_500.0, 200));
    near(hears(&mut law, &reports(48, &[(600, 100)]), (200, 300)), 48_500.0 * 0.95 / 2.0 + 1_000.0);
}

/// A link at half its rate without a queue: five additive increases, one per round trip, then the window follows the
/// estimate up.
#[test]
fn after_five_steps_the_window_follows_an_idle_link() {
    let mut law = law(|_| ());
    (law.window, law.reference, law.utilization) = (40_000.0, 40_000.0, 0.5);
    hears(&mut law, &reports(0, &[(0, 0)]), (0, 0));
    for step in 1..=5 {
        let window = hears(&mut law, &reports(8 * step, &[(50 * step, 0)]), (step, step));
        near(window, 40_000.0 + 1_000.0 * step as f64);
    }
    near(hears(&mut law, &reports(48, &[(300, 0)]), (6, 6)), 45_000.0 * 0.95 / 0.5 + 1_000.0);
    assert_eq!(law.stage, 0);
    let mut eager = super::tests::law(|settings| settings.most_stages = 0);
    (eager.reference, eager.utilization) = (40_000.0, 0.5);
    hears(&mut eager, &reports(0, &[(0, 0)]), (0, 0));
    near(hears(&mut eager, &reports(8, &[(50, 0)]), (1, 1)), 40_000.0 * 0.95 / 0.5 + 1_000.0);
}

/// At the fixed point U = target * W / (W - step): a little above the target, and the window stays.
#[test]
fn a_link_that_answers_at_once_is_held_at_the_target() {
    let mut law = law(|_| ());
    let mut sent = 0.0;
    for trip in 0..60 {
        hears(&mut law, &reports(8 * trip, &[(sent as u64 / 1_000, 0)]), (trip, trip));
        sent += law.window.min(100_000.0);
    }
    let busy = law.window / 100_000.0;
    assert!((0.94..0.97).contains(&busy), "{busy}");
}

#[test]
fn another_path_is_noted_and_the_same_report_ignored() {
    let mut law = law(|_| ());
    hears(&mut law, &reports(0, &[(0, 100)]), (0, 0));
    assert_eq!(hears(&mut law, &reports(8, &[(0, 0), (100, 100)]), (1, 1)), 100_000.0, "another path");
    assert_eq!(hears(&mut law, &reports(8, &[(0, 0), (100, 100)]), (2, 2)), 100_000.0, "no time has passed");
    assert!(hears(&mut law, &reports(16, &[(0, 0), (200, 100)]), (3, 3)) < 50_000.0);
}

#[test]
fn windows_have_bounds() {
    let mut law =
        law(|settings| (settings.min_rate, settings.additive_step) = (Rate::from_gbps(1), Bytes::ZERO));
    hears(&mut law, &reports(0, &[(0, 60_000)]), (0, 0));
    for trip in 1..20 {
        hears(&mut law, &reports(8 * trip, &[(100 * trip, 60_000)]), (trip, trip));
    }
    assert_eq!((law.rate(), law.window), (Rate::from_gbps(1), 1_000.0));
    for trip in 20..200 {
        hears(&mut law, &reports(8 * trip, &[(2_000, 0)]), (trip, trip));
    }
    assert_eq!(law.window, 100_000.0, "an idle link lets the flow have the whole line");
}
