//! `weft bench`: the cost of simulations, and whether it has grown.

use crate::console;
use crate::counts::at_least_one;
use clap::Args;
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
  weft bench router                packets a second of the router, in memory
  weft bench router gcm128-1400    one of its cases

Only the event loop is measured, not setup or reports. `bound` is a loop that
only moves packets. Exits with 1 if a count has grown by more than 3 %.")]
pub(crate) struct BenchArguments {
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
    /// Count instructions and allocations only, on reduced cases
    #[arg(long)]
    count: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Compare the counts with the --json output of an earlier call
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Folder of the cases' scenarios
    #[arg(long, value_name = "DIR", default_value = "scenarios/bench")]
    from: PathBuf,
    /// One pass of one reduced case, as run under callgrind
    #[arg(long, value_name = "NAME", hide = true)]
    one_pass: Option<String>,
}

/// The name for the router and its cases.
const ROUTER: &str = "router";

impl BenchArguments {
    /// Measures, prints, compares.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        if let Some(name) = &self.one_pass {
            console::show(&weft_bench::one_pass(name, &self.from)?)?;
            return Ok(ExitCode::SUCCESS);
        }
        if self.names.first().is_some_and(|name| name == ROUTER) {
            return self.router();
        }
        let before = self.against.as_deref().map(read).transpose()?;
        let json = self.json;
        let results = weft_bench::bench(&self.options())?;
        console::show(&if json { results.json() } else { results.table() })?;
        let compared = |before| verdict(results.worse_than(&before), results.compared_with(&before));
        Ok(before.map_or(ExitCode::SUCCESS, compared))
    }

    /// Measures the router; only cases, passes, counting, comparison and JSON can be chosen.
    fn router(&self) -> Result<ExitCode, weft::Error> {
        if self.all || self.threads.get() > 1 {
            let told =
                "`weft bench router` takes names of its cases, --repeat, --count, --against and --json only";
            return Err(weft::Error::BadInput(told.to_owned()));
        }
        let against = self.against.as_deref();
        let before =
            against.map(|path| RouterResults::read(&path.display().to_string(), &text(path)?)).transpose()?;
        let results =
            weft_bench::router::bench(&self.names[1..], self.repeat.get(), self.count, console::complain)?;
        console::show(&if self.json { results.json() } else { results.table() })?;
        let compared =
            |before: RouterResults| verdict(results.worse_than(&before), results.compared_with(&before));
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
