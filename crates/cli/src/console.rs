//! Words to the person in front of the terminal: results to standard output, complaints to standard error.
//!
//! A closed pipe (`weft list | head`) is not an error: the reader has seen enough.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use weft::Error;

/// Exit code for a run that failed or an expectation that was missed.
pub(crate) const FAILED: u8 = 1;
/// Exit code for input that cannot be used.
pub(crate) const BAD_INPUT: u8 = 2;

/// Prints a result with exactly one line end after it.
pub(crate) fn show(text: &str) {
    let _ = writeln!(io::stdout().lock(), "{}", text.trim_end_matches('\n'));
}

/// Prints a complaint with exactly one line end after it.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", text.trim_end_matches('\n'));
}

/// Prints why a command failed, and gives the exit code for it.
pub(crate) fn failure(error: &Error) -> ExitCode {
    complain(&error.to_string());
    code(error)
}

/// The exit code for an error.
pub(crate) fn code(error: &Error) -> ExitCode {
    ExitCode::from(match error {
        Error::BadInput(_) => BAD_INPUT,
        Error::Failed(_) => FAILED,
    })
}

/// Prints a text, or writes it to a new file. A file that exists is never overwritten.
pub(crate) fn show_or_save(text: &str, file: Option<&Path>) -> Result<ExitCode, Error> {
    match file {
        Some(path) => {
            save(text, path)?;
            show(&format!("wrote {}", path.display()));
        }
        None => show(text),
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes a text to a new file. A file that exists is never overwritten.
pub(crate) fn save(text: &str, path: &Path) -> Result<ExitCode, Error> {
    let place = |error: io::Error| Error::Failed(format!("cannot write {}: {error}", path.display()));
    io::Write::write_all(&mut std::fs::File::create_new(path).map_err(place)?, text.as_bytes())
        .map_err(place)?;
    Ok(ExitCode::SUCCESS)
}
