//! Patched TIMELY (Zhu et al., CoNEXT 2016, algorithm 2): between the thresholds the gradient only weighs the
//! additive increase against a decrease by the round-trip time itself, so that there is a single, fair fixed point.
//!
//! *Fixed point*: equal rates and a queueing delay of `low * (1 + N * additive_step / (beta * C))`. *Limits*: the queue grows
//! with the number of flows `N`.

use weft_core::{Rate, Span, Time, settings};

use crate::timely::{Bounded, Gradient, Thresholds, TimelySharedSettings};
use crate::{RateLaw, RateLawSite, rate_of};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "TIMELY with a unique and fair fixed point (CoNEXT 2016)";

settings! {
    /// Patched TIMELY.
    pub struct PatchedTimelySettings {
        /// Multiplicative decrease (beta).
        beta: f64 [0.0, 1.0] = 0.008,
        /// Slope of the weight at gradient 0: 2 in the algorithm, 0.5 in the linear analysis of the same paper.
        w_slope: f64 [0.001, 1000.0] = 2.0,
        /// The settings that all TIMELY variants share.
        measured: TimelySharedSettings [flatten],
    }
}

/// The weight of the decrease at a gradient: 0 far below, 1 far above, and a ramp of this slope through 1/2 in
/// between.
#[must_use]
pub fn weight(gradient: f64, slope: f64) -> f64 {
    (0.5 + slope * gradient).clamp(0.0, 1.0)
}

/// Patched TIMELY at one flow.
#[derive(Clone, Debug)]
pub struct PatchedTimely {
    thresholds: Thresholds,
    gradient: Gradient,
    bounded: Bounded,
    slope: f64,
}

impl PatchedTimely {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &PatchedTimelySettings, site: RateLawSite) -> PatchedTimely {
        PatchedTimely {
            thresholds: Thresholds::new(&settings.measured, settings.beta),
            gradient: Gradient::new(&settings.measured),
            bounded: Bounded::new(&settings.measured, &site),
            slope: settings.w_slope,
        }
    }

    /// The rate if the round trip is between the thresholds.
    fn inside(&self, trip: f64, gradient: f64) -> f64 {
        let (thresholds, rate) = (&self.thresholds, self.bounded.rate);
        let weight = weight(gradient, self.slope);
        let error = (trip - thresholds.low) / thresholds.low;
        thresholds.step() * (1.0 - weight) + rate * (1.0 - thresholds.beta() * weight * error)
    }
}

impl RateLaw for PatchedTimely {
    fn rate(&self) -> Rate {
        rate_of(self.bounded.rate)
    }

    fn on_round_trip(&mut self, _now: Time, trip: Span) {
        let trip = trip.seconds();
        let gradient = self.gradient.add(trip);
        let outside = self.thresholds.outside(trip, self.bounded.rate);
        self.bounded.set(outside.unwrap_or_else(|| self.inside(trip, gradient)));
    }
}

#[cfg(test)]
mod tests;
