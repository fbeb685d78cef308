//! `weft run`: simulates a scenario, shows progress, prints the result.

use crate::counts::at_least_one;
use crate::reuse::{self, ReuseArgument};
use crate::seeds::{self, Seeds};
use crate::{console, engines, input_kind, interrupt, progress};
use clap::Args;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use weft::{Outcome, RunOptions};

/// Arguments of `weft run`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft run scenarios/hello.toml
  weft run scenarios/drill-80.toml --demo
  weft run my.toml --set switch.buffer='1 MB' --set sweep.balance=ecmp,drill
  weft run scenarios/hadoop/which-leaf.toml --set case=deep --seed 1

Complete runs in DIR are reused. Ctrl-C stops after writing a valid partial
result and report; a second Ctrl-C stops at once.")]
pub(crate) struct RunArguments {
    /// The scenario
    #[arg(value_name = "FILE")]
    scenario: PathBuf,
    /// Output folder
    #[arg(long, value_name = "DIR", default_value = "runs")]
    out: PathBuf,
    /// Run the reduced form given in the scenario's [demo] table
    #[arg(long)]
    demo: bool,
    /// Seeds instead of the scenario's own, such as 1..20,40
    #[arg(long = "seed", value_name = "N", value_delimiter = ',')]
    seeds: Option<Vec<Seeds>>,
    /// Override a setting; may be repeated
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// packets, or hybrid: for large jobs
    #[arg(
        long,
        value_name = "ENGINE",
        default_value = "packets",
        hide_possible_values = true,
        value_parser = engines::names()
    )]
    engine: String,
    #[command(flatten)]
    reuse: ReuseArgument,
    /// Runs in parallel [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    jobs: Option<NonZero<usize>>,
    /// Threads per run [default: the cores --jobs leaves free, where they help]; results do not depend on it
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    threads: Option<NonZero<usize>>,
    /// Progress: auto, json or none
    #[arg(long, value_name = "HOW", default_value = "auto", hide_possible_values = true)]
    progress: progress::ProgressMode,
}

impl RunArguments {
    /// Runs the scenario.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        self.check_engine()?;
        let (mode, stop) = (self.progress, Arc::new(AtomicBool::new(false)));
        interrupt::listen(Arc::clone(&stop), mode)?;
        let result = weft::run(&self.scenario, &options(&self, stop));
        let result = result.map_err(|error| input_kind::of_scenario(&self.scenario, error));
        progress::end(mode);
        match result {
            Ok(outcome) => conclude(&outcome),
            Err(error) if mode == progress::ProgressMode::Json => {
                console::complain(&progress::error_object(&error));
                Ok(console::code(&error))
            }
            Err(error) => Err(error),
        }
    }

    /// The engine of this name; the parser knows no other names.
    fn engine(&self) -> &'static dyn weft::Engine {
        weft::engine(&self.engine).unwrap_or(weft::PACKETS)
    }

    /// Whether the engine can run all cases; the packet engine runs everything.
    fn check_engine(&self) -> Result<(), weft::Error> {
        let engine = self.engine();
        if engine.name() == weft::PACKETS.name() {
            return Ok(());
        }
        let mut misfits = BTreeSet::new();
        for case in weft::prepare(&self.scenario, &self.set, self.demo)? {
            let own = case.settings.seeds.first().copied().unwrap_or(1);
            misfits.extend(engine.misfits(&case.setup(own)?));
        }
        engines::refuse(&self.scenario, &format!("the engine `{}`", engine.name()), &misfits)
    }
}

fn options(arguments: &RunArguments, stop: Arc<AtomicBool>) -> RunOptions {
    let cores = || std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    let threads = arguments.threads.map_or(1, NonZero::get);
    RunOptions {
        out: arguments.out.clone(),
        demo: arguments.demo,
        seeds: arguments.seeds.as_deref().map(seeds::all),
        set: arguments.set.clone(),
        engine: arguments.engine(),
        reuse: arguments.reuse.chosen(),
        jobs: arguments
            .jobs
            .unwrap_or_else(|| NonZero::new(cores().get() / threads).unwrap_or(NonZero::<usize>::MIN))
            .get(),
        threads: arguments.threads.map(NonZero::get),
        progress: progress::display(arguments.progress),
        stop,
    }
}

/// Prints the outcome and returns the exit code.
pub(crate) fn conclude(outcome: &Outcome) -> Result<ExitCode, weft::Error> {
    console::show(&conclusion(outcome))?;
    let good = outcome.failed_runs == 0 && outcome.missed_expectations == 0 && !outcome.interrupted;
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::from(console::FAILED) })
}

/// The table, any caveats, and the path of the report.
fn conclusion(outcome: &Outcome) -> String {
    let mut text = outcome.terminal.trim_end().to_string();
    text.push_str("\n\n");
    let mut note = |true_now: bool, sentence: String| {
        if true_now {
            let _ = writeln!(text, "{sentence}");
        }
    };
    note(outcome.interrupted, "stopped early: the results are valid but partial".into());
    note(outcome.failed_runs > 0, counted(outcome.failed_runs, "run", "failed"));
    note(outcome.missed_expectations > 0, counted(outcome.missed_expectations, "expectation", "missed"));
    note(outcome.reused > 0, counted(outcome.reused, "complete run", "reused"));
    note(!outcome.builds.is_empty(), reuse::of_builds(&outcome.builds));
    let outdated = counted(outcome.outdated, "complete run", "of another build of Weft computed again");
    note(outcome.outdated > 0, outdated);
    let older = counted(outcome.older, "complete run", "of another results epoch not used");
    note(outcome.older > 0, older);
    let _ = write!(text, "report: {}", outcome.report.display());
    text
}

fn counted(n: usize, noun: &str, verb: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {noun}{plural} {verb}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_names_the_report_and_caveats_stand_above() {
        let outcome = Outcome {
            report: "runs/x/report.html".into(),
            terminal: "table\n".into(),
            failed_runs: 1,
            missed_expectations: 2,
            interrupted: false,
            reused: 0,
            builds: Vec::new(),
            outdated: 0,
            older: 0,
        };
        let expected = "table\n\n1 run failed\n2 expectations missed\nreport: runs/x/report.html";
        assert_eq!(conclusion(&outcome), expected);
    }
}
