//! Percentiles, means and confidence intervals. Must not depend on what the numbers measure.

use serde::{Deserialize, Serialize};

/// The percentiles of a summary: name and rank in ten-thousandths.
pub const PERCENTILES: [(&str, u64); 9] = [
    ("p10", 1_000),
    ("p25", 2_500),
    ("p50", 5_000),
    ("p75", 7_500),
    ("p90", 9_000),
    ("p95", 9_500),
    ("p99", 9_900),
    ("p99_9", 9_990),
    ("p99_99", 9_999),
];

/// A percentile is reliable if at least this many samples lie beyond it: above it, or below one that is below the median.
pub const SAMPLES_BEYOND: u64 = 100;

/// Mean, percentiles and extremes of a set of samples, in the unit of the samples.
///
/// Percentiles are nearest-rank on the exactly sorted samples: the smallest sample such that at least the given share
/// of all samples does not exceed it. There is no interpolation. With fewer than 100 samples, the 99th percentile and
/// those beyond are absent; with few samples a percentile may be [the maximum](is_maximum).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Number of samples.
    pub count: u64,
    /// Arithmetic mean; absent without samples.
    pub mean: Option<f64>,
    /// The 10th percentile.
    #[serde(default)]
    pub p10: Option<f64>,
    /// The 25th percentile.
    #[serde(default)]
    pub p25: Option<f64>,
    /// The median.
    pub p50: Option<f64>,
    /// The 75th percentile.
    #[serde(default)]
    pub p75: Option<f64>,
    /// The 90th percentile.
    #[serde(default)]
    pub p90: Option<f64>,
    /// The 95th percentile.
    pub p95: Option<f64>,
    /// The 99th percentile.
    pub p99: Option<f64>,
    /// The 99.9th percentile.
    pub p99_9: Option<f64>,
    /// The 99.99th percentile.
    pub p99_99: Option<f64>,
    /// The greatest sample.
    pub max: Option<f64>,
    /// Percentiles with fewer than 100 samples beyond them, towards the nearer end, which are therefore unreliable.
    #[serde(default, alias = "few_samples_above", skip_serializing_if = "Vec::is_empty")]
    pub few_samples_beyond: Vec<String>,
}

impl Distribution {
    /// The distribution of samples, given in any order.
    #[must_use]
    pub fn of(mut samples: Vec<f64>) -> Distribution {
        samples.sort_by(f64::total_cmp);
        let mut ascending = Ascending::new(samples.len() as u64);
        samples.into_iter().for_each(|sample| ascending.add(sample));
        ascending.finish()
    }

    /// Every statistic with its name, except absent ones.
    #[must_use]
    pub fn statistics(&self) -> Vec<(&'static str, f64)> {
        let named = [
            ("count", Some(self.count as f64)),
            ("mean", self.mean),
            ("p10", self.p10),
            ("p25", self.p25),
            ("p50", self.p50),
            ("p75", self.p75),
            ("p90", self.p90),
            ("p95", self.p95),
            ("p99", self.p99),
            ("p99_9", self.p99_9),
            ("p99_99", self.p99_99),
            ("max", self.max),
        ];
        named.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

/// Builds a distribution from samples in ascending order, one by one, without keeping them.
#[derive(Clone, Debug)]
pub struct Ascending {
    count: u64,
    seen: u64,
    sum: f64,
    /// The last sample.
    last: f64,
    /// The ranks of [`PERCENTILES`], ascending, and the number of them that have been passed.
    ranks: [u64; PERCENTILES.len()],
    passed: usize,
    /// The sample at each rank.
    picked: [f64; PERCENTILES.len()],
}

impl Ascending {
    /// Expects `count` samples.
    #[must_use]
    pub fn new(count: u64) -> Ascending {
        let ranks = PERCENTILES.map(|(_, parts)| rank(count, parts));
        let picked = [0.0; PERCENTILES.len()];
        Ascending { count, seen: 0, sum: 0.0, last: 0.0, ranks, passed: 0, picked }
    }

    /// Adds the next sample, which must not be less than the previous one.
    pub fn add(&mut self, sample: f64) {
        self.seen += 1;
        self.sum += sample;
        self.last = sample;
        while self.ranks.get(self.passed).is_some_and(|rank| *rank <= self.seen) {
            self.picked[self.passed] = sample;
            self.passed += 1;
        }
    }

    /// The distribution, after the last sample.
    #[must_use]
    pub fn finish(self) -> Distribution {
        let Ascending { count, seen, sum, last, picked, .. } = self;
        assert_eq!(count, seen, "all samples that were announced came");
        let told = |parts: u64| count > 0 && (count >= 100 || parts < 9_900);
        let at = |n: usize| told(PERCENTILES[n].1).then_some(picked[n]);
        let few = |&&(_, parts): &&(&str, u64)| told(parts) && beyond(count, parts) < SAMPLES_BEYOND;
        Distribution {
            count,
            mean: (count > 0).then(|| sum / count as f64),
            p10: at(0),
            p25: at(1),
            p50: at(2),
            p75: at(3),
            p90: at(4),
            p95: at(5),
            p99: at(6),
            p99_9: at(7),
            p99_99: at(8),
            max: (count > 0).then_some(last),
            few_samples_beyond: PERCENTILES.iter().filter(few).map(|(name, _)| (*name).to_owned()).collect(),
        }
    }
}

/// Rank, counted from one, of the percentile at `parts` ten-thousandths of `count` samples.
fn rank(count: u64, parts: u64) -> u64 {
    (count * parts).div_ceil(10_000).max(1).min(count)
}

/// The number of samples in the smaller part that the percentile at `parts` ten-thousandths divides: as many below the 10th as above
/// the 90th.
fn beyond(count: u64, parts: u64) -> u64 {
    above(count, parts.max(10_000 - parts))
}

/// The number of samples above the percentile at `parts` ten-thousandths.
fn above(count: u64, parts: u64) -> u64 {
    count - rank(count, parts)
}

/// Whether the named percentile of `count` samples is their maximum, because no sample lies above it.
#[must_use]
pub fn is_maximum(count: u64, percentile: &str) -> bool {
    let known = PERCENTILES.iter().find(|(name, _)| *name == percentile);
    known.is_some_and(|(_, parts)| count > 0 && above(count, *parts) == 0)
}

/// The arithmetic mean; absent without samples.
#[must_use]
pub fn mean(samples: &[f64]) -> Option<f64> {
    (!samples.is_empty()).then(|| samples.iter().sum::<f64>() / samples.len() as f64)
}

/// Jain's fairness index `(sum x)^2 / (n sum x^2)`: 1 if all values are equal, 1/n if all but one are zero (Jain, Chiu
/// and Hawe, DEC-TR-301, 1984).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Jain {
    samples: u64,
    sum: f64,
    squares: f64,
}

impl Jain {
    /// Adds a sample.
    pub fn add(&mut self, sample: f64) {
        self.samples += 1;
        self.sum += sample;
        self.squares += sample * sample;
    }

    /// The index; absent without samples or if all are zero.
    #[must_use]
    pub fn index(&self) -> Option<f64> {
        (self.squares > 0.0).then(|| self.sum * self.sum / (self.samples as f64 * self.squares))
    }
}

/// An estimate from repeated runs with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean over the runs; for ratios, the geometric mean.
    pub mean: f64,
    /// Lower end of the interval; absent with a single run.
    pub low: Option<f64>,
    /// Upper end of the interval; absent with a single run.
    pub high: Option<f64>,
    /// Number of runs.
    pub runs: usize,
    /// The number of comparisons whose intervals hold together; 0: this one alone.
    #[serde(skip)]
    pub together: usize,
}

impl Estimate {
    /// Mean and Student's t interval of independent values; absent without values.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Estimate> {
        let mean = mean(values)?;
        let runs = values.len();
        let half = half_width(values, mean);
        Some(Estimate { mean, low: half.map(|h| mean - h), high: half.map(|h| mean + h), runs, together: 0 })
    }

    /// The same as one of several comparisons, of which a reader looks at the most remarkable: the interval is widened so that
    /// with 95 % confidence all of them hold (Bonferroni).
    #[must_use]
    pub fn among(&self, comparisons: usize) -> Estimate {
        match comparisons {
            ..2 => *self,
            many => {
                let times = self.widening(many);
                let far = |end: f64| self.mean + (end - self.mean) * times;
                Estimate { low: self.low.map(far), high: self.high.map(far), together: many, ..*self }
            }
        }
    }

    /// [`among`](Estimate::among) for a ratio, whose interval is that of its logarithm.
    #[must_use]
    pub fn ratio_among(&self, comparisons: usize) -> Estimate {
        match comparisons {
            ..2 => *self,
            many => {
                let times = self.widening(many);
                let far = |end: f64| self.mean * (end / self.mean).powf(times);
                Estimate { low: self.low.map(far), high: self.high.map(far), together: many, ..*self }
            }
        }
    }

    fn widening(&self, comparisons: usize) -> f64 {
        let freedom = self.runs.saturating_sub(1).max(1);
        quantile_of_t(freedom, 1.0 - 0.05 / comparisons as f64) / quantile_of_t(freedom, 0.95)
    }

    /// Geometric mean of ratios paired by seed, with Student's t interval of their logarithms, so that the interval
    /// of the inverse ratio is the inverse of the interval. Absent unless all ratios are positive and finite.
    #[must_use]
    pub fn of_ratios(pairs: &[(f64, f64)]) -> Option<Estimate> {
        Estimate::geometric(&pairs.iter().map(|(above, below)| above / below).collect::<Vec<_>>())
    }

    /// Geometric mean with Student's t interval of the logarithms, for values plotted on a logarithmic axis. Absent
    /// unless all values are positive and finite.
    #[must_use]
    pub fn geometric(values: &[f64]) -> Option<Estimate> {
        let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        let ordinary = logarithms.iter().all(|log| log.is_finite());
        let estimate = ordinary.then(|| Estimate::of(&logarithms)).flatten()?;
        Some(Estimate {
            mean: estimate.mean.exp(),
            low: estimate.low.map(f64::exp),
            high: estimate.high.map(f64::exp),
            ..estimate
        })
    }

    /// The estimate of the inverse of a ratio.
    #[must_use]
    pub fn inverse(&self) -> Estimate {
        let inverse = |value: f64| 1.0 / value;
        Estimate {
            mean: inverse(self.mean),
            low: self.high.map(inverse),
            high: self.low.map(inverse),
            ..*self
        }
    }

    /// Whether the interval excludes `value`; `false` with a single run.
    #[must_use]
    pub fn excludes(&self, value: f64) -> bool {
        self.low.is_some_and(|low| low > value) || self.high.is_some_and(|high| high < value)
    }
}

fn half_width(values: &[f64], mean: f64) -> Option<f64> {
    let freedom = values.len().checked_sub(1).filter(|n| *n > 0)?;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    let error = (squares / freedom as f64 / values.len() as f64).sqrt();
    Some(student_t(freedom) * error)
}

/// The 97.5 % quantile of Student's t distribution: exact to three digits up to 30 degrees of freedom, beyond that
/// from the expansion around the normal quantile (Abramowitz and Stegun, 26.7.5).
#[must_use]
pub fn student_t(freedom: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
        2.045, 2.042,
    ];
    let z: f64 = 1.959_964;
    let n = freedom as f64;
    let expansion =
        z + (z.powi(3) + z) / (4.0 * n) + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n);
    TABLE.get(freedom.wrapping_sub(1)).copied().unwrap_or(expansion)
}

/// The t between whose negative and itself Student's distribution has the share `within`.
fn quantile_of_t(freedom: usize, within: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1e9);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if share_within_t(freedom, middle) < within { low = middle } else { high = middle }
    }
    low
}

/// The share of Student's distribution between -t and t: finite series in the angle whose tangent is t / sqrt(freedom)
/// (Abramowitz and Stegun, 26.7.3 and 26.7.4).
fn share_within_t(freedom: usize, t: f64) -> f64 {
    let angle = (t / (freedom as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let odd = freedom % 2;
    let (mut term, mut sum) = (if odd == 1 { cosine } else { 1.0 }, 0.0);
    for power in (odd..freedom.saturating_sub(1)).step_by(2) {
        sum += term;
        term *= cosine * cosine * (power + 1) as f64 / (power + 2) as f64;
    }
    if odd == 1 { (angle + sine * sum) * std::f64::consts::FRAC_2_PI } else { sine * sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_rank_takes_a_sample_and_never_interpolates() {
        let samples: Vec<f64> = (1..=100).map(f64::from).collect();
        let all = Distribution::of(samples);
        assert_eq!(
            (all.p50, all.p95, all.p99, all.p99_99),
            (Some(50.0), Some(95.0), Some(99.0), Some(100.0))
        );
        assert_eq!(Distribution::of(vec![3.0, 7.0]).p50, Some(3.0));
        assert_eq!(Distribution::of(vec![]), Distribution::default());
    }

    #[test]
    fn tails_are_hidden_under_100_samples_and_flagged_under_100_above() {
        let few = Distribution::of((0..99).map(f64::from).collect());
        assert_eq!((few.p95, few.p99, few.p99_9), (Some(94.0), None, None));
        let many = Distribution::of((0..10_000).map(f64::from).collect());
        assert_eq!(many.p99, Some(9_899.0));
        assert_eq!(many.few_samples_beyond, ["p99_9", "p99_99"]);
    }

    /// The 10th percentile of 200 samples rests on 20.
    #[test]
    fn low_percentiles_are_flagged_like_high_ones() {
        let flagged = |count: u32| Distribution::of((0..count).map(f64::from).collect()).few_samples_beyond;
        assert_eq!(flagged(200), ["p10", "p25", "p75", "p90", "p95", "p99", "p99_9", "p99_99"]);
        assert_eq!(flagged(400), ["p10", "p90", "p95", "p99", "p99_9", "p99_99"]);
        assert_eq!(flagged(1_000), ["p95", "p99", "p99_9", "p99_99"]);
        assert_eq!(flagged(99), ["p10", "p25", "p50", "p75", "p90", "p95"]);
    }

    #[test]
    fn a_percentile_with_nothing_beyond_it_is_the_maximum() {
        let of_400 = Distribution::of((0..400).map(f64::from).collect());
        assert!(is_maximum(400, "p99_9") && of_400.p99_9 == of_400.max);
        assert!(!is_maximum(400, "p99") && !is_maximum(1_001, "p99_9") && !is_maximum(400, "max"));
        assert!(is_maximum(4, "p95") && !is_maximum(0, "p50"));
    }

    #[test]
    fn order_of_samples_does_not_matter() {
        let up = Distribution::of(vec![1.0, 2.0, 3.0, 10.0]);
        assert_eq!(Distribution::of(vec![10.0, 3.0, 1.0, 2.0]), up);
        assert_eq!((up.mean, up.p50, up.max), (Some(4.0), Some(2.0), Some(10.0)));
    }

    #[test]
    fn the_interval_of_five_runs_is_students() {
        let estimate = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let half = 2.776 * (2.5f64 / 5.0).sqrt();
        assert_eq!(estimate.mean, 3.0);
        assert!((estimate.high.unwrap() - 3.0 - half).abs() < 1e-12);
        assert_eq!(Estimate::of(&[4.0]).unwrap().low, None);
        assert!(estimate.excludes(0.9) && !estimate.excludes(2.0));
    }

    #[test]
    fn ratios_are_symmetric_under_inversion() {
        let pairs = [(3.0, 2.0), (3.3, 2.0), (2.8, 2.1)];
        let inverse: Vec<_> = pairs.iter().map(|(a, b)| (*b, *a)).collect();
        let (there, back) = (Estimate::of_ratios(&pairs).unwrap(), Estimate::of_ratios(&inverse).unwrap());
        assert!((there.mean * back.mean - 1.0).abs() < 1e-12);
        assert!((there.low.unwrap() * back.high.unwrap() - 1.0).abs() < 1e-12);
        assert!(
            (there.inverse().high.unwrap() - back.high.unwrap()).abs() < 1e-12 && there.inverse().runs == 3
        );
        assert_eq!(Estimate::of_ratios(&[(1.0, 0.0)]), None);
    }

    /// Printed tables of the quantiles at 0.975, 0.995 and 0.9995.
    #[test]
    fn quantiles_of_any_confidence_agree_with_tables() {
        for freedom in 1..=60 {
            let exact = quantile_of_t(freedom, 0.95);
            assert!((exact / student_t(freedom) - 1.0).abs() < 3e-4, "{freedom}: {exact}");
        }
        for (freedom, within, table) in [
            (1, 0.99, 63.657),
            (2, 0.99, 9.925),
            (4, 0.99, 4.604),
            (9, 0.99, 3.250),
            (5, 0.999, 6.869),
            (30, 0.999, 3.646),
        ] {
            assert!((quantile_of_t(freedom, within) - table).abs() < 6e-4, "{freedom} {within}");
        }
    }

    /// Of five comparisons of five seeds each the t is that of 99 %.
    #[test]
    fn an_interval_among_several_is_wider() {
        let one = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let half = |estimate: Estimate| estimate.high.unwrap() - estimate.mean;
        assert!((half(one.among(5)) / half(one) - 4.604 / 2.776).abs() < 1e-3);
        assert_eq!((one.among(1), one.ratio_among(0)), (one, one));
        let ratio = Estimate::of_ratios(&[(2.0, 1.0), (3.0, 1.0), (4.0, 1.0)]).unwrap();
        let log = |end: Option<f64>| (end.unwrap() / ratio.mean).ln().abs();
        let wide = ratio.ratio_among(3);
        assert!((log(wide.low) - log(wide.high)).abs() < 1e-12 && log(wide.low) > 1.7 * log(ratio.low));
        assert!(Estimate::of(&[7.0]).unwrap().among(4).low.is_none());
    }

    #[test]
    fn student_t_falls_to_the_normal_quantile_without_a_jump() {
        assert!((student_t(31) - 2.0395).abs() < 5e-4 && (student_t(120) - 1.9799).abs() < 5e-4);
        assert!((1..200).all(|n| student_t(n) > student_t(n + 1)));
    }

    #[test]
    fn jain_of_equal_shares_is_one_and_of_a_monopoly_one_nth() {
        let jain = |samples: &[f64]| {
            let mut jain = Jain::default();
            samples.iter().for_each(|sample| jain.add(*sample));
            jain.index()
        };
        assert_eq!(jain(&[2.0; 7]), Some(1.0));
        assert_eq!(jain(&[5.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!((jain(&[]), jain(&[0.0])), (None, None));
    }
}
