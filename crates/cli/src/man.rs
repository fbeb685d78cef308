//! `weft man`: manual pages, generated from the same declarations as the help screens.

use crate::console;
use clap::{Args, Command};
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `weft man`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft man ~/.local/share/man/man1
  weft man pages && man -l pages/weft-run.1")]
pub(crate) struct ManArguments {
    /// Output folder; created if missing
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl ManArguments {
    /// Writes one page for `weft` and one for each of its commands.
    pub(crate) fn execute(self, weft: Command) -> Result<ExitCode, weft::Error> {
        let place = |error: std::io::Error| {
            weft::Error::Failed(format!("cannot write manual pages to {}: {error}", self.folder.display()))
        };
        std::fs::create_dir_all(&self.folder).map_err(place)?;
        clap_mangen::generate_to(weft, &self.folder).map_err(place)?;
        console::show(&format!("wrote the manual pages to {}", self.folder.display()))?;
        Ok(ExitCode::SUCCESS)
    }
}
