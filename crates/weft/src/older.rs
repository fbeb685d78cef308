//! Complete runs of another results epoch beside those of a call. They are counted and told, never used or removed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::epoch::epoch;

/// So many complete runs below the folder of a sweep are of another results epoch. The runs of a case share its content
/// hash and with it the epoch, so one manifest speaks for all of them.
pub(crate) fn count(root: &Path) -> Result<usize, Error> {
    let cases = folders(root)?;
    cases.iter().map(|case| of_case(case)).sum()
}

fn of_case(case: &Path) -> Result<usize, Error> {
    let runs: Vec<PathBuf> =
        folders(case)?.into_iter().filter(|run| run.join("summary.json").is_file()).collect();
    let told = |run: &PathBuf| epoch_of(&run.join("manifest.json"));
    let older = runs.iter().find_map(told).is_some_and(|one| one != epoch());
    Ok(if older { runs.len() } else { 0 })
}

/// The epoch a manifest names, empty for one from before there were epochs; `None` if it cannot be read.
fn epoch_of(manifest: &Path) -> Option<String> {
    let text = fs::read_to_string(manifest).ok()?;
    let manifest: weft_report::Manifest = serde_json::from_str(&text).ok()?;
    Some(manifest.epoch)
}

/// The folders in a folder, links aside.
fn folders(place: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |cause: std::io::Error| Error::Failed(format!("{}: {cause}", place.display()));
    let entries = fs::read_dir(place).map_err(failed)?.flatten();
    let real = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    Ok(real.map(|entry| entry.path()).collect())
}
