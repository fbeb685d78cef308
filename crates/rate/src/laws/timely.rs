//! TIMELY (Mittal et al., SIGCOMM 2015, algorithm 1): the rate follows the gradient of the round-trip time between
//! two thresholds, and the round-trip time itself outside them.
//!
//! *Limits*: it has no fixed point, or infinitely many (Zhu et al., CoNEXT 2016, theorems 3 and 4): the shares of
//! flows depend on how they started. *Uncertain*: the published weight of the gradient's filter; when the count `N`
//! of consecutive increases is reset (here: at every decrease, and only increases above the lower threshold count).

use weft_core::{Rate, Span, Time, settings};

use crate::{RateLaw, RateLawSite, rate_of, segments::SegmentSettings, start};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "rate follows the gradient of round-trip times (SIGCOMM 2015)";

settings! {
    /// The settings that the TIMELY family shares.
    pub struct TimelySharedSettings {
        /// Round-trip time below which the rate always rises (T_low).
        low: Span = Span::from_us(50),
        /// Round-trip time above which the rate always falls (T_high).
        high: Span = Span::from_us(500),
        /// Round-trip time of an empty network, by which the gradient is divided (D_minRTT).
        min_rtt: Span = Span::from_us(20),
        /// Weight of a new round-trip difference in the gradient (alpha); 0.875 in CoNEXT 2016, uncertain for the
        /// original.
        gradient_gain: f64 [0.0, 1.0] = 0.875,
        /// Additive increase per segment (delta).
        additive_step: Rate = Rate::from_mbps(10),
        /// Rates at which the flows start, in order of their numbers; the list repeats. Empty: the line rate divided
        /// by the number of flows that send from the host, including the new one.
        initial_rates: Vec<Rate> = Vec::new(),
        /// Minimum rate as a fraction of the line rate.
        min_share: f64 [0.0, 1.0] = 0.01,
        /// Maximum rate as a fraction of the line rate; 0.96 in the simulator of CoNEXT 2016.
        max_share: f64 [0.0, 1.0] = 1.0,
        /// What is measured and how it is sent.
        segments: SegmentSettings [flatten],
    }
}

settings! {
    /// TIMELY.
    pub struct TimelySettings {
        /// Multiplicative decrease (beta).
        beta: f64 [0.0, 1.0] = 0.8,
        /// From this consecutive increase on (N), an increase takes `hai_factor` steps; 0: never, as in CoNEXT 2016.
        hai_after: u32 [0, 1000000] = 5,
        /// Steps per increase after a long rise (hyperactive increase).
        hai_factor: f64 [1.0, 1000.0] = 5.0,
        /// Increases below the lower threshold also count and become hyperactive, as in the HPCC simulator's TIMELY,
        /// whose first hyperactive increase comes one later.
        hai_below_low: bool = false,
        /// The rate changes once per window: a round trip counts only if its segment was sent after the last change, as in the
        /// HPCC simulator's TIMELY. Otherwise every sample counts.
        once_per_window: bool = false,
        /// Scale every step by the time since the last one, in units of `min_rtt`, at most 1, and let no step halve
        /// the rate, as in code published by the authors.
        scale_by_min_rtt: bool = false,
        /// The settings that all TIMELY variants share.
        measured: TimelySharedSettings [flatten],
    }
}

/// The filtered gradient of the round trip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gradient {
    gain: f64,
    /// Seconds; unset before the first sample.
    previous: Option<f64>,
    /// Seconds.
    filtered: f64,
    min_rtt: f64,
}

impl Gradient {
    pub(crate) fn new(settings: &TimelySharedSettings) -> Gradient {
        let min_rtt = settings.min_rtt.seconds().max(1e-12);
        Gradient { gain: settings.gradient_gain, previous: None, filtered: 0.0, min_rtt }
    }

    /// Adds a round trip in seconds; returns the gradient.
    pub(crate) fn add(&mut self, trip: f64) -> f64 {
        let change = trip - self.previous.replace(trip).unwrap_or(trip);
        self.filtered += self.gain * (change - self.filtered);
        self.filtered / self.min_rtt
    }
}

/// A rate between its bounds, bits per second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounded {
    pub(crate) rate: f64,
    least: f64,
    most: f64,
}

impl Bounded {
    pub(crate) fn new(settings: &TimelySharedSettings, site: &RateLawSite) -> Bounded {
        let line = site.line_rate.0.max(1) as f64;
        let most = (line * settings.max_share).max(1.0);
        let least = (line * settings.min_share).clamp(1.0, most);
        let rate = start::listed(&settings.initial_rates, site).unwrap_or_else(|| start::fair_share(site));
        Bounded { rate: rate.clamp(least, most), least, most }
    }

    pub(crate) fn set(&mut self, rate: f64) {
        self.rate = rate.clamp(self.least, self.most);
    }
}

/// The behaviour outside the two thresholds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thresholds {
    pub(crate) low: f64,
    high: f64,
    step: f64,
    beta: f64,
}

impl Thresholds {
    pub(crate) fn new(settings: &TimelySharedSettings, beta: f64) -> Thresholds {
        let step = settings.additive_step.0 as f64;
        Thresholds { low: settings.low.seconds().max(1e-12), high: settings.high.seconds(), step, beta }
    }

    /// The new rate if the round trip (seconds) is outside the thresholds: one step more below, a proportional decrease
    /// above.
    pub(crate) fn outside(&self, trip: f64, rate: f64) -> Option<f64> {
        if trip < self.low {
            Some(rate + self.step)
        } else if trip > self.high {
            Some(rate * (1.0 - self.beta * (1.0 - self.high / trip)))
        } else {
            None
        }
    }

    pub(crate) fn step(&self) -> f64 {
        self.step
    }

    pub(crate) fn beta(&self) -> f64 {
        self.beta
    }
}

/// TIMELY at one flow.
#[derive(Clone, Debug)]
pub struct Timely {
    thresholds: Thresholds,
    gradient: Gradient,
    bounded: Bounded,
    hai_after: u32,
    hai_factor: f64,
    hai_below_low: bool,
    /// Consecutive increases: those above the lower threshold, or all.
    rises: u32,
    /// The rate ignores samples whose segments left before this instant.
    counts_from: Option<Time>,
    /// The amount subtracted from round trips.
    base_rtt: Span,
    /// Steps are scaled by the time since this one.
    scaled_since: Option<Time>,
}

impl Timely {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &TimelySettings, site: RateLawSite) -> Timely {
        Timely {
            thresholds: Thresholds::new(&settings.measured, settings.beta),
            gradient: Gradient::new(&settings.measured),
            bounded: Bounded::new(&settings.measured, &site),
            hai_after: settings.hai_after,
            hai_factor: settings.hai_factor,
            hai_below_low: settings.hai_below_low,
            rises: 0,
            counts_from: settings.once_per_window.then_some(site.now),
            base_rtt: settings.measured.segments.base_rtt,
            scaled_since: settings.scale_by_min_rtt.then_some(site.now),
        }
    }

    /// The rate after a sample, unscaled. `gradient` is that of the round trip.
    fn next(&mut self, trip: f64, gradient: f64) -> f64 {
        let (rate, thresholds) = (self.bounded.rate, self.thresholds);
        if self.hai_below_low && trip < thresholds.low {
            return self.risen(rate);
        }
        if let Some(next) = thresholds.outside(trip, rate) {
            self.rises = if trip < thresholds.low { self.rises } else { 0 };
            return next;
        }
        if gradient > 0.0 {
            self.rises = 0;
            return rate * (1.0 - thresholds.beta * gradient).max(0.0);
        }
        self.risen(rate)
    }

    /// The rate after a counted increase.
    fn risen(&mut self, rate: f64) -> f64 {
        self.rises = self.rises.saturating_add(1);
        let hyperactive = self.hai_after > 0 && self.rises >= self.hai_after;
        rate + self.thresholds.step * if hyperactive { self.hai_factor } else { 1.0 }
    }

    /// Whether the sample of a segment that left a round trip ago counts; if so, the next window begins now.
    fn counts(&mut self, now: Time, trip: Span) -> bool {
        let Some(from) = &mut self.counts_from else { return true };
        let counts = *from + trip + self.base_rtt <= now;
        if counts {
            *from = now;
        }
        counts
    }

    /// Applies the fraction of a step earned by the time since the last one.
    fn scaled(&mut self, now: Time, next: f64) -> f64 {
        let rate = self.bounded.rate;
        match self.scaled_since.as_mut() {
            None => next,
            Some(last) => {
                let part = (now.since(*last).seconds() / self.gradient.min_rtt).min(1.0);
                *last = now;
                (rate + part * (next - rate)).max(rate / 2.0)
            }
        }
    }
}

impl RateLaw for Timely {
    fn rate(&self) -> Rate {
        rate_of(self.bounded.rate)
    }

    fn on_round_trip(&mut self, now: Time, trip: Span) {
        if !self.counts(now, trip) {
            return;
        }
        let gradient = self.gradient.add(trip.seconds());
        let next = self.next(trip.seconds(), gradient);
        let scaled = self.scaled(now, next);
        self.bounded.set(scaled);
    }
}

#[cfg(test)]
mod tests;
