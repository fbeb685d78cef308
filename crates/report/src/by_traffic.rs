//! Results by traffic entry, if there are several: the share of the network that each gets beside the others.

use crate::metric::unit;
use crate::sweep::Sweep;
use crate::text::{count, value};
use std::collections::BTreeSet;

/// The results of each traffic entry, one row per case and entry.
pub(crate) struct TrafficTable {
    /// Column names.
    pub(crate) header: Vec<String>,
    /// The rows; the first cells name the case and the entry.
    pub(crate) rows: Vec<Vec<String>>,
}

/// The columns: the part that follows the tag in a metric's name, and its title.
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
        let scheme_of = several.then(|| sweep.cell_name(scheme));
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

/// The mean of a metric of one traffic entry over the seeds of a case; a whole number of flows as such.
fn cell(
    sweep: &Sweep,
    (scheme, at): (usize, usize),
    tag: &str,
    (family, statistic, _): &(&str, &str, &str),
) -> String {
    let metric = format!("{family}.{tag}.{statistic}");
    let metric = metric.trim_end_matches('.');
    let unit = unit(metric);
    let estimate = sweep.estimate(scheme, at, metric);
    let shown = |mean: f64| match *statistic == "count" && mean.fract() == 0.0 {
        true => count(mean as u64),
        false => value(mean, unit),
    };
    estimate.map_or_else(|| sweep.absent(scheme, at, metric), |estimate| shown(estimate.mean))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Distribution;
    use crate::sweep::Run;

    /// Of one seed all counts are whole; a mean over seeds may not be.
    #[test]
    fn whole_numbers_of_flows_are_shown_as_such() {
        let run = |seed: u64, flows: [u32; 2]| {
            let mut run = Run::default();
            run.manifest.seed = seed;
            for (tag, flows) in ["in", "web"].into_iter().zip(flows) {
                let times = (0..flows).map(f64::from).collect();
                run.summary.fct_us.tags.insert(tag.to_owned(), Distribution::of(times));
                run.summary.throughput_gbps.tags.insert(tag.to_owned(), 1.0);
            }
            run
        };
        let finished = |runs: Vec<Run>| {
            let found = table(&Sweep::new(runs), 0).expect("two entries");
            found.rows.iter().map(|row| row[1].replace('\u{202f}', " ")).collect::<Vec<_>>()
        };
        assert_eq!(finished(vec![run(1, [23, 12_156])]), ["23", "12 156"]);
        assert_eq!(finished(vec![run(1, [23, 40]), run(2, [24, 42])]), ["23.5", "41"]);
    }

    #[test]
    fn every_case_has_a_row_for_each_traffic_entry() {
        let run = |balance: &str, tags: &[(&str, f64)]| {
            let mut run = Run::default();
            run.manifest.labels = vec![("balance".to_owned(), balance.to_owned())];
            let tags = tags.iter().map(|(tag, gbps)| ((*tag).to_owned(), *gbps));
            run.summary.throughput_gbps.tags = tags.collect();
            run
        };
        let both = [("cubic", 48.0), ("dctcp", 0.25)];
        let sweep = Sweep::new(vec![run("ecmp", &both), run("drill", &both)]);
        let found = table(&sweep, 0).expect("two entries");
        assert_eq!(found.header[..2], ["balance", "traffic"]);
        let names: Vec<_> = found.rows.iter().map(|row| (row[0].as_str(), row[1].as_str())).collect();
        assert_eq!(names, [("ecmp", "cubic"), ("ecmp", "dctcp"), ("drill", "cubic"), ("drill", "dctcp")]);
        assert!(found.rows[1].last().is_some_and(|cell| cell.starts_with("0.250")), "{:?}", found.rows[1]);
        assert!(table(&Sweep::new(vec![run("ecmp", &both[..1])]), 0).is_none());
    }
}
