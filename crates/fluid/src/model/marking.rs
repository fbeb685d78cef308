//! The marking probability of the switch: a ramp over the queue (RED without averaging), or an integrator (PI).

/// The marking rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Marking {
    /// From the current length of the queue.
    Ramp(Ramp),
    /// From the integral of the queue's deviation from a reference.
    Integrator(Integrator),
}

/// A probability that rises linearly with the queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ramp {
    /// Start of the ramp, in packets (Kmin).
    pub low: f64,
    /// End of the ramp, where it reaches `top`, in packets (Kmax).
    pub high: f64,
    /// The probability at `high` (Pmax).
    pub top: f64,
    /// Whether everything beyond `high` is marked, as in the algorithm; otherwise the ramp continues up to probability
    /// 1, as the published stability figures silently assume.
    pub literal: bool,
}

/// `p' = K1 q' + K2 (q - reference)`, kept within 0 and 1 (Hollot et al. 2001).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Integrator {
    /// The target length of the queue, in packets.
    pub reference: f64,
    /// Proportional gain (K1) per packet.
    pub proportional: f64,
    /// Integral gain (K2) per packet and second.
    pub integral: f64,
}

impl Ramp {
    /// From `low` to `high` packets, with `top` at the end.
    #[must_use]
    pub fn new(low: f64, high: f64, top: f64, literal: bool) -> Ramp {
        Ramp { low, high, top, literal }
    }

    /// Slope per packet.
    #[must_use]
    pub fn slope(&self) -> f64 {
        self.top / (self.high - self.low)
    }

    /// The probability at a queue of `queue` packets.
    #[must_use]
    pub fn probability(&self, queue: f64) -> f64 {
        if self.literal && queue > self.high {
            return 1.0;
        }
        ((queue - self.low) * self.slope()).clamp(0.0, 1.0)
    }

    /// The queue at which a packet is marked with this probability.
    #[must_use]
    pub fn queue_at(&self, probability: f64) -> f64 {
        self.low + probability / self.slope()
    }

    /// The greatest probability that a steady state can have.
    #[must_use]
    pub fn limit(&self) -> f64 {
        if self.literal { self.top } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jump_at_the_end_belongs_to_the_literal_ramp() {
        let literal = Ramp::new(5.0, 200.0, 0.01, true);
        let continued = Ramp::new(5.0, 200.0, 0.01, false);
        for queue in [0.0, 5.0, 100.0, 200.0] {
            assert_eq!(literal.probability(queue), continued.probability(queue));
        }
        assert_eq!(literal.probability(5.0), 0.0);
        assert!((literal.probability(200.0) - 0.01).abs() < 1e-15);
        assert_eq!(literal.probability(200.1), 1.0);
        assert!((continued.probability(395.0) - 0.02).abs() < 1e-15);
        assert_eq!((literal.limit(), continued.limit()), (0.01, 1.0));
        assert!((continued.queue_at(continued.probability(333.0)) - 333.0).abs() < 1e-9);
    }
}
