//! Runs chosen cases of several scenarios in one call: with the folders, locks and resumption of `run`, one pool of
//! runs, and results in memory instead of a report. For studies over scenarios, such as reproductions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use weft_plan::Engine;
use weft_report::{Manifest, Run, share_one_window};
use weft_scenario::{Case, Explanation, Scenario};

use crate::earlier::EqualRuns;
use crate::manifest::{self, Request};
use crate::results::Results;
use crate::study::{self, Planned};
use crate::{Error, RunOptions};

/// The labels of a case: path and value of every axis.
pub type CaseLabels = Vec<(String, String)>;

/// Cases of a scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// The scenario file.
    pub path: PathBuf,
    /// Overrides `path=value`, as typed.
    pub set: Vec<String>,
    /// Whether to run its reduced form.
    pub demo: bool,
    /// Run these seeds instead of the scenario's own.
    pub seeds: Option<Vec<u64>>,
    /// Name of its engine, one of [`ENGINES`](crate::ENGINES); absent: that of the options.
    pub engine: Option<String>,
    /// Only cases with these labels; if empty, the scenario is not even read.
    pub cases: Vec<CaseLabels>,
}

/// The results of [`run_batches`].
#[derive(Debug, Default)]
pub struct Collected {
    /// The complete runs of each batch, by case and seed.
    pub runs: Vec<Vec<Run>>,
    /// Runs reused from an earlier call.
    pub reused: usize,
    /// The other builds that computed reused runs, as version and commit, and the number of their runs.
    pub builds: Vec<(String, usize)>,
    /// Failed runs, each with its reason.
    pub failures: Vec<String>,
    /// Whether the call was stopped early.
    pub interrupted: bool,
}

/// The labels of all cases of a batch's scenario, including those it does not choose.
///
/// # Errors
/// [`Error::BadInput`] with all mistakes of the scenario.
pub fn cases(batch: &Batch) -> Result<Vec<CaseLabels>, Error> {
    let scenario = weft_prepare::read(&batch.path, &batch.set, batch.demo)?;
    Ok(scenario.cases().iter().map(|case| case.labels.clone()).collect())
}

/// The settings at or below a path that a case has not by default: each with its path and value.
///
/// # Errors
/// [`Error::BadInput`] with all mistakes of the scenario.
pub fn given(batch: &Batch, case: &CaseLabels, path: &str) -> Result<Vec<(String, String)>, Error> {
    let scenario = weft_prepare::read(&batch.path, &batch.set, batch.demo)?;
    let chosen = scenario.cases().iter().find(|one| one.labels == *case);
    let rows = chosen.map_or(Vec::new(), |one| scenario.explain_case(one, Some(path)));
    let own = rows.into_iter().filter(|row| row.origin != Explanation::DEFAULT);
    Ok(own.map(|row| (row.path, row.value)).collect())
}

/// The number of runs that [`run_batches`] takes, and the number of those that do not exist yet.
///
/// # Errors
/// [`Error::BadInput`] with the mistakes of a scenario.
pub fn count_runs(batches: &[Batch], options: &RunOptions) -> Result<(usize, usize), Error> {
    let scenarios = scenarios(batches)?;
    let planned = adopted(planned(batches, &scenarios, options)?, options)?;
    let all: BTreeMap<&PathBuf, &Planned<'_>> =
        planned.iter().flatten().map(|job| (&job.folder, job)).collect();
    let open = all.values().filter(|job| !job.is_there(options.reuse));
    Ok((all.len(), open.count()))
}

/// Runs the chosen cases of all batches with every seed, reusing complete results below `options.out`; only
/// statistics are written, not tables. Only those options apply that a batch does not set itself.
///
/// # Errors
/// [`Error::BadInput`] with the mistakes of a scenario; [`Error::Failed`] when results cannot be written. A failed run
/// is listed in [`Collected::failures`] instead.
pub fn run_batches(batches: &[Batch], options: &RunOptions) -> Result<Collected, Error> {
    let scenarios = scenarios(batches)?;
    let planned = planned(batches, &scenarios, options)?;
    let roots: BTreeSet<&PathBuf> = planned.iter().flatten().map(|job| &job.root).collect();
    let _locks = roots.iter().map(|root| study::claim(root, &options.stop)).collect::<Result<Vec<_>, _>>()?;
    let planned = adopted(planned, options)?;
    let folder = |job: &Planned<'_>| job.folder.clone();
    let folders: Vec<Vec<PathBuf>> = planned.iter().map(|jobs| jobs.iter().map(folder).collect()).collect();
    let jobs: BTreeMap<PathBuf, Planned<'_>> =
        planned.into_iter().flatten().map(|job| (folder(&job), job)).collect();
    let count = jobs.len();
    let results = study::compute(jobs.into_values().collect(), options);
    Ok(sorted(results, &folders, options, count))
}

/// The scenarios of the batches that choose cases.
fn scenarios(batches: &[Batch]) -> Result<Vec<Option<Scenario>>, Error> {
    let read = |batch: &Batch| match batch.cases.is_empty() {
        true => Ok(None),
        false => weft_prepare::read(&batch.path, &batch.set, batch.demo).map(Some),
    };
    batches.iter().map(read).collect()
}

/// The runs of each batch.
fn planned<'a>(
    batches: &'a [Batch],
    scenarios: &'a [Option<Scenario>],
    options: &RunOptions,
) -> Result<Vec<Vec<Planned<'a>>>, Error> {
    let of_one = |(batch, scenario): (&'a Batch, &'a Option<Scenario>)| {
        let base = batch.path.parent().unwrap_or(Path::new("."));
        let plan = |one| Planned::new(one, (&options.out, base), of(batch, options)).without_tables();
        let chosen =
            scenario.as_ref().map_or(Ok(Vec::new()), |scenario| of_batch(batch, scenario, options))?;
        Ok(chosen.into_iter().map(plan).collect())
    };
    batches.iter().zip(scenarios).map(of_one).collect()
}

/// The runs of each batch, with those of other builds that count.
fn adopted<'a>(planned: Vec<Vec<Planned<'a>>>, options: &RunOptions) -> Result<Vec<Vec<Planned<'a>>>, Error> {
    let mut equal = EqualRuns::default();
    planned.into_iter().map(|jobs| study::adopted(jobs, options.reuse, &mut equal)).collect()
}

/// The engine of a batch.
fn of(batch: &Batch, options: &RunOptions) -> &'static dyn Engine {
    batch.engine.as_deref().and_then(crate::engine).unwrap_or(options.engine)
}

/// The runs of a batch.
fn of_batch<'a>(
    batch: &Batch,
    scenario: &'a Scenario,
    options: &RunOptions,
) -> Result<Vec<(&'a Case, Manifest)>, Error> {
    let Batch { path, set, demo, seeds, cases, .. } = batch;
    let request = Request { path, demo: *demo, set, seeds: seeds.as_deref(), engine: of(batch, options) };
    let mut all = manifest::all(&request, scenario)?;
    all.retain(|(case, _)| cases.contains(&case.labels));
    Ok(all)
}

/// Assigns each run to every batch that requested it, by folder.
fn sorted(results: Results, folders: &[Vec<PathBuf>], options: &RunOptions, planned: usize) -> Collected {
    let complete = results.runs.into_iter().filter(|run| !run.summary.interrupted());
    let by_folder: BTreeMap<PathBuf, Run> =
        complete.map(|run| (options.out.join(run.manifest.path()), run)).collect();
    let of = |batch: &Vec<PathBuf>| {
        let mut runs: Vec<Run> = batch.iter().filter_map(|folder| by_folder.get(folder).cloned()).collect();
        share_one_window(&mut runs);
        runs
    };
    Collected {
        runs: folders.iter().map(of).collect(),
        reused: results.reused,
        builds: results.builds.into_iter().collect(),
        interrupted: options.stop.load(Ordering::Relaxed) && by_folder.len() < planned,
        failures: results.failures,
    }
}
