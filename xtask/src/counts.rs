//! The tables of the chapter on performance: instructions per packet-hop, written from `bench/counts.json`, those of the
//! router per packet, written from `bench/router.json`, and times and memory of whole runs, written from
//! `bench/times.json`.

use crate::Verdict;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use weft_bench::results::{BenchResults, CaseResult};
use weft_bench::router::RouterResults;

const PAGE: &str = "docs/src/performance.md";
const COUNTS: &str = "bench/counts.json";
const TIMES: &str = "bench/times.json";
const ROUTER: &str = "bench/router.json";

/// A generated part of the page: its file, how it becomes a table, and the lines around it.
struct Part {
    file: &'static str,
    /// From the name and the text of the file.
    table: fn(&str, &str) -> Result<String, weft::Error>,
    begin: &'static str,
    end: &'static str,
}

const PARTS: [Part; 3] = [
    Part {
        file: COUNTS,
        table: |name, text| BenchResults::read(name, text).map(|counts| counts_table(&counts)),
        begin: "<!-- Written by `cargo xtask counts --write` from bench/counts.json. -->\n",
        end: "<!-- End of the counts. -->\n",
    },
    Part {
        file: TIMES,
        table: |name, text| BenchResults::read(name, text).map(|times| times_table(&times)),
        begin: "<!-- Written by `cargo xtask counts --write` from bench/times.json. -->\n",
        end: "<!-- End of the times. -->\n",
    },
    Part {
        file: ROUTER,
        table: |name, text| RouterResults::read(name, text).map(|router| router_table(&router)),
        begin: "<!-- Written by `cargo xtask counts --write` from bench/router.json. -->\n",
        end: "<!-- End of the router's counts. -->\n",
    },
];

/// A case, the case it is compared with, and the maximum ratio of their instructions per hop.
type Ratio = (&'static str, &'static str, f64);

/// Eight queues with strict priority against one queue.
const RATIOS: [Ratio; 1] = [("r1-strict", "r1", 1.15)];

/// Whether the tables are those of the counts and times, and the counts keep their ratios.
pub(crate) fn check(root: &Path) -> Verdict {
    let text = fs::read_to_string(root.join(COUNTS)).map_err(|error| vec![format!("{COUNTS}: {error}")])?;
    let counts = BenchResults::read(COUNTS, &text).map_err(|error| vec![error.to_string()])?;
    let broken: Vec<String> = RATIOS.iter().filter_map(|ratio| exceeded(&counts, ratio)).collect();
    if !broken.is_empty() {
        return Err(broken);
    }
    let (page, written) = pages(root)?;
    if page == written {
        return Ok(format!("{PAGE} has the figures of {COUNTS}, {ROUTER} and {TIMES}"));
    }
    let files = format!("{COUNTS}, {ROUTER} and {TIMES}");
    Err(vec![format!("{PAGE} does not have the figures of {files}: cargo xtask counts --write")])
}

/// The complaint if a case takes more than its ratio allows, or was not counted.
fn exceeded(counts: &BenchResults, (case, base, most): &Ratio) -> Option<String> {
    let of = |name: &str| {
        let case = counts.cases.iter().find(|case| case.name == name)?;
        case.counted.as_ref().map(|counted| counted.instructions_per_hop)
    };
    let Some(times) = of(case).zip(of(base)).map(|(own, base)| own / base) else {
        return Some(format!("{COUNTS} lacks {case} or {base}"));
    };
    let words =
        format!("{COUNTS}: {case} takes {times:.3} times the instructions of {base} per hop; at most {most}");
    (times > *most).then_some(words)
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
        let written_table = table(file, &read(file)?).map_err(|error| vec![error.to_string()])?;
        let outside =
            written.split_once(begin).and_then(|(head, rest)| Some((head, rest.split_once(end)?.1)));
        let (head, tail) =
            outside.ok_or_else(|| vec![format!("{PAGE} lacks the lines around the table of {file}")])?;
        written = format!("{head}{begin}{written_table}{end}{tail}");
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

fn router_table(router: &RouterResults) -> String {
    let mut text = String::from("| case | instructions per packet |\n|---|---:|\n");
    for case in &router.cases {
        if let Some(instructions) = case.instructions {
            writeln!(text, "| {} | {instructions:.1} |", case.name).expect("a string takes any text");
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(strict: f64) -> BenchResults {
        let case = |name: &str, instructions: f64| {
            format!(
                "{{\"name\": \"{name}\", \"counted\": {{\"instructions_per_hop\": {instructions:.1}, \"events\": 1, \
                 \"packet_hops\": 1, \"allocations\": 0}}}}"
            )
        };
        let text = format!(
            "{{\"weft\": \"0\", \"bound\": {{}}, \"cases\": [{}, {}]}}",
            case("r1", 400.0),
            case("r1-strict", strict)
        );
        BenchResults::read("counts.json", &text).expect("a file of counts")
    }

    #[test]
    fn a_case_of_the_router_has_a_row_if_it_was_counted() {
        let text =
            r#"{"cases": [{"name": "forward", "instructions": 28.04}, {"name": "gcm128-64", "mpps": 2.5}]}"#;
        let router = RouterResults::read("router.json", text).expect("a file of counts");
        assert_eq!(
            router_table(&router),
            "| case | instructions per packet |\n|---|---:|\n| forward | 28.0 |\n"
        );
    }

    #[test]
    fn eight_queues_may_take_fifteen_per_cent_more_than_one() {
        let ratio = &RATIOS[0];
        assert_eq!(exceeded(&counts(460.0), ratio), None);
        let told = exceeded(&counts(460.1), ratio).expect("it is more");
        assert!(told.contains("r1-strict takes 1.150 times the instructions of r1"), "{told}");
        assert!(
            exceeded(&counts(460.0), &("r1-none", "r1", 2.0))
                .is_some_and(|told| told.contains("lacks r1-none"))
        );
    }
}
