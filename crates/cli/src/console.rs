//! Terminal output: results to standard output, errors to standard error. Everything Weft prints goes through here, so
//! that text from files or arguments cannot control the terminal: control and bidirectional characters are escaped.
//!
//! A closed pipe (`weft list | head`) is not an error.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use weft::Error;

/// Exit code for a run that failed or an expectation that was missed.
pub(crate) const FAILED: u8 = 1;
/// Exit code for input that cannot be used.
pub(crate) const BAD_INPUT: u8 = 2;
/// Erases the line and returns the cursor to its start.
const ERASE: &str = "\r\x1b[2K";

/// Prints a result, ending in exactly one newline.
///
/// # Errors
/// [`Error::Failed`] when writing fails for any reason but a closed pipe.
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

/// Prints an error message, ending in exactly one newline. A failure to write is ignored.
pub(crate) fn complain(text: &str) {
    let mut err = io::stderr().lock();
    let shown = inert(text.trim_end_matches('\n'), err.is_terminal());
    let _ = writeln!(err, "{shown}");
}

/// Whether standard error can redraw its last line.
pub(crate) fn can_redraw() -> bool {
    io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|kind| kind != "dumb")
}

/// Redraws the last line on standard error.
pub(crate) fn redraw(line: &str) {
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "{ERASE}{}", weft::visible(line)).and_then(|()| stderr.flush());
}

/// Whether messages may have colours.
pub(crate) fn is_coloured() -> bool {
    weft::colour(std::io::stderr().is_terminal())
}

/// The text with control characters escaped, except Weft's own colours.
fn inert(text: &str, is_terminal: bool) -> String {
    if weft::colour(is_terminal) { weft::visible_in_colour(text) } else { weft::visible(text) }
}

/// Prints why a command failed and returns its exit code.
pub(crate) fn failure(error: &Error) -> ExitCode {
    complain(&error.to_string());
    code(error)
}

/// Prints the output of the argument parser: an error in the command line, or help.
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

/// Prints a text, or writes it to a new file; never overwrites.
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

/// Writes a text to a new file; never overwrites.
pub(crate) fn save(text: &str, path: &Path) -> Result<ExitCode, Error> {
    let place = |error: io::Error| Error::Failed(format!("cannot write {}: {error}", path.display()));
    refuse_existing(path)?;
    let mut file = std::fs::File::create_new(path).map_err(place)?;
    if let Err(cause) = io::Write::write_all(&mut file, text.as_bytes()) {
        // A partial file would block the next attempt.
        let _ = std::fs::remove_file(path);
        return Err(place(cause));
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses a file that exists.
///
/// # Errors
/// [`Error::BadInput`] when there is anything at this path.
pub(crate) fn refuse_existing(path: &Path) -> Result<(), Error> {
    match path.symlink_metadata() {
        Ok(_) => Err(Error::BadInput(format!(
            "{} exists and is not overwritten; name another file, or remove it first",
            path.display()
        ))),
        Err(_) => Ok(()),
    }
}
