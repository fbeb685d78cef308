//! A histogram of whole numbers with a relative error below 1/64, a fixed size and an exact merge, so that parallel
//! runs add up to identical bytes. Values are exact below 64.

/// Buckets per power of two.
const STEPS: u64 = 64;
const STEP_BITS: u32 = STEPS.trailing_zeros();

/// Counts of values, by bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// By bucket. Zeros, the most frequent value of a wait, are in `total` only.
    counts: Vec<u64>,
    total: u64,
    sum: u128,
    max: u64,
}

impl Histogram {
    /// Counts one value.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.total += 1;
        if value == 0 {
            return;
        }
        let bucket = bucket_of(value);
        match self.counts.get_mut(bucket) {
            Some(count) => *count += 1,
            None => self.grow(bucket),
        }
        self.sum += u128::from(value);
        self.max = self.max.max(value);
    }

    /// Counts one value that may be [removed](Histogram::remove) again; if it is not, and greater than the maximum,
    /// [`Histogram::raise`] must be called with it.
    pub fn add_for_now(&mut self, value: u64) {
        let max = self.max;
        self.add(value);
        self.max = max;
    }

    /// Removes a value that was [counted for now](Histogram::add_for_now).
    pub fn remove(&mut self, value: u64) {
        self.total -= 1;
        if value == 0 {
            return;
        }
        self.counts[bucket_of(value)] -= 1;
        self.sum -= u128::from(value);
        while self.counts.last() == Some(&0) {
            self.counts.pop();
        }
    }

    /// Confirms a value counted for now.
    pub fn raise(&mut self, value: u64) {
        self.max = self.max.max(value);
    }

    /// Counts a value in a bucket beyond those so far.
    #[cold]
    fn grow(&mut self, bucket: usize) {
        self.counts.resize(bucket + 1, 0);
        self.counts[bucket] = 1;
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.total += other.total;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// The counts by bucket.
    fn counts(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let zeros = self.total - self.counts.iter().sum::<u64>();
        std::iter::once((0, zeros)).chain(self.counts.iter().copied().enumerate().skip(1))
    }

    /// Number of values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.total
    }

    /// The exact mean; zero when empty.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.total == 0 { 0.0 } else { self.sum as f64 / self.total as f64 }
    }

    /// The exact maximum; zero when empty.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The smallest bucket start such that at least the fraction `q` of all values lies in that bucket or below; zero
    /// when empty.
    #[must_use]
    pub fn quantile(&self, q: f64) -> u64 {
        let wanted = ((q * self.total as f64).ceil() as u64).max(1);
        let mut seen = 0;
        for (bucket, count) in self.counts() {
            seen += count;
            if seen >= wanted {
                return start_of(bucket).min(self.max);
            }
        }
        self.max
    }

    /// The non-empty buckets: smallest value and count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.counts().filter(|(_, count)| *count > 0).map(|(bucket, count)| (start_of(bucket), count))
    }
}

#[inline]
fn bucket_of(value: u64) -> usize {
    if value < STEPS {
        return value as usize;
    }
    let shift = value.ilog2() - STEP_BITS;
    ((u64::from(shift) + 1) * STEPS + ((value >> shift) - STEPS)) as usize
}

fn start_of(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < STEPS {
        return bucket;
    }
    (STEPS + bucket % STEPS) << (bucket / STEPS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_contiguous_and_narrow() {
        for value in (0..10_000).chain([1 << 40, (1 << 40) + 12_345, u64::MAX]) {
            let start = start_of(bucket_of(value));
            assert!(start <= value && (value - start) as f64 <= value as f64 / 64.0);
            assert_eq!(bucket_of(start), bucket_of(value));
        }
    }

    #[test]
    fn zeros_count_as_any_other_value() {
        let mut histogram = Histogram::default();
        assert_eq!((histogram.buckets().count(), histogram.quantile(0.5)), (0, 0));
        [0, 0, 0, 7].into_iter().for_each(|value| histogram.add(value));
        assert_eq!(histogram.buckets().collect::<Vec<_>>(), [(0, 3), (7, 1)]);
        assert_eq!((histogram.quantile(0.75), histogram.quantile(0.76), histogram.mean()), (0, 7, 1.75));
        let mut zeros = Histogram::default();
        (0..4).for_each(|_| zeros.add(0));
        zeros.merge(&histogram);
        assert_eq!((zeros.count(), zeros.buckets().next()), (8, Some((0, 7))));
    }

    #[test]
    fn quantiles_and_mean_of_a_uniform_ramp() {
        let mut histogram = Histogram::default();
        (1..=10_000).for_each(|value| histogram.add(value));
        assert_eq!((histogram.mean(), histogram.max(), histogram.count()), (5000.5, 10_000, 10_000));
        assert!((histogram.quantile(0.99) as f64 - 9900.0).abs() < 9900.0 / 64.0);
        let mut double = histogram.clone();
        double.merge(&histogram);
        assert_eq!(double.quantile(0.5), histogram.quantile(0.5));
    }
}
