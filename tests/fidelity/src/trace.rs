//! Reads a trace of real hosts. Must not depend on the simulator.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;

use crate::course::{Course, Queue, Sample};
use crate::table::Table;

/// The columns of a trace that are compared.
const COLUMNS: [&str; 11] = [
    "t_ms",
    "flow",
    "cwnd_pkts",
    "ssthresh_pkts",
    "rtt_us",
    "acked_bytes_total",
    "retrans_total",
    "q_pkts",
    "q_max_pkts",
    "drops_total",
    "marks_total",
];

/// Reads a trace.
///
/// # Panics
/// The trace belongs to the repository: that it cannot be read is a defect.
#[must_use]
pub fn read(path: &Path) -> Course {
    let file = File::open(path).unwrap_or_else(|cause| panic!("{}: {cause}", path.display()));
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).expect("a trace is a compressed text");
    course(&Table::parse(&text))
}

fn course(table: &Table) -> Course {
    let mut flows: BTreeMap<u32, Vec<Sample>> = BTreeMap::new();
    let mut lost: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    let mut queue: Vec<Queue> = Vec::new();
    for row in table.numbers(&COLUMNS) {
        let [ms, flow, cwnd, ssthresh, us, acked, retransmitted, mean, greatest, drops, marks] = row;
        let (time, flow, srtt) = (ms / 1e3, flow as u32, us / 1e6);
        flows.entry(flow).or_default().push(Sample { time, cwnd, ssthresh, srtt, acked, retransmitted });
        lost.insert(flow, (drops, marks));
        // Rows of one look differ by less than the interval between looks.
        if queue.last().is_none_or(|last| time - last.time > 0.005) {
            queue.push(Queue { time, mean, greatest });
        }
    }
    Course {
        flows: flows.into_values().collect(),
        queue,
        drops: lost.values().map(|(drops, _)| drops).sum(),
        marks: lost.values().map(|(_, marks)| marks).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_told_apart_and_a_look_counts_once() {
        let text = "t_ms,flow,cwnd_pkts,ssthresh_pkts,rtt_us,acked_bytes_total,retrans_total,q_pkts,q_max_pkts,drops_total,marks_total\n\
            10.2,2,20,-1,2500,14480,0,3,9,0,4\n\
            10.4,1,10,-1,2500,1448,0,3,9,1,5\n\
            20.2,2,21,7,2600,28960,1,5,6,0,6\n";
        let course = course(&Table::parse(text));
        assert_eq!(course.flows.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2]);
        assert_eq!((course.queue.len(), course.drops, course.marks), (2, 1.0, 11.0));
        assert_eq!((course.flows[1][1].ssthresh, course.flows[1][1].srtt), (7.0, 0.0026));
    }
}
