//! DCQCN (Zhu et al., SIGCOMM 2015) in the limit: three equations for each flow and one for the queue, after Zhu,
//! Ghobadi, Misra and Padhye, CoNEXT 2016, section 3.

mod fixed;
mod system;
mod terms;

pub use fixed::{DcqcnFixedPoint, approximate_probability, fixed_point};
pub use system::{DcqcnFlow, DcqcnModel};
pub use terms::{Slopes, Terms};

use super::marking::Marking;

/// The reaction of a sender, in packets and seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DcqcnParameters {
    /// Gain of the estimate (g).
    pub gain: f64,
    /// Least time between two congestion notifications of a flow, in seconds.
    pub notification: f64,
    /// After so many seconds without one the estimate shrinks.
    pub estimate_timer: f64,
    /// Seconds between two increases by time (T).
    pub increase_timer: f64,
    /// Packets between two increases by volume (B).
    pub byte_counter: f64,
    /// Increases that only recover (F).
    pub recovery: f64,
    /// Additive step of the target in packets per second (R_AI).
    pub step: f64,
}

/// Equal flows through one bottleneck: what a fixed point and a margin are computed from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bottleneck {
    /// Packets per second (C).
    pub capacity: f64,
    /// How many flows.
    pub flows: f64,
    /// The reaction of each.
    pub law: DcqcnParameters,
    /// How the switch marks.
    pub marking: Marking,
    /// From a mark at the switch to the reaction as it arrives at the switch, without queueing, in seconds.
    pub delay: f64,
}

impl Bottleneck {
    /// The share of one flow, in packets per second.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.capacity / self.flows
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::marking::Ramp;

    /// The defaults of the paper, in packets of 1000 B.
    pub(crate) fn law() -> DcqcnParameters {
        DcqcnParameters {
            gain: 1.0 / 256.0,
            notification: 50e-6,
            estimate_timer: 55e-6,
            increase_timer: 55e-6,
            byte_counter: 10_000.0,
            recovery: 5.0,
            step: 5_000.0,
        }
    }

    /// 40 Gb/s, and the ramp continued.
    pub(crate) fn bottleneck(flows: f64) -> Bottleneck {
        let marking = Marking::Ramp(Ramp::new(5.0, 200.0, 0.01, false));
        Bottleneck { capacity: 5e6, flows, law: law(), marking, delay: 4e-6 }
    }
}
