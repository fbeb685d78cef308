//! The reference runs behind the results epoch: `check` compares, `write` accepts their current results as a new
//! epoch.

use crate::Verdict;
use std::path::{Path, PathBuf};
use weft::ResultsList;

/// The folder of scenarios and digests.
const FOLDER: &str = "crates/weft/results";

/// Fails if the results of reference runs differ from the committed digests.
pub(crate) fn check(root: &Path) -> Verdict {
    let list = ResultsList::of(&root.join(FOLDER));
    let found = run(root, &list)?;
    let changed = list.differences(&found);
    if changed.is_empty() {
        return Ok(format!("{} reference runs give the results of epoch {}", found.runs.len(), list.epoch()));
    }
    let told = |name: String| {
        format!("{name} gives other results or files; if intended, `cargo xtask results --write`")
    };
    Err(changed.into_iter().map(told).collect())
}

/// Writes the digests of the current results. The epoch stays the same if results were only added.
pub(crate) fn write(root: &Path) -> Verdict {
    renew(root, 0, None)
}

/// The same, and a new epoch even if no digest changes; for scenarios with a setting, if one is given.
pub(crate) fn raise(root: &Path, only: Option<&str>) -> Verdict {
    renew(root, 1, only)
}

/// Accepts a change of results that concerns only scenarios with one setting: findings of other scenarios remain
/// valid.
pub(crate) fn only(root: &Path, setting: &str) -> Verdict {
    renew(root, 0, Some(setting))
}

fn renew(root: &Path, more: u64, only: Option<&str>) -> Verdict {
    let folder = root.join(FOLDER);
    let old = ResultsList::of(&folder);
    let found = run(root, &old)?;
    let list = old.renewed(&found, more);
    let failed = |error: weft::Error| vec![error.to_string()];
    if let Some(setting) = only.filter(|_| list.epoch() != old.epoch()) {
        weft::record_scope(&folder, (&old, &list), setting).map_err(failed)?;
    }
    list.write(&folder).map_err(failed)?;
    let changed = old.differences(&found);
    let runs: String = changed.iter().map(|name| format!("\n  {name}")).collect();
    let epoch = match list.epoch() == old.epoch() {
        true => format!("epoch {} stays, every result that it covers is as before", old.epoch()),
        false => format!("epoch {} was {}", list.epoch(), old.epoch()),
    };
    Ok(format!("{epoch}; {} runs are new or write other files{runs}", changed.len()))
}

fn run(root: &Path, list: &ResultsList) -> Result<weft::Digests, Vec<String>> {
    let scratch: PathBuf = std::env::temp_dir().join(format!("weft-results-{}", std::process::id()));
    let found = weft::reference_digests(&root.join(FOLDER), &list.digests.values, &scratch);
    let _ = std::fs::remove_dir_all(&scratch);
    found.map_err(|error| vec![error.to_string()])
}
