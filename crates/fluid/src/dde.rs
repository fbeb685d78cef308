//! Delay differential equations by the method of steps. Must not depend on networks: a [`System`] says how fast its
//! state changes, and may ask for its own past.
//!
//! The step is the third-order pair of Bogacki and Shampine (1989) with its second-order companion as error estimate. The
//! past is kept as cubic Hermite pieces, whose error is of the fourth order in the step, so that looking back costs no
//! order. A delay shorter than the step asks for a piece that is being computed; it is then found by iteration.
//! Clipping of the state and redrawn random numbers happen between steps ([`System::settle`]).

mod past;
mod step;

pub use past::{Past, PiecePosition};

use step::Stepper;

#[cfg(test)]
mod tests;

/// What is integrated. Times are in seconds.
pub trait System {
    /// The state at time zero.
    fn initial(&self) -> Vec<f64>;
    /// For each component the size below which its relative error does not matter; positive.
    fn scales(&self) -> Vec<f64>;
    /// How many leading components have a past that [`System::derivative`] asks for.
    fn remembered(&self) -> usize;
    /// The past before time zero.
    fn before(&self, t: f64, component: usize) -> f64;
    /// How fast every component changes at `t` in `state`.
    fn derivative(&self, t: f64, state: &[f64], past: &Past<'_>, change: &mut [f64]);
    /// After a step to `t`: puts the state back within its bounds, draws random numbers anew, starts flows. True when the
    /// state or the law has changed, so that the derivative jumps.
    fn settle(&mut self, t: f64, state: &mut [f64]) -> bool;
    /// Times at which a derivative jumps; a step ends at each.
    fn breaks(&self) -> Vec<f64>;
    /// How far back the past may be asked for; older pieces are forgotten.
    fn memory(&self) -> f64;
}

/// How long steps are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stepping {
    /// As long as the estimated error of a step stays within `tolerance` of each component, and at most `longest`.
    Adaptive {
        /// Error of one step, relative to the component or its scale.
        tolerance: f64,
        /// The longest step in seconds.
        longest: f64,
    },
    /// Always this long, in seconds.
    Fixed(f64),
}

/// What a run cost, and where the error could not be kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Steps taken.
    pub steps: u64,
    /// Steps thrown away because of their error.
    pub rejected: u64,
    /// Times the derivative was computed.
    pub evaluations: u64,
    /// Steps of the least length, taken although the estimate exceeded the tolerance: the derivative jumps there.
    pub forced: u64,
}

/// The least step of an adaptive run in seconds: a tenth of a nanosecond, below every delay of a network.
pub const LEAST_STEP: f64 = 1e-10;

/// Integrates from zero to `until` and hands the state to `sink` at every multiple of `every`, both ends included.
pub fn integrate<S: System>(
    system: &mut S,
    until: f64,
    stepping: Stepping,
    every: f64,
    sink: &mut dyn FnMut(&S, f64, &[f64]),
) -> Effort {
    let mut breaks = system.breaks();
    breaks.retain(|at| *at > 0.0 && *at < until);
    breaks.push(until);
    breaks.sort_by(f64::total_cmp);
    let mut stepper = Stepper::new(system, stepping);
    let mut samples = Samples { every, next: 0, row: Vec::new() };
    for stop in breaks {
        while stepper.now < stop {
            let from = stepper.now;
            stepper.advance(stop);
            samples.take(&stepper, (from, until), sink);
        }
    }
    sink(stepper.system, until, &stepper.state);
    stepper.effort
}

/// Which rows are due.
struct Samples {
    every: f64,
    next: u64,
    row: Vec<f64>,
}

impl Samples {
    /// The rows within the last step; the end of the run is handed out apart.
    fn take<S: System>(
        &mut self,
        stepper: &Stepper<'_, S>,
        (from, until): (f64, f64),
        sink: &mut dyn FnMut(&S, f64, &[f64]),
    ) {
        loop {
            let t = self.next as f64 * self.every;
            if t > stepper.now || t >= until - 0.5 * self.every.min(until) * 1e-6 {
                return;
            }
            stepper.interpolate(from, t, &mut self.row);
            sink(stepper.system, t, &self.row);
            self.next += 1;
        }
    }
}
