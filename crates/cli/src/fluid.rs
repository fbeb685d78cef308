//! `weft fluid`: rate control as differential equations.

use crate::console;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;
use weft::{FluidJitter, FluidOptions, FluidOutcome, TuneOptions};

/// Arguments of `weft fluid`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft fluid run my.toml
  weft fluid margin my.toml --flows 10 --delay '85 us'
  weft fluid sweep my.toml --over 'flows=2..100:99' --over 'delay=1 us..100 us:100'
  weft fluid tune my.toml --flows 2..20 --margin 10
  weft fluid compare my.toml --until '100 ms'")]
pub(crate) struct FluidArguments {
    #[command(subcommand)]
    subject: Subject,
}

/// The analyses.
#[derive(Subcommand)]
enum Subject {
    /// Queue and rates over time
    Run(Run),
    /// Fixed point; phase, gain and delay margins, and their curves
    Margin(Margin),
    /// Phase margin as a function of two settings
    Sweep(Sweep),
    /// Marking thresholds and rate increases that achieve a given margin
    Tune(Tune),
    /// Packet simulation and fluid model of a scenario, side by side
    Compare(Compare),
}

/// The scenario, and what overrides it.
#[derive(Args)]
struct Chosen {
    /// The scenario: DCQCN or a TIMELY variant, one bottleneck
    #[arg(value_name = "FILE")]
    scenario: PathBuf,
    /// Override a setting; may be repeated
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Loop delay without queueing, instead of the network's: there and back, with the transmission of a packet on every link
    #[arg(long, value_name = "TIME")]
    delay: Option<String>,
    /// Rate law with its defaults, instead of the transport: dcqcn, timely, patched-timely, timely-pi
    #[arg(long, value_name = "NAME")]
    law: Option<String>,
    /// Continue the marking ramp beyond its end
    #[arg(long)]
    continue_ramp: bool,
    /// Output folder
    #[arg(long, value_name = "DIR", default_value = "runs")]
    out: PathBuf,
}

impl Chosen {
    fn options(&self, flows: Option<u32>) -> FluidOptions {
        FluidOptions {
            set: self.set.clone(),
            flows,
            delay: self.delay.clone(),
            law: self.law.clone(),
            continued: self.continue_ramp,
            out: self.out.clone(),
            ..FluidOptions::default()
        }
    }
}

/// How the equations treat the scenario's `feedback_jitter`.
#[derive(Args)]
struct Jitter {
    /// Jitter in the two round trips of a gradient: both the same, each its own (as with packets), neither [default: both]
    #[arg(long, value_name = "WHICH")]
    jitter_in: Option<String>,
    /// How long one jitter sample holds [default: until the next rate update]
    #[arg(long, value_name = "TIME")]
    jitter_every: Option<String>,
}

impl From<Jitter> for FluidJitter {
    fn from(jitter: Jitter) -> FluidJitter {
        FluidJitter { within: jitter.jitter_in, every: jitter.jitter_every }
    }
}

/// Arguments of `weft fluid run`.
#[derive(Args)]
struct Run {
    #[command(flatten)]
    chosen: Chosen,
    /// Number of flows, instead of the scenario's
    #[arg(long, value_name = "N")]
    flows: Option<u32>,
    /// Simulated time [default: measure.until, or 200 ms]
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    #[command(flatten)]
    jitter: Jitter,
}

/// Arguments of `weft fluid margin`.
#[derive(Args)]
struct Margin {
    #[command(flatten)]
    chosen: Chosen,
    /// Number of flows, instead of the scenario's
    #[arg(long, value_name = "N")]
    flows: Option<u32>,
}

/// Arguments of `weft fluid sweep`.
#[derive(Args)]
#[command(after_help = "\
A range is PATH=FIRST..LAST:COUNT, in equal steps, or :COUNTx, in equal ratios.
PATH is a setting, or `flows`, or `delay`.

Examples:
  weft fluid sweep my.toml --over 'flows=2..100:99' --over 'delay=1 us..100 us:100'
  weft fluid sweep my.toml --over 'switch.ecn.red.max=50 kB..4000 kB:200x' \\
    --over 'transport.dcqcn.additive_step=2 Mbps..200 Mbps:200x'")]
struct Sweep {
    #[command(flatten)]
    chosen: Chosen,
    /// A range; give two, the horizontal axis first
    #[arg(long, value_name = "RANGE", required = true)]
    over: Vec<String>,
    /// Number of flows, instead of the scenario's
    #[arg(long, value_name = "N")]
    flows: Option<u32>,
}

/// Arguments of `weft fluid tune`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft fluid tune my.toml --flows 2..20 --margin 10 --queue '2 MB'
  weft fluid tune my.toml --recovery '20 ms' --no-packets

Exits with 1 if no setting meets all requirements.")]
struct Tune {
    #[command(flatten)]
    chosen: Chosen,
    /// Numbers of flows that must be stable: FEWEST..MOST
    #[arg(long, value_name = "RANGE", default_value = "2..64")]
    flows: String,
    /// Phase margin, in degrees, that all of them must reach
    #[arg(long, value_name = "DEGREES", default_value_t = 20.0)]
    margin: f64,
    /// Longest standing queue allowed
    #[arg(long, value_name = "SIZE", default_value = "1 MB")]
    queue: String,
    /// Maximum recovery time with the fewest flows from their start at line rate
    #[arg(long, value_name = "TIME", default_value = "100 ms")]
    recovery: String,
    /// Skip the packet simulation of the result
    #[arg(long)]
    no_packets: bool,
}

/// Arguments of `weft fluid compare`.
#[derive(Args)]
struct Compare {
    /// The scenario: DCQCN or a TIMELY variant, one bottleneck
    #[arg(value_name = "FILE")]
    scenario: PathBuf,
    /// Override a setting, in both; may be repeated
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Simulated time [default: measure.until, or 200 ms]
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    #[command(flatten)]
    jitter: Jitter,
    /// Output folder
    #[arg(long, value_name = "DIR", default_value = "runs")]
    out: PathBuf,
}

impl Compare {
    fn execute(self) -> Result<FluidOutcome, weft::Error> {
        let options = FluidOptions {
            set: self.set,
            out: self.out,
            jitter: self.jitter.into(),
            ..FluidOptions::default()
        };
        weft::fluid_compare(&self.scenario, &options, self.until.as_deref())
    }
}

impl FluidArguments {
    /// Runs the analysis and prints its result.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        let found = match self.subject {
            Subject::Run(run) => {
                let options = FluidOptions { jitter: run.jitter.into(), ..run.chosen.options(run.flows) };
                weft::fluid_run(&run.chosen.scenario, &options, run.until.as_deref())?
            }
            Subject::Margin(margin) => {
                weft::fluid_margin(&margin.chosen.scenario, &margin.chosen.options(margin.flows))?
            }
            Subject::Sweep(sweep) => sweep.execute()?,
            Subject::Tune(tune) => tune.execute()?,
            Subject::Compare(compare) => compare.execute()?,
        };
        console::show(&format!("{}\nreport: {}", found.terminal.trim_end(), found.report.display()))?;
        Ok(if found.unsolved { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

impl Sweep {
    fn execute(self) -> Result<FluidOutcome, weft::Error> {
        let [x, y] = &self.over[..] else {
            let text = "a sweep needs --over twice: the horizontal range, then the vertical one";
            return Err(weft::Error::BadInput(text.to_owned()));
        };
        weft::fluid_sweep(&self.chosen.scenario, &self.chosen.options(self.flows), [x, y])
    }
}

impl Tune {
    fn execute(self) -> Result<FluidOutcome, weft::Error> {
        let bad =
            || weft::Error::BadInput(format!("`{}` is not a range of flows such as `2..64`", self.flows));
        let (from, to) = self.flows.split_once("..").ok_or_else(bad)?;
        let wanted = TuneOptions {
            from: from.trim().parse().map_err(|_| bad())?,
            to: to.trim().parse().map_err(|_| bad())?,
            margin: self.margin,
            queue: self.queue.clone(),
            recovery: self.recovery.clone(),
            packets: !self.no_packets,
        };
        weft::fluid_tune(&self.chosen.scenario, &self.chosen.options(None), &wanted)
    }
}
