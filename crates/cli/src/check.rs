//! `weft check`: all mistakes of a scenario at once.

use crate::console;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;

/// What `weft check` takes.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft check my.toml
  weft check my.toml --set balance=drill
  weft check my.toml --format json    for editors and scripts

Exit code 2 when there is a mistake.")]
pub(crate) struct CheckArguments {
    /// The scenario
    #[arg(value_name = "FILE")]
    scenario: PathBuf,
    /// Change a setting: path=value, as often as needed
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// How to print mistakes
    #[arg(long, value_name = "HOW", default_value = "text")]
    format: Format,
}

/// How to print mistakes: for people, or as a JSON array.
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
