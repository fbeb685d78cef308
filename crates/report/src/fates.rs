//! What became of flows with deadlines in a case. Must not depend on figures or sentences.

use crate::summary::{DeadlineCounts, Deadlines};
use crate::sweep::Run;
use crate::text::{duration, percent};
use weft_statistics::mean;

/// A name, and the number of flows that it applies to.
pub(crate) type Fate = (&'static str, fn(&DeadlineCounts) -> u64);

/// The fates of a flow with a deadline.
pub(crate) const FATES: [Fate; 4] = [
    ("in time", |counts| counts.met),
    ("late", |counts| counts.late),
    ("given up", |counts| counts.terminated),
    ("unfinished", DeadlineCounts::open),
];

/// The deadlines of a case: the flows of all seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CaseDeadlines {
    /// Their outcomes.
    pub(crate) counts: DeadlineCounts,
    /// Mean lateness of flows that finished too late, microseconds, averaged over the runs that have any.
    pub(crate) late_by_us: Option<f64>,
}

impl CaseDeadlines {
    /// The deadlines of these runs; `None` without any.
    #[must_use]
    pub(crate) fn of(runs: &[&Run]) -> Option<CaseDeadlines> {
        let all: Vec<&Deadlines> = runs.iter().filter_map(|run| run.summary.deadlines.as_ref()).collect();
        let sum = |of: fn(&DeadlineCounts) -> u64| all.iter().map(|found| of(&found.all)).sum();
        let counts = DeadlineCounts {
            flows: sum(|counts| counts.flows),
            met: sum(|counts| counts.met),
            late: sum(|counts| counts.late),
            terminated: sum(|counts| counts.terminated),
        };
        let late = all.iter().filter(|found| found.missed_by_us.count > 0);
        let late_by_us = mean(&late.map(|found| found.missed_by_us.mean).collect::<Vec<_>>());
        (!all.is_empty()).then_some(CaseDeadlines { counts, late_by_us })
    }

    /// The share of the flows that met a fate.
    pub(crate) fn share(&self, part: u64) -> f64 {
        part as f64 / self.counts.flows.max(1) as f64
    }

    /// Met, late, late by, given up, unfinished.
    #[must_use]
    pub(crate) fn cells(&self) -> [String; 5] {
        let [met, late, given_up, open] = FATES.map(|(_, of)| percent(self.share(of(&self.counts))));
        [met, late, self.late_by_us.map_or("–".to_owned(), duration), given_up, open]
    }
}
