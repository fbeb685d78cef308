//! Complete runs of earlier calls that other builds of Weft computed, and when they count as results of this one. Must
//! not depend on how runs are computed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use weft_report::Manifest;
use weft_scenario::Case;

use crate::Error;
use crate::epoch::epoch;
use crate::manifest::{SOURCES, program};
use crate::reuse::Reuse;

/// Whether a complete run of the wanted case and seed counts.
pub(crate) fn accepts(reuse: Reuse, manifest: &Manifest) -> bool {
    manifest.sources == SOURCES || reuse == Reuse::SameResults && manifest.epoch == epoch()
}

/// Version and commit of the program that computed a run.
pub(crate) fn build_of(manifest: &Manifest) -> String {
    let build = format!("{} {}", manifest.version, manifest.commit).trim_end().to_owned();
    if build == program() && manifest.sources != SOURCES {
        format!("{build} with other sources")
    } else {
        build
    }
}

/// The scenario in the folder of a run.
const SCENARIO: &str = "scenario.toml";

/// The complete runs of this results epoch in folders of sweeps, by sweep, and what their scenarios say to this program.
#[derive(Default)]
pub(crate) struct EqualRuns {
    sweeps: BTreeMap<PathBuf, Vec<(PathBuf, Manifest)>>,
    identities: BTreeMap<PathBuf, Option<String>>,
}

impl EqualRuns {
    /// The folders below `root` with complete runs of a case and seed. The layout of files may be another than this
    /// program's, and with it the content hash. Scenarios are compared as this program reads them: a setting that has
    /// been added since has its default.
    ///
    /// # Errors
    /// The folder of the sweep cannot be read.
    pub(crate) fn of(
        &mut self,
        root: &Path,
        (case, wanted): (&Case, &Manifest),
    ) -> Result<Vec<PathBuf>, Error> {
        if !self.sweeps.contains_key(root) {
            self.sweeps.insert(root.to_owned(), complete(root)?);
        }
        let key = |manifest: &Manifest| (manifest.labels.clone(), manifest.seed, manifest.engine.clone());
        let alike = self.sweeps[root].iter().filter(|(_, manifest)| key(manifest) == key(wanted));
        let (identity, identities) = (case.identity(), &mut self.identities);
        let mut is_equal = |folder: &&PathBuf| {
            let of_case = folder.parent().unwrap_or(folder).to_owned();
            let known = identities.entry(of_case).or_insert_with(|| identity_of(&folder.join(SCENARIO)));
            known.as_ref() == Some(&identity)
        };
        Ok(alike.map(|(folder, _)| folder).filter(|folder| is_equal(folder)).cloned().collect())
    }
}

/// The identity of the only case of a scenario; `None` if this program cannot read it.
fn identity_of(scenario: &Path) -> Option<String> {
    match weft_prepare::read(scenario, &[], false).ok()?.cases() {
        [case] => Some(case.identity()),
        _ => None,
    }
}

/// The complete runs of this results epoch below the folder of a sweep.
fn complete(root: &Path) -> Result<Vec<(PathBuf, Manifest)>, Error> {
    let mut found = Vec::new();
    for case in folders(root)? {
        let is_complete = |run: &PathBuf| run.extension().is_none() && run.join("summary.json").is_file();
        for run in folders(&case)?.into_iter().filter(is_complete) {
            let manifest = manifest_in(&run).filter(|manifest| manifest.epoch == epoch());
            found.extend(manifest.map(|manifest| (run, manifest)));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

/// The manifest in the folder of a run; `None` if it cannot be read.
pub(crate) fn manifest_in(run: &Path) -> Option<Manifest> {
    serde_json::from_str(&fs::read_to_string(run.join("manifest.json")).ok()?).ok()
}

/// The folders in a folder, without links; none if it does not exist.
pub(crate) fn folders(place: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = match fs::read_dir(place) {
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|cause| Error::Failed(format!("{}: {cause}", place.display())))?,
    };
    let real = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    Ok(real.map(|entry| entry.path()).collect())
}
