//! A distribution as its quantiles at fixed shares, dense in the tail.

use serde::{Deserialize, Serialize};
use weft_draw::text::rounded;

/// A complementary distribution at fixed shares, so that runs can be averaged point by point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tail {
    /// Number of samples.
    pub count: u64,
    /// The quantile at each of [`shares`] beyond which at least one sample lies.
    pub values: Vec<f64>,
}

/// Shares of samples beyond each point, descending: steps of 2 % down to 10 %, then 20 per power of ten down to 1e-6.
#[must_use]
pub fn shares() -> Vec<f64> {
    let body = (0..45).map(|n| 1.0 - 0.02 * f64::from(n));
    let decades = (0..=100).map(|n| 10f64.powf(-1.0 - f64::from(n) / 20.0));
    body.chain(decades).map(rounded).collect()
}

/// A tail being computed from samples in ascending order; it keeps the samples at its points.
#[derive(Clone, Debug)]
pub(crate) struct Thinning {
    seen: u64,
    /// For each point the number of samples before it, ascending.
    places: Vec<u64>,
    tail: Tail,
}

impl Thinning {
    pub(crate) fn new(count: u64) -> Thinning {
        let beyond = |share: f64| (share * count as f64 + 1e-6).floor() as u64;
        let reached = shares().into_iter().map(beyond).take_while(|beyond| *beyond >= 1);
        let places = reached.map(|beyond| count - beyond).collect();
        Thinning { seen: 0, places, tail: Tail { count, values: Vec::new() } }
    }

    pub(crate) fn add(&mut self, sample: f64) {
        while self.places.get(self.tail.values.len()) == Some(&self.seen) {
            self.tail.values.push(rounded(sample));
        }
        self.seen += 1;
    }

    pub(crate) fn finish(self) -> Tail {
        self.tail
    }
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
        let mut thinning = Thinning::new(10_000);
        (1..=10_000).for_each(|sample| thinning.add(f64::from(sample)));
        let tail = thinning.finish();
        let at = |share: f64| tail.points().find(|(s, _)| (s - share).abs() < 1e-12).unwrap().1;
        assert_eq!((at(1.0), at(0.5), at(0.01), at(1e-4)), (1.0, 5_001.0, 9_901.0, 10_000.0));
        assert!(tail.points().all(|(share, _)| share * 10_000.0 > 0.99));
        assert!(tail.values.windows(2).all(|pair| pair[0] <= pair[1]));
    }

    #[test]
    fn no_samples_no_points() {
        assert_eq!(Thinning::new(0).finish().values.len(), 0);
    }
}
