//! `weft check`: reports all mistakes of a scenario at once.

use crate::console;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `weft check`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft check my.toml
  weft check my.toml --set balance=drill
  weft check my.toml --format json    for editors and scripts

Exits with 2 if there is a mistake.")]
pub(crate) struct CheckArguments {
    /// The scenario
    #[arg(value_name = "FILE")]
    scenario: PathBuf,
    /// Override a setting; may be repeated
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Output format
    #[arg(long, value_name = "HOW", default_value = "text")]
    format: Format,
}

/// Mistakes and remarks as text for people, or as a JSON array.
#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
}

impl CheckArguments {
    /// Checks the scenario.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        let report = weft::check(&self.scenario, &self.set)?;
        console::show(match self.format {
            Format::Text => &report.rendered,
            Format::Json => &report.json,
        })?;
        Ok(if report.mistakes == 0 { ExitCode::SUCCESS } else { ExitCode::from(console::BAD_INPUT) })
    }
}
