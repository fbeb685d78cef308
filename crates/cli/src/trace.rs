//! `weft trace`: follows one flow through a run.

use crate::console;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use weft::TraceOptions;

/// Arguments of `weft trace`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft trace scenarios/hello.toml --flow 7
  weft trace my.toml --flow 7 --seed 2 --set sweep.balance=drill
  weft trace my.toml --flow 7 --csv flow.csv --pcap flow.pcapng

The run is computed again. Times in the capture are simulated, counted from the
start of the run; wireshark and tshark open it.")]
pub(crate) struct TraceArguments {
    /// The scenario
    #[arg(value_name = "FILE")]
    scenario: PathBuf,
    /// Number of the flow, as in flows.csv
    #[arg(long, value_name = "N")]
    flow: u32,
    /// Seed of the run [default: the scenario's first]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Use the reduced form given in the scenario's [demo] table
    #[arg(long)]
    demo: bool,
    /// Override a setting; may be repeated
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Write the table as CSV, and print none
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write a capture of both hosts' cards, pcapng; analyse one interface at a time
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
}

impl TraceArguments {
    /// Runs the scenario and prints the flow's packets.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        let written: Vec<PathBuf> = self.csv.iter().chain(&self.pcap).cloned().collect();
        let quiet = self.csv.is_some();
        let outcome = weft::trace(
            &self.scenario,
            &TraceOptions {
                flow: self.flow,
                seed: self.seed,
                demo: self.demo,
                set: self.set,
                csv: self.csv,
                pcap: self.pcap,
            },
        )?;
        let table = if quiet { String::new() } else { format!("\n{}", outcome.table) };
        let paths: String = written.iter().map(|path| format!("\nwritten: {}", path.display())).collect();
        console::show(&format!("{}\n{table}{paths}", outcome.summary))?;
        Ok(ExitCode::SUCCESS)
    }
}
