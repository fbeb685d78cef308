//! The random numbers of the hardware, bit for bit: pairs of shift registers that advance 48 steps per word, and the fields
//! of their words as a DRILL engine's source of [`Chance`]. Must not depend on pipelines or vectors.

use weft_switch::balance::drill::chance::Chance;

/// The difference between the seeds of adjacent registers.
const STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;
/// The bits of the shorter register.
const SHORT: u64 = (1 << 63) - 1;
/// Bits of a word.
const WORD: usize = 48;
/// Bits of a sample's field and of the draw among ties.
const FIELD: usize = 16;
/// Bits of a rank.
const RANK: usize = 8;

/// The shift registers of one engine (`drill_lfsr.sv`).
#[derive(Clone, Debug)]
pub struct Registers {
    pairs: Vec<RegisterPair>,
    samples: usize,
}

/// Two shift registers of 64 and 63 bits. The words of one alone are related by sums of four bits; those of both are not.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RegisterPair {
    long: u64,
    short: u64,
}

/// The words of one packet.
#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    words: Vec<u64>,
    samples: usize,
}

impl Registers {
    /// The registers of engine `engine`, for `samples` samples and `bits` random bits in all.
    #[must_use]
    pub fn new(seed: u64, engine: usize, samples: usize, bits: usize) -> Registers {
        let count = bits.div_ceil(WORD);
        let seed_of = |n: usize| seed.wrapping_add(STRIDE.wrapping_mul((engine * count + n) as u64));
        Registers { pairs: (0..count).map(|n| RegisterPair::new(seed_of(n))).collect(), samples }
    }

    /// The words for the next packet.
    pub fn draw(&mut self) -> Word {
        let words = self.pairs.iter().map(|pair| fields(pair.sum())).collect();
        self.pairs.iter_mut().for_each(RegisterPair::leap);
        Word { words, samples: self.samples }
    }
}

impl RegisterPair {
    /// Neither register ever holds zero.
    fn new(seed: u64) -> RegisterPair {
        RegisterPair { long: seed.max(1), short: (seed >> 1).max(1) }
    }

    /// 48 steps of x^64 + x^63 + x^61 + x^60 + 1 and of x^63 + x^62 + 1.
    fn leap(&mut self) {
        let mask = (1 << WORD) - 1;
        let RegisterPair { long, short } = *self;
        self.long = long << WORD | ((long >> 16) ^ (long >> 15) ^ (long >> 13) ^ (long >> 12)) & mask;
        self.short = (short << WORD | ((short >> 15) ^ (short >> 14)) & mask) & SHORT;
    }

    /// One register forwards, the other backwards, so that no relation of a few bits survives.
    fn sum(self) -> u64 {
        self.long ^ self.short.reverse_bits() >> 1
    }
}

/// The word of a sum: each field has the bits at even positions on top.
fn fields(state: u64) -> u64 {
    let bit = |from: usize, to: usize| (state >> from & 1) << to;
    let pair = |n: usize| {
        let field = n / 8 * FIELD + n % 8;
        bit(2 * n, field + 8) | bit(2 * n + 1, field)
    };
    (0..WORD / 2).fold(0, |word, n| word | pair(n))
}

impl Word {
    fn field(&self, from: usize, bits: usize) -> u64 {
        self.words[from / WORD] >> (from % WORD) & ((1 << bits) - 1)
    }

    fn uniform(&self, from: usize, among: u32) -> u32 {
        ((self.field(from, FIELD) * u64::from(among)) >> FIELD) as u32
    }
}

impl Chance for Word {
    const ORDERED_DECK: bool = true;

    fn sample(&mut self, nth: usize, among: u32) -> u32 {
        self.uniform(nth * FIELD, among)
    }

    fn tie(&mut self, among: u32) -> u32 {
        self.uniform(self.samples * FIELD, among)
    }

    fn rank(&mut self, position: usize) -> u64 {
        self.field(self.samples * FIELD + position * RANK, RANK) << RANK | position as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One step of x^64 + x^63 + x^61 + x^60 + 1, and one of x^63 + x^62 + 1.
    fn step(pair: RegisterPair) -> RegisterPair {
        let RegisterPair { long, short } = pair;
        RegisterPair {
            long: long << 1 | (long >> 63 ^ long >> 62 ^ long >> 60 ^ long >> 59) & 1,
            short: (short << 1 | (short >> 62 ^ short >> 61) & 1) & SHORT,
        }
    }

    #[test]
    fn a_leap_is_48_steps() {
        let mut pair = RegisterPair::new(0x1234_5678_9abc_def1);
        for _ in 0..100 {
            let stepped = (0..WORD).fold(pair, |pair, _| step(pair));
            pair.leap();
            assert_eq!(pair, stepped);
        }
    }

    /// Pearson's statistic of equally likely counts.
    fn chi2(counts: &[u32]) -> f64 {
        let mean = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
        counts.iter().map(|count| (f64::from(*count) - mean).powi(2) / mean).sum()
    }

    #[test]
    fn samples_are_uniform_and_do_not_follow_from_those_before() {
        for ports in [6, 8, 48] {
            let square = (ports * ports) as usize;
            let mut pairs = vec![vec![0u32; square]; 4];
            let mut registers = Registers::new(7, 0, 2, 48);
            let mut last = [0; 2];
            for _ in 0..200_000 {
                let mut word = registers.draw();
                let now = [word.sample(0, ports), word.sample(1, ports)];
                for (n, pair) in pairs.iter_mut().enumerate() {
                    pair[(last[n / 2] * ports + now[n % 2]) as usize] += 1;
                }
                last = now;
            }
            // Cramér's V, corrected for chance: 0 if one sample carries no information about the other, 1 if it
            // determines it.
            let (freedom, degrees) = ((ports - 1).pow(2), f64::from(ports - 1));
            let v = |pair: &[u32]| ((chi2(pair) - f64::from(freedom)).max(0.0) / 200_000.0 / degrees).sqrt();
            pairs.iter().for_each(|pair| assert!(v(pair) < 0.01, "{ports} ports: {}", v(pair)));
        }
    }

    #[test]
    fn ties_are_fair() {
        let mut registers = Registers::new(7, 0, 2, 48);
        let mut ties = [0u32; 3];
        (0..90_000).for_each(|_| ties[registers.draw().tie(3) as usize] += 1);
        assert!(chi2(&ties) < 13.8, "0.1 % point, 2 degrees of freedom: {ties:?}");
    }

    #[test]
    fn no_seed_leaves_a_register_at_zero() {
        for seed in [0, 1] {
            let RegisterPair { long, short } = RegisterPair::new(seed);
            assert!(long != 0 && short != 0, "{seed}");
        }
    }
}
