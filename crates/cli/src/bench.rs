//! `weft bench`: the cost of simulations, and whether it has grown.

use crate::console;
use crate::counts::at_least_one;
use clap::{Args, Subcommand};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use weft_bench::results::BenchResults;
use weft_bench::router::RouterResults;

/// Arguments of `weft bench`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft bench                       the standard cases, three passes each
  weft bench r1 incast --repeat 9  two cases, nine passes each
  weft bench --count --against bench/counts.json
  weft bench router --help         the router has cases and options of its own

Only the event loop is measured, not setup or reports. `bound` is a loop that
only moves packets. Exits with 1 if a count has grown by more than 3 %.")]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub(crate) struct BenchArguments {
    #[command(subcommand)]
    command: Option<BenchCommand>,
    /// Cases to run [default: the standard ones]
    names: Vec<String>,
    /// Run all cases, including the large ones
    #[arg(long)]
    all: bool,
    /// Passes per case
    #[arg(long, value_name = "N", value_parser = at_least_one, default_value = "3")]
    repeat: NonZero<usize>,
    /// Threads per run
    #[arg(long, value_name = "N", value_parser = at_least_one, default_value = "1")]
    threads: NonZero<usize>,
    /// Only count, on reduced cases: instructions, allocations
    #[arg(long)]
    count: bool,
    #[command(flatten)]
    output: BenchOutput,
    /// Folder of the scenarios
    #[arg(long, value_name = "DIR", default_value = "scenarios/bench")]
    from: PathBuf,
    /// One pass of one reduced case, as run under callgrind
    #[arg(long, value_name = "NAME", hide = true)]
    one_pass: Option<String>,
}

/// Commands of `weft bench` with options of their own.
#[derive(Subcommand)]
enum BenchCommand {
    /// What a packet costs the router, on rings in memory
    Router(RouterBenchArguments),
}

/// What becomes of the figures, of simulations and of the router alike.
#[derive(Args)]
struct BenchOutput {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Compare the counts with the --json output of an earlier call
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
}

/// Arguments of `weft bench router`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft bench router                      all cases, three passes each
  weft bench router route-256k lookup-1m two of them
  weft bench router forward --count --against bench/router.json

Cases: forward, route and lookup, with the size of the table, the bytes of a
frame where it is not 64, and the frames of a poll where they are not 64; and
the ciphers of tunnels. A wrong name lists them all. Measures the processor: no
packet reaches a kernel. Exits with 1 if a count has grown by more than 3 %.")]
struct RouterBenchArguments {
    /// Cases to run [default: all]
    names: Vec<String>,
    /// Passes per case
    #[arg(long, value_name = "N", value_parser = at_least_one, default_value = "3")]
    repeat: NonZero<usize>,
    /// Count instructions only
    #[arg(long)]
    count: bool,
    #[command(flatten)]
    output: BenchOutput,
}

/// The name of the router among commands and cases.
const ROUTER: &str = "router";

impl BenchArguments {
    /// Measures, prints, compares.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        if let Some(BenchCommand::Router(router)) = self.command {
            return router.execute();
        }
        if let Some(name) = &self.one_pass {
            console::show(&weft_bench::one_pass(name, &self.from)?)?;
            return Ok(ExitCode::SUCCESS);
        }
        if self.names.iter().any(|name| name == ROUTER) {
            let told = "`router` comes first, with names of its own cases only, as in: weft bench router route-256k --count\n\
                        it takes --repeat, --count, --against and --json; cases of simulations need a call of their own";
            return Err(weft::Error::BadInput(told.to_owned()));
        }
        let before = self.output.against.as_deref().map(read).transpose()?;
        let json = self.output.json;
        let results = weft_bench::bench(&self.options())?;
        console::show(&if json { results.json() } else { results.table() })?;
        let compared = |before| verdict(results.worse_than(&before), results.compared_with(&before));
        Ok(before.map_or(ExitCode::SUCCESS, compared))
    }

    fn options(self) -> weft_bench::BenchOptions {
        weft_bench::BenchOptions {
            names: self.names,
            all: self.all,
            repeat: self.repeat.get(),
            threads: self.threads.get(),
            count: self.count,
            from: self.from,
            progress: console::complain,
        }
    }
}

impl RouterBenchArguments {
    fn execute(self) -> Result<ExitCode, weft::Error> {
        let against = self.output.against.as_deref();
        let before =
            against.map(|path| RouterResults::read(&path.display().to_string(), &text(path)?)).transpose()?;
        let results =
            weft_bench::router::bench(&self.names, self.repeat.get(), self.count, console::complain)?;
        console::show(&if self.output.json { results.json() } else { results.table() })?;
        let compared =
            |before: RouterResults| verdict(results.worse_than(&before), results.compared_with(&before));
        Ok(before.map_or(ExitCode::SUCCESS, compared))
    }
}

fn read(path: &Path) -> Result<BenchResults, weft::Error> {
    BenchResults::read(&path.display().to_string(), &text(path)?)
}

fn text(path: &Path) -> Result<String, weft::Error> {
    let unreadable = |cause| weft::Error::BadInput(format!("cannot read {}: {cause}", path.display()));
    std::fs::read_to_string(path).map_err(unreadable)
}

/// Reports growth among the compared cases on standard error, so that the JSON stays valid.
fn verdict(worse: Vec<String>, compared: usize) -> ExitCode {
    if compared == 0 {
        console::complain("nothing was compared: the file given to --against has no count of these cases");
        return ExitCode::from(console::FAILED);
    }
    if worse.is_empty() {
        console::complain(&format!("{compared} cases cost no more than before (tolerance 3 %)"));
        return ExitCode::SUCCESS;
    }
    worse.iter().for_each(|sentence| console::complain(sentence));
    ExitCode::from(console::FAILED)
}
