//! The page of the book about other simulators. It takes minutes to write, because the reference runs are run again;
//! therefore no check compares it.

use crate::Verdict;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use weft_bench::peers::PAGE;
use weft_bench::results::Results;

/// Measures the costs, runs the comparison, writes the page.
pub(crate) fn write(root: &Path) -> Verdict {
    let one = |error: String| vec![error];
    let costs = costs(root).map_err(one)?;
    let page = weft_bench::peers::page(&root.join("scenarios/bench"), &costs, |what| eprintln!("{what}"))
        .map_err(|error| one(error.to_string()))?;
    fs::write(root.join(PAGE), page).map_err(|error| one(format!("{PAGE}: {error}")))?;
    Ok(format!("{PAGE} is written"))
}

/// What the reference runs cost on this machine, by the program as people get it.
fn costs(root: &Path) -> Result<Results, String> {
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
    Results::read("its output", &String::from_utf8_lossy(&output.stdout)).map_err(|error| error.to_string())
}
