//! `weft new`: writes a commented scenario to start from.

use crate::console;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `weft new`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft new hello > hello.toml
  weft new incast --out incast.toml    never overwrites
  weft list templates                  the kinds")]
pub(crate) struct NewArguments {
    /// The kind of scenario
    kind: String,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl NewArguments {
    /// Writes the scenario.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        console::show_or_save(&weft::new_scenario(&self.kind)?, self.out.as_deref())
    }
}
