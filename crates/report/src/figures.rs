//! The plots of a page: from runs and sweeps to data to draw. Must not depend on how a plot is drawn.

pub mod course;
pub mod deadlines;
pub mod distribution;
pub mod measure;
pub mod pauses;
pub mod run;
pub mod slowest;
pub mod why;
pub mod windows;

use crate::statistics::Estimate;
use crate::summary::Summary;
use crate::sweep::{MEAN_WITH_OPEN, Run, Sweep};
use crate::text::{plotted, plural};

/// One series per scheme: estimates at the given positions, absent where nothing was measured.
pub(crate) fn series(
    name: &str,
    scheme: usize,
    x: Vec<f64>,
    estimates: Vec<Option<Estimate>>,
    scale: f64,
) -> crate::figure::Series {
    let part = |of: fn(&Estimate) -> Option<f64>| -> Vec<Option<f64>> {
        estimates.iter().map(|e| e.as_ref().and_then(of).map(|value| plotted(value / scale))).collect()
    };
    // no plotted value can be negative
    let low = part(|e| e.low.map(|low| low.max(0.0)));
    let certain = low.iter().any(Option::is_some);
    crate::figure::Series {
        name: name.to_owned(),
        scheme: Some(scheme),
        x,
        y: part(|e| Some(e.mean)),
        high: if certain { part(|e| e.high) } else { Vec::new() },
        low: if certain { low } else { Vec::new() },
        ..crate::figure::Series::default()
    }
}

/// The samples behind a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Samples {
    /// Measured flows that finished.
    Finished,
    /// Of these, flows of at most 100 kB.
    Small,
    /// Measured flows with a deadline, finished or not.
    Dated,
    /// Measured flows, finished or not.
    Started,
    /// Something other than flows, counted once per run.
    Runs,
}

impl Samples {
    /// Those behind a mean completion time.
    fn of_metric(metric: &str) -> Samples {
        if metric == MEAN_WITH_OPEN { Samples::Started } else { Samples::Finished }
    }

    /// The number of them in a run.
    fn of(self, run: &Run) -> u64 {
        let Summary { flows, fct_us, deadlines, .. } = &run.summary;
        match self {
            Samples::Finished => flows.finished,
            Samples::Small => fct_us.small.count,
            Samples::Dated => deadlines.as_ref().map_or(0, |found| found.all.flows),
            Samples::Started => flows.started,
            Samples::Runs => 1,
        }
    }
}

/// `at 80 % load, `; empty without an axis.
pub(crate) fn at_place(sweep: &Sweep, at: usize) -> String {
    sweep.axis.as_ref().map_or(String::new(), |axis| format!("at {}, ", axis.phrase(at)))
}

/// `at 80 % load, n = 61 000 flows in 3 runs`, for all runs at a point of the axis or in the whole sweep.
pub(crate) fn samples_words(sweep: &Sweep, at: Option<usize>, samples: Samples) -> String {
    let places = at.map_or(0..sweep.points(), |at| at..at + 1);
    let runs: Vec<_> =
        places.flat_map(|at| (0..sweep.schemes.len()).flat_map(move |s| sweep.case(s, at))).collect();
    let flows = plural(runs.iter().map(|run| samples.of(run)).sum(), "flow");
    let place = at.map_or(String::new(), |at| at_place(sweep, at));
    let all = if runs.len() == 1 { "one run".to_owned() } else { format!("{} runs", runs.len()) };
    match samples {
        Samples::Finished | Samples::Started => format!("{place}n = {flows} in {all}"),
        Samples::Small => format!("{place}n = {flows} up to 100\u{202f}kB in {all}"),
        Samples::Dated => format!("{place}n = {flows} with a deadline in {all}"),
        Samples::Runs => format!("{place}n = {}", plural(runs.len() as u64, "run")),
    }
}
