//! Stability of DRILL (SIGCOMM'17, theorems 1 and 2) on the counter-example with one fast output, through the switch.
//!
//! Poisson arrivals, exponential service, unit packets: the course of events is a Markov chain, driven here in its
//! uniformised form: one event is an arrival with probability lambda / (lambda + sum of mu), else an attempt of one
//! output to send. Means over events are means over time. The switch itself chooses outputs and stores packets.

mod rig;

use rig::RigOptions;
use weft_core::{Purpose, Random};
use weft_switch::balance::{BalancerSettings, drill::DrillSettings};
use weft_switch::settings::Visibility;

/// One output with rate `fast`, others with rate 1, and the offered load as a share of the total rate.
#[derive(Clone, Copy)]
struct System {
    outputs: u16,
    fast: f64,
    load: f64,
}

const FOUR: System = System { outputs: 4, fast: 10.0, load: 0.90 };
const EQUAL: System = System { outputs: 4, fast: 1.0, load: 0.90 };
const SIXTEEN: System = System { outputs: 16, fast: 40.0, load: 0.90 };

impl System {
    fn slow(self) -> f64 {
        f64::from(self.outputs - 1)
    }

    /// Arrivals per unit of time.
    fn arrivals(self) -> f64 {
        self.load * (self.fast + self.slow())
    }

    /// Events per unit of time.
    fn events(self) -> f64 {
        self.arrivals() + self.fast + self.slow()
    }

    /// The growth of the backlog under DRILL(d, 0): what misses the fast output and the others cannot send.
    fn predicted_growth(self, d: u32) -> f64 {
        ((1.0 - f64::from(d) / f64::from(self.outputs)) * self.arrivals() - self.slow()).max(0.0)
    }
}

/// The results of a run.
#[derive(Debug)]
struct Course {
    /// Growth of the backlog per unit of time.
    growth: f64,
    /// Mean number of packets in the switch, including those in service. A single queue that all outputs serve,
    /// driven by the same events, is the control variate: its mean load / (1 - load) is known, its excursions are
    /// taken off.
    steadied: f64,
}

/// The packets in the switch.
fn in_switch(rig: &rig::Rig) -> u64 {
    (0..rig.serving.len()).map(|output| rig.held(output)).sum()
}

/// Runs DRILL(d, m) with `engines` engines for `duration` units of time; the first tenth is not measured.
fn run(system: System, (d, m): (u32, u32), engines: u32, duration: f64) -> Course {
    let balancer = BalancerSettings::Drill(DrillSettings { choices: d, memory: m, ..Default::default() });
    let plan =
        RigOptions { ports: system.outputs, engines, visibility: Visibility::Instant, balancer, wire: 100 };
    let mut rig = plan.build(17);
    let mut dice = Random::new(5, Purpose::Test, 0);
    let events = (duration * system.events()) as u64;
    let (mut single, mut total, mut total_single, mut start) = (0u64, 0u64, 0u64, 0u64);
    for event in 0..events {
        if event == events / 10 {
            (start, total, total_single) = (in_switch(&rig), 0, 0);
        }
        let point = dice.unit() * system.events() - system.arrivals();
        if point < 0.0 {
            // The finer digits of the same draw choose the input.
            let inputs = f64::from(system.outputs);
            rig.arrive((-point / system.arrivals() * inputs) as usize % rig.serving.len(), 0);
            single += 1;
        } else {
            let output = if point < system.fast { 0 } else { 1 + (point - system.fast) as usize };
            let output = output.min(rig.serving.len() - 1);
            if rig.serving[output].is_some() {
                rig.send(output);
            }
            single = single.saturating_sub(1);
        }
        total += rig.switch.reading().stored().0 / 100;
        total_single += single;
    }
    let measured = (events - events / 10) as f64;
    let (backlog, alone) = (total as f64 / measured, total_single as f64 / measured);
    let growth = (in_switch(&rig) as f64 - start as f64) / (measured / system.events());
    Course { growth, steadied: backlog - alone + system.load / (1.0 - system.load) }
}

/// Theorem 1: without memory the fast output is missed too often; the backlog grows as predicted.
#[track_caller]
fn assert_grows(system: System, d: u32, duration: f64, tolerance: f64) {
    let course = run(system, (d, 0), 1, duration);
    let predicted = system.predicted_growth(d);
    assert!(predicted > 0.0, "the system is meant to be unstable");
    assert!((course.growth / predicted - 1.0).abs() < tolerance, "{predicted} predicted, {course:?}");
}

/// Theorem 2: bounded, with a mean near the one that an independent reference program printed. That program seems to
/// have preferred the remembered port in a tie (so do 29.3, 44.6 and 251 instead of our 30.5, 45.9 and 261 for
/// DRILL(1,1) suggest); fair ties are a little worse, well within the tolerance.
#[track_caller]
fn assert_bounded(system: System, (d, m): (u32, u32), engines: u32, duration: f64, mean: f64) {
    let course = run(system, (d, m), engines, duration);
    assert!(course.growth.abs() < 0.02, "{course:?}");
    assert!((course.steadied / mean - 1.0).abs() < 0.15, "a mean of {mean} expected, {course:?}");
    let ideal = system.load / (1.0 - system.load);
    assert!(course.steadied > ideal, "no switch beats a single queue with all outputs: {ideal}, {course:?}");
}

fn at(load: f64, system: System) -> System {
    System { load, ..system }
}

#[test]
fn the_predictions_are_those_of_the_formula() {
    let predicted = [(FOUR, 1, 5.775), (FOUR, 2, 2.85), (FOUR, 3, 0.0), (SIXTEEN, 2, 28.3125)];
    for (system, d, growth) in predicted {
        assert!((system.predicted_growth(d) - growth).abs() < 1e-9);
    }
    assert!((at(0.95, FOUR).predicted_growth(3) - 0.0875).abs() < 1e-9);
}

#[test]
fn without_memory_a_fast_output_makes_the_switch_unstable() {
    assert_grows(FOUR, 1, 20_000.0, 0.02);
    assert_grows(FOUR, 2, 40_000.0, 0.02);
    assert_grows(SIXTEEN, 2, 3_000.0, 0.02);
}

/// Just beyond the edge of stability. The slow outputs get 3.09 and send 3 per unit of time: over the 225 000 units
/// measured, chance alone gives the growth a standard error of sqrt(6.09 / 225 000) = 0.0052, or 6 %.
#[test]
fn three_of_four_choices_are_just_too_few_at_95_percent() {
    assert_grows(at(0.95, FOUR), 3, 250_000.0, 0.17);
}

#[test]
fn three_of_four_choices_are_just_enough_at_90_percent() {
    assert_bounded(FOUR, (3, 0), 1, 250_000.0, 89.0);
}

#[test]
fn all_choices_are_join_the_shortest_queue_and_stable() {
    assert_bounded(FOUR, (4, 0), 1, 20_000.0, 20.0);
}

#[test]
fn one_remembered_port_makes_a_switch_with_one_fast_output_stable() {
    assert_bounded(FOUR, (1, 1), 1, 20_000.0, 29.0);
    assert_bounded(FOUR, (2, 1), 1, 20_000.0, 22.0);
    assert_bounded(at(0.95, FOUR), (1, 1), 1, 40_000.0, 44.0);
    assert_bounded(at(0.95, FOUR), (2, 1), 1, 40_000.0, 36.0);
    assert_bounded(at(0.99, FOUR), (1, 1), 1, 200_000.0, 121.0);
}

#[test]
fn equal_outputs_are_stable_with_and_without_memory() {
    for (d_m, mean) in [((1, 0), 36.0), ((2, 0), 14.0), ((1, 1), 16.0), ((2, 1), 13.0)] {
        assert_bounded(EQUAL, d_m, 1, 40_000.0, mean);
    }
}

#[test]
fn sixteen_outputs_are_stable_with_one_engine_and_with_sixteen() {
    assert_bounded(SIXTEEN, (1, 1), 1, 10_000.0, 247.0);
    assert_bounded(SIXTEEN, (1, 1), 16, 10_000.0, 227.0);
    assert_bounded(SIXTEEN, (2, 1), 1, 10_000.0, 158.0);
    assert_bounded(SIXTEEN, (2, 1), 16, 10_000.0, 165.0);
}
