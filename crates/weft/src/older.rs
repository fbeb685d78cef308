//! Complete runs of another results epoch in the folders of a call. They are counted and reported, never used or
//! removed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::epoch::epoch;

/// Refuses to measure into a folder that has complete runs: a measurement cannot be repeated, so the replaced results
/// would be lost.
pub(crate) fn refuse_to_replace(root: &Path) -> Result<(), Error> {
    for case in folders(root)? {
        if folders(&case)?.iter().any(|run| run.join("summary.json").is_file()) {
            let why = "has results of an earlier call, which this one would replace: give another --out, or remove it";
            return Err(Error::BadInput(format!("{} {why}", root.display())));
        }
    }
    Ok(())
}

/// Counts the complete runs of another results epoch below the folder of a sweep. The runs of a case share its
/// content hash and thus the epoch, so one manifest represents all of them.
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

/// The epoch in a manifest, empty in one older than epochs; `None` if it cannot be read.
fn epoch_of(manifest: &Path) -> Option<String> {
    let text = fs::read_to_string(manifest).ok()?;
    let manifest: weft_report::Manifest = serde_json::from_str(&text).ok()?;
    Some(manifest.epoch)
}

/// The folders in a folder, without links.
fn folders(place: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |cause: std::io::Error| Error::Failed(format!("{}: {cause}", place.display()));
    let entries = fs::read_dir(place).map_err(failed)?.flatten();
    let real = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    Ok(real.map(|entry| entry.path()).collect())
}
