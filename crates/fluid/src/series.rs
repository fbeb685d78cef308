//! Time series of a model, and what they amount to: settled, ringing down, or oscillating.

use crate::dde::{Effort, Stepping, integrate};
use crate::model::Model;

/// Rows of a run. Quantities are in packets, packets per second and seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FluidSeries {
    /// Instants in seconds.
    pub time: Vec<f64>,
    /// Queue.
    pub queue: Vec<f64>,
    /// Probability of a mark; empty for laws without marks.
    pub marking: Vec<f64>,
    /// For each group of flows the rate of one of them.
    pub rates: Vec<Vec<f64>>,
    /// For each group of flows its estimate of congestion.
    pub estimates: Vec<Vec<f64>>,
    /// How many flows each group has.
    pub counts: Vec<f64>,
    /// What it cost.
    pub effort: Effort,
}

/// How a quantity behaves at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steadiness {
    /// It no longer moves.
    Settled,
    /// It swings less and less.
    RingingDown,
    /// It swings and does not become calmer.
    Oscillating,
}

/// Least, greatest and mean of a quantity over some rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// The least.
    pub least: f64,
    /// The greatest.
    pub greatest: f64,
    /// The mean over time.
    pub mean: f64,
}

impl Extent {
    /// From the least to the greatest.
    #[must_use]
    pub fn swing(&self) -> f64 {
        self.greatest - self.least
    }
}

/// Of some values.
#[must_use]
pub fn extent(values: &[f64]) -> Extent {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Extent { least, greatest, mean: values.iter().sum::<f64>() / values.len() as f64 }
}

/// A swing below this share of the mean is none.
const CALM: f64 = 0.02;
/// A last quarter that swings less than this share of the third one is ringing down.
const DECAY: f64 = 0.9;

/// Judges the second half of a series: settled when its last quarter swings by less than 2 % of its mean (or of
/// `scale`, if that is more), ringing down when the last quarter swings less than 0.9 times as far as the one before.
#[must_use]
pub fn verdict(values: &[f64], scale: f64) -> Steadiness {
    let quarter = values.len() / 4;
    let last = extent(&values[values.len() - quarter.max(1)..]);
    let before = extent(&values[values.len() / 2..values.len() - quarter]);
    if last.swing() <= CALM * last.mean.abs().max(scale) {
        Steadiness::Settled
    } else if last.swing() < DECAY * before.swing() {
        Steadiness::RingingDown
    } else {
        Steadiness::Oscillating
    }
}

impl FluidSeries {
    /// The rows from `share` of the way to the end.
    #[must_use]
    pub fn tail<'a>(&self, values: &'a [f64], share: f64) -> &'a [f64] {
        &values[(values.len() as f64 * share) as usize..]
    }

    /// The sum of all rates, row by row.
    #[must_use]
    pub fn total(&self) -> Vec<f64> {
        let at =
            |row: usize| self.counts.iter().zip(&self.rates).map(|(count, rate)| count * rate[row]).sum();
        (0..self.time.len()).map(at).collect()
    }
}

/// Runs a model and keeps a row every `every` seconds.
pub fn record<M: Model>(model: &mut M, until: f64, stepping: Stepping, every: f64) -> FluidSeries {
    let layout = model.layout();
    let groups = layout.rates.len();
    let mut series = FluidSeries {
        rates: vec![Vec::new(); groups],
        estimates: vec![Vec::new(); groups],
        counts: model.counts(),
        ..FluidSeries::default()
    };
    let effort = integrate(model, until, stepping, every, &mut |model, t, state| {
        series.time.push(t);
        series.queue.push(state[0].max(0.0));
        series.marking.extend(model.marking(state));
        for group in 0..groups {
            series.rates[group].push(state[layout.rates.start + group]);
            series.estimates[group].push(state[layout.estimates.start + group]);
        }
    });
    series.effort = effort;
    series
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(decay: f64) -> Vec<f64> {
        (0..4000).map(|n| f64::from(n) * 0.01).map(|t| 10.0 + (-decay * t).exp() * (6.0 * t).sin()).collect()
    }

    #[test]
    fn three_ways_to_end() {
        assert_eq!(verdict(&wave(0.0), 0.0), Steadiness::Oscillating);
        assert_eq!(verdict(&wave(0.05), 0.0), Steadiness::RingingDown);
        assert_eq!(verdict(&wave(0.5), 0.0), Steadiness::Settled);
        assert_eq!(verdict(&wave(-0.1), 0.0), Steadiness::Oscillating);
        assert_eq!(verdict(&wave(0.0), 1000.0), Steadiness::Settled, "small against its scale");
    }
}
