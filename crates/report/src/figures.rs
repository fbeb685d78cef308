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
use crate::sweep::Sweep;
use crate::text::{count, rounded};

/// One series per scheme: estimates at the given positions, absent where nothing was measured.
pub(crate) fn series(
    name: &str,
    scheme: usize,
    x: Vec<f64>,
    estimates: Vec<Option<Estimate>>,
    scale: f64,
) -> crate::figure::Series {
    let part = |of: fn(&Estimate) -> Option<f64>| -> Vec<Option<f64>> {
        estimates.iter().map(|e| e.as_ref().and_then(of).map(|value| rounded(value / scale))).collect()
    };
    // nothing that is plotted can be negative
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

/// `n = 61 000 flows, 3 seeds each` over all runs at a point of the axis, or of the whole sweep.
pub(crate) fn flows_words(sweep: &Sweep, at: Option<usize>) -> String {
    let places = at.map_or(0..sweep.points(), |at| at..at + 1);
    let runs: Vec<_> =
        places.flat_map(|at| (0..sweep.schemes.len()).flat_map(move |s| sweep.case(s, at))).collect();
    let flows: u64 = runs.iter().map(|run| run.summary.flows.finished).sum();
    let place =
        at.zip(sweep.axis.as_ref()).map_or(String::new(), |(at, axis)| format!("at {}, ", axis.phrase(at)));
    let runs = if runs.len() == 1 { "one run".to_owned() } else { format!("{} runs", runs.len()) };
    format!("{place}n = {} flows in {runs}", count(flows))
}
