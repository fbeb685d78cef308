//! `weft explain`: every effective setting of a scenario.

use crate::console;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// What `weft explain` takes.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft explain my.toml              everything, defaults included
  weft explain my.toml switch       what is below [switch]
  weft explain my.toml transport.dctcp.g")]
pub(crate) struct ExplainArguments {
    /// The scenario
    #[arg(value_name = "FILE")]
    scenario: PathBuf,
    /// Only settings whose path begins with this
    prefix: Option<String>,
    /// Change a setting: path=value, as often as needed
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
}

impl ExplainArguments {
    /// Explains the scenario.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        console::show(&weft::explain(&self.scenario, self.prefix.as_deref(), &self.set)?)?;
        Ok(ExitCode::SUCCESS)
    }
}
