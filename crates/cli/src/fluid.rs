//! `weft fluid`: rate control as differential equations.

use crate::console;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;
use weft::{FluidJitter, FluidOptions, FluidOutcome, TuneOptions};

/// What `weft fluid` takes.
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

/// What is asked.
#[derive(Subcommand)]
enum Subject {
    /// How queue and rates move over time
    Run(Run),
    /// Fixed point, phase, gain and delay margin, and the curves behind them
    Margin(Margin),
    /// The phase margin over two settings
    Sweep(Sweep),
    /// Marking thresholds and increases that keep a wanted margin
    Tune(Tune),
    /// Packets and the fluid model of the same scenario side by side
    Compare(Compare),
}

/// Which scenario, and what is different.
#[derive(Args)]
struct Chosen {
    /// The scenario: dcqcn or a timely, one bottleneck
    #[arg(value_name = "FILE")]
    scenario: PathBuf,
    /// Change a setting: path=value, as often as needed
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// The delay of the loop without queueing, instead of the network's
    #[arg(long, value_name = "TIME")]
    delay: Option<String>,
    /// This rate law with its defaults, instead of the transport: dcqcn, timely, patched-timely, timely-pi
    #[arg(long, value_name = "NAME")]
    law: Option<String>,
    /// Continue the marking ramp beyond its end
    #[arg(long)]
    continue_ramp: bool,
    /// Where results go
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

/// How equations treat `feedback_jitter` of the scenario.
#[derive(Args)]
struct Jitter {
    /// Which round trips contain jitter: both of a gradient the same, each its own (as of packets), neither [default: both]
    #[arg(long, value_name = "WHICH")]
    jitter_in: Option<String>,
    /// One draw of jitter holds for so long [default: until the next update of a rate]
    #[arg(long, value_name = "TIME")]
    jitter_every: Option<String>,
}

impl From<Jitter> for FluidJitter {
    fn from(jitter: Jitter) -> FluidJitter {
        FluidJitter { within: jitter.jitter_in, every: jitter.jitter_every }
    }
}

/// What `weft fluid run` takes.
#[derive(Args)]
struct Run {
    #[command(flatten)]
    chosen: Chosen,
    /// So many flows, instead of the scenario's
    #[arg(long, value_name = "N")]
    flows: Option<u32>,
    /// How long [default: measure.until, or 200 ms]
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    #[command(flatten)]
    jitter: Jitter,
}

/// What `weft fluid margin` takes.
#[derive(Args)]
struct Margin {
    #[command(flatten)]
    chosen: Chosen,
    /// So many flows, instead of the scenario's
    #[arg(long, value_name = "N")]
    flows: Option<u32>,
}

/// What `weft fluid sweep` takes.
#[derive(Args)]
#[command(after_help = "\
A range is PATH=FIRST..LAST:COUNT, evenly spaced, or with COUNTx evenly in ratio.
PATH is a setting, or `flows`, or `delay`.

Examples:
  weft fluid sweep my.toml --over 'flows=2..100:99' --over 'delay=1 us..100 us:100'
  weft fluid sweep my.toml --over 'switch.ecn.red.max=50 kB..4000 kB:200x' \\
    --over 'transport.dcqcn.additive_step=2 Mbps..200 Mbps:200x'")]
struct Sweep {
    #[command(flatten)]
    chosen: Chosen,
    /// A range; twice: the horizontal and the vertical one
    #[arg(long, value_name = "RANGE", required = true)]
    over: Vec<String>,
    /// So many flows, instead of the scenario's
    #[arg(long, value_name = "N")]
    flows: Option<u32>,
}

/// What `weft fluid tune` takes.
#[derive(Args)]
struct Tune {
    #[command(flatten)]
    chosen: Chosen,
    /// Numbers of flows that shall be stable: FEWEST..MOST
    #[arg(long, value_name = "RANGE", default_value = "2..64")]
    flows: String,
    /// The phase margin in degrees that all of them shall have
    #[arg(long, value_name = "DEGREES", default_value_t = 20.0)]
    margin: f64,
    /// The longest queue that may stand
    #[arg(long, value_name = "SIZE", default_value = "1 MB")]
    queue: String,
}

/// What `weft fluid compare` takes.
#[derive(Args)]
struct Compare {
    /// The scenario: dcqcn or a timely, one bottleneck
    #[arg(value_name = "FILE")]
    scenario: PathBuf,
    /// Change a setting, of both: path=value, as often as needed
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// How long [default: measure.until, or 200 ms]
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    #[command(flatten)]
    jitter: Jitter,
    /// Where results go
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
    /// Asks.
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
        Ok(ExitCode::SUCCESS)
    }
}

impl Sweep {
    fn execute(self) -> Result<FluidOutcome, weft::Error> {
        let [x, y] = &self.over[..] else {
            let text = "a sweep wants --over twice: the horizontal range and the vertical one";
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
        };
        weft::fluid_tune(&self.chosen.scenario, &self.chosen.options(None), &wanted)
    }
}
