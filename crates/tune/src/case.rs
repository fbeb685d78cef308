//! The case of a scenario's sweep to tune.

use std::path::Path;

use weft::Error;
use weft_core::units::did_you_mean;

/// The index of the requested case among those of a sweep, which may be omitted if there is only one.
///
/// # Errors
/// [`Error::BadInput`] with the names of all cases.
pub(crate) fn chosen(scenario: &Path, names: &[String], wanted: Option<&str>) -> Result<usize, Error> {
    let found = match wanted {
        None => (names.len() == 1).then_some(0),
        Some(wanted) => names.iter().position(|name| name == wanted),
    };
    found.ok_or_else(|| {
        let (path, near) = (scenario.display(), names.iter().map(String::as_str));
        if names.iter().all(String::is_empty) {
            return Error::BadInput(format!("{path}: it has no sweep, so that --case has no effect"));
        }
        let found = wanted.map_or("choose one case of its sweep with --case".to_owned(), |wanted| {
            format!("its sweep has no case `{wanted}`{}", did_you_mean(wanted, near))
        });
        Error::BadInput(format!("{path}: {found}\nallowed: {}", names.join(", ")))
    })
}
