//! `weft explain`: every effective setting of a scenario.

use crate::console;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `weft explain`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft explain my.toml              everything, defaults included
  weft explain my.toml switch       only [switch]
  weft explain my.toml transport.dctcp.g")]
pub(crate) struct ExplainArguments {
    /// The scenario
    #[arg(value_name = "FILE")]
    scenario: PathBuf,
    /// Show only settings whose path starts with this
    prefix: Option<String>,
    /// Override a setting; may be repeated
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
