//! TIMELY (Mittal et al., SIGCOMM 2015) in the fluid limit, and the three laws that Zhu, Ghobadi, Misra and Padhye
//! derive from it (CoNEXT 2016, sections 4 and 5). Both of its delays depend on the state.

mod fixed;
mod system;

pub use fixed::{TimelyFixedPoint, convergence_rate, fixed_point};
pub use system::{TimelyFlow, TimelyModel};

/// The reaction of a host to round-trip times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimelyLaw {
    /// As published: a gradient of exactly zero counts as "falling". Has no fixed point.
    Original,
    /// As [`TimelyLaw::Original`], but zero counts as "rising": every split of the capacity is stationary.
    ZeroRises,
    /// Between the thresholds the rate follows the queue's distance from a reference, weighted by the gradient.
    Patched {
        /// Slope of the weight at gradient zero: 2 in the text, 1/2 in the computation behind figure 11.
        slope: f64,
        /// The reference queue in packets.
        reference: f64,
        /// The divisor of that distance, in packets: equal to `reference`, unless part of the round trip is not
        /// queueing.
        divisor: f64,
    },
    /// An integrator at the host replaces marks.
    Integrator {
        /// Gain of the newer queue, per packet and second.
        newer: f64,
        /// Gain of the older queue, per packet and second.
        older: f64,
        /// The target queue in packets.
        reference: f64,
    },
}

/// Settings of the law and of its path, in packets and seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimelyParameters {
    /// Packets per second.
    pub capacity: f64,
    /// Packets between two samples of the round-trip time.
    pub segment: f64,
    /// Minimum round-trip time in seconds, by which gradients are divided.
    pub base: f64,
    /// Round-trip propagation, in seconds.
    pub propagation: f64,
    /// Gain of the gradient's average.
    pub gain: f64,
    /// Additive step in packets per second.
    pub step: f64,
    /// Multiplicative decrease.
    pub decrease: f64,
    /// Queueing time below which rates only rise, in seconds.
    pub low: f64,
    /// Queueing time above which rates only fall, in seconds.
    pub high: f64,
    /// The law between the thresholds.
    pub law: TimelyLaw,
}

impl TimelyParameters {
    /// Seconds between two samples of a flow at this rate.
    #[must_use]
    pub fn interval(&self, rate: f64) -> f64 {
        (self.segment / rate).max(self.base)
    }

    /// Age of a sample: queueing, one packet's transmission, propagation; in seconds.
    #[must_use]
    pub fn age(&self, queue: f64) -> f64 {
        (queue + 1.0) / self.capacity + self.propagation
    }
}

/// The weight of a gradient: 0 if clearly falling, 1 if clearly rising, linear in between, 1/2 at zero.
#[must_use]
pub fn weight(gradient: f64, slope: f64) -> f64 {
    (0.5 + slope * gradient).clamp(0.0, 1.0)
}
