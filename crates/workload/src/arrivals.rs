//! When flows arrive: one clock for the whole network, or one for each host that sends.
//!
//! With the network's clock the pattern draws the sending host; a host's clock determines it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use weft_core::random::rounded;
use weft_core::{Random, Span, Time};

weft_core::choice! {
    /// When flows arrive.
    pub enum Arrivals {
        /// As a Poisson process.
        Poisson = "poisson",
        /// At equal intervals.
        Fixed = "fixed",
        /// Independently for each host, at lognormal intervals (`burstiness`): in bursts with long pauses.
        Lognormal = "lognormal",
    }
}

/// An endless sequence of arrival times.
#[derive(Clone)]
pub(crate) enum Clock {
    /// For the whole network: exponential gaps with this mean in picoseconds.
    Poisson(Time, f64),
    /// Equal gaps.
    Fixed(Time, Span),
    /// A clock per sender.
    Bursty(Bursty),
}

impl Clock {
    /// The next arrival, and the index of its sender if the clock determines it.
    pub(crate) fn next(&mut self, random: &mut Random) -> (Time, Option<usize>) {
        match self {
            Clock::Poisson(now, gap) => {
                *now += Span(rounded(random.exponential(*gap)));
                (*now, None)
            }
            Clock::Fixed(now, gap) => {
                *now += *gap;
                (*now, None)
            }
            Clock::Bursty(clocks) => {
                let (now, sender) = clocks.next(random);
                (now, Some(sender))
            }
        }
    }
}

/// Independent renewal processes with lognormal gaps.
#[derive(Clone)]
pub(crate) struct Bursty {
    /// Standard deviation of the logarithm of a gap.
    deviation: f64,
    /// For each sender, the mean of that logarithm; in picoseconds.
    middle: Vec<f64>,
    next: BinaryHeap<Reverse<(Time, usize)>>,
}

impl Bursty {
    /// One clock per weight, together with a mean gap in picoseconds, each in proportion to its weight.
    ///
    /// The process is stationary: the first arrival comes after a uniform fraction of a gap, and an instant falls
    /// into a gap with a probability proportional to its length, which for a lognormal gap shifts the mean of the
    /// logarithm by the variance.
    pub(crate) fn new(
        (start, gap): (Time, f64),
        deviation: f64,
        weights: &[f64],
        random: &mut Random,
    ) -> Bursty {
        let total: f64 = weights.iter().sum();
        let variance = deviation * deviation;
        let middle = |weight: &f64| (gap * total / weight).ln() - variance / 2.0;
        let mut clocks =
            Bursty { deviation, middle: weights.iter().map(middle).collect(), next: BinaryHeap::new() };
        for sender in (0..weights.len()).filter(|sender| weights[*sender] > 0.0) {
            let part = random.unit();
            let first = clocks.gap(clocks.middle[sender] + variance, part, random);
            clocks.next.push(Reverse((start + first, sender)));
        }
        clocks
    }

    /// The next arrival and its sender; of two at the same instant, that of the earlier sender.
    fn next(&mut self, random: &mut Random) -> (Time, usize) {
        let Some(Reverse((now, sender))) = self.next.pop() else { return (Time(u64::MAX), 0) };
        let gap = self.gap(self.middle[sender], 1.0, random);
        self.next.push(Reverse((now + gap, sender)));
        (now, sender)
    }

    /// A fraction of a gap whose logarithm has this mean; at most 11 days.
    fn gap(&self, middle: f64, part: f64, random: &mut Random) -> Span {
        let gap = (middle + self.deviation * random.normal()).exp() * part;
        Span(rounded(gap.min(1e18)))
    }
}
