//! The tables of the chapter on performance: instructions per packet-hop, written from `bench/counts.json`, and times and
//! memory of whole runs, written from `bench/times.json`.

use crate::Verdict;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use weft_bench::results::{BenchResults, CaseResult};

const PAGE: &str = "docs/src/performance.md";
const COUNTS: &str = "bench/counts.json";
const TIMES: &str = "bench/times.json";

/// A generated part of the page: its file, how a table is made of it, and the lines around it.
struct Part {
    file: &'static str,
    table: fn(&BenchResults) -> String,
    begin: &'static str,
    end: &'static str,
}

const PARTS: [Part; 2] = [
    Part {
        file: COUNTS,
        table: counts_table,
        begin: "<!-- Written by `cargo xtask counts --write` from bench/counts.json. -->\n",
        end: "<!-- End of the counts. -->\n",
    },
    Part {
        file: TIMES,
        table: times_table,
        begin: "<!-- Written by `cargo xtask counts --write` from bench/times.json. -->\n",
        end: "<!-- End of the times. -->\n",
    },
];

/// Whether the tables are those of the counts and times.
pub(crate) fn check(root: &Path) -> Verdict {
    let (page, written) = pages(root)?;
    if page == written {
        return Ok(format!("{PAGE} has the figures of {COUNTS} and {TIMES}"));
    }
    Err(vec![format!("{PAGE} does not have the figures of {COUNTS} and {TIMES}: cargo xtask counts --write")])
}

/// Writes the tables.
pub(crate) fn write(root: &Path) -> Verdict {
    let (_, written) = pages(root)?;
    fs::write(root.join(PAGE), written).map_err(|error| vec![format!("{PAGE}: {error}")])?;
    Ok(format!("{PAGE} is written"))
}

/// The page as it is, and as it would be written.
fn pages(root: &Path) -> Result<(String, String), Vec<String>> {
    let read =
        |path: &str| fs::read_to_string(root.join(path)).map_err(|error| vec![format!("{path}: {error}")]);
    let page = read(PAGE)?;
    let mut written = page.clone();
    for Part { file, table, begin, end } in PARTS {
        let results = BenchResults::read(file, &read(file)?).map_err(|error| vec![error.to_string()])?;
        let outside =
            written.split_once(begin).and_then(|(head, rest)| Some((head, rest.split_once(end)?.1)));
        let (head, tail) =
            outside.ok_or_else(|| vec![format!("{PAGE} lacks the lines around the table of {file}")])?;
        written = format!("{head}{begin}{}{end}{tail}", table(&results));
    }
    Ok((page, written))
}

fn counts_table(counts: &BenchResults) -> String {
    let bound = counts.bound.counted.map_or(f64::NAN, |counted| counted.instructions_per_hop);
    let mut text = String::from(
        "| case | instructions per hop | times the bound loop | cache misses per hop | events per hop | allocations |\n\
         |---|---:|---:|---:|---:|---:|\n",
    );
    for CaseResult { name, counted, .. } in counts.cases.iter().chain([&counts.bound]) {
        let Some(counted) = counted else { continue };
        let name = if name.is_empty() { "*bound*" } else { name };
        let instructions = counted.instructions_per_hop;
        let events = counted.events as f64 / counted.packet_hops.max(1) as f64;
        let times = instructions / bound;
        let misses = counted.misses_per_hop.map_or_else(String::new, |misses| format!("{misses:.1}"));
        let allocations = counted.allocations;
        writeln!(
            text,
            "| {name} | {instructions:.0} | {times:.2} | {misses} | {events:.2} | {allocations} |"
        )
        .expect("a string takes any text");
    }
    text
}

fn times_table(times: &BenchResults) -> String {
    let mut text = String::from(
        "| case | hosts | times the bound loop, per hop | seconds to build | seconds to run | peak memory, MB | kB per host |\n\
         |---|---:|---:|---:|---:|---:|---:|\n",
    );
    for CaseResult { name, timed, .. } in &times.cases {
        let Some(timed) = timed else { continue };
        let best = timed.best;
        writeln!(
            text,
            "| {name} | {} | {:.1} | {:.1} | {:.1} | {:.0} | {:.1} |",
            best.hosts,
            timed.times_bound,
            best.build_seconds,
            best.seconds,
            best.peak_bytes as f64 / 1e6,
            best.peak_bytes as f64 / 1e3 / best.hosts.max(1) as f64
        )
        .expect("a string takes any text");
    }
    text
}
