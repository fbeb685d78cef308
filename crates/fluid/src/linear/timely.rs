//! The loop of patched TIMELY at its fixed point, cut at the queue; exact for the branch between the thresholds.

use super::{Characteristic, Loop, Remembering};
use crate::complex::Complex;
use crate::model::timely::{TimelyFixedPoint, TimelyLaw, TimelyParameters, fixed_point};

/// Equal flows of patched TIMELY, linearised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Patched {
    flows: f64,
    settings: TimelyParameters,
    slope: f64,
    divisor: f64,
    /// Age of a sample in the steady state, in seconds.
    age: f64,
    /// Seconds between two samples.
    interval: f64,
    /// The fixed point.
    pub at: TimelyFixedPoint,
}

impl Patched {
    /// Linearises at the fixed point; `None` for laws without one.
    #[must_use]
    pub fn new(settings: &TimelyParameters, flows: f64) -> Option<Patched> {
        let TimelyLaw::Patched { slope, divisor, .. } = settings.law else { return None };
        let at = fixed_point(settings, flows)?;
        let (age, interval) = (settings.age(at.queue), settings.interval(at.rate));
        Some(Patched { flows, settings: *settings, slope, divisor, age, interval, at })
    }

    /// Transfer from the queue to its gradient, as a host measures it.
    fn gradient(&self, omega: f64) -> Complex {
        let TimelyParameters { gain, capacity, base, .. } = self.settings;
        let difference =
            Complex::turn(-omega * self.age) - Complex::turn(-omega * (self.age + self.interval));
        difference * gain / Complex::new(gain, self.interval * omega) * (1.0 / (capacity * base))
    }

    /// The decay of the rate by itself, and its response to the queue.
    fn parts(&self, omega: f64) -> (Complex, Complex) {
        let TimelyParameters { step, decrease, .. } = self.settings;
        let by_level = Complex::turn(-omega * self.age) * (0.5 * decrease * self.at.rate / self.divisor);
        let by_gradient = self.gradient(omega) * (2.0 * step * self.slope);
        (Complex::new(0.5 * step / self.at.rate, self.interval * omega), by_level + by_gradient)
    }
}

impl Remembering for Patched {
    fn memory(&self) -> f64 {
        self.age + self.interval
    }
}

impl Loop for Patched {
    fn gain(&self, omega: f64) -> Complex {
        let (own, told) = self.parts(omega);
        told * self.flows / (own * Complex::imaginary(omega))
    }
}

impl Characteristic for Patched {
    fn determinant(&self, omega: f64) -> Complex {
        let (own, told) = self.parts(omega);
        let filter = Complex::new(self.settings.gain, self.interval * omega);
        filter * (own * Complex::imaginary(omega) + told * self.flows)
    }

    fn degree(&self) -> u32 {
        3
    }

    fn fastest(&self) -> f64 {
        1e8
    }
}
