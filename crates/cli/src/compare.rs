//! `weft compare`: the differences between two results.

use crate::console;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `weft compare`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft compare before/drill-80 after/drill-80
  weft compare runs/drill-80/ecmp-1f2e3d4c runs/drill-80/drill-5b6a7988

Runs with the same seed have the same flows, except for those of jobs, and are
compared pairwise; intervals are 95 % confidence intervals of the mean ratio.")]
pub(crate) struct CompareArguments {
    /// Results to compare with
    #[arg(value_name = "A")]
    before: PathBuf,
    /// Results to compare
    #[arg(value_name = "B")]
    after: PathBuf,
    /// Where to write the page [default: comparison.html in B]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl CompareArguments {
    /// Compares, and prints the table and the path of the report.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        let (table, page) = weft::compare(&self.before, &self.after, self.out.as_deref())?;
        console::show(table.trim_end())?;
        console::show(&format!("\nreport: {}", page?.display()))?;
        Ok(ExitCode::SUCCESS)
    }
}
