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
const STEMS: [&str; 24] = [
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
    MONITOR,
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

/// The lines of the queue monitor, which are also a text file.
const MONITOR: &str = "queue-monitor";

/// The ends of the names of files.
const ENDS: [&str; 7] = ["json", "toml", "csv", "parquet", "svg", "html", "rows"];

/// Whether this is the name of a file that Weft writes into the folder of a run or of a sweep, complete or partial.
#[must_use]
pub fn is_ours(name: &str) -> bool {
    let hidden = name.strip_prefix('.').map(|name| name.strip_suffix(".partial").unwrap_or(name));
    let Some((stem, end)) = hidden.unwrap_or(name).split_once('.') else { return false };
    let rows = ROWS.contains(&stem) && end == "rows";
    let monitor = stem == MONITOR && end == "txt";
    rows || monitor || STEMS.contains(&stem) && ENDS.contains(&end)
}

/// A hidden path beside `path`, on the same file system.
#[must_use]
pub fn sibling(path: &Path, word: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{word}"))
}

/// Writes a file so that it is either complete or unchanged. In a folder that is [being built](begin), [`settle`] syncs
/// it to disk with all others; elsewhere this does.
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
        Ok(publish(&building, path)?)
    });
    if written.is_err() {
        // a partly written file takes space on a disk that may be full
        let _ = fs::remove_file(&building);
    }
    step::done();
    written
}

/// Gives a written file its name, and syncs both to disk unless their folder is being built.
fn publish(building: &Path, path: &Path) -> Result<(), StoreError> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let synced_later = is_being_built(parent);
    if !synced_later {
        synced(building)?;
    }
    fs::rename(building, path).map_err(StoreError::at(path))?;
    if synced_later { Ok(()) } else { synced(parent) }
}

/// Whether a folder has the name that [`begin`] gives.
fn is_being_built(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') && name.ends_with(".partial")
}

/// Syncs a path. Where folders cannot be opened like files, the system does this by itself.
fn synced(path: &Path) -> Result<(), StoreError> {
    if path.is_dir() && !cfg!(unix) {
        return Ok(());
    }
    fs::File::open(path).and_then(|file| file.sync_all()).map_err(StoreError::at(path))?;
    step::synced(path);
    Ok(())
}

/// Whether this is a folder itself, not a link to one.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// A new folder for the files of a test.
    pub(crate) fn place(name: &str) -> PathBuf {
        let place = std::env::temp_dir().join(format!("weft-store-{}-{name}", std::process::id()));
        fs::create_dir_all(&place).expect("there is room for temporary files");
        place
    }

    /// Those that Weft does write are tested where the list of results is.
    #[test]
    fn names_of_other_files_are_not_ours() {
        for name in [
            ".vimrc.old",
            ".bashrc.old",
            "notes.txt",
            "summary.txt",
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

    /// The file before its name, its folder after; a folder that is being built is synced as a whole.
    #[test]
    fn a_file_is_on_disk_before_it_has_its_name() {
        let root = place("synced");
        let write = |path: &Path| {
            step::take_synced();
            in_place(path, |mut file| file.write_all(b"all").map_err(StoreError::at(path))).expect("written");
            step::take_synced()
        };
        assert_eq!(write(&root.join("sweep.json")), [root.join(".sweep.json.partial"), root.clone()]);
        let built = begin(&root.join("seed-1")).expect("it can be made");
        assert_eq!(write(&built.join("links.csv")), [""; 0].map(PathBuf::from));
        settle(&built).expect("it can be synced");
        assert_eq!(step::take_synced(), [built.join("links.csv"), built]);
        fs::remove_dir_all(&root).expect("it is ours");
    }
}
