//! The command line as a type: the list of commands. Each command is defined in the file named
//! after it.

use crate::{
    analyse, bench, check, compare, completions, explain, fluid, import, lab, lint, list, man, new, report,
    reproduce, router, run, trace, tune, vectors,
};
use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::process::ExitCode;

/// Weft simulates data-centre networks packet by packet.
#[derive(Parser)]
#[command(
    name = "weft",
    version,
    max_term_width = 80,
    after_help = "\
First steps:
  weft new hello > hello.toml    write a commented scenario
  weft run hello.toml            run it; the last line names the report
  weft list balancers            the balancers it can choose

Exit codes: 0 success; 1 a run failed or missed an expectation; 2 bad input."
)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run a scenario and write results and a report
    Run(run::RunArguments),
    /// Check a scenario and report all mistakes at once
    Check(check::CheckArguments),
    /// Check switch and host configuration files against rules
    Lint(lint::LintArguments),
    /// Show every effective setting: value, origin and meaning
    Explain(explain::ExplainArguments),
    /// Show what a scenario can choose from
    List(list::ListArguments),
    /// Analyse a network without simulating it
    Analyse(analyse::AnalyseArguments),
    /// Analyse a scenario's fluid model: is its rate control stable?
    Fluid(fluid::FluidArguments),
    /// Optimise settings with a model or by simulation
    Tune(tune::TuneArguments),
    /// Rewrite the report of finished runs
    Report(report::ReportArguments),
    /// Follow one flow of a scenario, packet by packet
    Trace(trace::TraceArguments),
    /// Compare the settings and metrics of two results
    Compare(compare::CompareArguments),
    /// Write a commented scenario to start from
    New(new::NewArguments),
    /// Convert files of another simulator to a scenario
    Import(import::ImportArguments),
    /// Reproduce the claims of a publication
    Reproduce(reproduce::ReproduceArguments),
    /// Forward real packets between network interfaces
    Router(router::RouterArguments),
    /// Run a scenario on real Linux hosts in network namespaces
    Lab(lab::LabArguments),
    /// Measure the cost of simulations on this machine
    Bench(bench::BenchArguments),
    /// Write test vectors for hardware
    Vectors(vectors::VectorsArguments),
    /// Print a completion script for a shell
    Completions(completions::CompletionsArguments),
    /// Write the manual pages
    Man(man::ManArguments),
}

impl CommandLine {
    /// Reads the command line; a setting that is given twice is a mistake.
    pub(crate) fn read(words: impl IntoIterator<Item = OsString>) -> Result<CommandLine, clap::Error> {
        let mut command = CommandLine::command();
        let matches = command.try_get_matches_from_mut(words)?;
        if let Some(path) = set_twice(&matches) {
            let message = format!("--set {path} is given twice: only the last one would count");
            return Err(command.error(ErrorKind::ArgumentConflict, message));
        }
        CommandLine::from_arg_matches(&matches)
    }
}

/// A path that `--set` gives two values. An axis of a sweep may be added first and then narrowed.
fn set_twice(matches: &ArgMatches) -> Option<String> {
    if let Some((_, matches)) = matches.subcommand() {
        return set_twice(matches);
    }
    let mut known = BTreeSet::new();
    let given = matches.try_get_many::<String>("set").ok().flatten().into_iter().flatten();
    let paths = given.filter_map(|set| Some(set.split_once('=')?.0.trim()));
    let mut paths = paths.filter(|path| !path.starts_with("sweep."));
    paths.find(|path| !known.insert(*path)).map(str::to_owned)
}

impl Command {
    /// Executes the command and returns its exit code.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        match self {
            Command::Run(arguments) => arguments.execute(),
            Command::Check(arguments) => arguments.execute(),
            Command::Lint(arguments) => arguments.execute(),
            Command::Explain(arguments) => arguments.execute(),
            Command::List(arguments) => arguments.execute(),
            Command::Analyse(arguments) => arguments.execute(),
            Command::Fluid(arguments) => arguments.execute(),
            Command::Tune(arguments) => arguments.execute(),
            Command::Report(arguments) => arguments.execute(),
            Command::Trace(arguments) => arguments.execute(),
            Command::Compare(arguments) => arguments.execute(),
            Command::New(arguments) => arguments.execute(),
            Command::Import(arguments) => arguments.execute(),
            Command::Reproduce(arguments) => arguments.execute(),
            Command::Router(arguments) => arguments.execute(),
            Command::Lab(arguments) => arguments.execute(),
            Command::Bench(arguments) => arguments.execute(),
            Command::Vectors(arguments) => arguments.execute(),
            Command::Completions(arguments) => arguments.execute(CommandLine::command()),
            Command::Man(arguments) => arguments.execute(CommandLine::command()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_given_twice_is_a_mistake() {
        let read = |line: &str| {
            let words = line.split(' ').map(OsString::from);
            CommandLine::read(words).map(|_| ()).map_err(|error| (error.exit_code(), error.to_string()))
        };
        for command in ["weft run", "weft check", "weft trace --flow 1", "weft analyse quiver"] {
            let twice = read(&format!("{command} x.toml --set balance=ecmp --set balance=drill"));
            let (code, told) = twice.expect_err("the first would be ignored");
            assert!(code == 2 && told.contains("--set balance is given twice"), "{told}");
            let apart = read(&format!("{command} x.toml --set balance=drill --set balance.drill.choices=2"));
            assert_eq!(apart, Ok(()), "{command}");
        }
        let narrowed = read("weft run x.toml --set sweep.balance=ecmp,drill --set sweep.balance=drill");
        assert_eq!(narrowed, Ok(()));
    }
}
