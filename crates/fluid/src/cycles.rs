//! Discrete model of DCQCN's convergence (CoNEXT 2016, theorem 2): all flows peak together, cut their rates once, and
//! then grow in equal steps. Time counts in intervals of the increase timer.
//!
//! In the paper's appendix, the exponent in the equation of the steady estimate is larger by one; only the exponent
//! used here reproduces the authors' numbers.

use crate::root::root;

/// The parameters of the model, in packets and seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycles {
    /// Packets per second.
    pub capacity: f64,
    /// Number of flows.
    pub flows: f64,
    /// Gain of the estimate.
    pub gain: f64,
    /// Period of the increase timer and of the estimate's, in seconds.
    pub interval: f64,
    /// Additive step in packets per second.
    pub step: f64,
    /// Queue in packets at which flows are marked; the bound on the convergence time assumes the end of the ramp.
    pub queue: f64,
}

/// The periodic cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// The estimate at each peak.
    pub estimate: f64,
    /// Number of intervals from peak to peak.
    pub intervals: f64,
    /// Time in seconds for the difference of two rates to fall from the capacity to a tenth of a fair share.
    pub convergence: f64,
}

/// The state of a flow at a peak.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// Rate in packets per second.
    pub rate: f64,
    /// The estimate.
    pub estimate: f64,
}

impl Cycles {
    /// Intervals from a peak with this estimate to the next peak.
    #[must_use]
    pub fn intervals(&self, estimate: f64) -> f64 {
        let filling = 8.0 * self.queue / (self.flows * self.step * self.interval);
        let steps = 0.5 * ((1.0 + filling).sqrt() - 1.0);
        2.0 + (0.5 * steps + self.capacity / (2.0 * self.flows * self.step)) * estimate
    }

    /// The estimate one cycle later.
    #[must_use]
    pub fn next_estimate(&self, estimate: f64, intervals: f64) -> f64 {
        (1.0 - self.gain).powf(intervals - 1.0) * ((1.0 - self.gain) * estimate + self.gain)
    }

    /// The periodic cycle; `None` for parameters without one.
    #[must_use]
    pub fn steady(&self) -> Option<Steady> {
        let change = |estimate: f64| self.next_estimate(estimate, self.intervals(estimate)) - estimate;
        let estimate = root(change, 1e-9, 1.0)?;
        let intervals = self.intervals(estimate);
        let cycles = (0.1 / self.flows).ln() / (1.0 - 0.5 * estimate).ln();
        Some(Steady { estimate, intervals, convergence: self.interval * intervals * cycles })
    }

    /// One cycle of a flow: it cuts its rate at the peak and grows for the rest of `intervals`.
    #[must_use]
    pub fn next(&self, peak: Peak, intervals: f64) -> Peak {
        let rate = (1.0 - 0.5 * peak.estimate) * peak.rate + (intervals - 1.0) * self.step;
        Peak { rate, estimate: self.next_estimate(peak.estimate, intervals) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paper(flows: f64) -> Cycles {
        let (capacity, gain, interval, step) = (5e6, 1.0 / 256.0, 55e-6, 5_000.0);
        Cycles { capacity, flows, gain, interval, step, queue: 200.0 }
    }

    fn same(value: f64, expected: f64, half_a_digit: f64) {
        assert!((value - expected).abs() <= half_a_digit, "{value} instead of {expected}");
    }

    /// The authors' data: steady estimate, intervals and milliseconds for 2, 12, 22, 52 and 92 flows.
    #[test]
    fn the_published_cycles() {
        let table = [
            (2.0, 0.0570, 17.00, 96.90),
            (12.0, 0.1252, 7.88, 32.07),
            (22.0, 0.1591, 6.22, 22.28),
            (52.0, 0.2160, 4.60, 13.83),
            (92.0, 0.2580, 3.85, 10.48),
        ];
        for (flows, estimate, intervals, ms) in table {
            let steady = paper(flows).steady().unwrap();
            same(steady.estimate, estimate, 0.51e-4);
            same(steady.intervals, intervals, 0.51e-2);
            same(steady.convergence * 1e3, ms, 0.51e-2);
        }
    }

    #[test]
    fn the_published_times_with_other_settings() {
        type Change = fn(&mut Cycles);
        let rows: [(Change, [f64; 5], f64); 3] = [
            (|c| c.step = 1_250.0, [358.2, 106.9, 70.17, 39.24, 27.24], 0.1),
            (|c| c.queue = 1_000.0, [102.7, 36.10, 25.74, 16.60, 12.85], 0.1),
            (|c| c.gain = 1.0 / 16.0, [100.1, 33.17, 23.05, 14.32, 10.84], 0.1),
        ];
        for (change, row, digit) in rows {
            for (flows, ms) in [2.0, 12.0, 22.0, 52.0, 92.0].into_iter().zip(row) {
                let mut cycles = paper(flows);
                change(&mut cycles);
                same(
                    cycles.steady().unwrap().convergence * 1e3,
                    ms,
                    if ms < 100.0 { digit / 10.0 } else { digit },
                );
            }
        }
    }

    #[test]
    fn differences_shrink_by_the_proven_factors() {
        let cycles = paper(2.0);
        let mut pair = [Peak { rate: 4e6, estimate: 1.0 }, Peak { rate: 1e6, estimate: 0.25 }];
        for _ in 0..2000 {
            let intervals = cycles.intervals(0.5 * (pair[0].estimate + pair[1].estimate));
            let next = pair.map(|peak| cycles.next(peak, intervals));
            let gap = |pair: &[Peak; 2]| pair[0].estimate - pair[1].estimate;
            let expected = gap(&pair) * (1.0 - cycles.gain).powf(intervals);
            assert!((gap(&next) - expected).abs() < 1e-15);
            pair = next;
        }
        let steady = cycles.steady().unwrap();
        same(pair[0].estimate, steady.estimate, 1e-9);
        // equal estimates: the rates approach each other by the cut alone
        let apart = [Peak { rate: 4e6, ..pair[0] }, Peak { rate: 1e6, ..pair[0] }];
        let next = apart.map(|peak| cycles.next(peak, steady.intervals));
        same((next[0].rate - next[1].rate) / 3e6, 1.0 - 0.5 * pair[0].estimate, 1e-12);
    }

    #[test]
    fn the_estimate_falls_to_its_steady_value_and_not_below() {
        let cycles = paper(22.0);
        let steady = cycles.steady().unwrap().estimate;
        let mut estimate = 1.0;
        for _ in 0..500 {
            let next = cycles.next_estimate(estimate, cycles.intervals(estimate));
            assert!(next <= estimate && next >= steady - 1e-12, "{next}");
            estimate = next;
        }
        same(estimate, steady, 1e-6);
    }
}
