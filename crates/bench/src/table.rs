//! The figures as tables for a terminal of 80 columns. Computes only quotients.

use std::fmt::Write;

use weft_draw::Columns;

use crate::fluid::FluidTimes;
use crate::memory::MemoryCosts;
use crate::results::{BenchResults, CaseResult};

impl BenchResults {
    /// The figures as tables for a terminal, with memory and notes.
    #[must_use]
    pub fn table(&self) -> String {
        let mut text = String::new();
        let rows =
            || self.cases.iter().map(|case| (case.name.as_str(), case)).chain([("bound", &self.bound)]);
        if self.cases.iter().any(|case| case.timed.is_some()) {
            let rows: Vec<Vec<String>> = rows().filter_map(|(name, case)| timed(name, case)).collect();
            let header = ["case", "hops", "ev/hop", "M hop/s", "ns/hop", "median", "bound", "peak", "flows"];
            text += &(indented(&Columns::table(&header, &rows)) + "\n");
        }
        for line in self.cases.iter().filter_map(whole_run) {
            let _ = writeln!(text, "{line}");
        }
        if self.cases.iter().any(|case| case.counted.is_some()) {
            let bound = self.bound.counted.map_or(f64::NAN, |bound| bound.instructions_per_hop);
            let rows: Vec<Vec<String>> =
                rows().filter_map(|(name, case)| counted(name, case, bound)).collect();
            let header =
                ["reduced form", "hops", "ev/hop", "instr/hop", "bound", "misses/hop", "allocations"];
            text += &(indented(&Columns::table(&header, &rows)) + "\n");
        }
        if let Some(memory) = &self.memory {
            let MemoryCosts { unstarted_flow, finished_flow, idle_host, idle_port } = memory;
            let _ = writeln!(
                text,
                "bytes: {unstarted_flow:.0} per flow to come, {finished_flow:.0} per finished flow, {idle_host:.0} per idle host, \
                 {idle_port:.0} per idle port"
            );
        }
        if let Some(FluidTimes { run_s, points_per_minute }) = &self.fluid {
            let _ = writeln!(
                text,
                "fluid: {run_s:.2} s for 64 flows over 200 ms, {:.1} million points of a map per minute",
                points_per_minute / 1e6
            );
        }
        if let Some(note) = &self.note {
            let _ = writeln!(text, "{note}");
        }
        text
    }
}

fn indented(table: &str) -> String {
    table.lines().map(|line| format!("  {line}\n")).collect()
}

fn timed(name: &str, case: &CaseResult) -> Option<Vec<String>> {
    let timed = case.timed?;
    let best = timed.best;
    Some(vec![
        name.to_owned(),
        million(best.packet_hops),
        format!("{:.2}", per(best.events, best.packet_hops)),
        format!("{:.2}", 1e3 / timed.best_ns_per_hop),
        format!("{:.1}", timed.best_ns_per_hop),
        format!("{:.1}", timed.median_ns_per_hop),
        format!("{:.1}×", timed.times_bound),
        size(best.peak_bytes),
        flows(best.finished, best.flows),
    ])
}

/// Number of hosts from which the time and the memory of whole runs are shown.
const LARGE: u64 = 1_000;

/// The time and the memory of a run on a large network.
fn whole_run(case: &CaseResult) -> Option<String> {
    let best = case.timed.map(|timed| timed.best).filter(|best| best.hosts >= LARGE)?;
    Some(format!(
        "{}: {} hosts; {:.1} s to build, {:.1} s to run; {} at the peak, {:.1} kB per host",
        case.name,
        best.hosts,
        best.build_seconds,
        best.seconds,
        size(best.peak_bytes),
        best.peak_bytes as f64 / best.hosts as f64 / 1e3
    ))
}

fn counted(name: &str, case: &CaseResult, bound: f64) -> Option<Vec<String>> {
    let counted = case.counted?;
    Some(vec![
        name.to_owned(),
        million(counted.packet_hops),
        format!("{:.2}", per(counted.events, counted.packet_hops)),
        format!("{:.1}", counted.instructions_per_hop),
        format!("{:.1}×", counted.instructions_per_hop / bound),
        counted.misses_per_hop.map_or_else(String::new, |misses| format!("{misses:.1}")),
        counted.allocations.to_string(),
    ])
}

fn flows(finished: u64, flows: u64) -> String {
    if finished == flows { flows.to_string() } else { format!("{finished}/{flows}") }
}

fn million(number: u64) -> String {
    format!("{:.2} M", number as f64 / 1e6)
}

fn size(bytes: u64) -> String {
    format!("{:.0} MB", bytes as f64 / 1e6)
}

fn per(a: u64, b: u64) -> f64 {
    a as f64 / b.max(1) as f64
}
