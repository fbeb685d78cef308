//! The command line as a type: the list of commands. What each command takes and does stands in the file named
//! after it.

use crate::{
    analyse, bench, check, compare, completions, explain, fluid, import, lint, list, man, new, report,
    reproduce, run,
};
use clap::{CommandFactory, Parser, Subcommand};
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
  weft list balancers            what else could stand in it

Exit codes: 0 good; 1 a run failed or an expectation was missed; 2 bad input."
)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run a scenario and write results and a report
    Run(run::RunArguments),
    /// Report all mistakes of a scenario at once
    Check(check::CheckArguments),
    /// Judge configuration files of switches and hosts by rules
    Lint(lint::LintArguments),
    /// Show every effective setting: value, origin and meaning
    Explain(explain::ExplainArguments),
    /// Show what a scenario can choose from
    List(list::ListArguments),
    /// Say what can be said of a network without running it
    Analyse(analyse::AnalyseArguments),
    /// Ask the fluid model of a scenario: is its rate control stable?
    Fluid(fluid::FluidArguments),
    /// Write the report of finished runs again
    Report(report::ReportArguments),
    /// Say what differs between two results, in settings and in numbers
    Compare(compare::CompareArguments),
    /// Write a commented scenario to start from
    New(new::NewArguments),
    /// Turn files of another simulator into a scenario
    Import(import::ImportArguments),
    /// Measure the claims of a published source again
    Reproduce(reproduce::ReproduceArguments),
    /// Measure what simulations cost on this machine
    Bench(bench::BenchArguments),
    /// Print a completion script for a shell
    Completions(completions::CompletionsArguments),
    /// Write the manual pages
    Man(man::ManArguments),
}

impl Command {
    /// Does it, and says with which code to exit.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        match self {
            Command::Run(arguments) => arguments.execute(),
            Command::Check(arguments) => arguments.execute(),
            Command::Lint(arguments) => arguments.execute(),
            Command::Explain(arguments) => arguments.execute(),
            Command::List(arguments) => arguments.execute(),
            Command::Analyse(arguments) => arguments.execute(),
            Command::Fluid(arguments) => arguments.execute(),
            Command::Report(arguments) => arguments.execute(),
            Command::Compare(arguments) => arguments.execute(),
            Command::New(arguments) => arguments.execute(),
            Command::Import(arguments) => arguments.execute(),
            Command::Reproduce(arguments) => arguments.execute(),
            Command::Bench(arguments) => arguments.execute(),
            Command::Completions(arguments) => arguments.execute(CommandLine::command()),
            Command::Man(arguments) => arguments.execute(CommandLine::command()),
        }
    }
}
