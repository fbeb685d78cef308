//! Cases of a scenario that are ready to be built, for programs that drive the engine themselves: benchmarks and
//! comparisons. It computes nothing and writes nothing.

use std::path::{Path, PathBuf};

use weft_plan::Setup;
use weft_scenario::ScenarioSettings;

use crate::{Error, build, study};

/// A case of a scenario.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The value of every axis of the sweep, or the name of a named case; empty when nothing is swept.
    pub labels: Vec<String>,
    /// All settings, checked; whoever changes them answers for them.
    pub settings: ScenarioSettings,
    /// Where relative file names start.
    folder: PathBuf,
}

impl Prepared {
    /// The parts of the run with a seed.
    ///
    /// # Errors
    /// [`Error::BadInput`] with what can only be found out while building, such as a file that cannot be read.
    pub fn setup(&self, seed: u64) -> Result<Setup, Error> {
        build::setup(&self.settings, &self.folder, seed).map_err(Error::BadInput)
    }
}

/// All cases of a scenario in the order of its sweep, of its demo if `demo`, with overrides `path=value`.
///
/// # Errors
/// [`Error::BadInput`] with all mistakes of the scenario.
pub fn prepare(path: &Path, set: &[String], demo: bool) -> Result<Vec<Prepared>, Error> {
    let scenario = study::read(path, set, demo)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let prepared = |case: &weft_scenario::Case| Prepared {
        labels: case.labels.iter().map(|(_, value)| value.clone()).collect(),
        settings: case.settings.clone(),
        folder: folder.to_owned(),
    };
    Ok(scenario.cases().iter().map(prepared).collect())
}
