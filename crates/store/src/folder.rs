//! The folder of a run: built beside its final path, then moved there in one step.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{StoreError, is_folder, is_ours, sibling, step};

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

/// Syncs a path. If folders cannot be opened like files, the system does this by itself.
fn synced(path: &Path) -> Result<(), StoreError> {
    if path.is_dir() && !cfg!(unix) {
        return Ok(());
    }
    fs::File::open(path).and_then(|file| file.sync_all()).map_err(StoreError::at(path))
}

/// Replaces `folder` by the folder `built`. Files in the old folder that are not Weft's move into the new one.
///
/// # Errors
/// Errors of the file system; `folder` is a link, which is not replaced.
pub fn replace(built: &Path, folder: &Path) -> Result<(), StoreError> {
    let old = sibling(folder, "old");
    match fs::symlink_metadata(folder) {
        Ok(about) if about.is_dir() => {
            discard(&old, Some(folder))?;
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
