//! The loop when marks are drawn from packets that leave a queue which is never empty, and fast recovery remembers.
//! Two terms of the published model change. The packets of equal flows leave at their share of the link whatever the
//! senders currently do, so the marks of a flow per second depend on the probability alone. An additive increase
//! needs more than F intervals of the timer without a notification, so it depends on the marks during all of them,
//! not on the current marks.

use crate::complex::{Complex, first_of_solution};
use crate::linear::dcqcn::Exact;
use crate::linear::{Characteristic, Loop, Remembering};
use crate::model::dcqcn::{Bottleneck, DcqcnFixedPoint, Slopes, Terms};

/// [`Exact`] with marks drawn at departures and the memory of fast recovery.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Departing {
    base: Exact,
    of: Bottleneck,
}

impl Departing {
    /// At the fixed point; `None` without one.
    #[must_use]
    pub fn new(of: &Bottleneck) -> Option<Departing> {
        let base = Exact::new(of)?;
        let terms = Terms::new(&of.law, base.at.probability, base.at.rate);
        // only the byte counter follows what the sender currently sends
        let by_volume = [0.5 * base.at.excess * terms.by_volume, of.law.step * terms.additive_by_volume, 0.0];
        Some(Departing { base: base.with_delayed_rate(by_volume), of: *of })
    }

    /// The steady state it was computed at.
    #[must_use]
    pub fn at(&self) -> &DcqcnFixedPoint {
        &self.base.at
    }

    /// How increases by the timer after `recovered` recoveries follow the probability: with `h` marks per second they come
    /// at the rate `sum over k > recovered of h(t - kT) exp(-integral of h from t - kT to t)`.
    fn timed(&self, s: Complex, recovered: f64) -> Complex {
        let (p, rate, interval) = (self.base.at.probability, self.base.at.rate, self.of.law.increase_timer);
        let log = -(-p).ln_1p();
        let hazard = rate * log;
        let kept = (-hazard * interval).exp();
        let phase = s.im * interval;
        let turned = |intervals: f64| Complex::turn(-phase * intervals) * kept.powf(intervals);
        let now = Complex::from(kept.powf(recovered + 1.0) / (1.0 - kept));
        let then = turned(recovered + 1.0) / (Complex::ONE - turned(1.0));
        let per_hazard = then + (then - now) * hazard / s;
        // the model counts p marks per packet where a stream of chances has -ln(1-p)
        per_hazard * (rate / (1.0 - p) * p / log)
    }

    /// The effect of a change of the probability on rate, target and estimate.
    fn marks(&self, s: Complex) -> [Complex; 3] {
        let (at, law) = (&self.base.at, &self.of.law);
        let slopes = Slopes::new(law, at.probability, at.rate).probability;
        let cut = slopes.notified / law.notification;
        let more = self.timed(s, 0.0) + Complex::from(at.rate * slopes.by_volume);
        let additive = self.timed(s, law.recovery) + Complex::from(at.rate * slopes.additive_by_volume);
        [
            more * (0.5 * at.excess) - Complex::from(0.5 * at.rate * at.estimate * cut),
            additive * law.step - Complex::from(at.excess * cut),
            Complex::from(law.gain / law.estimate_timer * slopes.noticed),
        ]
    }
}

impl Remembering for Departing {
    fn memory(&self) -> f64 {
        self.base.delay.max((self.of.law.recovery + 1.0) * self.of.law.increase_timer)
    }
}

impl Loop for Departing {
    fn gain(&self, omega: f64) -> Complex {
        let (s, late) = (Complex::imaginary(omega), Complex::turn(-omega * self.base.delay));
        let rate = first_of_solution(self.base.matrix(s, late), self.marks(s));
        self.base.queue_gain(s, rate * late)
    }
}

impl Characteristic for Departing {
    fn determinant(&self, omega: f64) -> Complex {
        let (s, late) = (Complex::imaginary(omega), Complex::turn(-omega * self.base.delay));
        self.base.closed(s, late, self.marks(s))
    }

    fn degree(&self) -> u32 {
        self.base.degree()
    }

    fn fastest(&self) -> f64 {
        self.base.fastest()
    }
}
