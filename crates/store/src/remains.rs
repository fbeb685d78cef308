//! Removes partial files of a killed process below the folder of a sweep.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{StoreError, discard, is_folder, is_ours, step};

/// The file that marks a run as complete.
const COMPLETE: &str = "summary.json";

/// Removes the remains of killed processes in the folder of a sweep, in the folders of its cases (`WORDS-HASH8`) and
/// of its runs (`seed-N`): partly written files and folders, and interrupted runs that have since been completed.
/// Visits only these three levels and follows no link below `root`. No other process may be writing there. Stops
/// early if `stopped` returns true.
///
/// # Errors
/// The path that could not be read or removed, and why.
pub fn clear(root: &Path, stopped: &dyn Fn() -> bool) -> Result<(), StoreError> {
    clear_files(root, stopped)?;
    for case in entries(root)?.filter(|path| is_case(path) && is_folder(path)) {
        for path in entries(&case)?.take_while(|_| !stopped()) {
            clear_entry(&path)?;
        }
    }
    Ok(())
}

/// An entry of the folder of a case.
fn clear_entry(path: &Path) -> Result<(), StoreError> {
    match leftover(&name(path)) {
        Some(Leftover::Run) => {
            let half = path.join(".report.html.partial");
            if is_folder(path) && fs::symlink_metadata(&half).is_ok_and(|about| about.is_file()) {
                fs::remove_file(&half).map_err(StoreError::at(&half))?;
            }
            Ok(())
        }
        Some(Leftover::Building) => discard(path, None),
        Some(Leftover::Old(run)) => discard(path, Some(&path.with_file_name(run))),
        Some(Leftover::Interrupted(run)) => {
            let run = path.with_file_name(run);
            if run.join(COMPLETE).exists() { discard(path, Some(&run)) } else { Ok(()) }
        }
        None => Ok(()),
    }
}

/// Removes partly written files of a folder.
fn clear_files(folder: &Path, stopped: &dyn Fn() -> bool) -> Result<(), StoreError> {
    let half = |path: &PathBuf| {
        let name = name(path);
        name.ends_with(".partial") && is_ours(&name) && !is_folder(path)
    };
    for path in entries(folder)?.filter(half).take_while(|_| !stopped()) {
        fs::remove_file(&path).map_err(StoreError::at(&path))?;
        step::done();
    }
    Ok(())
}

/// The kinds of entries in the folder of a case, by name.
#[derive(Debug, PartialEq)]
enum Leftover {
    /// `seed-1`: a run; at most a file in it is a remnant.
    Run,
    /// `.seed-1.partial` or `.seed-1.partial.partial`: a run that was being written.
    Building,
    /// `.seed-1.old` or `.seed-1.old-2`: the previous version of this run, while it was being replaced.
    Old(String),
    /// `seed-1.partial`: this run, interrupted.
    Interrupted(String),
}

fn leftover(name: &str) -> Option<Leftover> {
    let shown = name.strip_prefix('.');
    let (rest, hidden) = (shown.unwrap_or(name), shown.is_some());
    let (run, ends) = rest.split_once('.').unwrap_or((rest, ""));
    let seed = run.strip_prefix("seed-")?;
    if seed.is_empty() || !seed.bytes().all(|c| c.is_ascii_digit()) {
        return None;
    }
    match (hidden, ends) {
        (false, "") => Some(Leftover::Run),
        (false, "partial") => Some(Leftover::Interrupted(run.to_owned())),
        (true, "partial" | "partial.partial") => Some(Leftover::Building),
        (true, ends) => match ends.strip_suffix(later(ends)) {
            Some("old") => Some(Leftover::Old(run.to_owned())),
            Some("partial.old") => Some(Leftover::Old(format!("{run}.partial"))),
            _ => None,
        },
        _ => None,
    }
}

/// The number at the end of `old-2`, with its hyphen.
fn later(ends: &str) -> &str {
    let number = ends.trim_end_matches(|c: char| c.is_ascii_digit());
    match number.strip_suffix('-').filter(|_| number.len() < ends.len()) {
        Some(stem) => &ends[stem.len()..],
        None => "",
    }
}

/// Whether a folder is that of a case, such as `ecmp-0123abcd`: words and eight digits of the content hash.
fn is_case(path: &Path) -> bool {
    let name = name(path);
    let hash = name.rsplit_once('-').map_or("", |(_, hash)| hash);
    hash.len() == 8 && hash.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn entries(folder: &Path) -> Result<impl Iterator<Item = PathBuf> + use<>, StoreError> {
    let entries = fs::read_dir(folder).map_err(StoreError::at(folder))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<std::io::Result<Vec<_>>>();
    Ok(paths.map_err(StoreError::at(folder))?.into_iter())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_runs_are_looked_at() {
        assert_eq!(leftover("seed-1"), Some(Leftover::Run));
        assert_eq!(leftover(".seed-12.partial"), Some(Leftover::Building));
        assert_eq!(leftover(".seed-12.old"), Some(Leftover::Old("seed-12".into())));
        assert_eq!(leftover(".seed-12.partial.old"), Some(Leftover::Old("seed-12.partial".into())));
        assert_eq!(leftover("seed-12.partial"), Some(Leftover::Interrupted("seed-12".into())));
        assert_eq!(leftover(".seed-12.old-2"), Some(Leftover::Old("seed-12".into())));
        assert_eq!(leftover(".seed-12.partial.old-13"), Some(Leftover::Old("seed-12.partial".into())));
        let others =
            [".seed-1.old-", ".seed-1.old2", ".seed-1.partial-2", ".seed-1.old-2.old", "seed-1.old-2"];
        let none = [".vimrc.old", ".seed-.old", ".seed-x.partial", "seed-1.old", ".seed-1.old.old", "", "."];
        for name in none.into_iter().chain(others) {
            assert_eq!(leftover(name), None, "{name}");
        }
        let cases = ["ecmp-0123abcd", "a-b-00000000", "case-1234567", "ecmp-0123ABCD", "01234567"];
        assert_eq!(cases.map(|name| is_case(Path::new(name))), [true, true, false, false, false]);
    }
}
