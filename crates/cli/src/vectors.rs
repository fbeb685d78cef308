//! `weft vectors`: test vectors for hardware, decided by the simulator's own parts.

use crate::console;
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use weft_hardware::compare::ComparedScheme;

/// Arguments of `weft vectors`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft vectors drill --list
  weft vectors drill paper faults --decisions 1000000 --out target/hardware
  weft vectors compare --decisions 5000")]
pub(crate) struct VectorsArguments {
    #[command(subcommand)]
    subject: Subject,
}

/// The designs that have vectors.
#[derive(Subcommand)]
enum Subject {
    /// DRILL's forwarding engine (hdl/drill)
    Drill(Drill),
    /// ECMP, per-flow DRILL and CONGA inside the same engine (hdl/drill/compare)
    Compare(Compare),
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
    /// Another sequence of decisions than that of stream 0
    #[arg(long, value_name = "N", default_value = "0", value_parser = clap::value_parser!(u64).range(..=10_000_000))]
    stream: u64,
    /// Output folder; each set has a folder in it
    #[arg(long, value_name = "DIR", default_value = "target/hardware")]
    out: PathBuf,
    /// List the parameter sets
    #[arg(long)]
    list: bool,
}

/// Arguments of `weft vectors compare`.
#[derive(Args)]
struct Compare {
    /// Decisions per scheme
    #[arg(long, value_name = "N", default_value = "5000", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    decisions: u64,
    /// Output folder; each scheme has a folder in it
    #[arg(long, value_name = "DIR", default_value = "target/hardware/compare")]
    out: PathBuf,
}

impl VectorsArguments {
    /// Writes the vectors, or lists the sets.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        match self.subject {
            Subject::Drill(drill) => drill.execute()?,
            Subject::Compare(compare) => compare.execute()?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Drill {
    fn execute(self) -> Result<(), weft::Error> {
        if self.list {
            return console::show(&weft_hardware::set::list());
        }
        let sets = weft_hardware::set::named(&self.sets).map_err(weft::Error::BadInput)?;
        for set in sets {
            let folder = self.out.join(set.name);
            let written = weft_hardware::vectors::write(&set, (self.decisions, self.stream), &folder)
                .map_err(|cause| failed(&folder, &cause))?;
            let (decisions, clocks) = (written.decisions, written.clocks);
            console::show(&format!("{}: {decisions} decisions in {clocks} clocks", folder.display()))?;
        }
        Ok(())
    }
}

impl Compare {
    fn execute(self) -> Result<(), weft::Error> {
        for scheme in ComparedScheme::ALL {
            let folder = self.out.join(scheme.name());
            weft_hardware::compare::write(scheme, self.decisions, &folder)
                .map_err(|cause| failed(&folder, &cause))?;
            console::show(&format!("{}: {} decisions", folder.display(), self.decisions))?;
        }
        Ok(())
    }
}

fn failed(folder: &Path, cause: &std::io::Error) -> weft::Error {
    weft::Error::Failed(format!("{}: {cause}", folder.display()))
}
