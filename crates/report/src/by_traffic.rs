//! Results by traffic entry, where there are several: what each gets of the network beside the others.

use crate::metric::find;
use crate::sweep::Sweep;
use crate::text::value;
use std::collections::BTreeSet;

/// What each traffic entry got, one row per case and entry.
pub(crate) struct TrafficTable {
    /// Column names.
    pub(crate) header: Vec<String>,
    /// The rows; the first cells name the case and the entry.
    pub(crate) rows: Vec<Vec<String>>,
}

/// The columns: what follows the tag in a metric's name, and what it is called.
const COLUMNS: [(&str, &str, &str); 4] = [
    ("fct.tag", "count", "finished"),
    ("fct.tag", "mean", "mean FCT"),
    ("fct.tag", "p99", "p99"),
    ("throughput.tag", "", "throughput"),
];

/// One row per case and traffic entry from this point of the axis on, means over seeds; `None` unless there are several entries.
pub(crate) fn table(sweep: &Sweep, first: usize) -> Option<TrafficTable> {
    let tags: BTreeSet<&str> = sweep
        .runs
        .iter()
        .flat_map(|run| run.summary.throughput_gbps.tags.keys())
        .map(String::as_str)
        .collect();
    let several = sweep.schemes.len() > 1;
    let cases =
        (first..sweep.points()).flat_map(|at| (0..sweep.schemes.len()).map(move |scheme| (scheme, at)));
    let cases = cases.filter(|(scheme, at)| !sweep.case(*scheme, *at).is_empty());
    let rows = cases.flat_map(|(scheme, at)| {
        let scheme_of = several.then(|| sweep.schemes[scheme].clone());
        let names: Vec<String> =
            scheme_of.into_iter().chain(sweep.axis.as_ref().map(|axis| axis.label(at))).collect();
        tags.iter()
            .map(move |tag| {
                let cells = COLUMNS.iter().map(|column| cell(sweep, (scheme, at), tag, column));
                names.iter().cloned().chain([(*tag).to_owned()]).chain(cells).collect()
            })
            .collect::<Vec<Vec<String>>>()
    });
    let names = several.then(|| sweep.scheme_name.clone()).into_iter();
    let names = names.chain(sweep.axis.as_ref().map(|axis| axis.name.clone())).chain(["traffic".to_owned()]);
    (tags.len() > 1).then(|| TrafficTable {
        header: names.chain(COLUMNS.map(|(_, _, name)| name.to_owned())).collect(),
        rows: rows.collect(),
    })
}

/// The mean of a metric of one traffic entry over the seeds of a case.
fn cell(
    sweep: &Sweep,
    (scheme, at): (usize, usize),
    tag: &str,
    (family, statistic, _): &(&str, &str, &str),
) -> String {
    let metric = format!("{family}.{tag}.{statistic}");
    let metric = metric.trim_end_matches('.');
    let unit = find(metric).filter(|_| *statistic != "count").map_or("", |metric| metric.unit);
    let estimate = sweep.estimate(scheme, at, metric);
    estimate.map_or_else(|| sweep.absent(scheme, at, metric), |estimate| value(estimate.mean, unit))
}
