//! Runs chosen cases of several scenarios in one call: with the folders, locks and resumption of `run`, one pool of
//! runs, and results in memory instead of a report. For studies over scenarios, such as reproductions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use weft_plan::Engine;
use weft_report::{Manifest, Run, share_one_window};
use weft_scenario::{Case, Scenario};

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

/// The number of runs that [`run_batches`] takes, and the number of those that do not exist yet.
///
/// # Errors
/// [`Error::BadInput`] with the mistakes of a scenario.
pub fn count_runs(batches: &[Batch], options: &RunOptions) -> Result<(usize, usize), Error> {
    let mut folders = BTreeSet::new();
    for batch in batches.iter().filter(|batch| !batch.cases.is_empty()) {
        let scenario = weft_prepare::read(&batch.path, &batch.set, batch.demo)?;
        let chosen = of_batch(batch, &scenario, options)?;
        folders.extend(chosen.iter().map(|(_, manifest)| options.out.join(manifest.path())));
    }
    let open = folders.iter().filter(|folder| !folder.join("summary.json").exists());
    Ok((folders.len(), open.count()))
}

/// Runs the chosen cases of all batches with every seed, reusing complete results below `options.out`; only
/// statistics are written, not tables. Only those options apply that a batch does not set itself.
///
/// # Errors
/// [`Error::BadInput`] with the mistakes of a scenario; [`Error::Failed`] when results cannot be written. A failed run
/// is listed in [`Collected::failures`] instead.
pub fn run_batches(batches: &[Batch], options: &RunOptions) -> Result<Collected, Error> {
    let read = |batch: &Batch| match batch.cases.is_empty() {
        true => Ok(None),
        false => weft_prepare::read(&batch.path, &batch.set, batch.demo).map(Some),
    };
    let scenarios: Vec<Option<Scenario>> = batches.iter().map(read).collect::<Result<_, _>>()?;
    let mut chosen = Vec::new();
    for (batch, scenario) in batches.iter().zip(&scenarios) {
        chosen.push(scenario.as_ref().map_or(Ok(Vec::new()), |scenario| of_batch(batch, scenario, options))?);
    }
    let roots: BTreeSet<PathBuf> =
        chosen.iter().flatten().map(|(_, manifest)| root(manifest, options)).collect();
    let _locks = roots.iter().map(|root| study::claim(root, &options.stop)).collect::<Result<Vec<_>, _>>()?;
    let mut planned = BTreeMap::new();
    for (batch, (case, manifest)) in
        batches.iter().zip(&chosen).flat_map(|(batch, chosen)| chosen.iter().map(move |one| (batch, one)))
    {
        let base = batch.path.parent().unwrap_or(Path::new("."));
        let root = roots.get(&root(manifest, options)).expect("made of the same manifests");
        let places = (options.out.as_path(), base, root.as_path());
        let job = Planned::new((case, manifest.clone()), places, of(batch, options)).without_tables();
        planned.entry(job.folder.clone()).or_insert(job);
    }
    let count = planned.len();
    let results = study::compute(planned.into_values().collect(), options);
    Ok(sorted(results, &chosen, options.stop.load(Ordering::Relaxed), count))
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

/// The folder of all runs of a scenario.
fn root(manifest: &Manifest, options: &RunOptions) -> PathBuf {
    options.out.join(manifest.path().components().next().expect("a path has a first part"))
}

/// Assigns each run to every batch that requested it.
fn sorted(results: Results, chosen: &[Vec<(&Case, Manifest)>], stopped: bool, planned: usize) -> Collected {
    let complete = results.runs.into_iter().filter(|run| !run.summary.interrupted());
    let by_path: BTreeMap<PathBuf, Run> = complete.map(|run| (run.manifest.path(), run)).collect();
    let of = |batch: &Vec<(&Case, Manifest)>| {
        let runs = batch.iter().filter_map(|(_, manifest)| by_path.get(&manifest.path()).cloned());
        let mut runs: Vec<Run> = runs.collect();
        share_one_window(&mut runs);
        runs
    };
    Collected {
        runs: chosen.iter().map(of).collect(),
        reused: results.reused,
        interrupted: stopped && by_path.len() < planned,
        failures: results.failures,
    }
}
