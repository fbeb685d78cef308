//! `weft tune`: finds settings instead of guessing them.

use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;
use weft_tune::search::SearchOptions;
use weft_tune::{PiasOptions, PiasTrials, tune_pias};

use crate::console;
use crate::seeds::{self, Seeds};

/// Arguments of `weft tune`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft tune pias --sizes web-search --load 0.8
  weft tune pias --help")]
pub(crate) struct TuneArguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Thresholds at which flows fall to the next priority class
    #[command(after_help = "\
Examples:
  weft tune pias --sizes web-search-pias --load 0.5,0.8
  weft tune pias --sizes web-search-pias --load 0.8 \\
    --simulate scenarios/scheduling.toml --case pias --demo")]
    Pias(Pias),
}

/// Arguments of `weft tune pias`.
#[derive(Args)]
struct Pias {
    /// Flow sizes: a bundled name, a file of points or a formula
    #[arg(long, value_name = "SIZES")]
    sizes: String,
    /// Loads of the link; simulations start from the thresholds of the first
    #[arg(long, value_name = "LOAD", value_delimiter = ',', default_value = "0.8")]
    load: Vec<f64>,
    /// Strict-priority queues per port
    #[arg(long, value_name = "N", default_value_t = 8)]
    queues: usize,
    /// Search for better thresholds by running this scenario, whose transport uses PIAS
    #[arg(long, value_name = "FILE")]
    simulate: Option<PathBuf>,
    /// The case of the scenario's sweep
    #[arg(long, value_name = "NAME", requires = "simulate")]
    case: Option<String>,
    /// Run the scenario's reduced form
    #[arg(long, requires = "simulate")]
    demo: bool,
    /// Override a setting of the scenario; may be repeated
    #[arg(long, value_name = "PATH=VALUE", requires = "simulate")]
    set: Vec<String>,
    /// Seeds of every trial: numbers and ranges
    #[arg(long = "seed", value_name = "N", value_delimiter = ',', default_value = "1..2")]
    seeds: Vec<Seeds>,
    /// Most thresholds to try
    #[arg(long, value_name = "N", default_value_t = 60, requires = "simulate")]
    trials: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl TuneArguments {
    /// Finds the settings and prints them.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        let What::Pias(arguments) = self.what;
        let json = arguments.json;
        let options = arguments.options();
        let advice = tune_pias(&options, &mut console::complain)?;
        console::show(&if json { advice.json() } else { advice.text(&options) })?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Pias {
    fn options(self) -> PiasOptions {
        let seeds = seeds::all(&self.seeds);
        let trials = self.simulate.map(|scenario| PiasTrials {
            scenario,
            case: self.case,
            set: self.set,
            demo: self.demo,
            seeds,
            search: SearchOptions { trials: self.trials, ..SearchOptions::default() },
        });
        PiasOptions { sizes: self.sizes, loads: self.load, queues: self.queues, trials }
    }
}
