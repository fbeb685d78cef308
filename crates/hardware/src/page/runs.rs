//! The table of long runs, from the record that `make hardware-full` keeps.

use std::fs;
use std::io;
use std::path::Path;

use crate::set::SETS;

/// The record: set, simulator, version, decisions, clocks, seconds, date, fingerprint.
pub(super) const RUNS: &str = "hdl/drill/runs.csv";

/// Decisions of a complete run.
const LONG: u64 = 1_000_000;

/// A line of the record.
struct RecordedRun<'a> {
    set: &'a str,
    simulator: &'a str,
    version: &'a str,
    decisions: u64,
    date: &'a str,
}

/// How many decisions passed in which simulator, set by set.
pub(super) fn table(root: &Path) -> io::Result<String> {
    Ok(of_record(&fs::read_to_string(root.join(RUNS))?))
}

fn of_record(record: &str) -> String {
    let runs: Vec<RecordedRun<'_>> = record.lines().skip(1).filter_map(RecordedRun::read).collect();
    let mut text = "| set | Verilator | Icarus |\n|---|---:|---:|".to_owned();
    for set in SETS {
        let of = |simulator: &str| {
            let run = runs.iter().find(|run| run.set == set.name && run.simulator == simulator);
            run.map_or_else(|| "not run".to_owned(), |run| run.decisions.to_string())
        };
        text += &format!("\n| `{}` | {} | {} |", set.name, of("verilator"), of("icarus"));
    }
    let mut versions: Vec<&str> = runs.iter().map(|run| run.version).collect();
    versions.sort_unstable();
    versions.dedup();
    let (first, last) = (runs.iter().map(|run| run.date).min(), runs.iter().map(|run| run.date).max());
    let dates = match (first, last) {
        (Some(first), Some(last)) if first == last => format!(" on {first}"),
        (Some(first), Some(last)) => format!(" from {first} to {last}"),
        _ => String::new(),
    };
    let long = |run: &&RecordedRun<'_>| run.decisions >= LONG;
    let count = |simulator: &str| runs.iter().filter(long).filter(|run| run.simulator == simulator).count();
    let (verilator, icarus, sets) = (count("verilator"), count("icarus"), SETS.len());
    format!(
        "{text}\n\nRecorded{dates}, with {}. A million decisions: {verilator} of {sets} sets in Verilator, {icarus} of {sets} in \
         Icarus.\nNo run differed from the simulator; one that does is not recorded but ends with an error.",
        versions.join(" and ")
    )
}

impl RecordedRun<'_> {
    fn read(line: &str) -> Option<RecordedRun<'_>> {
        let [set, simulator, version, decisions, _, _, date, _] = line.split(',').collect::<Vec<_>>()[..]
        else {
            return None;
        };
        Some(RecordedRun { set, simulator, version, decisions: decisions.parse().ok()?, date })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_run_is_not_claimed() {
        let record = "set,simulator,version,decisions,clocks,seconds,date,fingerprint\n\
                      paper,verilator,Verilator 5.006,1000000,1000027,21,2026-11-24,96c271e4ba56\n\
                      paper,icarus,Icarus 11.0,100000,100027,21,2026-11-24,96c271e4ba56\n";
        let text = of_record(record);
        assert!(text.contains("| `paper` | 1000000 | 100000 |"), "{text}");
        assert!(text.contains("| `faults` | not run | not run |"), "{text}");
        assert!(text.contains("1 of 20 sets in Verilator, 0 of 20 in Icarus"), "{text}");
    }
}
