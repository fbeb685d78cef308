//! The loop gain behind figure 3 of CoNEXT 2016: first-order expansions in the probability, the approximate
//! probability, with every state but the rate eliminated. Delayed terms form the numerator, all others the denominator.
//! Kept as published even where it differs from the model: its pole of the estimate is `g R` and not `g / timer`, which
//! moves the margin by less than a degree.

use crate::complex::Complex;
use crate::linear::{Loop, Remembering};
use crate::model::dcqcn::{Bottleneck, Terms, approximate_probability};
use crate::model::marking::Marking;

/// The published loop of equal flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    flows: f64,
    /// Pole of the estimate, times the number of flows.
    estimate: f64,
    /// Rate of cuts, per second: probability times rate.
    cuts: f64,
    delay: f64,
    /// Coefficients of the rate equation: [with the queue, with the delayed rate, with the rate, with the estimate].
    rate: [f64; 4],
    /// Coefficients of the target's equation: [with the rate, with the delayed rate, with the queue].
    target: [f64; 3],
}

impl Published {
    /// The loop for a ramp; `None` for other markers, for which it was not published.
    #[must_use]
    pub fn new(of: &Bottleneck) -> Option<Published> {
        let Marking::Ramp(ramp) = of.marking else { return None };
        let (law, r, n, k) = (&of.law, of.share(), of.flows, ramp.slope());
        let p = approximate_probability(of);
        let increases = 1.0 / law.byte_counter + 1.0 / (law.increase_timer * r);
        let half = 0.5 + 0.25 * increases;
        let alpha = -(law.estimate_timer * r * (-p).ln_1p()).exp_m1();
        let terms = Terms::new(law, p, r);
        let additive = terms.additive_by_volume + terms.additive_by_time;
        let excess = law.notification * law.step * r * additive / terms.notified;
        let recovery = 1.0 + 2.0 * law.recovery + 0.5 * increases;
        let pull = 0.5 * increases * r - half * p * r;
        Some(Published {
            flows: n,
            estimate: law.gain * of.capacity,
            cuts: p * r,
            delay: of.feedback_delay(ramp.queue_at(p)),
            rate: [
                -(0.5 * r * r * alpha + half * r * excess) * n * k,
                -0.5 * p * r * alpha - 0.5 * increases * r + half * p * r,
                -0.5 * p * r * alpha + 0.5 * increases * excess - half * p * excess,
                -0.5 * p * r * r * law.gain * of.capacity * n * k,
            ],
            target: [
                pull * (p * r + increases * law.step),
                pull * (-p * excess + increases * law.step - recovery * law.step * p),
                -pull * (r * excess + recovery * law.step * r) * n * k,
            ],
        })
    }
}

impl Remembering for Published {
    fn memory(&self) -> f64 {
        self.delay
    }
}

impl Loop for Published {
    fn gain(&self, omega: f64) -> Complex {
        let s = Complex::imaginary(omega);
        let z = s * self.flows + Complex::from(self.estimate);
        let y = s + Complex::from(self.cuts);
        let [by_queue, by_delayed, by_rate, by_estimate] = self.rate;
        let [target_by_rate, target_by_delayed, target_by_queue] = self.target;
        let delayed = z * y * by_queue
            + z * y * s * by_delayed
            + y * by_estimate
            + z * s * target_by_delayed
            + z * target_by_queue;
        let direct = s * z * y * by_rate + s * z * target_by_rate - s * s * z * y;
        delayed / direct * Complex::turn(-omega * self.delay)
    }
}
