//! The steady state of patched TIMELY, in closed form (CoNEXT 2016, theorem 5), that of an integrator at the host
//! (section 5.2), and how fast unequal rates converge.

use super::{TimelyLaw, TimelyParameters};

/// A steady state of equal flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimelyFixedPoint {
    /// Queue in packets.
    pub queue: f64,
    /// Rate of each flow in packets per second.
    pub rate: f64,
    /// Whether the queue lies above the upper threshold, where another branch applies: then there is no steady state.
    pub beyond: bool,
}

/// The steady state of equal flows; `None` for laws that have none, or infinitely many, and without flows. An integrator at the
/// host holds its reference; it has further steady states with unequal rates (theorem 6).
#[must_use]
pub fn fixed_point(settings: &TimelyParameters, flows: f64) -> Option<TimelyFixedPoint> {
    let rate = settings.capacity / flows;
    if !(rate > 0.0 && rate.is_finite() && settings.step > 0.0) {
        return None;
    }
    match settings.law {
        TimelyLaw::Patched { reference, divisor, .. } => {
            let queue = reference + divisor * settings.step / (settings.decrease * rate);
            let beyond = queue > settings.capacity * settings.high;
            queue.is_finite().then_some(TimelyFixedPoint { queue, rate, beyond })
        }
        TimelyLaw::Integrator { newer, older, reference } => (reference > 0.0 && newer > older)
            .then_some(TimelyFixedPoint { queue: reference, rate, beyond: false }),
        TimelyLaw::Original | TimelyLaw::ZeroRises => None,
    }
}

/// The rate, per second, at which the difference of two rates decays near the fair share, with the queue settled.
#[must_use]
pub fn convergence_rate(settings: &TimelyParameters) -> f64 {
    settings.step / (2.0 * settings.segment)
}
