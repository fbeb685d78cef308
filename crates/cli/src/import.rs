//! `weft import`: converts files of another simulator to a scenario.

use crate::console;
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `weft import`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft import hpcc topology.txt flow.txt > imported.toml
  weft import htsim leaf_spine.topo perm.cm --out imported.toml
  weft list imports                    the formats")]
pub(crate) struct ImportArguments {
    /// The format
    format: String,
    /// The files: topology first, then flows
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Write to this file, not standard output; never overwrites
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl ImportArguments {
    /// Writes the scenario.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        let imported = weft::import(&self.format, &self.files, self.out.as_deref())?;
        let folder = self.out.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        if let Some(out) = self.out.as_deref() {
            console::refuse_existing(out)?;
        }
        for (name, text) in &imported.files {
            let path = folder.join(name);
            console::save(text, &path)?;
            console::show(&format!("wrote {}", path.display()))?;
        }
        console::show_or_save(&imported.text, self.out.as_deref())
    }
}
