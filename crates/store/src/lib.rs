//! Folders and files that are either complete or absent, even after a crash of the process or the machine: each is
//! written under a hidden name in the same folder, synced to disk, and renamed. Must not depend on the contents of
//! files.
//!
//! Nothing is ever removed by following a link or by walking down a tree. Only files and folders with names that only
//! Weft writes ([`is_ours`]) are removed, at the depth where it writes them; everything else stays.

pub mod folder;
pub mod remains;
pub mod step;

use std::fs;
use std::path::{Path, PathBuf};

pub use folder::{begin, discard, replace, settle};

/// An error of the file system.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {cause}", path = .path.display())]
pub struct StoreError {
    /// The file or folder.
    pub path: PathBuf,
    /// The system's error.
    pub cause: std::io::Error,
}

impl StoreError {
    fn at(path: &Path) -> impl FnOnce(std::io::Error) -> StoreError + '_ {
        |cause| StoreError { path: path.to_owned(), cause }
    }
}

/// The stems of the files in the folder of a run; each may end in one of [`ENDS`].
const STEMS: [&str; 23] = [
    "manifest",
    "detail",
    "scenario",
    "summary",
    "flows",
    "links",
    "hops",
    "drops",
    "pauses",
    "queues",
    "flow-samples",
    "series",
    "series-links",
    "series-pauses",
    "incidents",
    "jobs",
    "phases",
    "tasks",
    "quiver",
    "report",
    "comparison",
    "sweep",
    // rows that are sorted outside memory
    "samples",
];

/// Stems of files that only contain rows being sorted.
const ROWS: [&str; 2] = ["fct", "slowdown"];

/// The ends of the names of files.
const ENDS: [&str; 7] = ["json", "toml", "csv", "parquet", "svg", "html", "rows"];

/// Whether this is the name of a file that Weft writes into the folder of a run or of a sweep, complete or partial.
#[must_use]
pub fn is_ours(name: &str) -> bool {
    let hidden = name.strip_prefix('.').map(|name| name.strip_suffix(".partial").unwrap_or(name));
    let Some((stem, end)) = hidden.unwrap_or(name).split_once('.') else { return false };
    let rows = ROWS.contains(&stem) && end == "rows";
    rows || STEMS.contains(&stem) && ENDS.contains(&end)
}

/// A hidden path beside `path`, on the same file system.
#[must_use]
pub fn sibling(path: &Path, word: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{word}"))
}

/// Writes a file so that it is either complete or unchanged.
///
/// # Errors
/// Errors of `write` and of the file system.
pub fn in_place<E: From<StoreError>>(
    path: &Path,
    write: impl FnOnce(fs::File) -> Result<(), E>,
) -> Result<(), E> {
    let building = sibling(path, "partial");
    let file = fs::File::create(&building).map_err(StoreError::at(path))?;
    step::done();
    let written = write(file).and_then(|()| {
        step::done();
        Ok(fs::rename(&building, path).map_err(StoreError::at(path))?)
    });
    if written.is_err() {
        // a partly written file takes space on a disk that may be full
        let _ = fs::remove_file(&building);
    }
    step::done();
    written
}

/// Whether this is a folder itself, not a link to one.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_only_weft_writes_are_known() {
        for name in
            ["flows.csv", ".flows.csv.partial", ".flows.rows", ".fct.rows", "quiver.svg", "sweep.json"]
        {
            assert!(is_ours(name), "{name}");
        }
        for name in [
            ".vimrc.old",
            ".bashrc.old",
            "notes.txt",
            "fct.csv",
            ".flows",
            "flows",
            "flows.csv.bak",
            "",
            ".partial",
        ] {
            assert!(!is_ours(name), "{name}");
        }
    }
}
