//! Linear stability of a loop: its open-loop response, and the margins.
//!
//! Sign convention: the closed loop is `1 + L = 0`. The phase margin at a frequency with `|L| = 1` is `180 degrees +
//! arg L`, where the angle is followed from low frequencies on: a delay takes it below minus half a turn, and
//! further. There may be several such frequencies; the smallest margin counts.

pub mod dcqcn;
pub mod margin;
pub mod timely;
mod turn;

pub use margin::{Crossing, Margins, Response, margins, response, smallest_margin};

use crate::complex::Complex;
use turn::{SLOWEST, angle_turned, calm};

/// A response that depends on its own past.
pub trait Remembering {
    /// How far back the past matters, in seconds: the longest of all delays. Zero: only the present matters.
    fn memory(&self) -> f64;
}

/// An open loop.
pub trait Loop: Remembering {
    /// `L(j omega)`; `omega` in radians per second, positive.
    fn gain(&self, omega: f64) -> Complex;
}

/// A linear system with delays, by its characteristic function.
pub trait Characteristic: Remembering {
    /// `det(s - A0 - sum of A_k exp(-s t_k))` at `s = j omega`.
    fn determinant(&self, omega: f64) -> Complex;
    /// The degree in `s` of the part without delay.
    fn degree(&self) -> u32;
    /// A frequency in radians per second well above all dynamics of the loop.
    fn fastest(&self) -> f64;

    /// The number of roots in the right half-plane, from the angle through which the determinant turns along the
    /// imaginary axis (Mikhailov's criterion for retarded systems); zero means stable.
    fn unstable_roots(&self) -> u32 {
        let f = |omega| self.determinant(omega);
        let (to, left) = calm(&f, self.degree(), self.fastest());
        let turned = angle_turned(&f, (SLOWEST, to), self.memory()) + left;
        let quarter_turns = turned / std::f64::consts::FRAC_PI_2;
        let missing = f64::from(self.degree()) - quarter_turns;
        (0.5 * missing).round().max(0.0) as u32
    }
}
