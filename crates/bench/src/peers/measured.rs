//! Weft's own figures: completion times by class, and packet counts. Must not depend on other programs.

use std::path::Path;

use weft::{Error, Prepared};
use weft_core::record::{FlowRecord, RunRecord};
use weft_core::{Span, Time};
use weft_sim::Simulation;

use crate::cases::{self, CASES};

/// The bounds of the classes: flows with payload below the first are small, above the second large.
const SMALL: u64 = 100_000;
const LARGE: u64 = 10_000_000;

/// Completion times and counts of a run, or their means over several.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PeerFigures {
    /// Completion times, as in [`super::published::Completion::cells`].
    pub(crate) cells: [Option<f64>; 5],
    /// Completion times until the sender's last acknowledgement; a flow that still waits for it when the run ends
    /// counts as ending then.
    pub(crate) acknowledged: [Option<f64>; 5],
    /// Link traversals, packets dropped, packets marked, payload retransmitted, time-outs, unfinished flows.
    pub(crate) counts: [f64; 6],
}

impl PeerFigures {
    /// The figures of a run.
    pub(crate) fn of(record: &RunRecord) -> PeerFigures {
        let cells = cells(record, |flow| flow.end);
        let acknowledged = self::cells(record, |flow| flow.end.map(|end| flow.acknowledged.unwrap_or(end)));
        let over_links = |count: fn(&weft_core::record::LinkRecord) -> u64| -> u64 {
            record.links.iter().map(count).sum()
        };
        let over_flows = |count: fn(&FlowRecord) -> u64| -> u64 { record.flows.iter().map(count).sum() };
        let counts = [
            record.packet_hops,
            over_links(|link| link.dropped),
            over_links(|link| link.marked),
            over_flows(|flow| flow.retransmitted.0),
            over_flows(|flow| u64::from(flow.timeouts)),
            over_flows(|flow| u64::from(flow.end.is_none())),
        ];
        PeerFigures { cells, acknowledged, counts: counts.map(|count| count as f64) }
    }

    /// The figures with completion times until the last acknowledgement.
    pub(crate) fn at_sender(self) -> PeerFigures {
        PeerFigures { cells: self.acknowledged, ..self }
    }

    /// Means over several runs.
    pub(crate) fn mean(runs: &[PeerFigures]) -> PeerFigures {
        let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        let over = |of: fn(&PeerFigures) -> &[Option<f64>; 5], n: usize| {
            runs.iter().map(|run| of(run)[n]).collect::<Option<Vec<f64>>>().map(mean)
        };
        let count = |n: usize| mean(runs.iter().map(|run| run.counts[n]).collect());
        PeerFigures {
            cells: std::array::from_fn(|n| over(|run| &run.cells, n)),
            acknowledged: std::array::from_fn(|n| over(|run| &run.acknowledged, n)),
            counts: std::array::from_fn(count),
        }
    }
}

/// Runs a case with overrides for the seeds 1 to `seeds`.
///
/// # Errors
/// If the scenario cannot be read.
pub(crate) fn runs(from: &Path, case: &str, set: &[&str], seeds: u64) -> Result<Vec<PeerFigures>, Error> {
    let prepared = prepared(from, case, set, false)?;
    (1..=seeds).map(|seed| run(&prepared, seed)).collect()
}

/// Runs the reduced form of a case with overrides and seed 1.
///
/// # Errors
/// If the scenario cannot be read.
pub(crate) fn reduced(from: &Path, case: &str, set: &[&str]) -> Result<PeerFigures, Error> {
    run(&prepared(from, case, set, true)?, 1)
}

fn prepared(from: &Path, case: &str, set: &[&str], small: bool) -> Result<Prepared, Error> {
    let case = CASES.iter().find(|known| known.name == case).expect("it is in the list");
    let set: Vec<String> = set.iter().map(|change| (*change).to_owned()).collect();
    cases::load(from, case, small, &set)
}

fn run(prepared: &Prepared, seed: u64) -> Result<PeerFigures, Error> {
    Ok(PeerFigures::of(&Simulation::new(prepared.setup(seed)?).run(&mut |_| true)))
}

/// Completion times by class, for ends of flows as given by `ended`.
fn cells(record: &RunRecord, ended: fn(&FlowRecord) -> Option<Time>) -> [Option<f64>; 5] {
    let class = |wanted: fn(u64) -> bool| {
        let flows = record.flows.iter().filter(|flow| wanted(flow.size.0));
        sorted(flows.filter_map(|flow| Some(ended(flow)?.since(flow.start))).collect())
    };
    let small = class(|size| size < SMALL);
    [
        mean(&small),
        percentile(&small, 99),
        mean(&class(|size| (SMALL..=LARGE).contains(&size))),
        mean(&class(|size| size > LARGE)),
        mean(&class(|_| true)),
    ]
}

fn sorted(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    spans
}

fn mean(spans: &[Span]) -> Option<f64> {
    let total: f64 = spans.iter().map(|span| span.micros()).sum();
    (!spans.is_empty()).then(|| total / spans.len() as f64)
}

/// A nearest-rank percentile.
fn percentile(sorted: &[Span], percent: usize) -> Option<f64> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.checked_sub(1)?).map(|span| span.micros())
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::Bytes;

    fn flow(size: u64, micros: Option<u64>) -> FlowRecord {
        let start = Time(7);
        let end = micros.map(|micros| start + Span::from_us(micros));
        FlowRecord {
            size: Bytes(size),
            start,
            end,
            timeouts: 2,
            retransmitted: Bytes(10),
            ..FlowRecord::default()
        }
    }

    #[test]
    fn a_flow_ends_later_for_its_sender() {
        let answered = |flow: FlowRecord| FlowRecord {
            acknowledged: flow.end.map(|end| end + Span::from_us(5)),
            ..flow
        };
        let flows = vec![answered(flow(10, Some(10))), flow(20, Some(20))];
        let measured = PeerFigures::of(&RunRecord { flows, ..RunRecord::default() });
        assert_eq!((measured.cells[0], measured.at_sender().cells[0]), (Some(15.0), Some(17.5)));
    }

    #[test]
    fn classes_meet_at_100_kb_and_10_mb() {
        let flows = vec![
            flow(99_999, Some(10)),
            flow(100_000, Some(20)),
            flow(10_000_000, Some(40)),
            flow(10_000_001, Some(90)),
            flow(1, None),
        ];
        let measured = PeerFigures::of(&RunRecord { flows, packet_hops: 9, ..RunRecord::default() });
        assert_eq!(measured.cells, [Some(10.0), Some(10.0), Some(30.0), Some(90.0), Some(40.0)]);
        assert_eq!(measured.counts, [9.0, 0.0, 0.0, 50.0, 10.0, 1.0]);
    }

    #[test]
    fn the_99th_percentile_is_taken_by_nearest_rank() {
        let spans: Vec<Span> = (1..=200).map(Span::from_us).collect();
        assert_eq!(percentile(&spans, 99), Some(198.0));
        assert_eq!(percentile(&spans[..1], 99), Some(1.0));
        assert_eq!(percentile(&[], 99), None);
    }

    #[test]
    fn a_mean_over_runs_needs_the_class_in_each() {
        let run =
            |cell: Option<f64>| PeerFigures { cells: [cell; 5], acknowledged: [cell; 5], counts: [1.0; 6] };
        assert_eq!(PeerFigures::mean(&[run(Some(1.0)), run(Some(3.0))]).cells, [Some(2.0); 5]);
        assert_eq!(PeerFigures::mean(&[run(Some(1.0)), run(None)]).cells, [None; 5]);
    }
}
