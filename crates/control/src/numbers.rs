//! The fluid model of a case as named numbers, for the measures of reproductions: what the other commands show in
//! tables.

use std::collections::BTreeMap;
use std::path::Path;

use weft_fluid::cycles::{Cycles, Steady};
use weft_fluid::model::dcqcn::{DcqcnFixedPoint, fixed_point};
use weft_fluid::model::marking::Marking;

use crate::course::{self, FluidRun};
use crate::subject::{FluidLaw, Subject};
use crate::{FluidOptions, margin};
use weft_prepare::Error;

/// Every number, with its unit and meaning. Those over time cover the second half of the run.
pub const FLUID_NUMBERS: [(&str, &str, &str); 21] = [
    ("fluid.margin.exact", "degrees", "phase margin of the linearised model"),
    (
        "fluid.margin.departures",
        "degrees",
        "phase margin with marks drawn from packets that leave a busy queue",
    ),
    ("fluid.margin.published", "degrees", "phase margin by the published expansions"),
    ("fluid.unstable", "", "roots of the linearised model in the right half-plane"),
    ("fluid.rest.queue", "kB", "queue at the fixed point"),
    ("fluid.rest.marking", "", "probability of a mark at the fixed point"),
    ("fluid.rest.estimate", "", "DCQCN's estimate of congestion at the fixed point"),
    ("fluid.cycles.estimate", "", "the estimate at the peaks of the discrete model, in the limit"),
    ("fluid.cycles.intervals", "", "intervals of its increase timer from peak to peak, in the limit"),
    ("fluid.cycles.convergence", "ms", "bound on the time until rates differ by a tenth of a share"),
    ("fluid.queue.mean", "kB", "mean queue"),
    ("fluid.queue.least", "kB", "minimum queue"),
    ("fluid.queue.most", "kB", "maximum queue"),
    ("fluid.rate.mean", "Gbps", "mean rate of a flow"),
    ("fluid.rate.least", "Gbps", "minimum rate of any flow"),
    ("fluid.rate.most", "Gbps", "maximum rate of any flow"),
    ("fluid.rate.first", "Gbps", "mean rate of the first flow"),
    ("fluid.rate.last", "Gbps", "mean rate of the last flow"),
    ("fluid.end.first", "Gbps", "rate of the first flow at the end"),
    ("fluid.end.last", "Gbps", "rate of the last flow at the end"),
    ("fluid.unfairness", "", "highest mean rate of a flow divided by the lowest"),
];

/// Numbers by name.
pub type FluidNumbers = BTreeMap<&'static str, f64>;

/// Whether there is a number of this name.
#[must_use]
pub fn is_fluid_number(name: &str) -> bool {
    FLUID_NUMBERS.iter().any(|(known, ..)| *known == name)
}

/// The numbers of the chosen cases of a scenario, by index among all its cases; without those that a law does not have.
///
/// # Errors
/// [`Error::BadInput`] with all mistakes, or if there is no fluid model of the scenario; [`Error::Failed`] if its equations have no
/// number.
pub fn fluid_numbers(
    path: &Path,
    options: &FluidOptions,
    cases: &[usize],
) -> Result<Vec<FluidNumbers>, Error> {
    let subjects = Subject::all(path, options)?;
    let chosen = cases.iter().filter_map(|case| subjects.get(*case));
    chosen.map(of).collect()
}

fn of(subject: &Subject) -> Result<FluidNumbers, Error> {
    let courses = course::compute(std::slice::from_ref(subject), None)?;
    let moving = courses.iter().flat_map(FluidRun::numbers);
    // hosts with an integrator have unequal rates, so a margin for equal ones does not apply to them
    let equal = if subject.integrates_at_hosts() { &[] } else { std::slice::from_ref(subject) };
    let resting = margin::compute(equal).unwrap_or_default();
    let resting = resting.iter().flat_map(margin::CaseMargins::numbers);
    let known = moving.chain(resting).chain(at_rest(subject)).chain(in_cycles(subject));
    Ok(known.filter(|(_, value)| value.is_finite()).collect())
}

/// Numbers of DCQCN's fixed point only.
fn at_rest(subject: &Subject) -> Vec<(&'static str, f64)> {
    let found = subject.dcqcn().and_then(|of| fixed_point(&of));
    let of = |at: DcqcnFixedPoint| {
        vec![("fluid.rest.marking", at.probability), ("fluid.rest.estimate", at.estimate)]
    };
    found.map_or(Vec::new(), of)
}

/// The discrete model of DCQCN (CoNEXT 2016, theorem 2), with a queue as long as the end of the ramp.
fn in_cycles(subject: &Subject) -> Vec<(&'static str, f64)> {
    let FluidLaw::Dcqcn { law, marking: Marking::Ramp(ramp), .. } = &subject.law else { return Vec::new() };
    let cycles = Cycles {
        capacity: subject.capacity,
        flows: subject.flows(),
        gain: law.gain,
        interval: law.increase_timer,
        step: law.step,
        queue: ramp.high,
    };
    let of = |Steady { estimate, intervals, convergence }| {
        vec![
            ("fluid.cycles.estimate", estimate),
            ("fluid.cycles.intervals", intervals),
            ("fluid.cycles.convergence", convergence * 1e3),
        ]
    };
    cycles.steady().map_or(Vec::new(), of)
}
