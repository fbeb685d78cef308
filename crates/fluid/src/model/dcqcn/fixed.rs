//! The steady state of equal flows (CoNEXT 2016, theorem 1): unique, and found by bisection on the probability.

use super::{Bottleneck, DcqcnParameters, Terms};
use crate::model::marking::Marking;
use crate::root::root;

/// A steady state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DcqcnFixedPoint {
    /// Probability of a mark.
    pub probability: f64,
    /// Queue in packets; on the continued ramp if it lies beyond the ramp's end.
    pub queue: f64,
    /// Estimate (alpha).
    pub estimate: f64,
    /// Rate of a flow in packets per second.
    pub rate: f64,
    /// Target rate minus rate, in packets per second.
    pub excess: f64,
    /// The state lies beyond the end of a literal ramp: the switch cannot mark with this probability, and the flows
    /// will oscillate.
    pub beyond_ramp: bool,
}

/// Left side minus right side of the condition; it rises with the probability.
fn imbalance(law: &DcqcnParameters, p: f64, rate: f64) -> f64 {
    let terms = Terms::new(law, p, rate);
    let increases = terms.by_volume + terms.by_time;
    let additive = terms.additive_by_volume + terms.additive_by_time;
    let left = 2.0 * terms.notified.ln() + terms.noticed.ln() - increases.ln() - additive.ln();
    left - (law.notification * law.notification * law.step * rate).ln()
}

/// Why equal flows have no steady state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoFixedPoint {
    /// There is no flow, or no capacity for it.
    NoFlow,
    /// The estimate never changes (gain 0), so it is not part of the loop.
    FixedEstimate,
    /// Even if every second packet is marked, increases outweigh cuts at the share of the link.
    NotHeld,
    /// However rare marks are, cuts outweigh increases at the share of the link.
    NotRaised,
}

/// Probabilities among which the steady state is sought.
const PROBABILITIES: std::ops::Range<f64> = 1e-12..0.5;

/// The unique steady state; `None` without one, as [`find_fixed_point`] explains.
#[must_use]
pub fn fixed_point(of: &Bottleneck) -> Option<DcqcnFixedPoint> {
    find_fixed_point(of).ok()
}

/// The unique steady state.
///
/// # Errors
/// Why there is none.
pub fn find_fixed_point(of: &Bottleneck) -> Result<DcqcnFixedPoint, NoFixedPoint> {
    let (law, rate) = (&of.law, of.share());
    if !(rate > 0.0 && rate.is_finite()) {
        return Err(NoFixedPoint::NoFlow);
    }
    if law.gain == 0.0 {
        return Err(NoFixedPoint::FixedEstimate);
    }
    let condition = |log_p: f64| imbalance(law, log_p.exp(), rate).min(1e9);
    let (rarest, most) = (PROBABILITIES.start.ln(), PROBABILITIES.end.ln());
    let why = if condition(rarest) > 0.0 { NoFixedPoint::NotRaised } else { NoFixedPoint::NotHeld };
    let probability = root(condition, rarest, most).ok_or(why)?.exp();
    let terms = Terms::new(law, probability, rate);
    let additive = terms.additive_by_volume + terms.additive_by_time;
    let (queue, beyond_ramp) = match of.marking {
        Marking::Ramp(ramp) => (ramp.queue_at(probability), probability > ramp.limit()),
        Marking::Integrator(integrator) => (integrator.reference, false),
    };
    Ok(DcqcnFixedPoint {
        probability,
        queue,
        estimate: terms.noticed,
        rate,
        excess: rate * law.notification * law.step * additive / terms.notified,
        beyond_ramp,
    })
}

/// The first term of the expansion for small probabilities, which the published margins use.
#[must_use]
pub fn approximate_probability(of: &Bottleneck) -> f64 {
    let (law, rate) = (&of.law, of.share());
    let increases = 1.0 / law.byte_counter + 1.0 / (law.increase_timer * rate);
    (law.step / (law.estimate_timer * rate * rate) * increases * increases).cbrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::dcqcn::tests::bottleneck;

    /// N, exact p, approximate p, queue in kB exact and from the approximation, alpha, excess in Mb/s; computed by an
    /// independent script for 40 Gb/s and the paper's defaults.
    const TABLE: [[f64; 7]; 9] = [
        [1.0, 3.182e-4, 3.703e-4, 11.21, 12.22, 0.0838, 293.6],
        [2.0, 7.770e-4, 9.247e-4, 20.15, 23.03, 0.1014, 218.0],
        [4.0, 1.8877e-3, 2.3195e-3, 41.81, 50.23, 0.1218, 159.5],
        [8.0, 4.552e-3, 5.832e-3, 93.77, 118.7, 0.1452, 115.1],
        [10.0, 6.032e-3, 7.849e-3, 122.6, 158.1, 0.1533, 103.3],
        [16.0, 1.0873e-2, 1.4678e-2, 217.0, 291.2, 0.1713, 81.8],
        [32.0, 2.562e-2, 3.696e-2, 504.6, 725.8, 0.1999, 57.3],
        [64.0, 5.905e-2, 9.312e-2, 1156.5, 1820.8, 0.2301, 39.5],
        [100.0, 9.921e-2, 1.688e-1, 1939.7, 3296.9, 0.2497, 30.8],
    ];

    fn same(value: f64, expected: f64, share: f64) {
        assert!((value / expected - 1.0).abs() < share, "{value} instead of {expected}");
    }

    #[test]
    fn the_table_of_steady_states() {
        for [flows, p, approximate, queue, rough_queue, estimate, excess] in TABLE {
            let of = bottleneck(flows);
            let Marking::Ramp(ramp) = of.marking else { unreachable!("the defaults mark by a ramp") };
            let found = fixed_point(&of).unwrap();
            same(found.probability, p, 3e-4);
            same(found.queue, queue, 5e-4);
            same(found.estimate, estimate, 6e-4);
            same(found.excess * 8e-3, excess, 2e-3);
            same(approximate_probability(&of), approximate, 3e-4);
            same(ramp.queue_at(approximate_probability(&of)), rough_queue, 5e-4);
        }
    }

    #[test]
    fn every_number_of_flows_has_a_steady_state() {
        for flows in 1..=400 {
            assert!(fixed_point(&bottleneck(f64::from(flows))).is_some(), "{flows} flows");
        }
    }

    #[test]
    fn without_a_steady_state_there_is_a_reason() {
        let why = |of: &Bottleneck| find_fixed_point(of).expect_err("nothing holds it");
        assert_eq!(why(&bottleneck(0.0)), NoFixedPoint::NoFlow);
        assert_eq!(why(&bottleneck(1000.0)), NoFixedPoint::NotHeld);
        let of = bottleneck(10.0);
        let with = |law: DcqcnParameters| Bottleneck { law, ..of };
        assert_eq!(why(&with(DcqcnParameters { step: 0.0, ..of.law })), NoFixedPoint::NotRaised);
        assert_eq!(why(&with(DcqcnParameters { gain: 0.0, ..of.law })), NoFixedPoint::FixedEstimate);
        assert_eq!(why(&with(DcqcnParameters { byte_counter: 1e-3, ..of.law })), NoFixedPoint::NotHeld);
    }

    #[test]
    fn a_literal_ramp_of_one_per_cent_holds_up_to_fourteen_flows() {
        let literal = |flows: f64| {
            let mut of = bottleneck(flows);
            let Marking::Ramp(ramp) = &mut of.marking else { unreachable!("the defaults mark by a ramp") };
            ramp.literal = true;
            fixed_point(&of).unwrap().beyond_ramp
        };
        let most = (1..100).take_while(|flows| !literal(f64::from(*flows))).count();
        assert!((14..=15).contains(&most), "{most}");
    }

    #[test]
    fn the_approximation_scales_as_its_formula_says() {
        let of = bottleneck(10.0);
        let doubled = Bottleneck { law: DcqcnParameters { step: 2.0 * of.law.step, ..of.law }, ..of };
        same(approximate_probability(&doubled) / approximate_probability(&of), 2f64.cbrt(), 1e-12);
        let timers =
            |flows: f64| Bottleneck { law: DcqcnParameters { byte_counter: 1e12, ..of.law }, flows, ..of };
        let growth = approximate_probability(&timers(40.0)) / approximate_probability(&timers(20.0));
        same(growth, 2f64.powf(4.0 / 3.0), 1e-6);
    }

    #[test]
    fn an_integrator_holds_its_reference_for_every_number_of_flows() {
        use crate::model::marking::Integrator;
        for flows in [2.0, 10.0, 64.0] {
            let ramp = fixed_point(&bottleneck(flows)).unwrap();
            let integrator = Integrator { reference: 200.0, proportional: 5.8e-6, integral: 1.16e-4 };
            let of = Bottleneck { marking: Marking::Integrator(integrator), ..bottleneck(flows) };
            let held = fixed_point(&of).unwrap();
            assert_eq!((held.queue, held.probability, held.rate), (200.0, ramp.probability, ramp.rate));
        }
    }
}
