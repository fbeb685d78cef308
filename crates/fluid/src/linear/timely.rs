//! The loops of patched TIMELY, exact for the branch between the thresholds, and of an integrator at the host, at
//! their fixed points, cut at the queue. While the queue rests, it does not matter that their delays depend on it.

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

/// Equal flows with an integrator at the host, linearised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Integrated {
    flows: f64,
    /// Gains of the newer and of the older queue, per packet and second.
    gains: (f64, f64),
    /// The state of the integrator: twice the share by which an update lowers the rate.
    state: f64,
    /// Age of a sample in the steady state, in seconds.
    age: f64,
    /// Seconds between two samples.
    interval: f64,
    /// The fixed point.
    pub at: TimelyFixedPoint,
}

impl Integrated {
    /// Linearises at the fixed point; `None` for other laws, and without one.
    #[must_use]
    pub fn new(settings: &TimelyParameters, flows: f64) -> Option<Integrated> {
        let TimelyLaw::Integrator { newer, older, .. } = settings.law else { return None };
        let at = fixed_point(settings, flows)?;
        let (age, interval) = (settings.age(at.queue), settings.interval(at.rate));
        let state = 2.0 * settings.step / at.rate;
        Some(Integrated { flows, gains: (newer, older), state, age, interval, at })
    }

    /// Transfer from the queue to the integral that lowers the rates of all flows, and the decay of a rate by itself.
    fn parts(&self, omega: f64) -> (Complex, Complex) {
        let (newer, older) = self.gains;
        let told = Complex::turn(-omega * self.age) * newer
            - Complex::turn(-omega * (self.age + self.interval)) * older;
        (told * (0.5 * self.flows * self.at.rate), Complex::new(0.5 * self.state, self.interval * omega))
    }
}

impl Remembering for Integrated {
    fn memory(&self) -> f64 {
        self.age + self.interval
    }
}

impl Loop for Integrated {
    fn gain(&self, omega: f64) -> Complex {
        let (told, own) = self.parts(omega);
        -(told / own) * (1.0 / (omega * omega))
    }
}

impl Characteristic for Integrated {
    fn determinant(&self, omega: f64) -> Complex {
        let (told, own) = self.parts(omega);
        told - own * (omega * omega)
    }

    fn degree(&self) -> u32 {
        3
    }

    fn fastest(&self) -> f64 {
        1e8
    }
}
