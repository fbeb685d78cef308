//! `weft reproduce`: measures the claims of a published source again.

use crate::counts::at_least_one;
use crate::reuse::{self, ReuseArgument};
use crate::seeds::{self, Seeds};
use crate::{console, interrupt, progress};
use clap::Args;
use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use weft::RunOptions;
use weft_reproduce::{Form, ReproduceOptions, ReproduceOutcome};

/// Arguments of `weft reproduce`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft reproduce                             list the sources
  weft reproduce drill --claims C1,C20-C23   run only what these claims need
  weft reproduce ./mine                      a folder with a claims.toml

Complete runs in DIR are reused. Ctrl-C judges the runs that are complete.")]
pub(crate) struct ReproduceArguments {
    /// The source, or a folder (with a slash) [default: list them]
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Claims and ranges, separated by commas [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    claims: Vec<String>,
    /// Small runs; the report says what they cannot show
    #[arg(long)]
    quick: bool,
    /// Enough flows for rare percentiles; takes many hours
    #[arg(long, conflicts_with = "quick")]
    large: bool,
    /// Also run these claims' tables of variants
    #[arg(long)]
    tables: bool,
    /// Measure them under other assumptions too, in small runs
    #[arg(long)]
    assumptions: bool,
    /// Exit with 1 if a claim is not reproduced
    #[arg(long)]
    strict: bool,
    /// Output folder
    #[arg(long, value_name = "DIR", default_value = "runs")]
    out: PathBuf,
    /// Seeds instead of the scenarios' own, such as 1..20,40
    #[arg(long = "seed", alias = "seeds", value_name = "N", value_delimiter = ',')]
    seeds: Option<Vec<Seeds>>,
    #[command(flatten)]
    reuse: ReuseArgument,
    /// Runs in parallel [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    jobs: Option<NonZero<usize>>,
    /// Threads per run [default: cores --jobs leaves free]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    threads: Option<NonZero<usize>>,
    /// Save the findings next to this folder's claims.toml
    #[arg(long, value_name = "FOLDER")]
    write: Option<PathBuf>,
    /// Progress: auto, json or none
    #[arg(long, value_name = "HOW", default_value = "auto", hide_possible_values = true)]
    progress: progress::ProgressMode,
}

impl ReproduceArguments {
    /// Measures the claims, or lists the sources.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        let Some(name) = self.name.clone() else {
            let rows = weft_reproduce::list()?;
            let lines: Vec<String> =
                rows.iter().map(|(name, title)| format!("  {name:13}  {title}")).collect();
            console::show(&format!("weft reproduce NAME\n{}", lines.join("\n")))?;
            return Ok(ExitCode::SUCCESS);
        };
        let (mode, strict, stop) = (self.progress, self.strict, Arc::new(AtomicBool::new(false)));
        interrupt::listen(Arc::clone(&stop), mode)?;
        let result = weft_reproduce::reproduce(&name, self.options(stop));
        progress::end(mode);
        match result {
            Ok(outcome) => conclude(&outcome, strict),
            Err(error) if mode == progress::ProgressMode::Json => {
                console::complain(&progress::error_object(&error));
                Ok(console::code(&error))
            }
            Err(error) => Err(error),
        }
    }

    fn options(self, stop: Arc<AtomicBool>) -> ReproduceOptions {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let of_each = self.threads.map_or(1, NonZero::get);
        let run = RunOptions {
            out: self.out,
            demo: false,
            seeds: self.seeds.as_deref().map(seeds::all),
            set: Vec::new(),
            engine: weft::PACKETS,
            reuse: self.reuse.chosen(),
            jobs: self.jobs.map_or((cores / of_each).max(1), NonZero::get),
            threads: self.threads.map(NonZero::get),
            progress: progress::display(self.progress),
            stop,
        };
        let form = match () {
            () if self.quick => Form::Quick,
            () if self.large => Form::Large,
            () => Form::Full,
        };
        let (claims, tables, assumptions) = (self.claims, self.tables, self.assumptions);
        let quiet = self.progress != progress::ProgressMode::Auto;
        let announce = Box::new(move |text: &str| {
            if !quiet {
                console::complain(text)
            }
        });
        ReproduceOptions { run, form, claims, tables, assumptions, write: self.write, announce }
    }
}

fn conclude(outcome: &ReproduceOutcome, strict: bool) -> Result<ExitCode, weft::Error> {
    let mut text = format!("{}\n", outcome.terminal);
    if !outcome.builds.is_empty() {
        text += &format!("complete runs of other builds reused\n{}\n", reuse::of_builds(&outcome.builds));
    }
    if outcome.interrupted {
        text += "stopped early: only complete runs have been judged\n";
    }
    if outcome.failed_runs > 0 {
        text += &format!("{} runs failed\n", outcome.failed_runs);
    }
    console::show(&format!("{text}report: {}", outcome.report.display()))?;
    let bad = outcome.failed_runs > 0 || outcome.interrupted || (strict && outcome.not_reproduced > 0);
    Ok(if bad { ExitCode::from(console::FAILED) } else { ExitCode::SUCCESS })
}
