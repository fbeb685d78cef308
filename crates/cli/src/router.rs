//! `weft router`: forwards real packets until it is interrupted.

use crate::console;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Arguments of `weft router`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft router edge.toml            forward until Ctrl-C, then print counters
  weft router edge.toml --check    only check the file

Interfaces need CAP_NET_RAW, TAP devices CAP_NET_ADMIN. Give the interfaces no
addresses of their own: the router has its own.")]
pub(crate) struct RouterArguments {
    /// Ports, addresses and routes (TOML)
    config: PathBuf,
    /// Only check the file
    #[arg(long)]
    check: bool,
}

impl RouterArguments {
    /// Runs the router.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        let plan = weft_appliance::file::read_plan(&self.config)
            .map_err(|mistakes| weft::Error::BadInput(mistakes.draw(console::is_coloured())))?;
        if self.check {
            console::show(&format!("{} is sound", self.config.display()))?;
            return Ok(ExitCode::SUCCESS);
        }
        let stop = Arc::new(AtomicBool::new(false));
        let stops = Arc::clone(&stop);
        ctrlc::set_handler(move || stops.store(true, Ordering::Relaxed))
            .map_err(|error| weft::Error::Failed(format!("cannot listen for signals: {error}")))?;
        let started = || console::complain("forwarding; Ctrl-C stops");
        let counters = weft_appliance::run(&plan, &stop, started)
            .map_err(|error| weft::Error::Failed(error.to_string()))?;
        console::show(&counters.to_string())?;
        Ok(ExitCode::SUCCESS)
    }
}
