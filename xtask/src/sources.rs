//! Files of the repository: finding and reading them in a fixed order. Must not depend on their contents.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders without hand-written files.
const SKIPPED: &[&str] = &["target", "runs", "node_modules", "book"];

/// Reads a text; the complaint names it.
pub(crate) fn read(path: &Path) -> Result<String, Vec<String>> {
    fs::read_to_string(path).map_err(|error| vec![format!("cannot read {}: {error}", path.display())])
}

/// All files below `folder` whose name ends in `.extension`, sorted by path. A missing folder counts as empty.
pub(crate) fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(folder, extension, &mut found);
    found.sort();
    found
}

fn collect(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && !SKIPPED.contains(&name.as_str()) {
            collect(&path, extension, found);
        } else if path.extension().is_some_and(|its| its == extension) {
            found.push(path);
        }
    }
}

/// The path as shown in messages: relative to the root, with forward slashes.
pub(crate) fn shown(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/")
}
