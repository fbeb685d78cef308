//! The table of instructions per packet-hop in the chapter on performance, written from `bench/counts.json`.

use crate::Verdict;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use weft_bench::results::{BenchResults, CaseResult};

const PAGE: &str = "docs/src/performance.md";
const COUNTS: &str = "bench/counts.json";
/// The lines around the table.
const BEGIN: &str = "<!-- Written by `cargo xtask counts --write` from bench/counts.json. -->\n";
const END: &str = "<!-- End of the counts. -->\n";

/// Whether the table is that of the counts.
pub(crate) fn check(root: &Path) -> Verdict {
    let (page, written) = pages(root)?;
    if page == written {
        return Ok(format!("{PAGE} has the counts of {COUNTS}"));
    }
    Err(vec![format!("{PAGE} does not have the counts of {COUNTS}: cargo xtask counts --write")])
}

/// Writes the table.
pub(crate) fn write(root: &Path) -> Verdict {
    let (_, written) = pages(root)?;
    fs::write(root.join(PAGE), written).map_err(|error| vec![format!("{PAGE}: {error}")])?;
    Ok(format!("{PAGE} is written"))
}

/// The page as it is, and as it would be written.
fn pages(root: &Path) -> Result<(String, String), Vec<String>> {
    let read =
        |path: &str| fs::read_to_string(root.join(path)).map_err(|error| vec![format!("{path}: {error}")]);
    let (page, counts) = (read(PAGE)?, read(COUNTS)?);
    let counts = BenchResults::read(COUNTS, &counts).map_err(|error| vec![error.to_string()])?;
    let outside = page.split_once(BEGIN).and_then(|(head, rest)| Some((head, rest.split_once(END)?.1)));
    let (head, tail) = outside.ok_or_else(|| vec![format!("{PAGE} lacks the lines around the counts")])?;
    let written = format!("{head}{BEGIN}{}{END}{tail}", table(&counts));
    Ok((page, written))
}

fn table(counts: &BenchResults) -> String {
    let bound = counts.bound.counted.map_or(f64::NAN, |counted| counted.instructions_per_hop);
    let mut text = String::from(
        "| case | instructions per hop | times the bound loop | events per hop | allocations |\n|---|---:|---:|---:|---:|\n",
    );
    for CaseResult { name, counted, .. } in counts.cases.iter().chain([&counts.bound]) {
        let Some(counted) = counted else { continue };
        let name = if name.is_empty() { "*bound*" } else { name };
        let instructions = counted.instructions_per_hop;
        let events = counted.events as f64 / counted.packet_hops.max(1) as f64;
        let times = instructions / bound;
        let allocations = counted.allocations;
        writeln!(text, "| {name} | {instructions:.0} | {times:.2} | {events:.2} | {allocations} |")
            .expect("a string takes any text");
    }
    text
}
