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
    /// The kind of scenario [default: list the kinds]
    kind: Option<String>,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl NewArguments {
    /// Writes the scenario.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        let text = match &self.kind {
            Some(kind) => weft::new_scenario(kind)?,
            None => weft::list(Some("templates"))?,
        };
        console::show_or_save(&text, self.out.as_deref())
    }
}
