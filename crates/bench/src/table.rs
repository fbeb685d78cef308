//! The figures as tables for a terminal of 80 columns. Computes nothing but quotients.

use std::fmt::Write;

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
            text += "  case              hops  ev/hop  M hop/s  ns/hop  median  bound    peak    flows\n";
            rows().for_each(|(name, case)| text += &timed(name, case));
            text += "\n";
        }
        if self.cases.iter().any(|case| case.counted.is_some()) {
            text += "  reduced form      hops  ev/hop  instr/hop  bound  allocations\n";
            let bound = self.bound.counted.map_or(f64::NAN, |bound| bound.instructions_per_hop);
            rows().for_each(|(name, case)| text += &counted(name, case, bound));
            text += "\n";
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

fn timed(name: &str, case: &CaseResult) -> String {
    let Some(timed) = case.timed else { return String::new() };
    let best = timed.best;
    let (flows, peak) = (flows(best.finished, best.flows), size(best.peak_bytes));
    format!(
        "  {name:<13} {:>8}  {:>6.2}  {:>7.2}  {:>6.1}  {:>6.1}  {:>4.1}×  {peak:>6}  {flows:>7}\n",
        million(best.packet_hops),
        per(best.events, best.packet_hops),
        1e3 / timed.best_ns_per_hop,
        timed.best_ns_per_hop,
        timed.median_ns_per_hop,
        timed.times_bound,
    )
}

fn counted(name: &str, case: &CaseResult, bound: f64) -> String {
    let Some(counted) = case.counted else { return String::new() };
    format!(
        "  {name:<13} {:>8}  {:>6.2}  {:>9.1}  {:>4.1}×  {:>11}\n",
        million(counted.packet_hops),
        per(counted.events, counted.packet_hops),
        counted.instructions_per_hop,
        counted.instructions_per_hop / bound,
        counted.allocations,
    )
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
