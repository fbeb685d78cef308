//! The two forms of H-TCP's formulas: Linux's integers in jiffies, the draft's real numbers. Must not depend on
//! windows.

use weft_core::{Span, Time};

use super::measure::RoundTrips;
use super::{RttScaling, Variant};

/// Linux counts alpha and beta in 128ths.
const ONE: u64 = 128;
/// Linux: a round trip longer than the longest by more than this many jiffies is ignored.
const BELIEVED: u64 = 20;
/// Linux: beta adapts only above this smallest round trip, in jiffies.
const ADAPTS_ABOVE: u64 = 10;
/// The round trip at which scaling leaves the increase unchanged, in seconds.
const REFERENCE: f64 = 0.1;

/// Formulas of one variant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    variant: Variant,
    scaling: bool,
}

impl Form {
    pub(super) fn new(variant: Variant, scaling: RttScaling) -> Form {
        let own = variant == Variant::Linux;
        Form {
            variant,
            scaling: if scaling == RttScaling::AsVariant { own } else { scaling == RttScaling::On },
        }
    }

    /// Length of a tick: a jiffy at 1000 Hz, or a nanosecond.
    fn tick(self) -> Span {
        match self.variant {
            Variant::Linux => Span::from_ms(1),
            Variant::Draft => Span::from_ns(1),
        }
    }

    /// Ticks per second.
    fn hertz(self) -> u64 {
        Span::from_s(1).0 / self.tick().0
    }

    /// The window grows by at most a segment per acknowledgement, counted as in the kernel.
    pub(super) fn counts_acknowledgements(self) -> bool {
        self.variant == Variant::Linux
    }

    /// Whole ticks since the start of the run.
    pub(super) fn ticks(self, now: Time) -> u64 {
        now.0 / self.tick().0
    }

    /// Adds a round-trip sample, rounded up to a tick.
    pub(super) fn measure(self, round_trips: &mut RoundTrips, rtt: Span, recovering: bool) {
        let rtt = rtt.0.div_ceil(self.tick().0);
        let RoundTrips { shortest, longest } = round_trips;
        if *shortest == 0 || rtt < *shortest {
            *shortest = rtt;
        }
        if recovering {
            return;
        }
        *longest = (*longest).max(*shortest);
        if self.variant == Variant::Draft || rtt <= *longest + BELIEVED {
            *longest = (*longest).max(rtt);
        }
    }

    /// Called at a congestion event: the draft restarts the measurement of the largest round trip, Linux forgets a
    /// twentieth of the excess.
    pub(super) fn fade(self, round_trips: &mut RoundTrips) {
        let RoundTrips { shortest, longest } = *round_trips;
        round_trips.longest = match self.variant {
            Variant::Draft => 0,
            Variant::Linux => shortest + longest.saturating_sub(shortest) * 95 / 100,
        };
    }

    /// Whether beta may differ from one half.
    pub(super) fn may_adapt(self, settled: bool, round_trips: &RoundTrips) -> bool {
        match self.variant {
            Variant::Draft => round_trips.longest > 0,
            Variant::Linux => settled && round_trips.shortest > ADAPTS_ABOVE && round_trips.longest > 0,
        }
    }

    /// The fraction kept: smallest over largest round trip, within 0.5 and 0.8 (Linux: 102/128).
    pub(super) fn beta(self, round_trips: &RoundTrips) -> f64 {
        let RoundTrips { shortest, longest } = *round_trips;
        match self.variant {
            Variant::Draft => (shortest as f64 / longest as f64).clamp(0.5, 0.8),
            Variant::Linux => (shortest * ONE / longest).clamp(64, 102) as f64 / ONE as f64,
        }
    }

    /// Increase in segments per round trip, `age` ticks after the last event, with a smallest round trip of
    /// `shortest` ticks (zero: unknown) and a kept fraction of `beta`.
    pub(super) fn alpha(self, age: u64, shortest: u64, beta: f64) -> f64 {
        match self.variant {
            Variant::Draft => 2.0 * (1.0 - beta) * self.draft_factor(age, shortest),
            Variant::Linux => 2.0 * (1.0 - beta) * self.linux_factor(age, shortest) as f64,
        }
    }

    /// `1 + 10 (Delta - 1 s) + ((Delta - 1 s) / 2)^2` beyond the first second.
    fn draft_factor(self, age: u64, shortest: u64) -> f64 {
        let beyond = age.saturating_sub(self.hertz()) as f64 / self.hertz() as f64;
        let factor = 1.0 + 10.0 * beyond + beyond * beyond / 4.0;
        if !self.scaling || shortest == 0 {
            return factor;
        }
        let scale = shortest as f64 / self.hertz() as f64 / REFERENCE;
        (factor * scale.clamp(0.1, 2.0)).max(1.0)
    }

    /// The factor in whole jiffies; scaling divides by 100 ms over the round trip in eighths, within 4 and 80.
    fn linux_factor(self, age: u64, shortest: u64) -> u64 {
        let hertz = self.hertz();
        let beyond = age.saturating_sub(hertz);
        let factor = 1 + (10 * beyond + (beyond / 2) * (beyond / 2) / hertz) / hertz;
        if !self.scaling || shortest == 0 {
            return factor;
        }
        let scale = (8 * hertz / (10 * shortest)).clamp(4, 80);
        (8 * factor / scale).max(1)
    }
}
