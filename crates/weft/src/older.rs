//! Complete runs of another results epoch in the folders of a call. They are counted and reported, never used or
//! removed.

use std::path::{Path, PathBuf};

use crate::Error;
use crate::earlier::{folders, manifest_in};
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
    let older = runs.iter().find_map(|run| manifest_in(run)).is_some_and(|one| one.epoch != epoch());
    Ok(if older { runs.len() } else { 0 })
}
