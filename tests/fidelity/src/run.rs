//! Runs a scenario through the facade and reads the tables that it leaves, as a user would.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weft::RunOptions;

use crate::course::{Course, Queue, Sample};
use crate::table::Table;

/// Payload of a segment.
const SEGMENT: f64 = 1448.0;
/// IP bytes of a full packet.
const PACKET: f64 = 1500.0;
/// Names of the bottleneck's transmitter and of its far end in the scenarios.
const BOTTLENECK: (&str, &str) = ("bottleneck", "server");

/// Runs a scenario with one seed and some overrides, writing below `out`.
///
/// # Panics
/// The scenarios belong to the repository: that one cannot be run is a defect.
#[must_use]
pub fn run(scenario: &Path, set: &[String], out: &Path) -> Course {
    let options = RunOptions {
        out: out.to_owned(),
        demo: false,
        seeds: None,
        set: set.iter().cloned().chain(["measure.csv=all".to_owned()]).collect(),
        engine: weft::PACKETS,
        jobs: 1,
        reuse: weft::Reuse::SameBuild,
        threads: Some(1),
        progress: Box::new(|_| {}),
        stop: Arc::new(AtomicBool::new(false)),
    };
    let outcome = weft::run(scenario, &options).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(outcome.failed_runs, 0, "{}", outcome.terminal);
    let folder = outcome.report.parent().expect("the report lies in a folder");
    course(&folder_of_tables(folder))
}

/// The folder of the only run below `folder`.
fn folder_of_tables(folder: &Path) -> PathBuf {
    let below = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
        entries.filter(|path| path.is_dir()).collect()
    };
    let mut folder = folder.to_owned();
    while !folder.join("flow-samples.csv").exists() {
        let next = below(&folder);
        assert_eq!(next.len(), 1, "one case, one seed: {}", folder.display());
        folder.clone_from(&next[0]);
    }
    folder
}

fn course(folder: &Path) -> Course {
    let table = |name: &str| {
        Table::parse(&fs::read_to_string(folder.join(format!("{name}.csv"))).expect("a table of the run"))
    };
    let links = table("links");
    let names = links.texts(&["node", "to"]).position(|[node, to]| (node, to) == BOTTLENECK);
    let place = names.expect("there is a bottleneck");
    let columns = ["port", "dropped_packets", "marked_packets", "utilisation"];
    let [port, drops, marks, busy] = links.numbers(&columns).nth(place).expect("a row");
    let queue = queue(&table("queues"), port, busy);
    Course { flows: flows(&table("flow-samples")), queue, drops, marks }
}

fn flows(table: &Table) -> Vec<Vec<Sample>> {
    let columns =
        ["time_ps", "flow_id", "cwnd_bytes", "ssthresh_bytes", "srtt_ps", "acked_bytes", "retx_bytes"];
    let mut flows: Vec<Vec<Sample>> = Vec::new();
    for [time, flow, cwnd, ssthresh, srtt, acked, retransmitted] in table.numbers(&columns) {
        let flow = flow as usize;
        flows.resize_with(flows.len().max(flow + 1), Vec::new);
        flows[flow].push(Sample {
            time: time / 1e12,
            cwnd: cwnd / SEGMENT,
            ssthresh: ssthresh / SEGMENT,
            srtt: srtt / 1e12,
            acked,
            retransmitted: retransmitted / SEGMENT,
        });
    }
    flows
}

/// Packets that wait: those at the transmitter without the one in service, which is there while it is `busy`, a share of
/// the time.
fn queue(table: &Table, port: f64, busy: f64) -> Vec<Queue> {
    let named = table.texts(&["node"]);
    let rows = named.zip(table.numbers(&["time_ps", "port", "mean_bytes", "peak_bytes"]));
    let ours = rows.filter(|([node], [_, at, ..])| *node == BOTTLENECK.0 && *at == port);
    let look = |[time, _, mean, peak]: [f64; 4]| Queue {
        time: time / 1e12,
        mean: mean / PACKET - busy,
        greatest: (peak / PACKET - 1.0).max(0.0),
    };
    ours.map(|(_, row)| look(row)).collect()
}
