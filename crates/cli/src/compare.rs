//! `weft compare`: what differs between two results.

use crate::console;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// What `weft compare` takes.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft compare before/drill-80 after/drill-80
  weft compare runs/drill-80/ecmp-1f2e3d4c runs/drill-80/drill-5b6a7988

Runs with equal seeds saw the same flows and are compared in pairs; intervals
are 95 % intervals of the mean difference.")]
pub(crate) struct CompareArguments {
    /// The folder to compare with
    #[arg(value_name = "A")]
    before: PathBuf,
    /// The folder that is compared
    #[arg(value_name = "B")]
    after: PathBuf,
}

impl CompareArguments {
    /// Compares, prints the table and where the page is.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        let (table, page) = weft::compare(&self.before, &self.after)?;
        console::show(&format!("{}\n\nreport: {}", table.trim_end(), page.display()))?;
        Ok(ExitCode::SUCCESS)
    }
}
