//! Time series of a model, and whether they settle, ring down, oscillate, or grow.

use crate::dde::{Effort, Stepping, integrate};
use crate::model::Model;

/// Samples of a run. Quantities are in packets, packets per second and seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FluidSeries {
    /// Instants in seconds.
    pub time: Vec<f64>,
    /// Queue.
    pub queue: Vec<f64>,
    /// Probability of a mark; empty for laws without marks.
    pub marking: Vec<f64>,
    /// For each group of flows, the rate of one flow.
    pub rates: Vec<Vec<f64>>,
    /// For each group of flows, its estimate of congestion.
    pub estimates: Vec<Vec<f64>>,
    /// Number of flows in each group.
    pub counts: Vec<f64>,
    /// The cost of the run.
    pub effort: Effort,
}

/// The behaviour of a quantity at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steadiness {
    /// It no longer changes.
    Settled,
    /// It oscillates with decreasing amplitude.
    RingingDown,
    /// It oscillates, and the amplitude does not decrease.
    Oscillating,
    /// The queue is calm, but rates still move in one direction.
    Drifting,
    /// It rises from quarter to quarter, as a queue does whose senders exceed the link.
    Growing,
    /// It falls from quarter to quarter.
    Shrinking,
}

/// Minimum, maximum and mean of a quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// The minimum.
    pub least: f64,
    /// The maximum.
    pub greatest: f64,
    /// The mean over time.
    pub mean: f64,
}

impl Extent {
    /// Maximum minus minimum.
    #[must_use]
    pub fn swing(&self) -> f64 {
        self.greatest - self.least
    }
}

/// The extent of some values.
#[must_use]
pub fn extent(values: &[f64]) -> Extent {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Extent { least, greatest, mean: values.iter().sum::<f64>() / values.len() as f64 }
}

/// A swing below this share of the mean counts as settled.
const CALM: f64 = 0.02;
/// If the swing of the last quarter is below this share of that of the third, the series rings down.
const DECAY: f64 = 0.9;

/// Classifies the second half of a series: settled if the swing of its last quarter is less than 2 % of its mean (or of
/// `scale`, if that is more), ringing down if it is less than 0.9 times that of the third quarter, growing or shrinking if
/// its mean is beyond all values of the third quarter, otherwise oscillating.
#[must_use]
pub fn verdict(values: &[f64], scale: f64) -> Steadiness {
    let quarter = values.len() / 4;
    let last = extent(&values[values.len() - quarter.max(1)..]);
    let before = extent(&values[values.len() / 2..values.len() - quarter]);
    if last.swing() <= CALM * last.mean.abs().max(scale) {
        Steadiness::Settled
    } else if last.swing() < DECAY * before.swing() {
        Steadiness::RingingDown
    } else if last.mean > before.greatest {
        Steadiness::Growing
    } else if last.mean < before.least {
        Steadiness::Shrinking
    } else {
        Steadiness::Oscillating
    }
}

/// A rate whose mean changes by more than this share from one quarter to the next has not settled.
const CREEP: f64 = 0.002;

/// The behaviour at the end of a rate whose queue is calm.
fn rate_ends(rate: &[f64]) -> Steadiness {
    let quarter = (rate.len() / 4).max(1);
    let last = extent(&rate[rate.len() - quarter..]);
    let before =
        extent(&rate[(rate.len() / 2).min(rate.len() - quarter)..rate.len().saturating_sub(quarter).max(1)]);
    // a drifting rate moves from quarter to quarter; an oscillating one comes back
    let moved = (last.mean - before.mean).abs();
    if moved > 0.25 * last.swing() && moved > CREEP * last.mean {
        Steadiness::Drifting
    } else if last.swing() <= CALM * last.mean {
        Steadiness::Settled
    } else {
        Steadiness::Oscillating
    }
}

impl FluidSeries {
    /// The behaviour in the second half: that of the queue (see [`verdict`]); but a run with a calm queue, such as
    /// one that is empty while rates grow, has settled only if the rates of all flows have.
    #[must_use]
    pub fn steadiness(&self) -> Steadiness {
        let queue = verdict(&self.queue, 1.0);
        if queue != Steadiness::Settled {
            return queue;
        }
        let ends = self.rates.iter().map(|rate| rate_ends(rate));
        ends.max_by_key(|end| *end as u8).unwrap_or(queue)
    }

    /// The first instant in seconds at which the queue, a rate or an estimate is not a finite number; `None` if all are.
    #[must_use]
    pub fn ends_being_finite(&self) -> Option<f64> {
        let columns = || self.rates.iter().chain(&self.estimates).chain([&self.queue]);
        let row = (0..self.time.len()).find(|row| !columns().all(|column| column[*row].is_finite()));
        row.map(|row| self.time[row])
    }

    /// The values after the first `share` of the series.
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

/// Runs a model and keeps a sample every `every` seconds.
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
    fn an_empty_queue_has_not_settled_while_rates_rise() {
        let of = |rate: &dyn Fn(f64) -> f64| FluidSeries {
            time: (0..4000).map(f64::from).collect(),
            queue: vec![0.0; 4000],
            rates: vec![vec![5.0; 4000], (0..4000).map(|n| rate(f64::from(n))).collect()],
            counts: vec![1.0, 1.0],
            ..FluidSeries::default()
        };
        assert_eq!(of(&|n| 1.0 + n * 1e-3).steadiness(), Steadiness::Drifting);
        assert_eq!(of(&|n| 9.0 - n * 1e-3).steadiness(), Steadiness::Drifting);
        assert_eq!(of(&|n| 5.0 + (n * 0.05).sin()).steadiness(), Steadiness::Oscillating);
        assert_eq!(of(&|n| 5.0 + n * 1e-6).steadiness(), Steadiness::Settled);
        let moving = FluidSeries { queue: wave(0.0), ..of(&|n| n) };
        assert_eq!(moving.steadiness(), Steadiness::Oscillating, "the queue comes first");
    }

    #[test]
    fn a_number_that_is_none_is_found() {
        let mut of = FluidSeries { time: vec![0.0, 0.5, 1.0], queue: vec![1.0; 3], ..FluidSeries::default() };
        of.rates = vec![vec![1.0; 3], vec![1.0, 2.0, f64::INFINITY]];
        assert_eq!(of.ends_being_finite(), Some(1.0));
        of.queue[1] = f64::NAN;
        assert_eq!(of.ends_being_finite(), Some(0.5));
        (of.queue[1], of.rates[1][2]) = (0.0, 0.0);
        assert_eq!(of.ends_being_finite(), None);
    }

    #[test]
    fn a_queue_that_rises_or_falls_does_not_oscillate() {
        let line = |slope: f64| -> Vec<f64> {
            wave(0.0).iter().zip(0..).map(|(v, n)| v + slope * f64::from(n)).collect()
        };
        assert_eq!(verdict(&line(0.01), 1.0), Steadiness::Growing);
        assert_eq!(verdict(&line(-0.01), 1.0), Steadiness::Shrinking);
        assert_eq!(verdict(&line(0.0005), 1.0), Steadiness::Oscillating, "half a swing in the whole run");
        let moving = FluidSeries { queue: line(1.0), rates: vec![vec![1.0; 4000]], ..FluidSeries::default() };
        assert_eq!(moving.steadiness(), Steadiness::Growing);
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
