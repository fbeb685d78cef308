//! `weft router`: forwards real packets until it is interrupted.

use crate::console;
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Arguments of `weft router`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft router edge.toml            forward until Ctrl-C, then print counters
  weft router edge.toml --check    only check the file
  weft router show edge.toml       workers, routes and queues while it runs

Interfaces need CAP_NET_RAW, TAP devices CAP_NET_ADMIN. Give the interfaces no
addresses of their own: the router has its own.")]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct RouterArguments {
    #[command(subcommand)]
    command: Option<RouterCommand>,
    /// Ports, addresses and routes (TOML)
    #[arg(required = true)]
    config: Option<PathBuf>,
    /// Only check the file
    #[arg(long)]
    check: bool,
}

/// Commands other than running a router.
#[derive(Subcommand)]
enum RouterCommand {
    /// Show workers, routes, neighbours and queues of a running router
    Show {
        /// The file it was started with; `metrics` in it says where to ask
        config: PathBuf,
    },
}

impl RouterArguments {
    /// Runs the router.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        let config = match (&self.command, &self.config) {
            (Some(RouterCommand::Show { config }), _) => return show(config),
            (None, config) => config.as_deref().unwrap_or(Path::new("")),
        };
        let plan = read(config)?;
        if self.check {
            console::show(&format!("{} is sound", config.display()))?;
            return Ok(ExitCode::SUCCESS);
        }
        let stop = Arc::new(AtomicBool::new(false));
        let stops = Arc::clone(&stop);
        ctrlc::set_handler(move || stops.store(true, Ordering::Relaxed))
            .map_err(|error| weft::Error::Failed(format!("cannot listen for signals: {error}")))?;
        let says = if plan.plays() { "playing captures" } else { "forwarding; Ctrl-C stops" };
        let started = || console::complain(says);
        let counters = weft_appliance::run(&plan, &stop, started)
            .map_err(|error| weft::Error::Failed(error.to_string()))?;
        console::show(&counters.to_string())?;
        Ok(ExitCode::SUCCESS)
    }
}

fn read(config: &Path) -> Result<weft_appliance::RouterPlan, weft::Error> {
    weft_appliance::file::read_plan(config)
        .map_err(|mistakes| weft::Error::BadInput(mistakes.draw(console::is_coloured())))
}

/// Shows the state of a running router.
fn show(config: &Path) -> Result<ExitCode, weft::Error> {
    let plan = read(config)?;
    let address = plan.metrics.ok_or_else(|| {
        let hint = "for example `metrics = \"unix:/run/weft-router\"`";
        weft::Error::BadInput(format!("{} has no key `metrics`: {hint}", config.display()))
    })?;
    let page = weft_appliance::watch::ask(&address, "/show").map_err(|error| {
        weft::Error::Failed(format!(
            "no router answers at {address} ({error}); start it with: weft router {}",
            config.display()
        ))
    })?;
    console::show(page.trim_end())?;
    Ok(ExitCode::SUCCESS)
}
