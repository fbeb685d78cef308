//! Linear stability of a loop: its open-loop response, and the margins.
//!
//! Sign convention: the closed loop is `1 + L = 0`. The phase margin at a frequency with `|L| = 1` is `180 degrees +
//! arg L`, normalised to (-180, 180]. There may be several such frequencies; the smallest margin counts.

pub mod dcqcn;
pub mod margin;
pub mod timely;

pub use margin::{Crossing, Margins, Response, margins, response};

use crate::complex::Complex;

/// An open loop.
pub trait Loop {
    /// `L(j omega)`; `omega` in radians per second, positive.
    fn gain(&self, omega: f64) -> Complex;
}

/// A linear system with delays, by its characteristic function.
pub trait Characteristic {
    /// `det(s - A0 - sum of A_k exp(-s t_k))` at `s = j omega`.
    fn determinant(&self, omega: f64) -> Complex;
    /// The degree in `s` of the part without delay.
    fn degree(&self) -> u32;
    /// A frequency in radians per second well above all dynamics of the loop.
    fn fastest(&self) -> f64;

    /// The number of roots in the right half-plane, from the angle through which the determinant turns along the
    /// imaginary axis (Mikhailov's criterion for retarded systems); zero means stable.
    fn unstable_roots(&self) -> u32 {
        let turned = angle_turned(&|omega| self.determinant(omega), 1e-3, self.fastest());
        let quarter_turns = turned / std::f64::consts::FRAC_PI_2;
        let missing = f64::from(self.degree()) - quarter_turns;
        (0.5 * missing).round().max(0.0) as u32
    }
}

/// Angle through which `f(omega)` turns around zero between two frequencies, in steps that are halved until each turns
/// by less than 30 degrees.
fn angle_turned(f: &dyn Fn(f64) -> Complex, from: f64, to: f64) -> f64 {
    const STEPS: u32 = 300;
    let ratio = (to / from).powf(1.0 / f64::from(STEPS));
    let mut total = 0.0;
    let (mut omega, mut value) = (from, f(from));
    for _ in 0..STEPS {
        let next = f(omega * ratio);
        total += turn_between(f, (omega, value), (omega * ratio, next), 30);
        (omega, value) = (omega * ratio, next);
    }
    total
}

fn turn_between(f: &dyn Fn(f64) -> Complex, a: (f64, Complex), b: (f64, Complex), depth: u32) -> f64 {
    let turn = (b.1 / a.1).arg();
    if turn.abs() < std::f64::consts::FRAC_PI_6 || depth == 0 {
        return turn;
    }
    let middle = (a.0 * b.0).sqrt();
    let at_middle = (middle, f(middle));
    turn_between(f, a, at_middle, depth - 1) + turn_between(f, at_middle, b, depth - 1)
}
