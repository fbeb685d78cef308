//! `weft tune`: finds settings instead of guessing them.

use clap::{Args, Subcommand, ValueEnum};
use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use weft::RunOptions;
use weft_tune::search::SearchOptions;
use weft_tune::{EcnOptions, MarkingShape, PiasOptions, PiasTrials, tune_ecn, tune_pias};

use crate::counts::{at_least_one, at_least_two};
use crate::seeds::{self, Seeds};
use crate::{console, interrupt, progress};

/// Arguments of `weft tune`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft tune pias --sizes web-search --load 0.8
  weft tune ecn my.toml --metric fct.p99
  weft tune ecn --help")]
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
    --simulate scenarios/scheduling.toml --case pias --demo

The thresholds minimise an objective after the PIAS paper (the published one is
not known in full), which ranks them but is not a time. Mean completion times on one link without congestion control are
printed beside it; --simulate tries the thresholds with packets.")]
    Pias(Pias),
    /// ECN thresholds for a scenario, by running it
    #[command(after_help = "\
Examples:
  weft tune ecn my.toml --metric fct.small.p99 --from '20 kB' --to '1 MB'
  weft tune ecn my.toml --shape ramp --times 4 --probability 0.2
  weft tune ecn scenarios/deep-buffers.toml --case shallow-ecn \\
    --at switch.ecn

Complete runs in DIR are reused. Thresholds whose difference from the best is
too small for the runs to show are named as such.")]
    Ecn(Ecn),
}

/// The form of marking to tune.
#[derive(Clone, Copy, ValueEnum)]
enum Shape {
    /// Mark every packet beyond the threshold
    Step,
    /// Mark with a probability that grows beyond the threshold
    Ramp,
}

/// Arguments of `weft tune ecn`.
#[derive(Args)]
struct Ecn {
    /// The scenario
    #[arg(value_name = "FILE")]
    scenario: PathBuf,
    /// The case of the scenario's sweep
    #[arg(long, value_name = "NAME")]
    case: Option<String>,
    /// The setting to vary, such as switch.named.leaf1.ecn
    #[arg(long, value_name = "PATH", default_value = "switch.ecn")]
    at: String,
    /// The form of marking
    #[arg(long, default_value = "step")]
    shape: Shape,
    /// Upper end of a ramp, in thresholds [default: 4]
    #[arg(long, value_name = "N")]
    times: Option<f64>,
    /// Probability at the upper end of a ramp [default: 1]
    #[arg(long, value_name = "P")]
    probability: Option<f64>,
    /// Least threshold
    #[arg(long, value_name = "SIZE", default_value = "10 kB")]
    from: String,
    /// Greatest threshold
    #[arg(long, value_name = "SIZE", default_value = "1 MB")]
    to: String,
    /// Thresholds of the first round, geometrically spaced
    #[arg(long, value_name = "N", default_value_t = 7)]
    points: usize,
    /// Rounds of refinement around the best
    #[arg(long, value_name = "N", default_value_t = 2)]
    rounds: usize,
    /// The metric to improve (weft list metrics)
    #[arg(long, value_name = "METRIC", default_value = "fct.p99")]
    metric: String,
    /// Run the scenario's reduced form
    #[arg(long)]
    demo: bool,
    /// Override a setting of the scenario; may be repeated
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Seeds of every trial: numbers and ranges [default: the scenario's]
    #[arg(long = "seed", value_name = "N", value_delimiter = ',')]
    seeds: Option<Vec<Seeds>>,
    /// Output folder
    #[arg(long, value_name = "DIR", default_value = "runs")]
    out: PathBuf,
    /// Runs in parallel [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    jobs: Option<NonZero<usize>>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Progress on standard error: a line, JSON lines, or none
    #[arg(long, value_name = "HOW", default_value = "auto")]
    progress: progress::ProgressMode,
}

/// Arguments of `weft tune pias`.
#[derive(Args)]
struct Pias {
    /// Flow sizes: a bundled name, a file of points or a formula
    #[arg(long, value_name = "SIZES")]
    sizes: String,
    /// Loads of the link; simulations start from the thresholds of the first, or from the scenario's own if these are
    /// better
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
    #[arg(
        long = "seed",
        value_name = "N",
        value_delimiter = ',',
        default_value = "1..2",
        requires = "simulate"
    )]
    seeds: Vec<Seeds>,
    /// Most thresholds to try
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = at_least_two, requires = "simulate")]
    trials: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl TuneArguments {
    /// Finds the settings and prints them.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        match self.what {
            What::Pias(arguments) => arguments.execute(),
            What::Ecn(arguments) => arguments.execute(),
        }
    }
}

impl Ecn {
    fn execute(self) -> Result<ExitCode, weft::Error> {
        let (mode, json, stop) = (self.progress, self.json, Arc::new(AtomicBool::new(false)));
        interrupt::listen(Arc::clone(&stop), mode)?;
        let options = self.options()?;
        let result = tune_ecn(&options, &self.run_options(stop));
        progress::end(mode);
        let advice = result?;
        console::show(&if json { advice.json() } else { advice.text() })?;
        Ok(ExitCode::SUCCESS)
    }

    fn options(&self) -> Result<EcnOptions, weft::Error> {
        let size = |flag: &str, text: &str| {
            let wrong = |message| weft::Error::BadInput(format!("{flag}: {message}"));
            text.parse().map_err(wrong)
        };
        let shape = self.marking().map_err(|message| weft::Error::BadInput(message.to_owned()))?;
        Ok(EcnOptions {
            scenario: self.scenario.clone(),
            case: self.case.clone(),
            set: self.set.clone(),
            demo: self.demo,
            at: self.at.clone(),
            shape,
            range: (size("--from", &self.from)?, size("--to", &self.to)?),
            points: self.points,
            rounds: self.rounds,
            metric: self.metric.clone(),
        })
    }

    fn marking(&self) -> Result<MarkingShape, &'static str> {
        match (self.shape, self.times.unwrap_or(4.0), self.probability.unwrap_or(1.0)) {
            (Shape::Step, ..) if self.times.is_some() || self.probability.is_some() => {
                Err("--times and --probability have no effect without --shape ramp")
            }
            (Shape::Step, ..) => Ok(MarkingShape::Step),
            (Shape::Ramp, times, _) if times <= 1.0 => Err("--times: a ramp ends above its threshold"),
            (Shape::Ramp, _, probability) if !(0.0..=1.0).contains(&probability) || probability == 0.0 => {
                Err("--probability: give a share above 0 and up to 1")
            }
            (Shape::Ramp, times, probability) => Ok(MarkingShape::Ramp { times, probability }),
        }
    }

    fn run_options(&self, stop: Arc<AtomicBool>) -> RunOptions {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        RunOptions {
            out: self.out.clone(),
            demo: self.demo,
            seeds: self.seeds.as_deref().map(seeds::all),
            set: Vec::new(),
            engine: weft::PACKETS,
            jobs: self.jobs.map_or(cores, NonZero::get),
            reuse: weft::Reuse::SameBuild,
            threads: Some(1),
            progress: progress::display(self.progress),
            stop,
        }
    }
}

impl Pias {
    fn execute(self) -> Result<ExitCode, weft::Error> {
        let json = self.json;
        let options = self.options();
        let advice = tune_pias(&options, &mut console::complain)?;
        console::show(&if json { advice.json() } else { advice.text(&options) })?;
        Ok(ExitCode::SUCCESS)
    }

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
