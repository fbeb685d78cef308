//! The folder of a run: built beside its final path, then moved there in one step.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{StoreError, is_folder, is_ours, sibling, step, synced};

/// Creates a hidden folder for the new contents of `folder`, without files of an earlier attempt.
///
/// # Errors
/// Errors of the file system.
pub fn begin(folder: &Path) -> Result<PathBuf, StoreError> {
    let building = sibling(folder, "partial");
    discard(&building, None)?;
    fs::create_dir_all(&building).map_err(StoreError::at(&building))?;
    step::done();
    Ok(building)
}

/// Syncs a folder and its files to disk. A file that is renamed before that may be empty after a power failure.
///
/// # Errors
/// Errors of the file system.
pub fn settle(folder: &Path) -> Result<(), StoreError> {
    for entry in fs::read_dir(folder).map_err(StoreError::at(folder))? {
        synced(&entry.map_err(StoreError::at(folder))?.path())?;
        step::done();
    }
    synced(folder)
}

/// Replaces `folder` by the folder `built`. Files in the old folder that are not Weft's move into the new one.
///
/// # Errors
/// Errors of the file system; `folder` is a link, which is not replaced.
pub fn replace(built: &Path, folder: &Path) -> Result<(), StoreError> {
    let mut old = sibling(folder, "old");
    match fs::symlink_metadata(folder) {
        Ok(about) if about.is_dir() => {
            discard(&old, Some(folder))?;
            old = vacant(folder);
            fs::rename(folder, &old).map_err(StoreError::at(folder))?;
        }
        Ok(_) => {
            let words = "not a folder; Weft replaces only folders it created";
            return Err(StoreError::at(folder)(std::io::Error::other(words)));
        }
        Err(_) => {}
    }
    step::done();
    fs::rename(built, folder).map_err(StoreError::at(folder))?;
    step::done();
    synced(folder.parent().unwrap_or(folder))?;
    discard(&old, Some(folder))
}

/// Where the old folder goes: the first of `.seed-1.old`, `.seed-1.old-2` and so on that does not exist. An earlier one
/// stays as long as it holds files that are not Weft's.
fn vacant(folder: &Path) -> PathBuf {
    let old = sibling(folder, "old");
    let taken = |path: &PathBuf| fs::symlink_metadata(path).is_ok();
    let mut further = (2..).map(|number: u64| sibling(folder, &format!("old-{number}")));
    if taken(&old) { further.find(|path| !taken(path)).unwrap_or(old) } else { old }
}

/// Removes Weft's files from a folder and then the folder, unless it contains anything else: other files move to
/// `heir`, if that folder exists and has no file of the same name; otherwise they and the folder stay. Does nothing if
/// the folder does not exist, or is a link.
///
/// # Errors
/// Errors of the file system.
pub fn discard(folder: &Path, heir: Option<&Path>) -> Result<(), StoreError> {
    if !is_folder(folder) {
        return Ok(());
    }
    for entry in fs::read_dir(folder).map_err(StoreError::at(folder))? {
        let path = entry.map_err(StoreError::at(folder))?.path();
        let name = path.file_name().unwrap_or_default();
        if is_ours(&name.to_string_lossy()) && !is_folder(&path) {
            fs::remove_file(&path).map_err(StoreError::at(&path))?;
        } else if let Some(place) = heir.filter(|heir| is_folder(heir)).map(|heir| heir.join(name))
            && fs::symlink_metadata(&place).is_err()
        {
            fs::rename(&path, &place).map_err(StoreError::at(&path))?;
        }
        step::done();
    }
    match fs::remove_dir(folder) {
        Err(cause) if cause.kind() != std::io::ErrorKind::DirectoryNotEmpty => {
            Err(StoreError::at(folder)(cause))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::place;

    /// A file of the user that the new run has too can go nowhere; it stays, and no later run fails because of it.
    #[test]
    fn files_that_stay_in_an_old_folder_do_not_stop_later_runs() {
        let root = place("old-folders");
        let folder = root.join("seed-1");
        for run in 1..=4 {
            let built = begin(&folder).expect("it can be made");
            fs::write(built.join("notes.md"), format!("of run {run}")).expect("it can be written");
            fs::write(built.join("summary.json"), format!("{run}")).expect("it can be written");
            replace(&built, &folder).expect("the old folder does not matter");
            assert_eq!(fs::read_to_string(folder.join("summary.json")).expect("a file"), format!("{run}"));
        }
        let kept = [".seed-1.old", ".seed-1.old-2", ".seed-1.old-3", "seed-1"];
        let texts = kept.map(|name| fs::read_to_string(root.join(name).join("notes.md")).expect("a file"));
        assert_eq!(texts, ["of run 1", "of run 2", "of run 3", "of run 4"]);
        assert!(!root.join(".seed-1.old/summary.json").exists(), "Weft's own files are removed");
        fs::remove_dir_all(&root).expect("it is ours");
    }
}
