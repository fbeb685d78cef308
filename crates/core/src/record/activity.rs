//! How much of a resource a job uses over time, in a bounded number of bins. Must not depend on the resource.

use crate::units::{Span, Time};

/// Maximum number of bins; when a run needs more, neighbours are merged and bins become twice as wide.
const MOST_BINS: usize = 400;

/// Amounts (bytes, or picoseconds of cores or disks) over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    width: Span,
    bins: Vec<u64>,
}

impl Default for Activity {
    fn default() -> Activity {
        Activity { width: Span::from_ms(1), bins: Vec::new() }
    }
}

impl Activity {
    /// The width of a bin. The first begins at the start of the run.
    #[must_use]
    pub fn width(&self) -> Span {
        self.width
    }

    /// The amount in each bin, up to the last that is not empty.
    #[must_use]
    pub fn bins(&self) -> &[u64] {
        &self.bins
    }

    /// Adds an amount, spread evenly from one instant to another.
    pub fn add(&mut self, from: Time, to: Time, amount: u64) {
        self.spread((from, to, amount), u64::saturating_add);
    }

    /// Takes back an amount that was added between these instants, alone or as a part of more at the same rate.
    pub fn take_back(&mut self, from: Time, to: Time, amount: u64) {
        self.spread((from, to, amount), u64::saturating_sub);
    }

    fn spread(&mut self, (from, to, amount): (Time, Time, u64), change: fn(u64, u64) -> u64) {
        let to = to.max(from + Span(1));
        while (to.0 - 1) / self.width.0 >= MOST_BINS as u64 {
            self.width = self.width * 2;
            self.bins = self.bins.chunks(2).map(|pair| pair.iter().sum()).collect();
        }
        let (first, last) = (from.0 / self.width.0, (to.0 - 1) / self.width.0);
        self.bins.resize(self.bins.len().max(last as usize + 1), 0);
        let up_to = |at: u64| {
            let share = u128::from(at.clamp(from.0, to.0) - from.0) * u128::from(amount);
            (share / u128::from(to.0 - from.0)) as u64
        };
        for bin in first..=last {
            let part = up_to((bin + 1) * self.width.0) - up_to(bin * self.width.0);
            self.bins[bin as usize] = change(self.bins[bin as usize], part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_spread_evenly_and_kept_when_bins_widen() {
        let at = |us: u64| Time::ZERO + Span::from_us(us);
        let mut activity = Activity::default();
        activity.add(at(500), at(2_500), 1_000);
        assert_eq!(activity.bins(), [250, 500, 250]);
        activity.add(at(700_000), at(800_000), 77);
        assert_eq!(activity.width(), Span::from_ms(2));
        assert_eq!(&activity.bins()[..2], [750, 250]);
        assert_eq!(activity.bins().len(), 400);
        activity.add(at(3), at(3), 5);
        assert_eq!(activity.bins().iter().sum::<u64>(), 1_082);
        activity.take_back(at(1_500), at(2_500), 500);
        assert_eq!(&activity.bins()[..2], [505, 0]);
    }
}
