//! From a scenario file to the setups of its runs: reads and checks it, builds its networks, draws its flows.
//!
//! Must not depend on engines or results.

mod build;

use std::path::{Path, PathBuf};

use weft_plan::Setup;
use weft_scenario::{Case, Metrics, Scenario, ScenarioFile, ScenarioSettings};
use weft_transport::TransportSettings;

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The user's input cannot be used; the text names the position and what is allowed. Exit code 2.
    #[error("{0}")]
    BadInput(String),
    /// The environment failed: for instance, a file could not be written, or a run failed. Exit code 1.
    #[error("{0}")]
    Failed(String),
}

impl From<weft_report::DiskError> for Error {
    fn from(cause: weft_report::DiskError) -> Error {
        Error::Failed(cause.to_string())
    }
}

/// The metrics that expectations may use.
pub const METRICS: Metrics = Metrics {
    known: |path| weft_report::metric::find(path).is_some(),
    nearest: weft_report::metric::nearest,
    unit: weft_report::metric::unit,
};

/// Whether messages are coloured: only on a terminal, if wanted.
#[must_use]
pub fn colour() -> bool {
    weft_report::terminal::colour(std::io::IsTerminal::is_terminal(&std::io::stderr()))
}

/// Reads and checks a scenario file with the overrides `path=value`, in its reduced form if `demo`.
///
/// # Errors
/// [`Error::BadInput`] with all mistakes of the scenario.
pub fn read(path: &Path, set: &[String], demo: bool) -> Result<Scenario, Error> {
    let file =
        ScenarioFile::read(path, set, demo).map_err(|mistakes| Error::BadInput(mistakes.draw(colour())))?;
    file.validate(&METRICS).map_err(|mistakes| Error::BadInput(mistakes.draw(colour())))
}

/// The setup of a case with a seed. Relative file names start at `folder`.
///
/// # Errors
/// Mistakes found only while building, each with the path of its setting: files that cannot be read or that
/// changed since the scenario was checked.
pub fn setup(settings: &ScenarioSettings, folder: &Path, seed: u64) -> Result<Setup, String> {
    build::setup(settings, folder, seed)
}

/// Refuses a case whose files have changed since the scenario was checked: results carry the hashes that they had then.
///
/// # Errors
/// [`Error::Failed`] with the first such file.
pub fn unchanged(case: &Case, folder: &Path) -> Result<(), Error> {
    let now = weft_scenario::hashes_of_files(case, folder);
    match case.inputs().iter().zip(now).find(|((_, then), now)| Some(then) != now.as_ref()) {
        None => Ok(()),
        Some(((name, _), _)) => {
            Err(Error::Failed(format!("{name} has changed since the scenario was read: start again")))
        }
    }
}

/// A case of a scenario.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The value on every axis of the sweep, or the name of a named case; empty without a sweep.
    pub labels: Vec<String>,
    /// All settings, checked; changing them is the caller's responsibility.
    pub settings: ScenarioSettings,
    /// Where relative file names start.
    pub folder: PathBuf,
    /// The case as it was checked.
    case: Case,
}

impl Prepared {
    /// This case with another transport, checked against the rules on combinations of settings.
    ///
    /// # Errors
    /// [`Error::BadInput`] with everything that makes it impossible, as `weft check` would report it.
    pub fn with_transport(&self, transport: TransportSettings) -> Result<Prepared, Error> {
        let mut changed = self.clone();
        changed.settings.transport = transport;
        changed.case.settings = changed.settings.clone();
        let mistakes = weft_scenario::impossible(&changed.case, &self.folder);
        match mistakes.is_empty() {
            true => Ok(changed),
            false => {
                let said = mistakes.iter().map(|mistake| format!("{}: {}", mistake.path, mistake.message));
                Err(Error::BadInput(said.collect::<Vec<_>>().join("\n")))
            }
        }
    }

    /// The parts of the run with a seed.
    ///
    /// # Errors
    /// [`Error::BadInput`] with mistakes found only while building, such as a file that cannot be read; [`Error::Failed`] if
    /// a file has changed since.
    pub fn setup(&self, seed: u64) -> Result<Setup, Error> {
        let setup = build::setup(&self.settings, &self.folder, seed).map_err(Error::BadInput)?;
        unchanged(&self.case, &self.folder)?;
        Ok(setup)
    }
}

/// All cases of a scenario, in its reduced form if `demo`, in the order of its sweep, with overrides `path=value`.
///
/// # Errors
/// [`Error::BadInput`] with all mistakes of the scenario.
pub fn prepare(path: &Path, set: &[String], demo: bool) -> Result<Vec<Prepared>, Error> {
    let scenario = read(path, set, demo)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let prepared = |case: &Case| Prepared {
        labels: case.labels.iter().map(|(_, value)| value.clone()).collect(),
        settings: case.settings.clone(),
        folder: folder.to_owned(),
        case: case.clone(),
    };
    Ok(scenario.cases().iter().map(prepared).collect())
}
