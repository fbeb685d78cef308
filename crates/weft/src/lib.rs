//! The facade: run, check, lint, explain, list, report, compare, new, import, fluid, trace. Everything that people
//! and scripts can do with Weft is one function here.
//!
//! It contains no mechanism of its own: it reads a scenario, builds a network, runs an engine and writes a report by
//! calling the crates below. It never prints and never reads the command line; the caller does.

mod batch;
mod check;
mod clock;
mod earlier;
mod epoch;
mod estimate;
mod explain;
mod importer;
mod inputs;
mod jobs;
mod kept;
mod linter;
mod lists;
mod lock;
mod manifest;
mod older;
mod overwrite;
mod page;
mod results;
mod reuse;
mod study;
mod tracer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weft_core::units::did_you_mean;
use weft_scenario::TEMPLATES;

pub use batch::{Batch, CaseLabels, Collected, cases, count_runs, given, run_batches};
pub use epoch::{
    Digests, ResultsList, RunDigests, epoch, holds_since, layout, record_scope, reference_digests,
};
pub use estimate::CostEstimate;
pub use importer::ImportedScenario;
pub use linter::{LintFile, LintOptions, LintReport};
pub use manifest::program;
pub use reuse::Reuse;
pub use tracer::{TraceOptions, TraceOutcome};
pub use weft_analyse::{QuiverAnalysis, QuiverOptions, StabilityAnalysis, StabilityOptions};
pub use weft_control::{
    FLUID_NUMBERS, FluidJitter, FluidNumbers, FluidOptions, FluidOutcome, TuneOptions, fluid_margin,
    fluid_numbers, fluid_run, fluid_sweep, is_fluid_number,
};
pub use weft_core::Time;
pub use weft_draw::visible::{visible, visible_in_colour};
pub use weft_lint::{FileKind, Metres, Severity, Surroundings};
pub use weft_plan::{Engine, Setup};
pub use weft_prepare::{Error, Prepared, prepare};
pub use weft_report::terminal::colour;

/// The engine that simulates every packet.
pub const PACKETS: &dyn Engine = &weft_sim::Packets;

/// The engine that carries bulk transfers of jobs as fluid and draws the times of calls from packets.
pub const HYBRID: &dyn Engine = &weft_hybrid::Hybrid;

/// The engines that run a scenario by name: `packets`, `hybrid`.
pub const ENGINES: [&dyn Engine; 2] = [PACKETS, HYBRID];

/// The engine with this name.
#[must_use]
pub fn engine(name: &str) -> Option<&'static dyn Engine> {
    ENGINES.into_iter().find(|engine| engine.name() == name)
}

/// The inputs of [`run`] besides the scenario.
pub struct RunOptions {
    /// The folder below which `<name>/<case>-<hash8>/seed-<n>/` is written.
    pub out: PathBuf,
    /// Apply the scenario's `[demo]` table: a reduced form that takes seconds.
    pub demo: bool,
    /// Run these seeds instead of the scenario's own.
    pub seeds: Option<Vec<u64>>,
    /// Overrides `path=value`, applied in this order, as typed.
    pub set: Vec<String>,
    /// The engine: [`PACKETS`], or another. Results of another engine have their own folders.
    pub engine: &'static dyn Engine,
    /// Maximum number of runs computed at the same time; at least 1.
    pub jobs: usize,
    /// Which complete runs of earlier calls are not computed again.
    pub reuse: Reuse,
    /// Threads per run; `None`: the cores that `jobs` leaves free, if they help. Affects only speed.
    pub threads: Option<usize>,
    /// Called from the computing threads a few times per second.
    pub progress: Box<dyn Fn(&Progress) + Send + Sync>,
    /// Set it to stop: running simulations end at the next event and write their results so far.
    pub stop: Arc<AtomicBool>,
}

/// The progress of a call of [`run`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Runs of this call, including reused ones.
    pub runs_total: usize,
    /// Runs that are complete or have failed, including reused ones.
    pub runs_done: usize,
    /// The runs being computed now.
    pub current: Vec<RunProgress>,
    /// The run that has just ended, if this call reports an end.
    pub finished: Option<FinishedRun>,
}

/// The progress of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunProgress {
    /// Case and seed.
    pub label: String,
    /// Simulated instant reached.
    pub simulated: Time,
    /// The scenario's time limit, if there is one.
    pub limit: Option<Time>,
    /// Events handled so far.
    pub events: u64,
    /// Events handled per second of wall-clock time.
    pub events_per_s: f64,
    /// Flows finished.
    pub flows_done: u64,
    /// Flows of the run.
    pub flows_total: u64,
    /// Estimated seconds of wall-clock time to the end, if an estimate is possible.
    pub eta_s: Option<f64>,
}

/// A run that ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FinishedRun {
    /// Case and seed.
    pub label: String,
    /// Whether the complete results of an earlier call were reused.
    pub reused: bool,
    /// Whether it was stopped early; its results are partial.
    pub interrupted: bool,
    /// Why it failed, if it did.
    pub failure: Option<String>,
}

/// The result of [`run`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The report, one HTML file.
    pub report: PathBuf,
    /// Headline and table for a terminal of 80 columns.
    pub terminal: String,
    /// Runs that failed.
    pub failed_runs: usize,
    /// Entries of `[[expect]]` that did not hold.
    pub missed_expectations: usize,
    /// Whether the call was stopped early; the results that exist are valid.
    pub interrupted: bool,
    /// Runs reused from an earlier call.
    pub reused: usize,
    /// The other builds that computed reused runs, as version and commit, and the number of their runs.
    pub builds: Vec<(String, usize)>,
    /// Runs that were complete, but computed by a program with other sources, and were computed again.
    pub outdated: usize,
    /// Complete runs of another results epoch in the same folder, which were not used.
    pub older: usize,
}

/// What [`check`] found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckReport {
    /// The number of mistakes; if zero, the scenario can be run.
    pub mistakes: usize,
    /// All mistakes as text, each with line, column, what was found and what is allowed; or the remarks, and a line
    /// stating that there are no mistakes.
    pub rendered: String,
    /// All mistakes, or the remarks on a scenario without mistakes, as a JSON array: `level` tells them apart.
    pub json: String,
}

/// Runs every case of a scenario with every seed, reusing complete results, and writes the report.
///
/// # Errors
/// [`Error::BadInput`] with all mistakes of the scenario; [`Error::Failed`] if results cannot be written. A failed run
/// is counted in [`Outcome::failed_runs`] instead.
pub fn run(path: &Path, options: &RunOptions) -> Result<Outcome, Error> {
    study::run(path, options)
}

/// Follows one flow through a run: every packet of it, wherever it is.
///
/// # Errors
/// [`Error::BadInput`] with all mistakes of the scenario, when it has several cases, or when there is no such flow;
/// [`Error::Failed`] when a file cannot be written.
pub fn trace(path: &Path, options: &TraceOptions) -> Result<TraceOutcome, Error> {
    tracer::trace(path, options)
}

/// Reads a scenario and reports all its mistakes at once.
///
/// # Errors
/// [`Error::BadInput`] if the file cannot be read at all. Mistakes in it are a [`CheckReport`], not an error.
pub fn check(path: &Path, set: &[String]) -> Result<CheckReport, Error> {
    check::check(path, set)
}

/// The cost of all runs of a scenario, estimated without running any; `None` if cluster jobs add flows.
///
/// # Errors
/// [`Error::BadInput`] with all mistakes of the scenario.
pub fn estimate(path: &Path, set: &[String]) -> Result<Option<CostEstimate>, Error> {
    let scenario = weft_prepare::read(path, set, false)?;
    Ok(estimate::estimate(&scenario, path.parent().unwrap_or(Path::new("."))))
}

/// Every effective setting below `prefix` with its value, unit, origin and meaning; with those of the balancer also the
/// state it keeps in switches.
///
/// # Errors
/// [`Error::BadInput`] with all mistakes of the scenario, or if no setting has this prefix.
pub fn explain(path: &Path, prefix: Option<&str>, set: &[String]) -> Result<String, Error> {
    explain::explain(path, prefix, set)
}

/// The names a scenario may use: balancers, transports, topologies, patterns, sizes, metrics, scenario templates;
/// without a topic, the topics.
///
/// # Errors
/// [`Error::BadInput`] if there is no such topic; the text names the nearest.
pub fn list(topic: Option<&str>) -> Result<String, Error> {
    lists::list(topic)
}

/// Decomposes the paths of a scenario's network into symmetric components.
///
/// # Errors
/// [`Error::BadInput`] with all mistakes of the scenario, or if an option names something that does not exist.
pub fn analyse_quiver(path: &Path, set: &[String], options: &QuiverOptions) -> Result<QuiverAnalysis, Error> {
    weft_analyse::quiver(path, weft_prepare::read(path, set, false)?.cases(), options)
        .map_err(Error::BadInput)
}

/// Simulates whether the queues of a switch with unequal outputs stay bounded under DRILL(d, m), and compares with
/// theory.
///
/// # Errors
/// [`Error::BadInput`] if an option is invalid.
pub fn analyse_stability(options: &StabilityOptions) -> Result<StabilityAnalysis, Error> {
    weft_analyse::stability(options, PACKETS).map_err(Error::BadInput)
}

/// Marking thresholds and increases that keep a required margin and recover in time, tried with packets unless that
/// is switched off.
///
/// # Errors
/// As [`fluid_run`].
pub fn fluid_tune(path: &Path, options: &FluidOptions, wanted: &TuneOptions) -> Result<FluidOutcome, Error> {
    weft_control::fluid_tune(path, options, wanted, PACKETS)
}

/// Packets and fluid of every case of a scenario, side by side, with its first seed. Only `set`, `jitter` and `out` of the
/// options are used: both models have the same network, flows, law and ramp.
///
/// # Errors
/// As [`fluid_run`].
pub fn fluid_compare(
    path: &Path,
    options: &FluidOptions,
    until: Option<&str>,
) -> Result<FluidOutcome, Error> {
    weft_control::fluid_compare(path, options, until, PACKETS)
}

/// Rewrites the report of a results folder and returns its path.
///
/// # Errors
/// [`Error::BadInput`] if the folder contains no results; [`Error::Failed`] if the report cannot be written.
pub fn report(folder: &Path) -> Result<PathBuf, Error> {
    let runs = weft_report::read_comparable(folder).map_err(|cause| Error::BadInput(cause.to_string()))?;
    let listing = weft_report::Listing::read(folder).map_err(|cause| Error::BadInput(cause.to_string()))?;
    Ok(page::overview(folder, runs, &listing.unwrap_or_default())?.0)
}

/// Compares the settings and metrics of two results folders, paired by seed, with 95 % intervals; returns a table for
/// the terminal, and the path of the HTML page, `out` or `comparison.html` in `b`, or why it could not be written.
///
/// # Errors
/// [`Error::BadInput`] if a folder contains no results, if they have no case in common, or if `out` is no earlier page.
pub fn compare(a: &Path, b: &Path, out: Option<&Path>) -> Result<(String, Result<PathBuf, Error>), Error> {
    let is_page = |path: &Path| overwrite::begins_with(path, weft_report::PAGE_BEGIN.as_bytes());
    out.map_or(Ok(()), |out| overwrite::may_replace(out, "comparison", is_page))?;
    let comparison = weft_report::compare(a, b).map_err(|cause| Error::BadInput(cause.to_string()))?;
    let path = out.map_or_else(|| b.join("comparison.html"), Path::to_owned);
    let page = weft_report::write_report(&path, &comparison.page()).map(|()| path).map_err(Error::from);
    Ok((comparison.terminal(page::colour()), page))
}

/// A commented scenario of this kind, ready to run.
///
/// # Errors
/// [`Error::BadInput`] if there is no such kind; the text names the kinds.
pub fn new_scenario(kind: &str) -> Result<String, Error> {
    weft_scenario::template(kind).ok_or_else(|| {
        let kinds: Vec<&str> = TEMPLATES.iter().map(|template| template.kind).collect();
        let hint = did_you_mean(kind, kinds.iter().copied());
        Error::BadInput(format!("there is no template `{kind}`{hint}\nallowed: {}", kinds.join(", ")))
    })
}

/// Converts files of another simulator into a scenario.
///
/// # Errors
/// [`Error::BadInput`] if the format is unknown, or with file, line, what was found and what is allowed.
pub fn import(format: &str, files: &[PathBuf], out: Option<&Path>) -> Result<ImportedScenario, Error> {
    importer::import(format, files, out)
}

/// Checks configuration files of switches and hosts, and scenarios, together as one network.
///
/// # Errors
/// [`Error::BadInput`] with all files that cannot be read, each with its line, and all unknown rules.
pub fn lint(files: &[LintFile], options: &LintOptions) -> Result<LintReport, Error> {
    linter::lint(files, options)
}

/// Whether a baseline may be written to this path.
///
/// # Errors
/// [`Error::BadInput`] if it would replace a file that is not a baseline.
pub fn lint_baseline_place(path: &Path) -> Result<(), Error> {
    linter::baseline_place(path)
}

/// Explains what a lint rule compares, why, and how to fix its findings; without a name, lists all rules, one line
/// each.
///
/// # Errors
/// [`Error::BadInput`] if there is no such rule; the text names the nearest.
pub fn lint_rule(id: Option<&str>) -> Result<String, Error> {
    linter::rule(id)
}

/// The generated reference pages: file name below `docs/src/reference/` and Markdown text.
#[must_use]
pub fn reference() -> Vec<(String, String)> {
    let pages = weft_scenario::reference_pages().into_iter().map(|page| (page.file, page.text));
    let more = [("lint.md".to_owned(), weft_lint::page()), ("columns.md".to_owned(), lists::columns_page())];
    pages.chain(more).collect()
}
