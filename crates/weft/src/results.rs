//! What became of the runs of a call, and what expectations read of them.

use std::collections::BTreeMap;

use weft_report::Run;
use weft_scenario::{Measurement, Scenario};

/// What became of the runs of a call.
#[derive(Default)]
pub(crate) struct Results {
    /// Runs that are there, whether computed now or earlier, [thin](Run::thin), with links relative to the folder of the
    /// sweep.
    pub(crate) runs: Vec<Run>,
    /// How many of these were there before.
    pub(crate) reused: usize,
    /// Failed runs, each with its reason.
    pub(crate) failures: Vec<String>,
    /// Runs that an interruption kept from starting.
    pub(crate) not_started: usize,
    /// Folders that look finished and cannot be read, each with its reason.
    pub(crate) unreadable: Vec<String>,
}

/// The line about `count` runs that an interruption kept from starting; empty if there are none.
pub(crate) fn not_started(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => "1 run not started\n".to_owned(),
        _ => format!("{count} runs not started\n"),
    }
}

/// The values by seed that expectations are judged with.
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
