//! Words to the person in front of the terminal: results to standard output, complaints to standard error. Everything that
//! Weft prints goes through here, and nothing that files or arguments contain can speak to the terminal: control characters
//! and those that turn the direction of text around are written out.
//!
//! A closed pipe (`weft list | head`) is not an error: the reader has seen enough.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use weft::Error;

/// Exit code for a run that failed or an expectation that was missed.
pub(crate) const FAILED: u8 = 1;
/// Exit code for input that cannot be used.
pub(crate) const BAD_INPUT: u8 = 2;
/// Erases the line and goes to its begin.
const ERASE: &str = "\r\x1b[2K";

/// Prints a result with exactly one line end after it.
///
/// # Errors
/// [`Error::Failed`] when standard output cannot take it, unless its reader has gone.
pub(crate) fn show(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    let shown = inert(text.trim_end_matches('\n'), out.is_terminal());
    match writeln!(out, "{shown}").and_then(|()| out.flush()) {
        Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::Failed(format!("cannot write to standard output: {cause}")))
        }
        _ => Ok(()),
    }
}

/// Prints a complaint with exactly one line end after it. If even that fails, nobody is left to be told.
pub(crate) fn complain(text: &str) {
    let mut err = io::stderr().lock();
    let shown = inert(text.trim_end_matches('\n'), err.is_terminal());
    let _ = writeln!(err, "{shown}");
}

/// Whether a line on standard error can be drawn again and again.
pub(crate) fn can_redraw() -> bool {
    io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|kind| kind != "dumb")
}

/// Replaces the line on standard error.
pub(crate) fn redraw(line: &str) {
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "{ERASE}{}", weft::visible(line)).and_then(|()| stderr.flush());
}

/// A text without control characters; colours stay where Weft itself uses them.
fn inert(text: &str, is_terminal: bool) -> String {
    if weft::colour(is_terminal) { weft::visible_in_colour(text) } else { weft::visible(text) }
}

/// Prints why a command failed, and gives the exit code for it.
pub(crate) fn failure(error: &Error) -> ExitCode {
    complain(&error.to_string());
    code(error)
}

/// Prints what is wrong with a command line, or its help, as the parser words it.
pub(crate) fn of_parser(said: &clap::Error) -> ExitCode {
    let is_terminal = if said.use_stderr() { io::stderr().is_terminal() } else { io::stdout().is_terminal() };
    let text = said.render();
    let text = if weft::colour(is_terminal) { text.ansi().to_string() } else { text.to_string() };
    if said.use_stderr() {
        complain(&text);
        return ExitCode::from(BAD_INPUT);
    }
    show(&text).map_or_else(|error| failure(&error), |()| ExitCode::SUCCESS)
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
            show(&format!("wrote {}", path.display()))?;
        }
        None => show(text)?,
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
