//! Results and costs of other simulators on the same traces, as measured for this project. The figures are in tables
//! beside this file; nothing is computed here.
//!
//! *Provenance*: each program was built from its published source in November 2026 and given `R1.csv` or `R2.csv`
//! with the settings named in `scenarios/bench/README.md`, one run each. Times are of one thread (unless the name
//! says otherwise) of a virtual AMD EPYC of two cores, while others used the machine; instructions were counted by
//! callgrind on the first 2 ms of R1 (ns-3: 0.3 ms). YAPS lost bits of its ECN echo; this was fixed for the DCTCP
//! row.

use std::sync::LazyLock;

/// Completion times of one program in microseconds; `None` for classes without flows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Completion {
    /// R1 or R2.
    pub(crate) run: String,
    /// The program.
    pub(crate) tool: String,
    /// Transport and balancer.
    pub(crate) scheme: String,
    /// Mean and 99th percentile below 100 kB, means up to 10 MB, above 10 MB, and over all.
    pub(crate) cells: [Option<f64>; 5],
}

/// The cost of a packet-hop in one program; the columns of `cost.csv`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cost {
    pub(crate) tool: String,
    pub(crate) run: String,
    pub(crate) packet_hops_m: Option<f64>,
    pub(crate) events_per_hop: Option<f64>,
    pub(crate) ns_per_hop: Option<f64>,
    pub(crate) instructions_per_hop: Option<f64>,
    pub(crate) memory_mb: Option<f64>,
}

/// All rows of `completion.csv`.
pub(crate) static COMPLETIONS: LazyLock<Vec<Completion>> = LazyLock::new(|| {
    let completion = |row: Vec<&str>| Completion {
        run: row[0].to_owned(),
        tool: row[1].to_owned(),
        scheme: row[2].to_owned(),
        cells: std::array::from_fn(|cell| number(row[3 + cell])),
    };
    rows(include_str!("completion.csv")).map(completion).collect()
});

/// All rows of `cost.csv`.
pub(crate) static COSTS: LazyLock<Vec<Cost>> = LazyLock::new(|| {
    let cost = |row: Vec<&str>| Cost {
        tool: row[0].to_owned(),
        run: row[1].to_owned(),
        packet_hops_m: number(row[2]),
        events_per_hop: number(row[3]),
        ns_per_hop: number(row[4]),
        instructions_per_hop: number(row[5]),
        memory_mb: number(row[6]),
    };
    rows(include_str!("cost.csv")).map(cost).collect()
});

fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().skip(1).map(|line| line.split(',').collect())
}

fn number(cell: &str) -> Option<f64> {
    (!cell.is_empty()).then(|| cell.parse().expect("the tables hold numbers"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_read() {
        assert_eq!((COMPLETIONS.len(), COSTS.len()), (9, 9));
        assert!(COMPLETIONS.iter().all(|row| row.cells[4].is_some()));
        assert!(COSTS.iter().all(|row| row.ns_per_hop.is_some() && ["R1", "R2"].contains(&row.run.as_str())));
    }
}
