//! TIMELY with a proportional-integral controller at the host (Zhu et al., CoNEXT 2016, section 5.2): each sender integrates
//! the deviation of its own delay from a reference into a factor by which its rate falls.
//!
//! *Limits*: it holds the queue at the reference for any number of flows and therefore cannot be fair: initial
//! differences between the factors persist forever (theorem 6). The law exists to show that.

use weft_core::{Purpose, Random, Rate, Span, Time, settings};

use crate::timely::{Bounded, TimelySharedSettings};
use crate::{RateLaw, RateLawSite, rate_of};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "TIMELY with PI control at the host: holds the delay, never fair (CoNEXT 2016)";

settings! {
    /// TIMELY with PI control at the host.
    pub struct TimelyPiSettings {
        /// Target queueing delay; absent: half way between `low` and `high`.
        reference: Option<Span> = None,
        /// Change of the factor per second and bit of queue at the previous sample (b); the authors have 1.816e-9 C /
        /// (10 segments), which is this at 10 Gb/s and 64 kB.
        pi_gain: f64 [0.0, 1000.0] = 3.547e-6,
        /// Weight of the newest sample relative to the previous one (a / b).
        pi_ratio: f64 [1.0, 1000.0] = 1.0005,
        /// Initial factors are drawn between 0 and this.
        initial_factor: f64 [0.0, 1.0] = 0.01,
        /// The settings that all TIMELY variants share; the gradient is unused.
        measured: TimelySharedSettings [flatten],
    }
}

/// PI control at one flow.
#[derive(Clone, Debug)]
pub struct TimelyPi {
    bounded: Bounded,
    /// Twice the fraction by which the rate falls per segment (p).
    factor: f64,
    step: f64,
    gain: f64,
    ratio: f64,
    line: f64,
    /// Seconds.
    reference: f64,
    /// Deviation of the queue at the previous sample, in bits.
    before: Option<f64>,
    last: Time,
}

impl TimelyPi {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &TimelyPiSettings, site: RateLawSite) -> TimelyPi {
        let measured = &settings.measured;
        let half_way = (measured.low.seconds() + measured.high.seconds()) / 2.0;
        let mut random = Random::new(site.seed, Purpose::InitialRates, u64::from(site.flow));
        TimelyPi {
            bounded: Bounded::new(measured, &site),
            factor: settings.initial_factor * random.unit(),
            step: measured.additive_step.0 as f64,
            gain: settings.pi_gain,
            ratio: settings.pi_ratio,
            line: site.line_rate.0 as f64,
            reference: settings.reference.map_or(half_way, Span::seconds),
            before: None,
            last: site.now,
        }
    }
}

impl RateLaw for TimelyPi {
    fn rate(&self) -> Rate {
        rate_of(self.bounded.rate)
    }

    fn on_round_trip(&mut self, now: Time, trip: Span) {
        let deviation = self.line * (trip.seconds() - self.reference);
        let before = self.before.replace(deviation).unwrap_or(deviation);
        let elapsed = now.since(self.last).seconds();
        self.last = now;
        let change = self.gain * (self.ratio * deviation - before);
        self.factor = (self.factor + change * elapsed).clamp(0.0, 1.0);
        let rate = self.bounded.rate;
        self.bounded.set(rate + self.step - self.factor / 2.0 * rate);
    }
}

#[cfg(test)]
mod tests;
