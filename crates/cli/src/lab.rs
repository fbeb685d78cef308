//! `weft lab`: runs a scenario on real Linux hosts, in network namespaces of this machine.

use crate::run::conclude;
use crate::seeds::{self, Seeds};
use crate::{console, engines, interrupt, progress};
use clap::Args;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use weft::{RunOptions, Setup};
use weft_lab::{Lab, LabDemand, LabLimits};

/// Arguments of `weft lab`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft lab scenarios/lab/two-leaves.toml
  weft lab my.toml --check                  scale, times, differences to Linux
  weft lab my.toml --congestion bbr --scale 200
  weft compare runs/my lab/my               simulation and lab side by side

Every host is a namespace with the kernel's TCP, every switch the router's.
Needs root, or user namespaces. Nothing is left behind: the namespaces end with
the process. Results differ from run to run and are never reused.")]
pub(crate) struct LabArguments {
    /// The scenario
    #[arg(value_name = "FILE")]
    scenario: PathBuf,
    /// Output folder
    #[arg(long, value_name = "DIR", default_value = "lab")]
    out: PathBuf,
    /// Run the reduced form given in [demo]
    #[arg(long)]
    demo: bool,
    /// Seeds instead of the scenario's own, such as 1..20,40
    #[arg(long = "seed", value_name = "N", value_delimiter = ',')]
    seeds: Option<Vec<Seeds>>,
    /// Override a setting; may be repeated
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Stretch times by N [default: as much as needed]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    scale: Option<u64>,
    /// The kernel's congestion control to use instead of the scenario's
    #[arg(long, value_name = "NAME")]
    congestion: Option<String>,
    /// Maximum packet hops per second
    #[arg(long, value_name = "N", default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..))]
    budget: u32,
    /// Real time of a run, at most
    #[arg(long, value_name = "MINUTES", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    longest: u32,
    /// Only say whether the lab could run it, and how
    #[arg(long)]
    check: bool,
    /// Progress: auto, json or none
    #[arg(long, value_name = "HOW", default_value = "auto", hide_possible_values = true)]
    progress: progress::ProgressMode,
}

impl LabArguments {
    /// Runs the scenario.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        let setups = self.setups()?;
        let lab = Lab { scale: self.scale(&setups)?, congestion: self.congestion.clone() };
        if self.check {
            console::show(&told(&self.scenario, &lab, &setups))?;
        }
        // Before any thread starts.
        match weft_lab::take_rights() {
            Ok(()) => {}
            Err(why) if self.check => {
                let unchecked = "whether this kernel has the congestion control has not been checked";
                console::complain(&format!("warning: {why}; {unchecked}"));
                return Ok(ExitCode::SUCCESS);
            }
            Err(why) => return Err(weft::Error::Failed(why)),
        }
        for setup in &setups {
            lab.check_congestion_controls(setup).map_err(weft::Error::BadInput)?;
        }
        if self.check {
            return Ok(ExitCode::SUCCESS);
        }
        console::complain(&told(&self.scenario, &lab, &setups));
        drop(setups);
        let stop = Arc::new(AtomicBool::new(false));
        interrupt::listen(Arc::clone(&stop), self.progress)?;
        let options = self.options(lab, stop);
        let result = weft::run(&self.scenario, &options);
        progress::end(self.progress);
        conclude(&result?)
    }

    /// The setups of all runs; the lab must be able to run every one.
    fn setups(&self) -> Result<Vec<Setup>, weft::Error> {
        let seeds = self.seeds.as_deref().map(seeds::all);
        let mut setups = Vec::new();
        let mut misfits = BTreeSet::new();
        for case in weft::prepare(&self.scenario, &self.set, self.demo)? {
            for seed in seeds.as_deref().unwrap_or(&case.settings.seeds) {
                let setup = case.setup(*seed)?;
                misfits.extend(weft_lab::misfits(&setup));
                setups.push(setup);
            }
        }
        engines::refuse(&self.scenario, "a lab of real hosts", &misfits)?;
        Ok(setups)
    }

    /// One scale for all runs, so that they can be compared.
    fn scale(&self, setups: &[Setup]) -> Result<u64, weft::Error> {
        let limits = LabLimits {
            hops_per_second: self.budget.into(),
            longest: LabLimits::minutes(self.longest),
            ..LabLimits::default()
        };
        let demands: Vec<LabDemand> = setups.iter().map(LabDemand::of).collect();
        let needed = demands.iter().map(|demand| demand.scale(&limits)).max().unwrap_or(1);
        let scale = self.scale.unwrap_or(needed);
        demands
            .iter()
            .try_for_each(|demand| demand.check(scale, &limits))
            .map(|()| scale)
            .map_err(|why| weft::Error::BadInput(format!("{}: {why}", self.scenario.display())))
    }

    fn options(&self, lab: Lab, stop: Arc<AtomicBool>) -> RunOptions {
        RunOptions {
            out: self.out.clone(),
            demo: self.demo,
            seeds: self.seeds.as_deref().map(seeds::all),
            set: self.set.clone(),
            engine: Box::leak(Box::new(lab)),
            jobs: 1,
            reuse: weft::Reuse::SameBuild,
            threads: Some(1),
            progress: progress::display(self.progress),
            stop,
        }
    }
}

/// How the lab would run the runs.
fn told(scenario: &Path, lab: &Lab, setups: &[Setup]) -> String {
    let runs = setups.len();
    let mut lines = setups.first().map(|setup| lab.words(setup)).unwrap_or_default();
    for deviation in setups.iter().flat_map(|setup| lab.deviations(setup)) {
        if !lines.contains(&deviation) {
            lines.push(deviation);
        }
    }
    let count = if runs == 1 { String::new() } else { format!(" (the first of {runs} runs)") };
    format!("{}{count}:\n  {}", scenario.display(), lines.join("\n  "))
}
