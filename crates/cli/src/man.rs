//! `weft man`: the manual pages, made from the same declarations as the help screens.

use crate::console;
use clap::{Args, Command};
use std::path::PathBuf;
use std::process::ExitCode;

/// What `weft man` takes.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft man ~/.local/share/man/man1
  weft man pages && man -l pages/weft-run.1")]
pub(crate) struct ManArguments {
    /// The folder to write to; made when it is not there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl ManArguments {
    /// Writes one page for the command line `weft` and one for each command of it.
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
