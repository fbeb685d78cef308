//! Delay differential equations by the method of steps. Must not depend on networks: a [`System`] gives the derivative
//! of its state, which may depend on its own past.
//!
//! The step is the third-order pair of Bogacki and Shampine (1989) with its second-order companion as error estimate.
//! The past is kept as cubic Hermite pieces, whose error is of the fourth order in the step, so that delayed values
//! do not lower the order. A delay shorter than the step needs a value of the piece being computed, which is then
//! found by iteration. Clipping of the state and redrawn random numbers happen between steps ([`System::settle`]).

mod past;
mod step;

pub use past::{Past, PiecePosition};

use step::Stepper;

#[cfg(test)]
mod tests;

/// A system of equations. Times are in seconds.
pub trait System {
    /// The state at time zero.
    fn initial(&self) -> Vec<f64>;
    /// For each component the size below which its relative error does not matter; positive.
    fn scales(&self) -> Vec<f64>;
    /// Number of leading components whose past [`System::derivative`] uses.
    fn remembered(&self) -> usize;
    /// The past before time zero.
    fn before(&self, t: f64, component: usize) -> f64;
    /// The derivative of every component at `t` in `state`.
    fn derivative(&self, t: f64, state: &[f64], past: &Past<'_>, change: &mut [f64]);
    /// Called after a step to `t`: clips the state to its bounds, draws random numbers, starts flows. Returns true if
    /// the state or the law has changed, so that the derivative jumps.
    fn settle(&mut self, t: f64, state: &mut [f64]) -> bool;
    /// Times at which a derivative jumps; a step ends at each.
    fn breaks(&self) -> Vec<f64>;
    /// How far back the past is used; older pieces are dropped.
    fn memory(&self) -> f64;
}

/// The length of steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stepping {
    /// Steps as long as possible with an estimated error within `tolerance` of each component, and at most `longest`.
    Adaptive {
        /// Error of one step, relative to the component or its scale.
        tolerance: f64,
        /// The longest step in seconds.
        longest: f64,
    },
    /// Fixed, in seconds.
    Fixed(f64),
}

/// The cost of a run, and where the tolerance was exceeded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Steps taken.
    pub steps: u64,
    /// Steps rejected because of their error.
    pub rejected: u64,
    /// Evaluations of the derivative.
    pub evaluations: u64,
    /// Steps of minimum length, taken although the estimated error exceeded the tolerance: the derivative jumps there.
    pub forced: u64,
}

/// The minimum step of an adaptive run in seconds: a tenth of a nanosecond, shorter than any delay of a network.
pub const LEAST_STEP: f64 = 1e-10;

/// Integrates from zero to `until` and passes the state to `sink` at every multiple of `every`, including both ends.
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

/// The sampling instants.
struct Samples {
    every: f64,
    next: u64,
    row: Vec<f64>,
}

impl Samples {
    /// Passes on the samples within the last step; the end of the run is passed on separately.
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
