//! `weft fluid`: scenarios as control loops. Finds the bottleneck, evaluates the fluid models, and presents the
//! results.
//!
//! The mathematics is in `weft-fluid`; the caller provides the engine that runs packets for comparison.

mod beside;
mod bottleneck;
mod command;
mod convert;
mod course;
mod figures;
mod jitter;
mod map;
mod margin;
mod notes;
mod numbers;
mod packets;
mod range;
mod subject;
mod swing;
mod table;
mod tune;

use std::path::{Path, PathBuf};

use weft_plan::Engine;
use weft_prepare::{Error, read};
use weft_report::{Page, REPORT, write_report, write_text};

use command::command;
pub use jitter::FluidJitter;
pub use numbers::{FLUID_NUMBERS, FluidNumbers, fluid_numbers, is_fluid_number};
use subject::Subject;

/// The complete scenario beside a page.
const SCENARIO: &str = "scenario.toml";

/// The options of the fluid model of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FluidOptions {
    /// Overrides `path=value` of the scenario, as typed.
    pub set: Vec<String>,
    /// Number of flows through the bottleneck, instead of the scenario's.
    pub flows: Option<u32>,
    /// Loop delay without queueing, as typed, instead of the network's.
    pub delay: Option<String>,
    /// Rate law with its defaults, instead of the transport.
    pub law: Option<String>,
    /// Continue the marking ramp beyond its end, as the published stability figures do.
    pub continued: bool,
    /// How feedback jitter is treated over time.
    pub jitter: FluidJitter,
    /// The folder below which `<name>/fluid/` is written.
    pub out: PathBuf,
}

/// The result of a fluid command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FluidOutcome {
    /// Output for a terminal of 80 columns.
    pub terminal: String,
    /// The HTML page.
    pub report: PathBuf,
    /// No setting reaches the targets; the texts say what would help.
    pub unsolved: bool,
}

/// The targets of [`fluid_tune`].
#[derive(Clone, Debug, PartialEq)]
pub struct TuneOptions {
    /// Minimum number of flows.
    pub from: u32,
    /// Maximum number of flows.
    pub to: u32,
    /// The phase margin required for every number of flows, in degrees.
    pub margin: f64,
    /// The longest standing queue allowed, as typed.
    pub queue: String,
    /// The longest time in which the fewest flows may recover from their start at line rate, as typed.
    pub recovery: String,
    /// Try every answer with packets before it is given.
    pub packets: bool,
}

/// Time series of every case of a scenario.
///
/// # Errors
/// [`Error::BadInput`] with all mistakes, or if there is no fluid model of it; [`Error::Failed`] if results cannot be
/// written.
pub fn fluid_run(path: &Path, options: &FluidOptions, until: Option<&str>) -> Result<FluidOutcome, Error> {
    let own = [("--until", until.map(str::to_owned))];
    let study = Study::read(path, options, command("run", path, options, &own))?;
    let until = until.map(range::span).transpose()?;
    let courses = course::compute(&study.subjects, until)?;
    let folder = study.folder(options, "run")?;
    for (number, course) in courses.iter().enumerate() {
        write_text(&folder.join(format!("series-{number}.csv")), &course.csv())?;
    }
    study.publish(&folder, course::page(&courses), course::terminal(&courses))
}

/// Fixed points and margins of every case of a scenario.
///
/// # Errors
/// As [`fluid_run`].
pub fn fluid_margin(path: &Path, options: &FluidOptions) -> Result<FluidOutcome, Error> {
    let study = Study::read(path, options, command("margin", path, options, &[]))?;
    let found = margin::compute(&study.subjects)?;
    let folder = study.folder(options, "margin")?;
    write_text(&folder.join("response.csv"), &margin::csv(&found))?;
    study.publish(&folder, margin::page(&found), margin::terminal(&found))
}

/// The margin as a function of two settings, each given as typed: `path=first..last:count`.
///
/// # Errors
/// As [`fluid_run`]; also if a range cannot be read, or both settings change the same quantity.
pub fn fluid_sweep(path: &Path, options: &FluidOptions, ranges: [&str; 2]) -> Result<FluidOutcome, Error> {
    let own = ranges.map(|range| ("--over", Some(range.to_owned())));
    let study = Study::read(path, options, command("sweep", path, options, &own))?;
    let map = map::compute(path, options, ranges)?;
    let folder = study.folder(options, "sweep")?;
    write_text(&folder.join("map.csv"), &map.csv())?;
    study.publish(&folder, map.page(), map.terminal())
}

/// Marking thresholds and rate increases that achieve the required margin and recover in time, tried with packets unless that
/// is switched off. Without such settings the outcome is `unsolved`.
///
/// # Errors
/// As [`fluid_run`].
pub fn fluid_tune(
    path: &Path,
    options: &FluidOptions,
    wanted: &TuneOptions,
    engine: &dyn Engine,
) -> Result<FluidOutcome, Error> {
    let line = command("tune", path, options, &command::targets(wanted));
    let without = if wanted.packets { "" } else { " --no-packets" };
    let study = Study::read(path, options, line + without)?;
    let trials = tune::Trials { path, options, engine };
    let tuning = tune::compute(&study.subjects[0], wanted, trials)?;
    let folder = study.folder(options, "tune")?;
    write_text(&folder.join("tried.csv"), &tuning.csv())?;
    let unsolved = tuning.unsolved();
    Ok(FluidOutcome { unsolved, ..study.publish(&folder, tuning.page(), tuning.terminal())? })
}

/// Packets and fluid of every case of a scenario, side by side, with its first seed. Only `set`, `jitter` and `out`
/// of the options are used: both models have the same network, flows, law and ramp.
///
/// # Errors
/// As [`fluid_run`]; also if the engine does not measure queues.
pub fn fluid_compare(
    path: &Path,
    options: &FluidOptions,
    until: Option<&str>,
    engine: &dyn Engine,
) -> Result<FluidOutcome, Error> {
    let own = [("--until", until.map(str::to_owned))];
    let study = Study::read(path, options, command("compare", path, options, &own))?;
    let until = until.map(range::span).transpose()?;
    let pairs = beside::compute((path, options), &study.subjects, until, engine)?;
    let folder = study.folder(options, "compare")?;
    for (number, pair) in pairs.iter().enumerate() {
        let (queue, rates) = pair.csv();
        write_text(&folder.join(format!("queue-{number}.csv")), &queue)?;
        write_text(&folder.join(format!("rates-{number}.csv")), &rates)?;
    }
    write_text(&folder.join("deviations.csv"), &beside::csv(&pairs))?;
    study.publish(&folder, beside::page(&pairs), beside::terminal(&pairs))
}

/// A scenario and the fluid models of its cases.
struct Study {
    name: String,
    about: String,
    canonical: String,
    /// The command that repeats the study.
    command: String,
    subjects: Vec<Subject>,
}

impl Study {
    fn read(path: &Path, options: &FluidOptions, command: String) -> Result<Study, Error> {
        let scenario = read(path, &options.set, false)?;
        let settings = &scenario.settings;
        let subjects = Subject::all(path, options)?;
        let (name, about) = (settings.name.clone(), settings.about.clone());
        let canonical = scenario.to_toml();
        Ok(Study { name, about, canonical, command, subjects })
    }

    /// The folder for the results of one command; created if missing.
    fn folder(&self, options: &FluidOptions, what: &str) -> Result<PathBuf, Error> {
        let folder = options.out.join(&self.name).join("fluid").join(what);
        std::fs::create_dir_all(&folder).map_err(|cause| {
            Error::Failed(format!("cannot write results to {}: {cause}", folder.display()))
        })?;
        Ok(folder)
    }

    /// Completes and writes the page, and the scenario beside it.
    fn publish(self, folder: &Path, page: Page, terminal: String) -> Result<FluidOutcome, Error> {
        let report = folder.join(REPORT);
        let mut page = Page { name: self.name, about: self.about, ..page };
        write_text(&folder.join(SCENARIO), &self.canonical)?;
        page.repeat.scenario = self.canonical;
        page.repeat.facts.insert(0, ("command".to_owned(), self.command));
        write_report(&report, &page)?;
        Ok(FluidOutcome { terminal: table::narrow(&terminal), report, unsolved: false })
    }
}
