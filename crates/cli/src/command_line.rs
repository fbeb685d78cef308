//! The command line as a type: the list of commands. Each command is defined in the file named
//! after it.

use crate::{
    analyse, bench, check, compare, completions, explain, fluid, import, lab, lint, list, man, new, report,
    reproduce, router, run, trace, tune, vectors,
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
