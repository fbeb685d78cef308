//! `weft list`: what a scenario can choose from.

use crate::console;
use clap::Args;
use std::process::ExitCode;

/// Arguments of `weft list`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft list               the topics
  weft list balancers     every balancer with its settings
  weft list drill         one balancer and what its settings mean
  weft list sizes         flow size distributions and where they come from
  weft list metrics       metrics that [[expect]] can bound")]
pub(crate) struct ListArguments {
    /// A topic, or a balancer, a transport and so on [default: the topics]
    topic: Option<String>,
}

impl ListArguments {
    /// Prints the list.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        console::show(&weft::list(self.topic.as_deref())?)?;
        Ok(ExitCode::SUCCESS)
    }
}
