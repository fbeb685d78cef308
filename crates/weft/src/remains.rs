//! What a killed process leaves half written below the folder of a sweep, and how it goes.

use std::fs;
use std::path::Path;

use crate::Error;

/// Removes what a process that was killed has left half written below the folder of a sweep, and interrupted runs that
/// are complete by now. Nobody else may be writing there.
pub(crate) fn clear(root: &Path) -> Result<(), Error> {
    let failed = |path: &Path, cause: std::io::Error| Error::Failed(format!("{}: {cause}", path.display()));
    for entry in fs::read_dir(root).map_err(|cause| failed(root, cause))? {
        let path = entry.map_err(|cause| failed(root, cause))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let hidden = name.starts_with('.') && (name.ends_with(".partial") || name.ends_with(".old"));
        let is_partial = path.extension().is_some_and(|extension| extension == "partial");
        let overtaken = is_partial && path.with_extension("").join("summary.json").exists();
        match (hidden || overtaken, path.is_dir()) {
            (true, true) => fs::remove_dir_all(&path).map_err(|cause| failed(&path, cause))?,
            (true, false) => fs::remove_file(&path).map_err(|cause| failed(&path, cause))?,
            (false, true) => clear(&path)?,
            (false, false) => {}
        }
    }
    Ok(())
}
