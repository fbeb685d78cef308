//! A distribution as its quantiles at fixed shares, dense in the tail.

use super::rounded;
use serde::{Deserialize, Serialize};

/// The complementary distribution at fixed shares, so that runs can be averaged point by point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tail {
    /// Number of samples.
    pub count: u64,
    /// Quantile at each share of [`shares`], as far as at least one sample lies beyond it.
    pub values: Vec<f64>,
}

/// Shares of samples beyond each point, descending: steps of 2 % down to 10 %, then 20 per power of ten down to 1e-6.
#[must_use]
pub fn shares() -> Vec<f64> {
    let body = (0..45).map(|n| 1.0 - 0.02 * f64::from(n));
    let decades = (0..=100).map(|n| 10f64.powf(-1.0 - f64::from(n) / 20.0));
    body.chain(decades).map(rounded).collect()
}

/// Thins samples, given in any order.
#[must_use]
pub fn tail(mut samples: Vec<f64>) -> Tail {
    samples.sort_by(f64::total_cmp);
    let count = samples.len();
    let beyond = |share: &f64| (share * count as f64 + 1e-6).floor() as usize;
    let reached = shares().into_iter().take_while(|share| beyond(share) >= 1);
    let values = reached.map(|share| rounded(samples[count - beyond(&share)])).collect();
    Tail { count: count as u64, values }
}

impl Tail {
    /// The points: share of samples at or beyond a value, and the value.
    pub fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        shares().into_iter().zip(self.values.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_exact_quantiles_down_to_a_single_sample() {
        let tail = tail((1..=10_000).map(f64::from).rev().collect());
        let at = |share: f64| tail.points().find(|(s, _)| (s - share).abs() < 1e-12).unwrap().1;
        assert_eq!((at(1.0), at(0.5), at(0.01), at(1e-4)), (1.0, 5_001.0, 9_901.0, 10_000.0));
        assert!(tail.points().all(|(share, _)| share * 10_000.0 > 0.99));
        assert!(tail.values.windows(2).all(|pair| pair[0] <= pair[1]));
    }

    #[test]
    fn no_samples_no_points() {
        assert_eq!(tail(Vec::new()).values.len(), 0);
    }
}
