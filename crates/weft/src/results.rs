//! The outcomes of the runs of a call, and the values that expectations are judged by.

use std::collections::BTreeMap;

use weft_report::Run;
use weft_scenario::{Measurement, Scenario};

/// The outcomes of the runs of a call.
#[derive(Default)]
pub(crate) struct Results {
    /// Complete runs, computed now or earlier, [thin](Run::thin), with links relative to the folder of the sweep.
    pub(crate) runs: Vec<Run>,
    /// Of these, runs reused from an earlier call.
    pub(crate) reused: usize,
    /// Of these, runs of other builds, by version and commit.
    pub(crate) builds: BTreeMap<String, usize>,
    /// Runs that were complete, but computed by a program with other sources.
    pub(crate) outdated: usize,
    /// Failed runs, each with its reason.
    pub(crate) failures: Vec<String>,
    /// Runs not started because of an interruption.
    pub(crate) not_started: usize,
    /// Folders that look complete but cannot be read, each with its reason.
    pub(crate) unreadable: Vec<String>,
}

/// A line about `count` runs not started because of an interruption; empty if there are none.
pub(crate) fn not_started(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => "1 run not started\n".to_owned(),
        _ => format!("{count} runs not started\n"),
    }
}

/// The values by seed by which expectations are judged.
pub(crate) fn lookup<'a>(
    scenario: &'a Scenario,
    runs: &'a [Run],
) -> impl Fn(&Measurement) -> BTreeMap<u64, f64> + 'a {
    move |measurement| {
        let labels = &scenario.cases()[measurement.case].labels;
        let complete = |run: &&Run| run.manifest.labels == *labels && !run.summary.interrupted();
        let value = |run: &Run| Some((run.manifest.seed, run.summary.metric(&measurement.metric)?));
        runs.iter().filter(complete).filter_map(value).collect()
    }
}
