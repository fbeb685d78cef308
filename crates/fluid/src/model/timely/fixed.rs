//! The steady state of patched TIMELY, in closed form (CoNEXT 2016, theorem 5), and how fast unequal rates converge.

use super::{TimelyLaw, TimelyParameters};

/// A steady state of equal flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimelyFixedPoint {
    /// Queue in packets.
    pub queue: f64,
    /// Rate of each flow in packets per second.
    pub rate: f64,
    /// Whether the queue lies above the upper threshold, where another branch applies: then there is no steady state.
    pub beyond: bool,
}

/// The unique steady state; `None` for laws that have none, or infinitely many.
#[must_use]
pub fn fixed_point(settings: &TimelyParameters, flows: f64) -> Option<TimelyFixedPoint> {
    let TimelyLaw::Patched { reference, divisor, .. } = settings.law else { return None };
    let rate = settings.capacity / flows;
    let queue = reference + divisor * settings.step / (settings.decrease * rate);
    Some(TimelyFixedPoint { queue, rate, beyond: queue > settings.capacity * settings.high })
}

/// The rate, per second, at which the difference of two rates decays near the fair share, with the queue settled.
#[must_use]
pub fn convergence_rate(settings: &TimelyParameters) -> f64 {
    settings.step / (2.0 * settings.segment)
}
