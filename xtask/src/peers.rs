//! The page of the book about other simulators. It takes minutes to write, because the reference runs are run again.
//! The check only compares the fingerprint of the page's inputs.

use crate::Verdict;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use weft_bench::peers::{PAGE, cost_rows, cost_rows_of, is_stale, page};
use weft_bench::results::BenchResults;

/// The folder of the comparison's scenarios.
const SCENARIOS: &str = "scenarios/bench";

/// Reports whether the page must be written again.
pub(crate) fn check(root: &Path) -> Verdict {
    let text = fs::read_to_string(root.join(PAGE)).map_err(|error| vec![format!("{PAGE}: {error}")])?;
    match is_stale(&text, &root.join(SCENARIOS)) {
        Ok(false) => Ok(format!("{PAGE} is up to date")),
        Ok(true) => Err(vec![format!("{PAGE} is not what would be written now: cargo xtask peers --write")]),
        Err(error) => Err(vec![error.to_string()]),
    }
}

/// Runs the comparison and writes the page; the costs stay as they are.
pub(crate) fn write(root: &Path) -> Verdict {
    let old = fs::read_to_string(root.join(PAGE)).unwrap_or_default();
    write_with(root, cost_rows_of(&old))
}

/// The same, with costs measured on this machine, which should otherwise be idle.
pub(crate) fn write_costs(root: &Path) -> Verdict {
    let costs = costs(root).map_err(|error| vec![error])?;
    write_with(root, &cost_rows(&costs))
}

fn write_with(root: &Path, costs: &str) -> Verdict {
    let text = page(&root.join(SCENARIOS), costs, |what| eprintln!("{what}"))
        .map_err(|error| vec![error.to_string()])?;
    fs::write(root.join(PAGE), text).map_err(|error| vec![format!("{PAGE}: {error}")])?;
    Ok(format!("{PAGE} is written"))
}

/// The cost of the reference runs on this machine, with the program as distributed.
fn costs(root: &Path) -> Result<BenchResults, String> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(["run", "--release", "--quiet", "--package", "weft-cli", "--"])
        .args(["bench", "r1", "r1-shared", "r2", "--json"])
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err("weft bench failed".to_owned());
    }
    BenchResults::read("its output", &String::from_utf8_lossy(&output.stdout))
        .map_err(|error| error.to_string())
}
