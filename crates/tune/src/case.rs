//! Which case of a scenario's sweep to tune.

use std::path::Path;

use weft::Error;

/// The number of the wanted case among those of a sweep, which may be left out where there is one.
///
/// # Errors
/// [`Error::BadInput`] with the names of all cases.
pub(crate) fn chosen(scenario: &Path, names: &[String], wanted: Option<&str>) -> Result<usize, Error> {
    let found = match wanted {
        None => (names.len() == 1).then_some(0),
        Some(wanted) => names.iter().position(|name| name == wanted),
    };
    found.ok_or_else(|| {
        let (path, names) = (scenario.display(), names.join(", "));
        Error::BadInput(format!("{path}: choose one case of its sweep with --case\nallowed: {names}"))
    })
}
