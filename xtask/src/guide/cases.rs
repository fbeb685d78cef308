//! Tables with a row for each named case of a scenario, in words of their own: [`TABLES`].

use std::fmt::Write as _;
use weft_report::Run;
use weft_report::statistics::Estimate;

/// A table of cases.
pub(super) struct CaseTable {
    pub(super) name: &'static str,
    pub(super) scenario: &'static str,
    /// Settings that differ from the scenario.
    pub(super) set: &'static [&'static str],
    /// Headings of the words of a row.
    about: &'static str,
    /// Cases, and their words.
    rows: &'static [(&'static str, &'static str)],
    /// Heading, metric and its presentation.
    columns: &'static [(&'static str, &'static str, Quantity)],
}

/// What a metric measures.
#[derive(Clone, Copy)]
enum Quantity {
    /// Microseconds.
    Time,
    Share,
    Count,
}

use Quantity::{Count, Share, Time};

const INCAST: &[(&str, &str, Quantity)] = &[
    ("time-outs per run", "timeouts", Count),
    ("incast, 99.9th percentile", "fct.tag.incast.p99_9", Time),
    ("incast, mean", "fct.tag.incast.mean", Time),
];

const INCAST_ROWS: &[(&str, &str)] = &[
    ("dctcp", "DCTCP"),
    ("probe", "DCTCP with a tail loss probe"),
    ("rto-200us", "DCTCP with a time-out of 200 us"),
    ("tlt", "DCTCP with TLT, red from 200 kB"),
];

pub(super) const TABLES: [CaseTable; 5] = [
    CaseTable {
        name: "unknown-load",
        scenario: "scenarios/choosing/unknown-load.toml",
        set: &[],
        about: "load | thresholds for",
        rows: &[
            ("of-30-at-30", "30 % | 30 %"),
            ("of-90-at-30", "30 % | 90 %"),
            ("of-both-at-30", "30 % | both"),
            ("of-90-at-90", "90 % | 90 %"),
            ("of-30-at-90", "90 % | 30 %"),
            ("of-both-at-90", "90 % | both"),
            ("of-90-at-90-unmarked", "90 % | 90 %, no marks"),
            ("of-30-at-90-unmarked", "90 % | 30 %, no marks"),
        ],
        columns: &[
            ("mean FCT", "fct.mean", Time),
            ("small flows", "fct.small.mean", Time),
            ("small flows, 99th percentile", "fct.small.p99", Time),
        ],
    },
    CaseTable {
        name: "who-starves",
        scenario: "scenarios/choosing/who-starves.toml",
        set: &[],
        about: "case",
        rows: &[
            ("dctcp", "DCTCP"),
            ("pias", "PIAS"),
            ("pias-ageing", "PIAS, ageing"),
            ("pias-unmarked", "PIAS, no marks"),
        ],
        columns: &[
            ("small flows", "fct.small.mean", Time),
            ("large flows", "fct.large.mean", Time),
            ("flows starved, of 2000", "flows.starved", Count),
            ("flows timed out", "flows.timed_out", Count),
        ],
    },
    CaseTable {
        name: "deadlines",
        scenario: "scenarios/choosing/deadlines.toml",
        set: &[],
        about: "scheme",
        rows: &[
            ("dctcp", "DCTCP"),
            ("pias", "PIAS"),
            ("pfabric", "pFabric"),
            ("pase", "PASE"),
            ("pdq", "PDQ"),
        ],
        columns: &[
            ("deadlines met", "deadline.met", Share),
            ("late by, on average", "deadline.missed_by.mean", Time),
            ("given up per run", "deadline.terminated", Count),
        ],
    },
    CaseTable {
        name: "timeouts",
        scenario: "scenarios/timeouts.toml",
        set: &[],
        about: "case",
        rows: INCAST_ROWS,
        columns: INCAST,
    },
    CaseTable {
        name: "timeouts-24",
        scenario: "scenarios/timeouts.toml",
        set: &["traffic.incast.flows_per_sender=24"],
        about: "case",
        rows: INCAST_ROWS,
        columns: INCAST,
    },
];

/// The table of this name.
pub(super) fn find(name: &str) -> Option<&'static CaseTable> {
    TABLES.iter().find(|table| table.name == name)
}

impl CaseTable {
    /// The table, from the runs of all cases.
    pub(super) fn text(&self, runs: &[Run]) -> Result<String, Vec<String>> {
        let headings: String = self.columns.iter().map(|(heading, ..)| format!(" {heading} |")).collect();
        let words = 1 + self.about.matches('|').count();
        let mut text = format!("| {} |{headings}\n", self.about);
        let _ = writeln!(text, "|{}{}", "---|".repeat(words), "---:|".repeat(self.columns.len()));
        for (case, words) in self.rows {
            let _ = write!(text, "| {words} |");
            for (_, metric, quantity) in self.columns {
                let estimate = estimate(runs, case, metric);
                let estimate = estimate.ok_or_else(|| vec![format!("{case}: no {metric}")])?;
                let _ = write!(text, " {} |", quantity.cell(&estimate));
            }
            text.push('\n');
        }
        Ok(text)
    }
}

/// The mean of a metric over the seeds of a case.
fn estimate(runs: &[Run], case: &str, metric: &str) -> Option<Estimate> {
    let is_of_case =
        |run: &&Run| run.manifest.labels.iter().any(|(key, value)| key == "case" && value == case);
    let values = runs.iter().filter(is_of_case).filter_map(|run| run.summary.metric(metric));
    Estimate::of(&values.collect::<Vec<f64>>())
}

impl Quantity {
    /// The mean with its unit, and the interval.
    fn cell(self, estimate: &Estimate) -> String {
        let (factor, unit, most) = match self {
            Time if estimate.mean >= 999.5 => (1e-3, " ms", f64::MAX),
            Time => (1.0, " us", f64::MAX),
            Share => (100.0, " %", 100.0),
            Count => (1.0, "", f64::MAX),
        };
        let number = |value: f64| self.number((value * factor).clamp(0.0, most));
        let mean = number(estimate.mean);
        match (estimate.low, estimate.high) {
            (Some(low), Some(high)) if high - low > 1e-9 => {
                format!("{mean}{unit} ({} to {})", number(low), number(high))
            }
            _ => format!("{mean}{unit}"),
        }
    }

    /// Times have three digits, shares one decimal, counts none.
    fn number(self, value: f64) -> String {
        let decimals = match self {
            Time if value < 9.995 => 2,
            Time if value < 99.95 => 1,
            Share => 1,
            _ => 0,
        };
        format!("{value:.decimals$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(mean: f64, half: f64) -> Estimate {
        Estimate { mean, low: Some(mean - half), high: Some(mean + half), runs: 5, together: 0 }
    }

    #[test]
    fn cells_have_units_that_fit_and_intervals_that_can_be() {
        for (quantity, mean, half, cell) in [
            (Time, 4_846.0, 217.0, "4.85 ms (4.63 to 5.06)"),
            (Time, 307.0, 311.0, "307 us (0.00 to 618)"),
            (Time, 31.4, 9.0, "31.4 us (22.4 to 40.4)"),
            (Share, 0.992, 0.01, "99.2 % (98.2 to 100.0)"),
            (Count, 40.2, 6.0, "40 (34 to 46)"),
            (Count, 0.0, 0.0, "0"),
        ] {
            assert_eq!(quantity.cell(&estimate(mean, half)), cell);
        }
    }

    #[test]
    fn every_table_has_a_scenario_with_its_cases() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        for table in &TABLES {
            let scenario =
                std::fs::read_to_string(format!("{root}/{}", table.scenario)).expect("it is there");
            let has = |(case, _): &(&str, &str)| scenario.contains(&format!("name = \"{case}\""));
            assert!(table.rows.iter().all(has), "{}", table.name);
        }
    }
}
