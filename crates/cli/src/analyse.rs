//! `weft analyse`: properties of a network that need no simulation.

use crate::console;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;
use weft::{QuiverOptions, StabilityOptions};

/// Arguments of `weft analyse`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft analyse quiver my.toml
  weft analyse quiver my.toml --from leaf3 --to leaf1
  weft analyse stability")]
pub(crate) struct AnalyseArguments {
    #[command(subcommand)]
    subject: Subject,
}

/// The analyses.
#[derive(Subcommand)]
enum Subject {
    /// Symmetric paths: components, weights and groups
    Quiver(Box<Quiver>),
    /// Whether DRILL keeps queues bounded when outputs are unequal
    Stability(Stability),
}

/// Arguments of `weft analyse stability`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft analyse stability                             the systems of the theorems
  weft analyse stability --rates 4,1,1 --load 0.8
  weft analyse stability --rates 40,1x15 --policies 2:0,1:1 --engines 16")]
struct Stability {
    /// Relative rates of the outputs [default: a table of systems]
    #[arg(long, value_name = "LIST")]
    rates: Option<String>,
    /// Arrival rate as a fraction of the total output rate [default: 0.9]
    #[arg(long, value_name = "SHARE", requires = "rates")]
    load: Option<f64>,
    /// Policies d:m, separated by commas [default: those that differ most]
    #[arg(long, value_name = "LIST")]
    policies: Option<String>,
    /// Forwarding engines of the switch [default: 1]
    #[arg(long, value_name = "N", requires = "rates")]
    engines: Option<u32>,
    /// Length of the shorter run, in packets at rate 1 [default: 10000]
    #[arg(long, value_name = "N")]
    units: Option<u64>,
    /// Seed of arrivals and random choices [default: 1]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `weft analyse quiver`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft analyse quiver my.toml                          the whole network
  weft analyse quiver my.toml --from leaf3 --to leaf1  one pair, and why
  weft analyse quiver my.toml --svg quiver.svg")]
struct Quiver {
    /// The scenario
    #[arg(value_name = "FILE")]
    scenario: PathBuf,
    /// Show what this switch installs
    #[arg(long, value_name = "SWITCH")]
    from: Option<String>,
    /// Show what is installed towards this leaf; with --from, the pair in detail
    #[arg(long, value_name = "LEAF")]
    to: Option<String>,
    /// Analyse the network of this time, once routing has converged [default: the start]
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// Seed of random failures [default: the scenario's first]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// What labels count: multiset or set
    #[arg(long, value_name = "WORD")]
    labels: Option<String>,
    /// Which labels decide: all-pairs or own-pair
    #[arg(long, value_name = "WORD")]
    score: Option<String>,
    /// The factor of a path's first link: inv or const
    #[arg(long, value_name = "WORD")]
    source_cf: Option<String>,
    /// Use only paths that go up, then down
    #[arg(long)]
    valley_free: bool,
    /// Override a setting; may be repeated
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Draw the pair, or the most divided one; never overwrites
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl AnalyseArguments {
    /// Runs the analysis and prints its result.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        match self.subject {
            Subject::Quiver(quiver) => quiver.execute(),
            Subject::Stability(stability) => stability.execute(),
        }
    }
}

impl Stability {
    fn execute(self) -> Result<ExitCode, weft::Error> {
        let usual = StabilityOptions::default();
        let found = weft::analyse_stability(&StabilityOptions {
            rates: self.rates,
            load: self.load.unwrap_or(usual.load),
            policies: self.policies,
            engines: self.engines.unwrap_or(usual.engines),
            units: self.units.unwrap_or(usual.units),
            seed: self.seed.unwrap_or(usual.seed),
        })?;
        console::show(if self.json { &found.json } else { &found.text })?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Quiver {
    fn execute(self) -> Result<ExitCode, weft::Error> {
        let options = QuiverOptions {
            seed: self.seed,
            at: self.at,
            from: self.from,
            to: self.to,
            labels: self.labels,
            score: self.score,
            source_cf: self.source_cf,
            valley_free: self.valley_free,
            json: self.json,
            drawing: self.svg.is_some(),
        };
        let found = weft::analyse_quiver(&self.scenario, &self.set, &options)?;
        console::show(&found.text)?;
        match (self.svg, found.svg) {
            (Some(path), Some(svg)) => console::save(&svg, &path),
            _ => Ok(ExitCode::SUCCESS),
        }
    }
}
