//! `weft list`: what a scenario can choose from.

use crate::console;
use clap::Args;
use std::process::ExitCode;

/// What `weft list` takes.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft list               the topics
  weft list balancers     every balancer with its settings
  weft list drill         what the settings of one mean
  weft list sizes         flow size distributions and where they come from
  weft list metrics       what [[expect]] can speak about")]
pub(crate) struct ListArguments {
    /// What to list, or the name of a balancer, a transport and so on; without it, the topics
    topic: Option<String>,
}

impl ListArguments {
    /// Lists.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        console::show(&weft::list(self.topic.as_deref())?)?;
        Ok(ExitCode::SUCCESS)
    }
}
