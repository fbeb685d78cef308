//! The page of the book that compares Weft with other simulators: their figures, ours, and whether ours lie within the
//! spread of theirs. The text and the others' figures are in files beside this one; ours are computed when the page is
//! written.

mod cards;
mod causes;
mod fair;
mod fresh;
mod measured;
mod published;
mod verdict;

use std::fmt::Write;
use std::path::Path;

use weft::Error;
use weft_core::Bytes;

use crate::bound::{self, BoundOutcome};
use crate::cases::{self, CASES};
use crate::pass;
use crate::results::BenchResults;
use measured::{PeerFigures, runs};
use published::{COMPLETIONS, COSTS, Completion};
use verdict::{Spread, cell};

/// Runs a case with overrides for this many seeds, and reports progress.
type Ask<'a> = &'a dyn Fn(&str, &str, &[&str], u64) -> Result<Vec<PeerFigures>, Error>;

/// The page, relative to the root of the repository.
pub const PAGE: &str = "docs/src/peers.md";

/// Seeds of the comparison on R1 and on R2.
const R1_SEEDS: u64 = 5;
const R2_SEEDS: u64 = 16;
/// Number of random draws of paths for the fair shares.
const DRAWS: u64 = 50;

/// Transport settings used by no scenario of their own: NewReno, otherwise as in R1.
const NEWRENO: &str = "transport={ newreno = { framing = '0 B', least_wire = '40 B', delayed_ack = 1, initial_rto = '1 ms', \
                       min_rto = '1 ms', rto_floor = 'rfc' } }";

/// pFabric as in YAPS: a window of 12 packets, ports of 36 864 B, time-outs of 45 us.
const PFABRIC: [&str; 4] = [
    "switch.ecn=off",
    "switch.order=ranked",
    "switch.sharing={ static = { per_port = '36864 B' } }",
    "transport={ pfabric = { framing = '0 B', least_wire = '40 B', initial_window = 12, max_window = 15, rto = '45 us' } }",
];

const HEAD: &str = "| | small, mean | small, p99 | medium, mean | large, mean | all, mean |\n|---|---:|---:|---:|---:|---:|\n";

/// The line in which the page records its inputs.
const MADE_FROM: &str = "<!-- Made from what has the fingerprint ";

/// Whether words, figures, scenarios or results have changed since the page was written.
///
/// # Errors
/// If the scenarios below `from` cannot be read.
pub fn is_stale(page: &str, from: &Path) -> Result<bool, Error> {
    Ok(!page.contains(&made_from(from)?))
}

fn made_from(from: &Path) -> Result<String, Error> {
    Ok(format!("{MADE_FROM}{} -->", fresh::fingerprint(from)?))
}

/// The text of the page, with the rows of its table of costs: from [`cost_rows`], or from [`cost_rows_of`] an older page.
///
/// # Errors
/// If the scenarios below `from` cannot be read.
pub fn page(from: &Path, costs: &str, progress: fn(&str)) -> Result<String, Error> {
    let ask = |what: &str, case: &str, set: &[&str], seeds: u64| {
        progress(what);
        runs(from, case, set, seeds)
    };
    let r1 = ask("R1", "r1", &[], R1_SEEDS)?;
    let in_order = cards::in_order();
    let ordered = ask("R1, cards in order", "r1", &[&in_order], R1_SEEDS)?;
    let newreno = ask("R1, NewReno", "r1", &[NEWRENO, "switch.ecn=off"], 1)?;
    let newreno_ordered =
        ask("R1, NewReno, cards in order", "r1", &[NEWRENO, "switch.ecn=off", &in_order], 1)?;
    let spray = ask("R1, spraying", "r1-spray", &[], 1)?;
    let drill = ask("R1, DRILL", "r1-drill", &[], 1)?;
    let pfabric = ask("R1, pFabric", "r1-spray", &PFABRIC, R1_SEEDS)?;
    let r2 = ask("R2", "r2", &[], R2_SEEDS)?;
    let mut text =
        include_str!("peers/introduction.txt").replacen("\n", &format!("\n{}\n", made_from(from)?), 1);
    text += &first_run(&r1, &ordered, &bound(from)?);
    text += &other_schemes([&newreno, &newreno_ordered], &pfabric, [&spray, &drill]);
    text += &second_run(&r2, &pairs(from)?);
    text += &packets(&[
        ("R1, DCTCP and ECMP", &r1),
        ("R1, NewReno and ECMP", &newreno),
        ("R1, DCTCP and spraying", &spray),
        ("R1, DCTCP and DRILL(2,1)", &drill),
        ("R1, pFabric and spraying", &pfabric),
        ("R2, DCTCP and ECMP", &r2),
    ]);
    text += &causes::alike(&ask)?;
    text += &causes::variations(&ask)?;
    text += include_str!("peers/reasons.txt");
    text += include_str!("peers/cost.txt");
    text += costs;
    Ok(text)
}

/// The result of the bound loop on R1.
fn bound(from: &Path) -> Result<BoundOutcome, Error> {
    Ok(bound::carry(&pass::demands(&cases::load(from, &CASES[0], false, &[])?)?))
}

/// Sources and destinations of R2.
fn pairs(from: &Path) -> Result<Vec<(u32, u32)>, Error> {
    let case = CASES.iter().find(|case| case.name == "r2").expect("it is in the list");
    let flows = cases::load(from, case, false, &[])?.setup(1)?.flows;
    debug_assert!(flows.iter().all(|flow| flow.size == Bytes(20_000_000)));
    Ok(flows.iter().map(|flow| (flow.source.0, flow.destination.0)).collect())
}

/// The published rows of a run under a scheme.
fn rows(run: &str, scheme: &str) -> Vec<&'static Completion> {
    COMPLETIONS.iter().filter(|row| row.run == run && row.scheme == scheme).collect()
}

fn row<const N: usize>(name: &str, cells: &[Option<f64>; N]) -> String {
    format!("| {name} | {} |\n", cells.map(cell).join(" | "))
}

/// The rows of several runs: their mean, minimum and maximum.
fn our_rows(runs: &[PeerFigures]) -> String {
    let mut text = row(&format!("**Weft**, mean of {} seeds", runs.len()), &PeerFigures::mean(runs).cells);
    let range = |n: usize| {
        let values = runs.iter().filter_map(|run| run.cells[n]);
        Spread::of(values).map_or("–".to_owned(), |spread| spread.shown())
    };
    let _ = writeln!(text, "| Weft, least to greatest | {} |", [0, 1, 2, 3, 4].map(range).join(" | "));
    text
}

/// The position of our values in the spread of some rows.
fn verdicts(name: &str, ours: &PeerFigures, theirs: &[&Completion]) -> String {
    let verdict = |n: usize| {
        let spread = Spread::of(theirs.iter().filter_map(|row| row.cells[n]));
        match (spread, ours.cells[n]) {
            (Some(spread), Some(own)) => spread.verdict(own),
            _ => "–".to_owned(),
        }
    };
    format!("| {name} | {} |\n", [0, 1, 2, 3, 4].map(verdict).join(" | "))
}

/// The rows of the named programs.
fn named<'a>(rows: &[&'a Completion], tools: &[&str]) -> Vec<&'a Completion> {
    rows.iter().filter(|row| tools.iter().any(|tool| row.tool.starts_with(tool))).copied().collect()
}

fn first_run(ours: &[PeerFigures], ordered: &[PeerFigures], bound: &BoundOutcome) -> String {
    let theirs = rows("R1", "DCTCP and ECMP");
    let mut text = format!("\n## R1: DCTCP and ECMP\n\nCompletion times in microseconds.\n\n{HEAD}");
    theirs.iter().for_each(|peer| text += &row(&peer.tool, &peer.cells));
    text += &our_rows(ours);
    let (mean, ordered) = (PeerFigures::mean(ours), PeerFigures::mean(ordered));
    text += &row("**Weft**, until the last acknowledgement", &mean.acknowledged);
    text += &row("**Weft**, cards in order of arrival", &ordered.cells);
    let micros = |seconds: f64| Some(seconds * 1e6);
    let cells = [micros(bound.small_fct), None, None, None, micros(bound.mean_fct)];
    text += &row("bound loop (no losses, cards in order)", &cells);
    let at_sender = named(&theirs, &["htsim", "YAPS", "netbench"]);
    text +=
        &verdicts("last acknowledgement, against htsim, YAPS and netbench", &mean.at_sender(), &at_sender);
    text += &verdicts("cards in order, against ns-3", &ordered, &named(&theirs, &["ns-3"]));
    text
}

fn other_schemes(
    [newreno, ordered]: [&[PeerFigures]; 2],
    pfabric: &[PeerFigures],
    [spray, drill]: [&[PeerFigures]; 2],
) -> String {
    let mut text = format!("\n## R1: other schemes\n\n{HEAD}");
    let theirs = rows("R1", "NewReno and ECMP");
    theirs.iter().for_each(|peer| text += &row(&format!("{}, NewReno and ECMP", peer.tool), &peer.cells));
    text += &row("**Weft**, NewReno and ECMP", &newreno[0].cells);
    text += &row("**Weft**, the same until the last acknowledgement", &newreno[0].acknowledged);
    text += &row("**Weft**, the same with cards in order of arrival", &ordered[0].cells);
    text += &verdicts(
        "last acknowledgement, against htsim",
        &newreno[0].at_sender(),
        &named(&theirs, &["htsim"]),
    );
    text += &verdicts("cards in order, against ns-3", &ordered[0], &named(&theirs, &["ns-3"]));
    let theirs = rows("R1", "pFabric and spraying");
    theirs.iter().for_each(|peer| text += &row(&format!("{}, pFabric and spraying", peer.tool), &peer.cells));
    let mean = PeerFigures::mean(pfabric);
    text += &row(&format!("**Weft**, pFabric and spraying, mean of {} seeds", pfabric.len()), &mean.cells);
    text += &row("**Weft**, the same until the last acknowledgement", &mean.acknowledged);
    text += &verdicts("last acknowledgement, against YAPS", &mean.at_sender(), &theirs);
    text += &row("**Weft**, DCTCP and spraying", &spray[0].cells);
    text += &row("**Weft**, DCTCP and DRILL(2,1)", &drill[0].cells);
    text
}

fn second_run(ours: &[PeerFigures], pairs: &[(u32, u32)]) -> String {
    let theirs = rows("R2", "DCTCP and ECMP");
    let mut text = format!("\n## R2: DCTCP and ECMP\n\n{HEAD}");
    theirs.iter().for_each(|peer| text += &row(&peer.tool, &peer.cells));
    text += &our_rows(ours);
    let mean = PeerFigures::mean(ours);
    text += &row("**Weft**, until the last acknowledgement", &mean.acknowledged);
    text += &verdicts("last acknowledgement, against htsim and netbench", &mean.at_sender(), &theirs);
    // Alone, a flow takes as long as the transmission of its packets; 8960 of 9000 bytes are payload.
    let alone = 20e6 * 8.0 * 9000.0 / 8960.0 / 100e9 * 1e6;
    let fair: Vec<f64> = (1..=DRAWS).map(|draw| alone * fair::mean_on_random_paths(pairs, draw)).collect();
    let mean = fair.iter().sum::<f64>() / DRAWS as f64;
    let deviation = (fair.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (DRAWS - 1) as f64).sqrt();
    let _ = writeln!(
        text,
        "\nWere all links shared fairly (max-min) and every flow on a path drawn at random, the mean would be {mean:.0} us, with \
         a standard deviation of {deviation:.0} over {DRAWS} draws."
    );
    text
}

fn packets(runs: &[(&str, &[PeerFigures])]) -> String {
    let mut text = "\n## What happened to the packets in Weft\n\n\
        | run | packet-hops | dropped | marked | sent again, kB | time-outs | unfinished flows |\n|---|---:|---:|---:|---:|---:|---:|\n"
        .to_owned();
    for (name, runs) in runs {
        let [hops, dropped, marked, again, timeouts, unfinished] = PeerFigures::mean(runs).counts;
        let _ = writeln!(
            text,
            "| {name} | {:.2} M | {dropped:.0} | {marked:.0} | {:.0} | {timeouts:.0} | {unfinished:.0} |",
            hops / 1e6,
            again / 1e3
        );
    }
    text += "\nMeans over the seeds. A packet-hop is one link traversal by any packet, data or acknowledgement.\n";
    text
}

/// The rows of the table of costs in a page; empty if there is no such table.
#[must_use]
pub fn cost_rows_of(page: &str) -> &str {
    let head = include_str!("peers/cost.txt").lines().last().unwrap_or_default();
    page.rsplit_once(&format!("{head}\n")).map_or("", |(_, rows)| rows)
}

/// The rows of the table of costs, from the output of `weft bench --json` on this machine.
#[must_use]
pub fn cost_rows(ours: &BenchResults) -> String {
    let mut text = String::new();
    let their_bound = |run: &str| {
        let bound = COSTS.iter().find(|cost| cost.tool == "bound loop").expect("it is in the table");
        (bound.ns_per_hop, bound.instructions_per_hop.filter(|_| run == "R1"))
    };
    for cost in COSTS.iter() {
        let (ns, instructions) = their_bound(&cost.run);
        let name = format!("{}, {}", cost.tool, cost.run);
        text += &cost_row(
            &name,
            (cost.ns_per_hop, ns),
            (cost.instructions_per_hop, instructions),
            cost.memory_mb,
        );
    }
    let bound = &ours.bound;
    let bound_ns = bound.timed.map(|timed| timed.best_ns_per_hop);
    let bound_instructions = bound.counted.map(|counted| counted.instructions_per_hop);
    for case in &ours.cases {
        let ns = (case.timed.map(|timed| timed.best_ns_per_hop), bound_ns);
        let instructions = (case.counted.map(|counted| counted.instructions_per_hop), bound_instructions);
        let memory = case.timed.map(|timed| timed.best.peak_bytes as f64 / 1e6);
        text += &cost_row(&format!("**Weft**, {}", case.name), ns, instructions, memory);
    }
    text += &cost_row(
        "bound loop of `weft bench`, R1",
        (bound_ns, bound_ns),
        (bound_instructions, bound_instructions),
        None,
    );
    text
}

fn cost_row(
    name: &str,
    (ns, bound_ns): (Option<f64>, Option<f64>),
    (instructions, bound_instructions): (Option<f64>, Option<f64>),
    memory: Option<f64>,
) -> String {
    let times = |own: Option<f64>, bound: Option<f64>| match (own, bound) {
        (Some(own), Some(bound)) => format!("{:.1}×", own / bound),
        _ => "–".to_owned(),
    };
    format!(
        "| {name} | {} | {} | {} | {} | {} |\n",
        cell(ns),
        times(ns, bound_ns),
        cell(instructions),
        times(instructions, bound_instructions),
        cell(memory)
    )
}
