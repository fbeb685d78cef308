//! One step of the embedded pair: its error, and the length of the next one.

use super::past::{Past, Pieces, cubic, hermite};
use super::{Effort, LEAST_STEP, Stepping, System};
use std::cell::Cell;

/// Maximum number of passes over a step that depends on itself; if these do not suffice, the step is too long.
const MOST_PASSES: usize = 6;
/// Iteration ends with a pass that moves the piece by less than this share of the tolerance.
const PASS_SHARE: f64 = 0.1;

pub(super) struct Stepper<'a, S: System> {
    pub(super) system: &'a mut S,
    stepping: Stepping,
    scales: Vec<f64>,
    pieces: Pieces,
    pub(super) now: f64,
    pub(super) state: Vec<f64>,
    slope: Vec<f64>,
    /// State and slope at both ends of the last step, for samples in between.
    last: Ends,
    work: Work,
    next_length: f64,
    /// The slope has jumped: the last piece does not predict the next.
    jumped: bool,
    pub(super) effort: Effort,
}

#[derive(Default)]
struct Ends {
    from: Vec<f64>,
    from_slope: Vec<f64>,
    to: Vec<f64>,
    to_slope: Vec<f64>,
}

/// Stage slopes and states, reused between steps.
struct Work {
    second: Vec<f64>,
    third: Vec<f64>,
    last: Vec<f64>,
    stage: Vec<f64>,
    end: Vec<f64>,
}

impl<'a, S: System> Stepper<'a, S> {
    pub(super) fn new(system: &'a mut S, stepping: Stepping) -> Stepper<'a, S> {
        let mut state = system.initial();
        system.settle(0.0, &mut state);
        let zeros = || vec![0.0; state.len()];
        let next_length = match stepping {
            Stepping::Adaptive { longest, .. } => longest * 0.01,
            Stepping::Fixed(length) => length,
        };
        let mut stepper = Stepper {
            scales: system.scales(),
            pieces: Pieces::new(system.remembered()),
            slope: zeros(),
            last: Ends::default(),
            work: Work { second: zeros(), third: zeros(), last: zeros(), stage: zeros(), end: zeros() },
            system,
            stepping,
            now: 0.0,
            state,
            next_length,
            jumped: true,
            effort: Effort::default(),
        };
        stepper.refresh();
        stepper
    }

    /// Computes the slope at the current state.
    fn refresh(&mut self) {
        self.pieces.guess(self.now, LEAST_STEP, Some((&self.state, &self.slope)));
        let mut slope = std::mem::take(&mut self.slope);
        evaluate(self.system, &self.pieces, (self.now, &self.state), &mut slope);
        self.effort.evaluations += 1;
        self.slope = slope;
        self.jumped = true;
    }

    /// Takes one accepted step, which does not go beyond `stop`.
    pub(super) fn advance(&mut self, stop: f64) {
        loop {
            let room = stop - self.now;
            let ends = self.next_length >= room * (1.0 - 1e-9);
            let length = if ends { room } else { self.next_length };
            let error = self.attempt(length);
            if self.judge(length, error) {
                return self.accept(if ends { stop } else { self.now + length });
            }
        }
    }

    /// Whether to accept the step; sets the length of the next.
    fn judge(&mut self, length: f64, error: f64) -> bool {
        let Stepping::Adaptive { longest, .. } = self.stepping else { return true };
        let factor = if error > 0.0 { 0.9 * error.powf(-1.0 / 3.0) } else { 4.0 };
        let wanted = (length * factor.clamp(0.2, 4.0)).clamp(LEAST_STEP, longest);
        let (good, least) = (error <= 1.0, length <= LEAST_STEP * 1.001);
        // a step cut short by a break does not shorten later ones
        self.next_length =
            if good && length < self.next_length { self.next_length.max(wanted) } else { wanted };
        self.effort.rejected += u64::from(!good && !least);
        self.effort.forced += u64::from(!good && least);
        good || least
    }

    fn accept(&mut self, now: f64) {
        let Ends { from, from_slope, to, to_slope } = &mut self.last;
        from.clone_from(&self.state);
        from_slope.clone_from(&self.slope);
        std::mem::swap(&mut self.state, &mut self.work.end);
        std::mem::swap(&mut self.slope, &mut self.work.last);
        let length = now - self.now;
        self.now = now;
        let jumped = self.system.settle(now, &mut self.state);
        to.clone_from(&self.state);
        to_slope.clone_from(&self.slope);
        for component in 0..self.system.remembered() {
            let (from, to) = ((from[component], from_slope[component]), (to[component], to_slope[component]));
            self.pieces.revise(component, hermite(from, to, length));
        }
        self.pieces.keep();
        self.pieces.forget(now - self.system.memory());
        self.effort.steps += 1;
        self.jumped = false;
        if jumped {
            self.refresh();
        }
    }

    /// The state at `t` within the last step, which started at `from`.
    pub(super) fn interpolate(&self, from: f64, t: f64, row: &mut Vec<f64>) {
        let Ends { from: y0, from_slope: f0, to: y1, to_slope: f1 } = &self.last;
        let length = self.now - from;
        let theta = (t - from) / length;
        row.clear();
        row.extend((0..y0.len()).map(|n| cubic(&hermite((y0[n], f0[n]), (y1[n], f1[n]), length), theta)));
    }

    /// Computes a step and returns its error in units of the tolerance; infinite if the iteration does not converge.
    fn attempt(&mut self, length: f64) -> f64 {
        let line = self.jumped.then_some((self.state.as_slice(), self.slope.as_slice()));
        self.pieces.guess(self.now, length, line);
        for _ in 0..MOST_PASSES {
            if !self.pass(length) || self.revise(length) <= PASS_SHARE * self.tolerance() {
                return self.error(length);
            }
        }
        if matches!(self.stepping, Stepping::Fixed(_)) { self.error(length) } else { f64::INFINITY }
    }

    fn tolerance(&self) -> f64 {
        match self.stepping {
            Stepping::Adaptive { tolerance, .. } => tolerance,
            Stepping::Fixed(_) => 1e-10,
        }
    }

    /// Computes all stages once. Returns true if they used the piece being computed.
    fn pass(&mut self, length: f64) -> bool {
        let Stepper { system, pieces, state, slope, work, now, .. } = self;
        let Work { second, third, last, stage, end } = work;
        let mut touched = false;
        let mut at = |t: f64, y: &[f64], out: &mut [f64]| touched |= evaluate(*system, pieces, (t, y), out);
        for (n, y) in stage.iter_mut().enumerate() {
            *y = state[n] + 0.5 * length * slope[n];
        }
        at(*now + 0.5 * length, stage, second);
        for (n, y) in stage.iter_mut().enumerate() {
            *y = state[n] + 0.75 * length * second[n];
        }
        at(*now + 0.75 * length, stage, third);
        for (n, y) in end.iter_mut().enumerate() {
            *y = state[n] + length * (2.0 * slope[n] + 3.0 * second[n] + 4.0 * third[n]) / 9.0;
        }
        at(*now + length, end, last);
        self.effort.evaluations += 3;
        touched
    }

    /// Replaces the predicted piece by the computed one; returns by how much it moved, relative to the components.
    fn revise(&mut self, length: f64) -> f64 {
        let Stepper { pieces, state, slope, work, scales, .. } = self;
        let moved = |n: usize| {
            let (from, to) = ((state[n], slope[n]), (work.end[n], work.last[n]));
            pieces.revise(n, hermite(from, to, length)) / scales[n].max(state[n].abs())
        };
        (0..self.system.remembered()).map(moved).fold(0.0, f64::max)
    }

    /// The difference of both orders, in units of the tolerance.
    fn error(&self, length: f64) -> f64 {
        let Work { second, third, last, end, .. } = &self.work;
        let of = |n: usize| {
            let difference = -5.0 / 72.0 * self.slope[n] + second[n] / 12.0 + third[n] / 9.0 - last[n] / 8.0;
            length * difference.abs() / self.scales[n].max(self.state[n].abs()).max(end[n].abs())
        };
        (0..end.len()).map(of).fold(0.0, f64::max) / self.tolerance()
    }
}

/// Evaluates the derivative; returns true if it used the piece being computed.
fn evaluate<S: System>(system: &S, pieces: &Pieces, (t, state): (f64, &[f64]), out: &mut [f64]) -> bool {
    let touched = Cell::new(false);
    let past = Past { pieces, before: &|t, n| system.before(t, n), touched: &touched };
    system.derivative(t, state, &past, out);
    touched.get()
}
