//! Crossings of a response, and the resulting margins.

use super::turn::{SLOWEST, angle_turned};
use super::{Characteristic, Loop};
use crate::complex::Complex;
use crate::root::root;
use std::f64::consts::{PI, TAU};

/// Frequencies evaluated per decade.
const PER_DECADE: u32 = 40;
/// From one radian to 10^6 radians per second, which covers the control of networks.
const DECADES: std::ops::Range<i32> = 0..6;

/// A frequency at which `|L| = 1`, or `L` is real and negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// Radians per second.
    pub omega: f64,
    /// Phase margin in degrees if `|L| = 1`, below zero by as many turns as there are; otherwise the gain margin as a factor.
    pub margin: f64,
}

/// The distance of a loop from instability.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Margins {
    /// All frequencies with `|L| = 1`, ascending.
    pub gain_crossings: Vec<Crossing>,
    /// All frequencies where `L` is real and negative, ascending.
    pub phase_crossings: Vec<Crossing>,
}

impl Margins {
    /// The crossing with the smallest phase margin; `None` if the gain is never 1.
    #[must_use]
    pub fn phase(&self) -> Option<Crossing> {
        self.gain_crossings.iter().copied().min_by(|a, b| a.margin.total_cmp(&b.margin))
    }

    /// The crossing whose gain margin is closest to 1; `None` if the phase never reaches half a turn.
    #[must_use]
    pub fn gain(&self) -> Option<Crossing> {
        let distance = |crossing: &Crossing| crossing.margin.ln().abs();
        self.phase_crossings.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }

    /// These margins in terms of the verdict, which counts the unstable roots of the closed loop: turns alone do not
    /// decide where the gain is 1 more than once. A stable loop has the further lag that makes it unstable, above
    /// zero; an unstable one has only gain margins below 1, and its smallest phase margin is at most zero.
    #[must_use]
    pub fn judged(mut self, unstable_roots: u32) -> Margins {
        if unstable_roots == 0 {
            self.gain_crossings.iter_mut().for_each(|at| at.margin = at.margin.rem_euclid(360.0));
            return self;
        }
        let turns = self.phase().map_or(0.0, |least| (least.margin / 360.0).ceil().max(0.0));
        self.gain_crossings.iter_mut().for_each(|at| at.margin -= 360.0 * turns);
        self.phase_crossings.retain(|at| at.margin < 1.0);
        self
    }

    /// The additional delay in series with the loop that makes it unstable, in seconds: the minimum of margin over
    /// frequency. Negative if the delay is already too long.
    #[must_use]
    pub fn delay(&self) -> Option<f64> {
        let of = |crossing: &Crossing| crossing.margin.to_radians() / crossing.omega;
        self.gain_crossings.iter().map(of).min_by(f64::total_cmp)
    }
}

/// A response over frequency.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Response {
    /// Radians per second.
    pub omega: Vec<f64>,
    /// `L` at these frequencies.
    pub gain: Vec<Complex>,
}

impl Response {
    /// Phase in degrees, unwrapped from an initial value near -90 degrees.
    #[must_use]
    pub fn phase(&self) -> Vec<f64> {
        let mut last = -PI;
        let follow = |gain: &Complex| {
            let turns = ((last - gain.arg()) / TAU).round();
            last = gain.arg() + turns * TAU;
            last.to_degrees()
        };
        self.gain.iter().map(follow).collect()
    }
}

/// The frequencies of the grid.
fn grid() -> impl Iterator<Item = f64> {
    let steps = (DECADES.end - DECADES.start) as u32 * PER_DECADE;
    (0..=steps).map(|n| 10f64.powf(f64::from(DECADES.start) + f64::from(n) / f64::from(PER_DECADE)))
}

/// `L` over the grid.
pub fn response(of: &impl Loop) -> Response {
    let omega: Vec<f64> = grid().collect();
    let gain = omega.iter().map(|omega| of.gain(*omega)).collect();
    Response { omega, gain }
}

/// Follows the phase of a loop upwards, from a value in (-360, 0] degrees.
struct Follower<'a, L: Loop> {
    of: &'a L,
    omega: f64,
    phase: f64,
}

impl<'a, L: Loop> Follower<'a, L> {
    fn new(of: &'a L) -> Self {
        let phase = of.gain(SLOWEST).arg();
        Follower { of, omega: SLOWEST, phase: if phase > 0.0 { phase - TAU } else { phase } }
    }

    /// The phase margin in degrees if `|L| = 1` at this frequency.
    fn margin(&mut self, omega: f64) -> f64 {
        self.phase += angle_turned(&|at| self.of.gain(at), (self.omega, omega), self.of.memory());
        self.omega = omega;
        180.0 + self.phase.to_degrees()
    }
}

/// The smallest phase margin of a loop in degrees, as judged by [`Margins::judged`]; without a crossing, half a turn,
/// forwards if the loop is stable, else backwards.
pub fn smallest_margin<L: Loop + Characteristic>(of: &L) -> f64 {
    let unstable = of.unstable_roots();
    let without = if unstable == 0 { 180.0 } else { -180.0 };
    gain_margins(of).judged(unstable).phase().map_or(without, |crossing| crossing.margin)
}

/// All margins.
pub fn margins(of: &impl Loop) -> Margins {
    let mut margins = gain_margins(of);
    let Response { omega, gain } = response(of);
    for n in 1..omega.len() {
        let (a, b) = (gain[n - 1], gain[n]);
        // the line from a to b meets the negative half of the real axis
        if (a.im > 0.0) != (b.im > 0.0) && a.arg().abs() + b.arg().abs() > PI {
            let at = root(|log| of.gain(log.exp()).im, omega[n - 1].ln(), omega[n].ln()).map(f64::exp);
            let crossing = |omega: f64| Crossing { omega, margin: 1.0 / of.gain(omega).abs() };
            margins.phase_crossings.extend(at.map(crossing));
        }
    }
    margins
}

/// Only the crossings of `|L| = 1`, which suffice for a map.
pub fn gain_margins(of: &impl Loop) -> Margins {
    let level = |omega: f64| of.gain(omega).square();
    let mut crossings = Vec::new();
    let mut follower = Follower::new(of);
    let mut last: Option<(f64, f64)> = None;
    for omega in grid() {
        let now = level(omega);
        if let Some((before, was)) = last
            && (was > 1.0) != (now > 1.0)
            && let Some(at) = root(|log| level(log.exp()).ln(), before.ln(), omega.ln())
        {
            let omega = at.exp();
            crossings.push(Crossing { omega, margin: follower.margin(omega) });
        }
        last = Some((omega, now));
    }
    Margins { gain_crossings: crossings, phase_crossings: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::Remembering;

    /// `k / (s (1 + s/a)^2) exp(-s d)`
    struct Known {
        k: f64,
        a: f64,
        delay: f64,
    }

    impl Loop for Known {
        fn gain(&self, omega: f64) -> Complex {
            let pole = Complex::new(1.0, omega / self.a);
            Complex::from(self.k) / (Complex::imaginary(omega) * pole * pole)
                * Complex::turn(-omega * self.delay)
        }
    }

    impl Remembering for Known {
        fn memory(&self) -> f64 {
            self.delay
        }
    }

    /// `k / s exp(-s d)` crosses at `k`, with 90 degrees less the turn of the delay, however often that turns.
    #[test]
    fn a_margin_falls_with_the_delay_beyond_half_a_turn() {
        for delay in [1e-3, 1e-2, 0.1, 1.0] {
            let found = margins(&Known { k: 500.0, a: 1e12, delay });
            let expected = 90.0 - (500.0 * delay).to_degrees();
            let phase = found.phase().unwrap();
            assert!((phase.margin - expected).abs() < 1e-4, "{delay}: {phase:?}");
            assert!((found.delay().unwrap() - (PI / 2.0 / 500.0 - delay)).abs() < 1e-7, "{delay}");
        }
    }

    #[test]
    fn the_verdict_has_the_sign() {
        let of = |margins: [f64; 2]| Margins {
            gain_crossings: margins.map(|margin| Crossing { omega: 1.0, margin }).to_vec(),
            phase_crossings: [0.5, 2.0].map(|margin| Crossing { omega: 1.0, margin }).to_vec(),
        };
        let told = |margins: Margins| margins.gain_crossings.iter().map(|at| at.margin).collect::<Vec<_>>();
        assert_eq!(told(of([30.0, -320.0]).judged(0)), [30.0, 40.0]);
        assert_eq!(told(of([30.0, -20.0]).judged(2)), [30.0, -20.0]);
        assert_eq!(told(of([30.0, 50.0]).judged(2)), [-330.0, -310.0]);
        assert_eq!(of([30.0, -20.0]).judged(2).gain().unwrap().margin, 0.5);
    }

    #[test]
    fn an_integrator_with_delay_has_the_textbook_margins() {
        let of = Known { k: 500.0, a: 1e12, delay: 1e-3 };
        let found = margins(&of);
        let phase = found.phase().unwrap();
        assert!((phase.omega - 500.0).abs() < 1e-6, "{phase:?}");
        assert!((phase.margin - (90.0 - 0.5f64.to_degrees())).abs() < 1e-6, "{phase:?}");
        let gain = found.phase_crossings[0];
        assert!((gain.omega - PI / 2e-3).abs() < 1e-3 && (gain.margin - PI).abs() < 1e-5, "{gain:?}");
        assert!((found.delay().unwrap() - (PI / 2.0 / 500.0 - 1e-3)).abs() < 1e-9);
    }

    #[test]
    fn two_poles_turn_by_half_at_their_frequency() {
        let gain = margins(&Known { k: 100.0, a: 1000.0, delay: 0.0 }).gain().unwrap();
        assert!((gain.omega - 1000.0).abs() < 1e-3 && (gain.margin - 20.0).abs() < 1e-5, "{gain:?}");
    }

    #[test]
    fn the_phase_has_no_jumps() {
        let phase = response(&Known { k: 500.0, a: 1e3, delay: 1e-5 }).phase();
        assert!(phase.windows(2).all(|pair| pair[1] < pair[0] && pair[0] - pair[1] < 60.0));
        assert!((phase[0] + 90.0).abs() < 1.0);
    }
}
