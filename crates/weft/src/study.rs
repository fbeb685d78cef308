//! One call of `run`: cases times seeds, minus what is finished already, then tables, expectations and the report.

use std::path::{Path, PathBuf};

use weft_core::Time;
use weft_report::{Manifest, Run, files};
use weft_scenario::{Case, Measurement, Metrics, Scenario, ScenarioFile};
use weft_sim::Simulation;

use crate::jobs::{Job, run_all};
use crate::{Error, Outcome, RunOptions, build, clock, page};

/// Version of the program, part of every content hash.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What expectations may ask for.
pub(crate) const METRICS: Metrics = Metrics {
    known: |path| weft_report::metric::find(path).is_some(),
    nearest: weft_report::metric::nearest,
};

/// A case with a seed.
struct Planned<'a> {
    case: &'a Case,
    manifest: Manifest,
    /// Where relative file names of the scenario start.
    base: &'a Path,
    folder: PathBuf,
}

/// What a run left.
struct Done {
    run: Run,
    interrupted: bool,
}

/// Whether messages are coloured: only for a person at a terminal who wants it.
pub(crate) fn colour() -> bool {
    weft_report::terminal::colour(std::io::IsTerminal::is_terminal(&std::io::stderr()))
}

/// Reads and checks a scenario file with the overrides of the command line.
pub(crate) fn read(path: &Path, set: &[String], demo: bool) -> Result<Scenario, Error> {
    let file =
        ScenarioFile::read(path, set, demo).map_err(|mistakes| Error::BadInput(mistakes.draw(colour())))?;
    file.validate(&METRICS).map_err(|mistakes| Error::BadInput(mistakes.draw(colour())))
}

/// Runs everything and writes the report.
pub(crate) fn run(path: &Path, options: &RunOptions) -> Result<Outcome, Error> {
    let scenario = read(path, &options.set, options.demo)?;
    let base = path.parent().unwrap_or(Path::new("."));
    let planned = plan(path, &scenario, base, options);
    let root =
        options.out.join(planned[0].manifest.path().components().next().expect("a path has a first part"));
    std::fs::create_dir_all(&root).map_err(|cause| Error::Failed(format!("{}: {cause}", root.display())))?;
    let (finished, open): (Vec<_>, Vec<_>) = planned.into_iter().partition(is_finished);
    let results = run_all(&open, finished.len(), options);
    let failures: Vec<String> = open
        .iter()
        .zip(&results)
        .filter_map(|(job, result)| Some(format!("{}: {}", job.label(), result.as_ref().err()?)))
        .collect();
    let interrupted = results.iter().any(|result| result.as_ref().map_or(true, |done| done.interrupted));
    let stopped = options.stop.load(std::sync::atomic::Ordering::Relaxed);
    let mut runs: Vec<Run> = results.into_iter().flatten().map(|done| done.run).collect();
    for job in &finished {
        runs.push(files::read_run(&job.folder).map_err(|cause| Error::Failed(cause.to_string()))?);
    }
    let outcome = page::write(&root, &scenario, runs, &failures)?;
    let failed_runs = if stopped { 0 } else { failures.len() };
    Ok(Outcome { reused: finished.len(), failed_runs, interrupted: stopped && interrupted, ..outcome })
}

/// All cases with all seeds, in order.
fn plan<'a>(path: &Path, scenario: &'a Scenario, base: &'a Path, options: &RunOptions) -> Vec<Planned<'a>> {
    let seeds = options.seeds.as_ref().unwrap_or(&scenario.settings.seeds);
    let with_seed = |case: &'a Case, seed: u64| {
        let manifest = manifest(path, case, seed, options);
        Planned { case, folder: options.out.join(manifest.path()), base, manifest }
    };
    scenario.cases().iter().flat_map(|case| seeds.iter().map(move |seed| with_seed(case, *seed))).collect()
}

fn manifest(path: &Path, case: &Case, seed: u64, options: &RunOptions) -> Manifest {
    let demo = if options.demo { " --demo" } else { "" };
    let set: String = options.set.iter().map(|set| format!(" --set '{set}'")).collect();
    Manifest {
        version: VERSION.to_owned(),
        commit: option_env!("WEFT_COMMIT").unwrap_or_default().to_owned(),
        name: case.settings.name.clone(),
        about: case.settings.about.clone(),
        labels: case.labels.clone(),
        seed,
        command: format!("weft run {}{demo}{set} --seed {seed}", path.display()),
        hash: case.hash8(VERSION),
        host: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        threads: 1,
        ..Manifest::default()
    }
}

/// Whether the results of an earlier call are complete. An interrupted run lies beside, under another name.
fn is_finished(planned: &Planned<'_>) -> bool {
    planned.folder.join("summary.json").exists()
}

impl Job for Planned<'_> {
    type Output = Done;

    fn label(&self) -> String {
        let labels: Vec<&str> = self.manifest.labels.iter().map(|(_, value)| value.as_str()).collect();
        format!("{} seed {}", labels.join(" "), self.manifest.seed).trim().to_owned()
    }

    fn limit(&self) -> Option<Time> {
        self.case.settings.measure.until.map(|span| Time::ZERO + span)
    }

    fn compute(&self, watch: &mut dyn FnMut(&weft_sim::Progress) -> bool) -> Result<Done, String> {
        let setup = build::setup(&self.case.settings, self.base, self.manifest.seed)?;
        let began = clock::now();
        let record = Simulation::new(setup).run(watch);
        let manifest = Manifest {
            wall_s: began.elapsed().as_secs_f64(),
            events: record.events,
            ..self.manifest.clone()
        };
        let interrupted = record.stop == weft_core::record::Stop::Interrupted;
        let partial = self.folder.with_extension("partial");
        let folder = if interrupted { &partial } else { &self.folder };
        let run =
            files::write_run(folder, &record, &manifest, &self.case.to_toml()).map_err(|e| e.to_string())?;
        if !interrupted && partial.exists() {
            std::fs::remove_dir_all(&partial).map_err(|cause| format!("{}: {cause}", partial.display()))?;
        }
        Ok(Done { run, interrupted })
    }
}

/// The mean-over-seeds lookup that expectations are judged with.
pub(crate) fn lookup<'a>(scenario: &'a Scenario, runs: &'a [Run]) -> impl Fn(&Measurement) -> Vec<f64> + 'a {
    move |measurement| {
        let labels = &scenario.cases()[measurement.case].labels;
        let mut case: Vec<&Run> = runs.iter().filter(|run| run.manifest.labels == *labels).collect();
        case.sort_by_key(|run| run.manifest.seed);
        case.iter().filter_map(|run| run.summary.metric(&measurement.metric)).collect()
    }
}
