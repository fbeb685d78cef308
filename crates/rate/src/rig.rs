//! A flow alone at a host, for the tests of the laws.

use weft_core::{Rate, Time};

use crate::RateLawSite;

/// A flow at a card of this many gigabits per second.
pub(crate) fn site(gbps: u64) -> RateLawSite {
    RateLawSite { line_rate: Rate::from_gbps(gbps), flow: 0, others: 0, seed: 1, now: Time::ZERO }
}

/// An instant, in microseconds.
pub(crate) fn us(n: u64) -> Time {
    Time(n * 1_000_000)
}

/// Whether two rates agree to one part in a million.
#[track_caller]
pub(crate) fn assert_gbps(rate: Rate, gbps: f64) {
    assert!((rate.gbps() - gbps).abs() <= 1e-6 * gbps, "{} instead of {gbps} Gb/s", rate.gbps());
}
