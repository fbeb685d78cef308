//! Random delay of feedback: its size, how often it is drawn, and whether round-trip measurements include it.

use weft_core::{Random, random::Purpose};

/// Which round trips include their jitter, as if it were queueing. If not, the jitter only makes a sample older.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JitteredTrips {
    /// Both round trips of a gradient include one common draw: it affects the measured queue but not the gradient.
    Both,
    /// Each includes its own draw, as with packets: a gradient includes the difference of two draws.
    Each,
    /// Neither does, as if both ends time-stamped packets and the receiver's delay were subtracted.
    Neither,
}

/// Jitter of feedback. Times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jitter {
    /// Draws are uniform between zero and this; zero: no jitter.
    pub most: f64,
    /// How long a draw holds; `None`: every update of a rate has its own (under DCQCN every step).
    pub every: Option<f64>,
    /// Whether round-trip measurements include it. Marks are not affected.
    pub counted: JitteredTrips,
}

impl Jitter {
    /// No jitter.
    pub const NONE: Jitter = Jitter { most: 0.0, every: None, counted: JitteredTrips::Both };

    /// The number of the draw in effect at `t`: the first one is also in effect before zero.
    pub(super) fn number(every: f64, t: f64) -> u64 {
        // steps end at multiples of a draw's time, except for rounding
        (t / every + 1e-6).max(0.0) as u64
    }
}

/// The jitter of one flow's round trips.
#[derive(Clone, Debug)]
pub(super) struct Late {
    jitter: Jitter,
    draws: Random,
    /// The jitter of the current sample, and that of the previous one.
    present: f64,
    before: f64,
    /// Share of the next segment that has been sent.
    sent: f64,
    /// The time up to which this is known.
    until: f64,
}

impl Late {
    /// The jitter of a flow, from its own stream.
    pub(super) fn new(jitter: Jitter, seed: u64, flow: usize) -> Late {
        let mut draws = Random::new(seed, Purpose::Fluid, flow as u64);
        let (before, present) = match jitter.every {
            None => (jitter.most * draws.unit(), jitter.most * draws.unit()),
            Some(_) => (0.0, 0.0),
        };
        Late { jitter, draws, present, before, sent: 0.0, until: 0.0 }
    }

    /// The jitter in seconds of the current sample, and of the sample `interval` seconds ago.
    pub(super) fn samples(&self, interval: f64) -> (f64, f64) {
        let number = |every, t| self.draws.unit_at(Jitter::number(every, t)) * self.jitter.most;
        let (present, before) = match self.jitter.every {
            Some(every) => (number(every, self.until), number(every, self.until - interval)),
            None => (self.present, self.before),
        };
        (present, if self.jitter.counted == JitteredTrips::Both { present } else { before })
    }

    /// The part of a delay that a round-trip measurement includes.
    pub(super) fn counted(&self, late: f64) -> f64 {
        if self.jitter.counted == JitteredTrips::Neither { 0.0 } else { late }
    }

    /// Time has advanced to `t`, with updates every `interval` seconds. Returns true if another draw holds.
    pub(super) fn advance(&mut self, t: f64, interval: f64) -> bool {
        let from = std::mem::replace(&mut self.until, t);
        if let Some(every) = self.jitter.every {
            return Jitter::number(every, from) != Jitter::number(every, t);
        }
        self.sent += (t - from) / interval;
        if self.sent < 1.0 {
            return false;
        }
        self.sent = self.sent.fract();
        self.before = std::mem::replace(&mut self.present, self.jitter.most * self.draws.unit());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: f64 = 100e-6;

    fn jitter(every: Option<f64>, counted: JitteredTrips) -> Jitter {
        Jitter { most: MOST, every, counted }
    }

    /// A flow whose rate is updated every 16 us, watched after each microsecond of 160 ms: the inputs of a gradient.
    fn watched(every: Option<f64>, counted: JitteredTrips) -> Vec<(f64, f64)> {
        let mut late = Late::new(jitter(every, counted), 7, 0);
        let at = |n: u32| {
            late.advance(f64::from(n) * 1e-6, 16e-6);
            late.samples(16e-6)
        };
        (0..160_000).map(at).collect()
    }

    fn changes(samples: &[(f64, f64)]) -> usize {
        samples.windows(2).filter(|two| two[0].0 != two[1].0).count()
    }

    #[test]
    fn draws_are_uniform() {
        for every in [None, Some(10e-6)] {
            let samples = watched(every, JitteredTrips::Each);
            let mean = |of: &dyn Fn(f64) -> f64| {
                samples.iter().map(|sample| of(sample.0)).sum::<f64>() / samples.len() as f64
            };
            assert!(samples.iter().all(|sample| (0.0..MOST).contains(&sample.0)));
            let (first, second) = (mean(&|x| x), mean(&|x| x * x));
            // 10 000 draws and more, whose mean deviates by a third of a per cent of the width
            assert!((first / MOST - 0.5).abs() < 0.01, "{first}");
            assert!(((second - first * first) / (MOST * MOST / 12.0) - 1.0).abs() < 0.03, "{second}");
        }
    }

    #[test]
    fn a_draw_holds_until_the_next_update_or_for_its_time() {
        for (every, draws) in [(None, 10_000), (Some(10e-6), 16_000), (Some(40e-6), 4_000)] {
            let found = changes(&watched(every, JitteredTrips::Each));
            assert!(found.abs_diff(draws) <= 1, "{every:?}: {found} draws");
        }
    }

    /// The older round trip of a gradient has the jitter that it had when it was the newer one; or that of the newer one,
    /// where one draw is in both.
    #[test]
    fn the_older_sample_keeps_its_own_draw() {
        for every in [None, Some(8e-6)] {
            let each = watched(every, JitteredTrips::Each);
            for n in (100..1_000).map(|n| 16 * n + 3) {
                assert_eq!(each[n].1, each[n - 16].0, "{every:?}, {n} us");
                assert_ne!(each[n].0, each[n].1);
            }
            assert!(watched(every, JitteredTrips::Both).iter().all(|(present, before)| present == before));
        }
    }

    #[test]
    fn flows_and_seeds_draw_apart() {
        let first = |seed, flow| Late::new(jitter(None, JitteredTrips::Each), seed, flow).samples(16e-6);
        assert_eq!(first(1, 0), first(1, 0));
        assert!(first(1, 0) != first(1, 1) && first(1, 0) != first(2, 0));
    }
}
