//! Reproducible random streams, one per (seed, purpose, entity), counter-based and never shared. Adding a switch, a
//! probe or a draw in one place does not change the numbers of another.
//!
//! The generator mixes a counter with a key by two rounds of a 64-bit finaliser; the samplers are our own, so that no
//! library release can change results. Golden values are tested.

use std::hash::Hasher;

/// What a stream is used for. The number is part of the results: never renumber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// A forwarding engine's choices.
    Balance = 1,
    /// A queue's marking decisions.
    Mark = 2,
    /// Flow sizes.
    Sizes = 3,
    /// Flow start times.
    Arrivals = 4,
    /// Sources and destinations.
    Pairs = 5,
    /// Which links fail.
    Failures = 6,
    /// Hash seeds of switches.
    Hash = 7,
    /// Random loss on a link.
    Loss = 8,
    /// Ties between events of one instant.
    Ties = 9,
    /// A host's own draws (ports, initial values).
    Host = 10,
    /// Tests and generators of test cases.
    Test = 11,
    /// Which cables are slow.
    SlowCables = 12,
    /// Sizes of small flows among large ones.
    Mice = 13,
    /// Hash seeds of flow tables, distinct from those of forwarding.
    Flowlets = 14,
    /// The order in which a host walks its path labels.
    Labels = 15,
    /// Stalls of the receiving end of a link.
    Stalls = 16,
    /// When an application reads what has arrived.
    Reading = 17,
    /// Initial values of rate laws.
    InitialRates = 18,
    /// Delay of feedback to a sender.
    Feedback = 19,
    /// Deadlines of flows.
    Deadlines = 20,
    /// Which tasks of a job are stragglers.
    Stragglers = 21,
    /// Which call of a probe a transfer repeats, and the paths of fluid flows.
    Openings = 22,
    /// Jitter of feedback in fluid models.
    Fluid = 40,
    /// The random part of a repeated retry time-out of a queue pair.
    Retry = 41,
}

/// Increment of the counter.
const STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random {
    key: u64,
    counter: u64,
}

/// A bijective 64-bit mixing function with full avalanche.
#[must_use]
pub const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    z = (z ^ (z >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    z ^ (z >> 32)
}

/// A hash by [`mix`], a few instructions per number, for keys that nobody chooses to collide. It is the same in every
/// process.
#[derive(Clone, Copy, Debug, Default)]
pub struct MixHasher(u64);

impl Hasher for MixHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }
    #[inline]
    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }
    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.0 = mix(self.0 ^ word);
    }
}

/// A draw as a whole number, halves rounded up: `value.round() as u64`, without the call that processors of the
/// oldest kind need for it.
#[inline]
#[must_use]
pub fn rounded(value: f64) -> u64 {
    let whole = value as u64;
    // the difference is exact: the fraction of the value, or zero
    whole.saturating_add(u64::from(value - whole as f64 >= 0.5))
}

impl Random {
    /// The stream of `entity` (a node id, an engine id) for `purpose` in the run with `seed`.
    #[must_use]
    pub const fn new(seed: u64, purpose: Purpose, entity: u64) -> Random {
        let seed = mix(seed ^ 0x5745_4654_2d31_3032);
        let key = mix(seed.wrapping_add(mix((purpose as u64) << 56 ^ entity)));
        Random { key, counter: 0 }
    }

    /// The position in the stream: [`Random::resume`] continues there.
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.counter
    }

    /// Continues a stream at a position of another copy of it.
    pub const fn resume(&mut self, position: u64) {
        self.counter = position;
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.counter = self.counter.wrapping_add(STRIDE);
        mix(mix(self.counter ^ self.key).wrapping_add(self.key))
    }

    /// A number uniform in `0..n`, without bias (Lemire's method). `n` must be positive.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        debug_assert!(n > 0);
        let mut product = u64::from(self.bits() as u32) * u64::from(n);
        if (product as u32) < n {
            let threshold = n.wrapping_neg() % n;
            while (product as u32) < threshold {
                product = u64::from(self.bits() as u32) * u64::from(n);
            }
        }
        (product >> 32) as u32
    }

    /// A number uniform in `[0, 1)` with 53 bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// The result of the `n`-th call of [`Random::unit`] on a fresh stream, whatever this stream's state: for draws
    /// tied to an instant, not to an order.
    #[must_use]
    pub fn unit_at(&self, n: u64) -> f64 {
        Random { key: self.key, counter: n.wrapping_mul(STRIDE) }.unit()
    }

    /// True with probability `p`.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// An exponentially distributed number with the given mean, by inversion.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    /// A normally distributed number with mean 0 and variance 1, by the polar method (Marsaglia, Bray 1964).
    pub fn normal(&mut self) -> f64 {
        loop {
            let [x, y] = [2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0];
            let square = x * x + y * y;
            if 0.0 < square && square < 1.0 {
                return x * (-2.0 * square.ln() / square).sqrt();
            }
        }
    }

    /// A uniformly random permutation of `items` (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u32 + 1) as usize);
        }
    }

    /// `count` different numbers below `among`, in random order: the first steps of a shuffle.
    ///
    /// # Panics
    /// If `count` exceeds `among`.
    #[must_use]
    pub fn distinct(&mut self, count: u32, among: u32) -> Vec<u32> {
        assert!(count <= among, "{count} different numbers below {among}");
        let mut numbers: Vec<u32> = (0..among).collect();
        for i in 0..count {
            let other = i + self.below(among - i);
            numbers.swap(i as usize, other as usize);
        }
        numbers.truncate(count as usize);
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_values_never_move() {
        let mut stream = Random::new(1, Purpose::Balance, 0);
        let first: Vec<_> = (0..3).map(|_| stream.bits()).collect();
        assert_eq!(first, GOLDEN);
    }
    const GOLDEN: [u64; 3] =
        [13_688_725_919_865_947_286, 15_755_884_185_847_607_210, 8_172_904_429_212_164_094];

    #[test]
    fn draws_are_rounded_as_by_the_standard_library() {
        let mut stream = Random::new(3, Purpose::Test, 6);
        let (tiny, huge) = (0.5_f64.next_down(), (1_u64 << 53) as f64);
        let given = [0.0, -0.0, tiny, 0.5, 1.5, 2.5, -0.4, -3.7, huge - 0.5, huge, 1e18, f64::MAX, f64::NAN];
        let drawn = (0..10_000).map(|n| stream.exponential(f64::from(n) * 7.3));
        assert!(given.into_iter().chain(drawn).all(|value| rounded(value) == value.round() as u64));
    }

    #[test]
    fn numbers_by_place_are_those_in_order() {
        let mut stream = Random::new(3, Purpose::Fluid, 5);
        let at: Vec<f64> = (0..5).map(|n| stream.unit_at(n)).collect();
        assert_eq!(at, std::array::from_fn::<f64, 5, _>(|_| stream.unit()));
    }

    #[test]
    fn streams_of_neighbours_are_unrelated() {
        let mut words: Vec<u64> = (0..1000)
            .flat_map(|node| {
                let mut stream = Random::new(7, Purpose::Balance, node);
                [stream.bits(), stream.bits()]
            })
            .collect();
        let ones: u32 = words.iter().map(|w| w.count_ones()).sum();
        assert!((f64::from(ones) / 2000.0 - 32.0).abs() < 0.4);
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), 2000);
    }

    #[test]
    fn below_is_uniform() {
        let mut stream = Random::new(3, Purpose::Test, 0);
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[stream.below(7) as usize] += 1;
        }
        let chi2: f64 = counts.iter().map(|&c| (f64::from(c) - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi2 < 22.46, "chi-square {chi2} with 6 degrees of freedom, 0.1 % point 22.46");
    }

    #[test]
    fn exponential_has_its_mean_and_variance() {
        let mut stream = Random::new(3, Purpose::Test, 1);
        let draws: Vec<f64> = (0..100_000).map(|_| stream.exponential(2.0)).collect();
        let mean = draws.iter().sum::<f64>() / 1e5;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e5;
        assert!((mean - 2.0).abs() < 0.03 && (variance - 4.0).abs() < 0.2, "{mean} {variance}");
    }

    #[test]
    fn normal_has_the_moments_and_the_tail_of_its_distribution() {
        let mut stream = Random::new(3, Purpose::Test, 4);
        let draws: Vec<f64> = (0..100_000).map(|_| stream.normal()).collect();
        let moment = |power: i32| draws.iter().map(|x| x.powi(power)).sum::<f64>() / 1e5;
        let beyond = draws.iter().filter(|x| **x > 1.959_964).count() as f64 / 1e5;
        assert!(moment(1).abs() < 0.013 && (moment(2) - 1.0).abs() < 0.018, "{} {}", moment(1), moment(2));
        assert!((moment(4) - 3.0).abs() < 0.13 && (beyond - 0.025).abs() < 0.002, "{} {beyond}", moment(4));
    }

    #[test]
    fn shuffle_keeps_every_item() {
        let mut items: Vec<u32> = (0..100).collect();
        Random::new(1, Purpose::Test, 2).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
