//! The reference runs behind the results epoch: `check` compares, `write` accepts what they give now as a new epoch.

use crate::Verdict;
use std::path::{Path, PathBuf};
use weft::ResultsList;

/// Where scenarios and digests lie.
const FOLDER: &str = "crates/weft/results";

/// Fails when reference runs give other results than the committed digests.
pub(crate) fn check(root: &Path) -> Verdict {
    let (list, found) = (ResultsList::of(&root.join(FOLDER)), run(root)?);
    let changed = list.differences(&found);
    if changed.is_empty() {
        return Ok(format!("{} reference runs give the results of epoch {}", found.len(), list.epoch()));
    }
    let told =
        |name: String| format!("{name} gives other results; if intended, `cargo xtask results --write`");
    Err(changed.into_iter().map(told).collect())
}

/// Writes the digests of the results as they are now, and with them the epoch.
pub(crate) fn write(root: &Path) -> Verdict {
    renew(root, 0)
}

/// The same, and a new epoch even if no digest changes.
pub(crate) fn raise(root: &Path) -> Verdict {
    renew(root, 1)
}

fn renew(root: &Path, more: u64) -> Verdict {
    let folder = root.join(FOLDER);
    let old = ResultsList::of(&folder);
    let list = ResultsList { revision: old.revision + more, digests: run(root)? };
    list.write(&folder).map_err(|error| vec![error.to_string()])?;
    let changed = old.differences(&list.digests);
    let runs: String = changed.iter().map(|name| format!("\n  {name}")).collect();
    Ok(format!("epoch {} was {}; {} runs changed{runs}", list.epoch(), old.epoch(), changed.len()))
}

fn run(root: &Path) -> Result<weft::Digests, Vec<String>> {
    let scratch: PathBuf = std::env::temp_dir().join(format!("weft-results-{}", std::process::id()));
    let found = weft::reference_digests(&root.join(FOLDER), &scratch);
    let _ = std::fs::remove_dir_all(&scratch);
    found.map_err(|error| vec![error.to_string()])
}
