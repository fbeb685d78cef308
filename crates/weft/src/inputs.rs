//! Adjusts the names of input files in a scenario that is written beside its results, where they are relative to the
//! results. Must not depend on settings, only on the names that a case lists as its inputs.

use std::path::{Path, PathBuf};

/// `text`, in which names of `inputs` are relative to the folder `from`, for a file in the folder `to`. Both exist.
pub(crate) fn moved(text: &str, inputs: &[(String, String)], (from, to): (&Path, &Path)) -> String {
    let mut text = text.to_owned();
    for (name, _) in inputs {
        let plain = !name.contains(['"', '\\']) && !name.contains(char::is_control);
        if let (true, Some(path)) = (plain, relative(&from.join(name), to)) {
            text = text.replace(&format!("\"{name}\""), &format!("\"{}\"", path.display()));
        }
    }
    text
}

/// The relative path from a folder to a file.
fn relative(file: &Path, folder: &Path) -> Option<PathBuf> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let (file, folder) = (file.canonicalize().ok()?, folder.canonicalize().ok()?);
    let shared = file.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| "..");
    Some(
        up.map(PathBuf::from)
            .chain(file.components().skip(shared).map(|part| PathBuf::from(part.as_os_str())))
            .collect(),
    )
}
