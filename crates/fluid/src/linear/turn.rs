//! Follows angles along the imaginary axis, in steps short enough not to lose a full turn. Must not depend on loops.

use crate::complex::Complex;
use std::f64::consts::FRAC_PI_6;

/// The frequency in radians per second from which angles are followed, far below all dynamics of networks.
pub(super) const SLOWEST: f64 = 1e-3;
/// Ratio of two frequencies of the grid.
const RATIO: f64 = 1.25;
/// A delay turns by at most this many radians in a step.
const BY_DELAY: f64 = 0.5;
/// No step is shorter than this share of its frequency; reached by delays of seconds.
const FINEST: f64 = 1e-4;

/// Angle in radians through which `f(omega)` turns around zero between two frequencies, where `f` depends on up to `memory`
/// seconds of its past. Steps are halved until each turns by less than 30 degrees.
pub(super) fn angle_turned(f: &dyn Fn(f64) -> Complex, (from, to): (f64, f64), memory: f64) -> f64 {
    let mut total = 0.0;
    let mut last = (from, f(from));
    while last.0 < to {
        let room = (BY_DELAY / memory).max(FINEST * last.0);
        let omega = (last.0 * RATIO).min(last.0 + room).min(to);
        let next = (omega, f(omega));
        total += turn_between(f, last, next, 30);
        last = next;
    }
    total
}

fn turn_between(f: &dyn Fn(f64) -> Complex, a: (f64, Complex), b: (f64, Complex), depth: u32) -> f64 {
    let turn = (b.1 / a.1).arg();
    if turn.abs() < FRAC_PI_6 || depth == 0 {
        return turn;
    }
    let middle = (a.0 * b.0).sqrt();
    let at_middle = (middle, f(middle));
    turn_between(f, a, at_middle, depth - 1) + turn_between(f, at_middle, b, depth - 1)
}

/// The frequency above which a function behaves like its leading power, whose `degree` is known, as it does at `fastest`; and the
/// angle through which it still turns from there on.
pub(super) fn calm(f: &dyn Fn(f64) -> Complex, degree: u32, fastest: f64) -> (f64, f64) {
    let scaled = |omega: f64| (0..degree).fold(f(omega), |value, _| value / Complex::imaginary(omega));
    let limit = scaled(fastest);
    let mut last = (fastest, Complex::ONE);
    while last.0 > SLOWEST {
        let omega = last.0 / RATIO;
        let relative = scaled(omega) / limit;
        if (relative - Complex::ONE).abs() > 0.5 {
            break;
        }
        last = (omega, relative);
    }
    (last.0, -last.1.arg())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `exp(-s d)` over three decades: more than a full turn in every step of equal ratio.
    #[test]
    fn no_turn_of_a_long_delay_is_lost() {
        for delay in [1e-3, 7e-2, 0.9] {
            let turned = angle_turned(&|omega| Complex::turn(-omega * delay), (1.0, 1e3), delay);
            assert!((turned + 999.0 * delay).abs() < 1e-6, "{delay}: {turned}");
        }
    }
}
