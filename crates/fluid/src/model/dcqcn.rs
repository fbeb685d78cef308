//! DCQCN (Zhu et al., SIGCOMM 2015) in the fluid limit: three equations per flow and one for the queue, after Zhu,
//! Ghobadi, Misra and Padhye, CoNEXT 2016, section 3.

mod fixed;
mod system;
mod terms;

pub use fixed::{DcqcnFixedPoint, NoFixedPoint, approximate_probability, find_fixed_point, fixed_point};
pub use system::{DcqcnFlow, DcqcnModel};
pub use terms::{Slopes, Terms};

use super::marking::Marking;

/// The parameters of a sender, in packets and seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DcqcnParameters {
    /// Gain of the estimate (g).
    pub gain: f64,
    /// Minimum time between two congestion notifications of a flow, in seconds.
    pub notification: f64,
    /// Time without a notification after which the estimate falls, in seconds.
    pub estimate_timer: f64,
    /// Period of increases by time (T), in seconds.
    pub increase_timer: f64,
    /// Packets between two increases by volume (B).
    pub byte_counter: f64,
    /// Number of increases that only recover (F).
    pub recovery: f64,
    /// Additive step of the target in packets per second (R_AI).
    pub step: f64,
}

/// Equal flows through one bottleneck, for fixed points and margins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bottleneck {
    /// Packets per second (C).
    pub capacity: f64,
    /// Number of flows.
    pub flows: f64,
    /// The parameters of each flow.
    pub law: DcqcnParameters,
    /// How the switch marks.
    pub marking: Marking,
    /// Loop delay without queueing, from a mark at the switch until the reaction reaches the switch, in seconds.
    pub delay: f64,
    /// Whether a mark reflects the queue when the packet arrived, not when it left: the loop then includes the queueing
    /// delay.
    pub marks_at_arrival: bool,
}

impl Bottleneck {
    /// Delay of the feedback, in seconds, where the queue holds this many packets.
    #[must_use]
    pub fn feedback_delay(&self, queue: f64) -> f64 {
        self.delay + if self.marks_at_arrival { queue.max(0.0) / self.capacity } else { 0.0 }
    }

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
        Bottleneck { capacity: 5e6, flows, law: law(), marking, delay: 4e-6, marks_at_arrival: false }
    }
}
