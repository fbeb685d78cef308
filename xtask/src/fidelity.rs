//! Runs the comparison with real hosts, which is a separate program: it needs all of Weft, whereas this one needs
//! only the repository.

use std::path::Path;
use std::process::{Command, ExitCode};

/// Compares; `arguments` go to the program.
pub(crate) fn run(arguments: &[&str], root: &Path) -> ExitCode {
    let status = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(["run", "--quiet", "--release", "--package", "weft-fidelity-tests", "--"])
        .args(arguments)
        .current_dir(root)
        .status();
    match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(cause) => {
            eprintln!("fidelity: {cause}");
            ExitCode::FAILURE
        }
    }
}
