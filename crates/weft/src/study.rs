//! One call of `run`: runs every case with every seed, except runs that are complete, then writes tables, expectations
//! and the report.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use weft_core::Time;
use weft_core::record::{FlowRecord, Stop};
use weft_plan::{Division, Engine, Finished, Setup, Watch};
use weft_prepare::read;
use weft_report::{Kept, Manifest, REPORT, Recording, Run, files};
use weft_scenario::Case;

use crate::earlier::{EqualRuns, accepts, build_of, manifest_in};
use crate::jobs::{Job, run_all};
use crate::kept::kept;
use crate::linter::remarks;
use crate::lock::Lock;
use crate::manifest::{Request, SOURCES};
use crate::results::Results;
use crate::reuse::Reuse;
use crate::{Error, Outcome, RunOptions, clock, inputs, manifest, older, page};

/// A case with a seed.
pub(crate) struct Planned<'a> {
    case: &'a Case,
    manifest: Manifest,
    /// Where relative file names of the scenario start.
    base: &'a Path,
    pub(crate) folder: PathBuf,
    /// The folder of the whole sweep.
    pub(crate) root: PathBuf,
    /// An equal run that another build computed, in `folder`.
    earlier: Option<Box<Run>>,
    division: Division,
    engine: &'static dyn Engine,
    /// Whether its tables are written, besides its statistics.
    tables: bool,
}

/// Runs everything and writes the report.
pub(crate) fn run(path: &Path, options: &RunOptions) -> Result<Outcome, Error> {
    let scenario = read(path, &options.set, options.demo)?;
    let manifests = manifest::all(&Request::of(path, options), &scenario)?;
    let base = path.parent().unwrap_or(Path::new("."));
    let plan = |(case, manifest)| Planned::new((case, manifest), (&options.out, base), options.engine);
    let planned: Vec<Planned<'_>> = manifests.into_iter().map(plan).collect();
    let root = planned[0].root.clone();
    let _lock = claim(&root, &options.stop)?;
    if !options.engine.is_deterministic() {
        older::refuse_to_replace(&root)?;
    }
    let older = older::count(&root)?;
    let planned = adopted(planned, options.reuse, &mut EqualRuns::default())?;
    let folders: Vec<String> = planned.iter().map(|job| below(&root, &job.folder)).collect();
    let (mut remarks, larger) = (remarks(&scenario, path), page::larger(&root, &folders));
    let demo = options.demo;
    if demo && !scenario.has_demo() {
        remarks
            .push("--demo changes nothing: the scenario has no [demo], so this is its full form.".to_owned());
    }
    let study = page::Study { root: &root, base, scenario: &scenario, folders, remarks, demo, larger };
    study.list(&[])?;
    let results = compute(planned, options);
    let interrupted = options.stop.load(Ordering::Relaxed)
        && (results.runs.len() < study.folders.len() || results.runs.iter().any(|r| r.summary.interrupted()));
    let failed_runs = results.failures.len();
    let (reused, outdated) = (results.reused, results.outdated);
    let builds = results.builds.clone().into_iter().collect();
    Ok(Outcome { failed_runs, interrupted, reused, builds, outdated, older, ..study.write(results)? })
}

/// The runs, with equal ones of other builds where these count and a run is not in its own folder.
pub(crate) fn adopted<'a>(
    planned: Vec<Planned<'a>>,
    reuse: Reuse,
    equal: &mut EqualRuns,
) -> Result<Vec<Planned<'a>>, Error> {
    match reuse {
        Reuse::SameBuild => Ok(planned),
        Reuse::SameResults => planned.into_iter().map(|job| job.adopting(equal)).collect(),
    }
}

/// Creates a folder of results, locks it, and removes the remains of killed processes there.
pub(crate) fn claim(root: &Path, stop: &AtomicBool) -> Result<Lock, Error> {
    std::fs::create_dir_all(root)
        .map_err(|cause| Error::Failed(format!("cannot write results to {}: {cause}", root.display())))?;
    let lock = Lock::take(root)?;
    let stopped = || stop.load(Ordering::Relaxed);
    weft_store::remains::clear(root, &stopped)
        .map_err(|cause| Error::from(weft_report::DiskError::from(cause)))?;
    Ok(lock)
}

/// Reuses the complete runs that count and computes the others.
pub(crate) fn compute(planned: Vec<Planned<'_>>, options: &RunOptions) -> Results {
    let mut results = Results::default();
    let (mut open, mut reused) = (Vec::new(), Vec::new());
    for mut job in planned {
        match job.there() {
            Some(Ok(run)) if accepts(options.reuse, &run.manifest) => {
                if run.manifest.sources != SOURCES {
                    *results.builds.entry(build_of(&run.manifest)).or_default() += 1;
                }
                reused.push(job.label());
                results.runs.push(run);
            }
            Some(Ok(_)) => {
                results.outdated += 1;
                open.push(job);
            }
            Some(Err(cause)) => {
                results.unreadable.push(cause);
                open.push(job);
            }
            None => open.push(job),
        }
    }
    results.reused = results.runs.len();
    let left_over = options.jobs / open.len().max(1);
    let division = options.threads.map_or(Division::up_to(left_over), Division::threads);
    open.iter_mut().for_each(|job| job.division = division);
    for (job, result) in open.iter().zip(run_all(&open, reused, options)) {
        match result {
            Some(Ok(run)) => results.runs.push(run),
            None => results.not_started += 1,
            Some(Err(cause)) => results.failures.push(format!("{}: {cause}", job.label())),
        }
    }
    results
}

/// A path relative to the folder of the sweep.
fn below(root: &Path, folder: &Path) -> String {
    folder.strip_prefix(root).unwrap_or(folder).to_string_lossy().into_owned()
}

impl<'a> Planned<'a> {
    /// A run below a folder; relative file names start at `base`.
    pub(crate) fn new(
        (case, manifest): (&'a Case, Manifest),
        (out, base): (&Path, &'a Path),
        engine: &'static dyn Engine,
    ) -> Planned<'a> {
        let path = manifest.path();
        let root = out.join(path.components().next().expect("a path has a first part"));
        let (folder, division) = (out.join(path), Division::LONE);
        Planned { case, manifest, base, folder, root, earlier: None, division, engine, tables: true }
    }

    /// The same without tables, for callers that read only statistics.
    pub(crate) fn without_tables(self) -> Planned<'a> {
        Planned { tables: false, ..self }
    }

    /// The same with an equal run of another build, if its own folder has none. Runs that cannot be repeated exactly are
    /// measured again.
    fn adopting(self, equal: &mut EqualRuns) -> Result<Planned<'a>, Error> {
        if !self.engine.is_deterministic() || self.folder.join("summary.json").exists() {
            return Ok(self);
        }
        for folder in equal.of(&self.root, (self.case, &self.manifest))? {
            let read = files::read_run(&folder).map_err(|cause| cause.to_string());
            if let Ok(run) = read.and_then(|run| self.whole(run, &folder)) {
                let earlier = Some(Box::new(self.linked(run.thin(), &folder)));
                return Ok(Planned { folder, earlier, ..self });
            }
        }
        Ok(self)
    }

    /// Whether results that count are there, as far as the manifest says.
    pub(crate) fn is_there(&self, reuse: Reuse) -> bool {
        let accepted = || manifest_in(&self.folder).is_some_and(|manifest| accepts(reuse, &manifest));
        self.earlier.is_some() || self.folder.join("summary.json").exists() && accepted()
    }

    /// The run as an earlier call left it, if it did.
    fn there(&mut self) -> Option<Result<Run, String>> {
        let earlier = self.earlier.take().map(|run| Ok(*run));
        earlier.or_else(|| if self.engine.is_deterministic() { self.finished() } else { None })
    }

    /// The results of an earlier call if they are complete; an error if they look complete but cannot be read or belong
    /// to another run. An interrupted run has a folder of its own.
    fn finished(&self) -> Option<Result<Run, String>> {
        if !self.folder.join("summary.json").exists() {
            return None;
        }
        let read = files::read_run(&self.folder).map_err(|cause| cause.to_string());
        let read = read.and_then(|run| self.own(run)).and_then(|run| self.whole(run, &self.folder));
        Some(read.map(|run| self.linked(run.thin(), &self.folder)))
    }

    /// The run, if its tables are all there and as long as they were written; whoever does not want tables needs none.
    fn whole(&self, run: Run, folder: &Path) -> Result<Run, String> {
        if self.tables && run.manifest.without_tables {
            return Err(format!("{}: statistics without tables", folder.display()));
        }
        if self.tables {
            files::check_sizes(folder, &run.manifest).map_err(|cause| cause.to_string())?;
        }
        Ok(run)
    }

    /// The run, if its manifest has the content hash and the seed of this one.
    fn own(&self, run: Run) -> Result<Run, String> {
        let key = |manifest: &Manifest| (manifest.hash.clone(), manifest.seed, manifest.epoch.clone());
        let ((hash, seed, epoch), wanted) = (key(&run.manifest), key(&self.manifest));
        if (&hash, seed, &epoch) == (&wanted.0, wanted.1, &wanted.2) {
            return Ok(run);
        }
        let epoch = if epoch.is_empty() { "none" } else { &epoch };
        Err(format!(
            "{} holds a different run (content hash {hash}, seed {seed}, results epoch {epoch})",
            self.folder.display()
        ))
    }

    /// Runs a setup and records flows as they finish; stops if recording fails.
    fn record(&self, setup: Setup, watch: Watch<'_>) -> Result<(Recording, Finished), String> {
        let mut recording = Recording::begin(&self.folder).map_err(|cause| cause.to_string())?;
        let mut taken = Ok(());
        let mut take = |flow: &FlowRecord| {
            if taken.is_ok() {
                taken = recording.add(flow);
            }
            taken.is_ok()
        };
        let finished = self.engine.attempt(setup, &mut take, watch)?;
        taken.map(|()| (recording, finished)).map_err(|cause| cause.to_string())
    }

    /// The scenario of the case for the folder of its run, with file names relative to the hidden folder in which the
    /// run is built.
    fn written(&self) -> String {
        let beside = weft_store::sibling(&self.folder, "partial");
        inputs::moved(&self.case.to_toml(), self.case.inputs(), (self.base, &beside))
    }

    fn linked(&self, run: Run, folder: &Path) -> Run {
        Run { link: format!("{}/{}", below(&self.root, folder), REPORT), ..run }
    }
}

impl Job for Planned<'_> {
    type Output = Run;

    fn is_partial(run: &Run) -> bool {
        run.summary.interrupted()
    }

    fn label(&self) -> String {
        let labels: Vec<&str> = self.manifest.labels.iter().map(|(_, value)| value.as_str()).collect();
        format!("{} seed {}", labels.join(" "), self.manifest.seed).trim().to_owned()
    }

    fn limit(&self) -> Option<Time> {
        self.case.settings.measure.until.map(|span| Time::ZERO + span)
    }

    fn compute(&self, watch: Watch<'_>) -> Result<Run, String> {
        let mut setup = weft_prepare::setup(&self.case.settings, self.base, self.manifest.seed)?;
        let unchanged = || weft_prepare::unchanged(self.case, self.base).map_err(|error| error.to_string());
        unchanged()?;
        setup.division = self.division;
        let quiver = weft_analyse::of_run(&setup);
        let traffic = weft_analyse::traffic(&setup);
        let began = clock::now();
        let (recording, finished) = self.record(setup, watch)?;
        unchanged()?;
        let Finished { mut record, threads, facts } = finished;
        traffic.offered.into_iter().zip(&mut record.links).for_each(|(offered, link)| link.offered = offered);
        let manifest = Manifest {
            wall_s: began.elapsed().as_secs_f64(),
            events: record.events,
            threads: threads as u32,
            facts,
            flows_hash: traffic.hash.map_or_else(String::new, |hash| format!("{hash:016x}")),
            peak_memory_bytes: manifest::peak_memory(),
            ..self.manifest.clone()
        };
        let interrupted = record.stop == Stop::Interrupted;
        let partial = files::partial(&self.folder);
        let folder = if interrupted { &partial } else { &self.folder };
        let kept = Kept { tables: self.tables, ..kept(&self.case.settings.measure) };
        let scenario = self.written();
        let texts = (&*scenario, quiver.unwrap_or_default());
        let run = recording.finish(folder, (&record, &kept), &manifest, texts);
        let run = run.map_err(|cause| cause.to_string())?;
        if !interrupted {
            weft_store::discard(&partial, Some(&self.folder)).map_err(|cause| cause.to_string())?;
        }
        Ok(self.linked(run.thin(), folder))
    }
}
