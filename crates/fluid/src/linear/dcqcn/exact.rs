//! The exact linearisation: the model's Jacobians at its fixed point. The loop is cut at the marking probability; the
//! other delayed quantity, the rate of packets at the switch, stays inside.

use crate::complex::{Complex, determinant, first_of_solution, replaced};
use crate::linear::{Characteristic, Loop, Remembering};
use crate::model::dcqcn::{Bottleneck, DcqcnFixedPoint, Slopes, Terms, fixed_point};
use crate::model::marking::Marking;

/// Rate, target and estimate of equal flows, linearised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exact {
    flows: f64,
    /// Delay of the feedback in seconds; with marks at arrivals it includes the queueing delay.
    pub(super) delay: f64,
    /// Transfer from the queue to the probability: `proportional + integral / s`.
    proportional: f64,
    integral: f64,
    /// Slopes with respect to the state.
    direct: [[f64; 3]; 3],
    /// Slopes with respect to the delayed rate.
    delayed_rate: [f64; 3],
    /// Slopes with respect to the delayed probability.
    marks: [f64; 3],
    /// The fixed point.
    pub at: DcqcnFixedPoint,
}

impl Exact {
    /// Linearises at the fixed point; `None` if there is none.
    #[must_use]
    pub fn new(of: &Bottleneck) -> Option<Exact> {
        let at = fixed_point(of)?;
        let law = &of.law;
        let (p, rate) = (at.probability, at.rate);
        let (terms, slopes) = (Terms::new(law, p, rate), Slopes::new(law, p, rate));
        let cuts = terms.notified / law.notification;
        let increases = rate * (terms.by_volume + terms.by_time);
        // the derivative of every equation with respect to one of its factors
        let change = |slope: &Terms, packets: f64| {
            let cut = slope.notified / law.notification;
            let more = rate * (slope.by_volume + slope.by_time) + packets * (terms.by_volume + terms.by_time);
            let additive = rate * (slope.additive_by_volume + slope.additive_by_time)
                + packets * (terms.additive_by_volume + terms.additive_by_time);
            [
                0.5 * at.excess * more - 0.5 * rate * at.estimate * cut,
                law.step * additive - at.excess * cut,
                law.gain / law.estimate_timer * slope.noticed,
            ]
        };
        let direct = [
            [-0.5 * increases - 0.5 * at.estimate * cuts, 0.5 * increases, -0.5 * rate * cuts],
            [cuts, -cuts, 0.0],
            [0.0, 0.0, -law.gain / law.estimate_timer],
        ];
        let (proportional, integral) = match of.marking {
            Marking::Ramp(ramp) => (ramp.slope(), 0.0),
            Marking::Integrator(rule) => (rule.proportional, rule.integral),
        };
        Some(Exact {
            flows: of.flows,
            delay: of.feedback_delay(at.queue),
            proportional,
            integral,
            direct,
            delayed_rate: change(&slopes.rate, 1.0),
            marks: change(&slopes.probability, 0.0),
            at,
        })
    }

    /// The loop with another delay: the fixed point does not depend on it.
    #[must_use]
    pub fn delayed_by(&self, delay: f64) -> Exact {
        Exact { delay, ..*self }
    }

    /// The loop with other slopes with respect to the delayed rate.
    pub(super) fn with_delayed_rate(self, delayed_rate: [f64; 3]) -> Exact {
        Exact { delayed_rate, ..self }
    }

    /// `s - J0 - J1 exp(-s delay)`.
    pub(super) fn matrix(&self, s: Complex, late: Complex) -> [[Complex; 3]; 3] {
        std::array::from_fn(|row| {
            std::array::from_fn(|column| {
                let own = if row == column { s } else { Complex::ZERO };
                let late = if column == 0 { late * self.delayed_rate[row] } else { Complex::ZERO };
                own - Complex::from(self.direct[row][column]) - late
            })
        })
    }

    /// Transfer through queue and marker, from the change of a flow's rate at the switch.
    pub(super) fn queue_gain(&self, s: Complex, rate: Complex) -> Complex {
        let marker = Complex::from(self.proportional) + Complex::from(self.integral) / s;
        -(marker * rate * self.flows) / s
    }

    /// The determinant of the closed loop, in which a change of the probability has the effect `marks` on rate,
    /// target and estimate.
    pub(super) fn closed(&self, s: Complex, late: Complex, marks: [Complex; 3]) -> Complex {
        let matrix = self.matrix(s, late);
        let told = self.queue_gain(s, determinant(replaced(matrix, marks)) * late);
        self.order(s) * (determinant(matrix) + told)
    }

    /// Once `s` for the queue, and once more for an integrating marker.
    pub(super) fn order(&self, s: Complex) -> Complex {
        if self.integral == 0.0 { s } else { s * s }
    }

    /// The number of unstable modes of the differences between flows, which leave the queue unchanged. Zero: unequal
    /// flows converge.
    #[must_use]
    pub fn diverging_differences(&self) -> u32 {
        Differences(*self).unstable_roots()
    }

    /// The delay at which the stable loop becomes unstable, in seconds; `None` if it is unstable without delay, or
    /// stable up to a second.
    #[must_use]
    pub fn longest_delay(&self) -> Option<f64> {
        let unstable = |delay: f64| self.delayed_by(delay).unstable_roots() > 0;
        if unstable(0.0) {
            return None;
        }
        let mut high = 1e-6;
        while !unstable(high) {
            high *= 2.0;
            if high > 1.0 {
                return None;
            }
        }
        let mut low = if high > 1e-6 { 0.5 * high } else { 0.0 };
        while high - low > 1e-4 * high {
            let middle = 0.5 * (low + high);
            *(if unstable(middle) { &mut high } else { &mut low }) = middle;
        }
        Some(0.5 * (low + high))
    }
}

impl Remembering for Exact {
    fn memory(&self) -> f64 {
        self.delay
    }
}

impl Loop for Exact {
    fn gain(&self, omega: f64) -> Complex {
        let (s, late) = (Complex::imaginary(omega), Complex::turn(-omega * self.delay));
        self.queue_gain(s, first_of_solution(self.matrix(s, late), self.marks.map(Complex::from)) * late)
    }
}

impl Characteristic for Exact {
    fn determinant(&self, omega: f64) -> Complex {
        let (s, late) = (Complex::imaginary(omega), Complex::turn(-omega * self.delay));
        self.closed(s, late, self.marks.map(Complex::from))
    }

    fn degree(&self) -> u32 {
        if self.integral == 0.0 { 4 } else { 5 }
    }

    fn fastest(&self) -> f64 {
        1e8
    }
}

/// The differences between flows, which do not affect the queue.
struct Differences(Exact);

impl Remembering for Differences {
    fn memory(&self) -> f64 {
        self.0.delay
    }
}

impl Characteristic for Differences {
    fn determinant(&self, omega: f64) -> Complex {
        let (s, late) = (Complex::imaginary(omega), Complex::turn(-omega * self.0.delay));
        determinant(self.0.matrix(s, late))
    }

    fn degree(&self) -> u32 {
        3
    }

    fn fastest(&self) -> f64 {
        1e8
    }
}
