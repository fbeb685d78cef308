//! `weft report`: rewrites the report of finished runs.

use crate::console;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `weft report`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft report runs/drill-80                           a sweep
  weft report runs/drill-80/ecmp-1f2e3d4c/seed-1      one run

Writes DIR/report.html alone. `weft run` completes sweep.csv, sweep.parquet and
the pages of single runs as well, and reuses complete runs.")]
pub(crate) struct ReportArguments {
    /// A folder written by `weft run`
    #[arg(value_name = "DIR")]
    results: PathBuf,
}

impl ReportArguments {
    /// Writes the report and prints its path.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        console::show(&weft::report(&self.results)?.display().to_string())?;
        Ok(ExitCode::SUCCESS)
    }
}
