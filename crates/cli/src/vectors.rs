//! `weft vectors`: test vectors for hardware, decided by the simulator's own parts.

use crate::console;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `weft vectors`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft vectors drill --list
  weft vectors drill paper faults --decisions 1000000 --out target/hardware")]
pub(crate) struct VectorsArguments {
    #[command(subcommand)]
    subject: Subject,
}

/// What there are vectors for.
#[derive(Subcommand)]
enum Subject {
    /// DRILL's forwarding engine (hdl/drill)
    Drill(Drill),
}

/// Arguments of `weft vectors drill`.
#[derive(Args)]
struct Drill {
    /// Parameter sets [default: all]
    #[arg(value_name = "SET")]
    sets: Vec<String>,
    /// Decisions per set
    #[arg(long, value_name = "N", default_value = "20000", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    decisions: u64,
    /// Output folder; each set has a folder in it
    #[arg(long, value_name = "DIR", default_value = "target/hardware")]
    out: PathBuf,
    /// List the parameter sets
    #[arg(long)]
    list: bool,
}

impl VectorsArguments {
    /// Writes the vectors, or lists the sets.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        let Subject::Drill(drill) = self.subject;
        if drill.list {
            console::show(&weft_hardware::set::list())?;
            return Ok(ExitCode::SUCCESS);
        }
        let sets = weft_hardware::set::named(&drill.sets).map_err(weft::Error::BadInput)?;
        for set in sets {
            let folder = drill.out.join(set.name);
            let written = weft_hardware::vectors::write(&set, drill.decisions, &folder)
                .map_err(|cause| weft::Error::Failed(format!("{}: {cause}", folder.display())))?;
            let (decisions, clocks) = (written.decisions, written.clocks);
            console::show(&format!("{}: {decisions} decisions in {clocks} clocks", folder.display()))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
