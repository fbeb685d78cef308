//! The tables of a run: each column's name ends in its unit. Must not depend on file formats.

mod jobs;
mod series;

use crate::derived::{Kept, node, samples_in_bin, slowdown, utilisation};
use crate::manifest::Manifest;
use crate::sweep::Run;
use std::sync::Arc;
use weft_core::LinkId;
use weft_core::record::{
    FlowPauses, FlowRecord, FlowSample, FlowSeries, LinkRecord, Measured, PauseRecord, Quantity, QueueEvent,
    QueueSeries, RunRecord,
};
use weft_table::{Cells, DataTable};

/// Gives every row the folder of the run's case and its seed, which identify it in the table of the sweep.
#[must_use]
pub fn of_manifest(table: DataTable, manifest: &Manifest) -> DataTable {
    let (rows, case) = (table.rows(), Arc::from([manifest.case_folder()]));
    table.names("case", &case, std::iter::repeat_n(0, rows)).integers(
        "seed",
        "",
        std::iter::repeat_n(manifest.seed, rows),
    )
}

/// The tables of a run that are kept, except the flows: `links`, `hops`, `drops`, `pauses`, `jobs`, their `phases` and
/// `tasks` if there are any, and, if sampled, `queues`, `queue-monitor` and `flow-samples`; and the run over time.
#[must_use]
pub fn of_run(record: &RunRecord, kept: &Kept) -> Vec<DataTable> {
    let queues = record.queues.as_ref().filter(|_| kept.queues).map(|series| queues(record, series));
    let links = kept.links.then(|| links(record));
    let hops = kept.hops.then(|| hops(record));
    let drops = kept.drops.then(|| drops(record));
    let pauses = (kept.links && !record.pauses.is_empty()).then(|| pauses(record));
    let of_jobs = [jobs::jobs, jobs::phases, jobs::steps].into_iter().filter(|_| !record.jobs.is_empty());
    let monitor = record.queue_events.as_ref().filter(|_| kept.queues);
    let monitor = monitor.map(|events| queue_monitor(record, &events.lines));
    let samples = record.flow_series.as_ref().map(flow_samples);
    let tables = [links, hops, drops, pauses, queues, monitor, samples].into_iter().flatten();
    tables.chain(of_jobs.map(|of| of(record))).chain(series::all(record)).collect()
}

/// Names and optional columns of the table `flows`.
#[derive(Clone)]
pub(crate) struct FlowColumns {
    /// Traffic entries.
    pub(crate) tags: Arc<[String]>,
    /// Hosts, and the nodes after them.
    pub(crate) hosts: Arc<[String]>,
    /// Columns on reordering.
    pub(crate) reordering: bool,
    /// The column of identifiers from flow files.
    pub(crate) listed: bool,
    /// Columns on deadlines.
    pub(crate) dated: bool,
}

/// The table `flows`, or a part of it: one row per flow. `measured` is true for flows that started after the warm-up;
/// `fct_ps` and `slowdown` are empty for unfinished flows. Optional columns are those on reordering and, if flow
/// files have a `flow_id`, `listed_id`.
pub(crate) fn flows(record: &RunRecord, flows: &[FlowRecord], columns: &FlowColumns) -> DataTable {
    let FlowColumns { reordering, listed, dated, .. } = *columns;
    let table = times_of_flows(record, flows, columns);
    let ids = || Cells::Integers(flows.iter().map(|flow| flow.listed.map(u64::from)).collect());
    let table = if listed { table.column("listed_id", "", ids()) } else { table };
    let table = if dated { deadlines_of_flows(flows, table) } else { table };
    let table = if reordering { overtaking_of_flows(flows, table, record.measured) } else { table };
    let packets = |of: fn(&FlowRecord) -> u32| flows.iter().map(move |flow| u64::from(of(flow)));
    let table = if record.measured.has(Quantity::Marks) {
        table
            .integers("ecn_marks", "packets", packets(|flow| flow.ecn_marks))
            .integers("cnps_sent", "packets", packets(|flow| flow.cnps_sent))
            .integers("cnps", "packets", packets(|flow| flow.cnps))
    } else {
        table
    };
    let table = if record.measured.has(Quantity::Recovery) {
        table.integers("nacks", "packets", packets(|flow| flow.nacks))
    } else {
        table
    };
    if record.pauses.is_empty() { table } else { pauses_of_flows(flows, table) }
}

/// Adds the columns on deadlines.
fn deadlines_of_flows(flows: &[FlowRecord], table: DataTable) -> DataTable {
    let late = |flow: &FlowRecord| {
        let taken = flow.end?.since(flow.start);
        taken.0.checked_sub(flow.deadline?.0).filter(|late| *late > 0)
    };
    let deadline = |flow: &FlowRecord| flow.deadline.map(|deadline| deadline.0);
    table
        .column("deadline_ps", "ps", Cells::Integers(flows.iter().map(deadline).collect()))
        .column("missed_by_ps", "ps", Cells::Integers(flows.iter().map(late).collect()))
        .flags("terminated", flows.iter().map(|flow| flow.terminated))
}

/// Adds the columns on pauses.
fn pauses_of_flows(flows: &[FlowRecord], table: DataTable) -> DataTable {
    let column = |of: fn(&FlowPauses) -> u64| flows.iter().map(move |flow| of(&flow.pauses));
    table
        .integers("held_packets", "packets", column(|pauses| u64::from(pauses.packets)))
        .integers("held_ps", "ps", column(|pauses| pauses.held.0))
        .integers("held_at_host_ps", "ps", column(|pauses| pauses.at_host.0))
        .flags("culprit", flows.iter().map(|flow| flow.pauses.congested))
        .flags("victim", flows.iter().map(|flow| flow.pauses.is_victim()))
}

fn times_of_flows(record: &RunRecord, flows: &[FlowRecord], columns: &FlowColumns) -> DataTable {
    let column = |of: fn(&FlowRecord) -> u64| flows.iter().map(of);
    let fct = |flow: &FlowRecord| flow.end.map(|end| end.since(flow.start).0);
    let acknowledged = |flow: &FlowRecord| flow.acknowledged.map(|at| at.since(flow.start).0);
    let factor = |flow: &FlowRecord| flow.end.map(|_| slowdown(flow));
    let table = DataTable::new("flows")
        .integers("flow_id", "", column(|f| u64::from(f.flow.0)))
        .names("tag", &columns.tags, flows.iter().map(|flow| u32::from(flow.tag)))
        .names("src", &columns.hosts, flows.iter().map(|flow| flow.source.0))
        .names("dst", &columns.hosts, flows.iter().map(|flow| flow.destination.0))
        .integers("size_bytes", "B", column(|f| f.size.0))
        .integers("start_ps", "ps", column(|f| f.start.0))
        .column("fct_ps", "ps", Cells::Integers(flows.iter().map(fct).collect()))
        .column("fct_acknowledged_ps", "ps", Cells::Integers(flows.iter().map(acknowledged).collect()))
        .integers("ideal_fct_ps", "ps", column(|f| f.ideal.0))
        .column("slowdown", "", Cells::Numbers(flows.iter().map(factor).collect()))
        .flags("measured", flows.iter().map(|f| f.start >= record.warm_up))
        .integers("delivered_bytes", "B", column(|f| f.delivered.0));
    if !record.measured.has(Quantity::Recovery) {
        return table;
    }
    table
        .integers("retx_bytes", "B", column(|f| f.retransmitted.0))
        .integers("timeouts", "", column(|f| u64::from(f.timeouts)))
        .integers("syn_timeouts", "", column(|f| u64::from(f.syn_timeouts)))
        .integers("timeouts_in_a_row", "", column(|f| u64::from(f.timeouts_in_a_row)))
}

/// Adds the columns on reordering.
fn overtaking_of_flows(flows: &[FlowRecord], table: DataTable, measured: Measured) -> DataTable {
    let column = |of: fn(&FlowRecord) -> u64| flows.iter().map(of);
    let table = match measured.has(Quantity::DuplicateAcks) {
        true => table.integers("dupacks", "", column(|f| u64::from(f.dupacks))).integers(
            "dupacks_reorder",
            "",
            column(|f| u64::from(f.dupacks_reorder)),
        ),
        false => table,
    };
    table
        .integers("ooo_packets", "packets", column(|f| u64::from(f.out_of_order)))
        .integers("displacement_packets", "packets", column(|f| u64::from(f.displacement)))
        .integers("displacement_sum_packets", "packets", column(|f| f.displaced))
        .integers("gro_batches", "", column(|f| u64::from(f.gro_batches)))
}

/// One row per direction of a cable.
fn links(record: &RunRecord) -> DataTable {
    let column = |of: fn(&LinkRecord) -> u64| record.links.iter().map(of);
    let load = |link: &LinkRecord| utilisation(link, record, record.averaged());
    let has = |quantity| record.measured.has(quantity);
    let mut table = DataTable::new("links")
        .texts("node", record.links.iter().map(|link| node(record, link.from)))
        .integers("port", "", column(|l| u64::from(l.port)))
        .texts("to", record.links.iter().map(|link| node(record, link.to)))
        .integers("rate_bps", "bps", column(|l| l.rate.0))
        .integers("delay_ps", "ps", column(|l| l.delay.0))
        .flags("failed", record.links.iter().map(|link| link.failed));
    if has(Quantity::Loads) {
        table = table.integers("tx_bytes", "B", column(|l| l.sent.0)).integers(
            "tx_packets",
            "packets",
            column(|l| l.packets),
        );
        if record.averaged().is_some() {
            table = table.integers("tx_bytes_in_arrivals", "B", column(|l| l.sent_in_arrivals.0));
        }
        table = table.numbers("utilisation", "", record.links.iter().map(load));
        if record.arrivals.is_some() {
            let in_arrivals = record.links.iter().map(|link| utilisation(link, record, record.arrivals));
            table = table.numbers("utilisation_in_arrivals", "", in_arrivals);
        }
    }
    table =
        table.column("offered", "", Cells::Numbers(record.links.iter().map(|link| link.offered).collect()));
    if has(Quantity::Drops) {
        table = table.integers("dropped_packets", "packets", column(|l| l.dropped));
    }
    if has(Quantity::Marks) {
        table = table.integers("marked_packets", "packets", column(|l| l.marked));
    }
    if record.links.iter().any(|link| link.trimmed > 0) {
        table = table.integers("trimmed_packets", "packets", column(|l| l.trimmed)).integers(
            "returned_headers",
            "packets",
            column(|l| l.returned),
        );
    }
    if has(Quantity::Queues) {
        table = table.integers("peak_queue_bytes", "B", column(|l| l.peak.0)).numbers(
            "mean_queue_bytes",
            "B",
            record.links.iter().map(|link| link.mean_queue),
        );
    }
    table
}

/// The histogram of waiting times: one row per hop and occupied bucket.
fn hops(record: &RunRecord) -> DataTable {
    let numbered = record.hops.iter().enumerate();
    let rows: Vec<(u64, (u64, u64))> = numbered
        .flat_map(|(hop, row)| row.wait_ns.buckets().map(move |bucket| (hop as u64, bucket)))
        .collect();
    DataTable::new("hops")
        .integers("hop", "", rows.iter().map(|(hop, _)| *hop))
        .integers("wait_from_ns", "ns", rows.iter().map(|(_, (from, _))| *from))
        .integers("packets", "packets", rows.iter().map(|(_, (_, packets))| *packets))
}

/// One row per port and class that was paused or has paused its far end.
fn pauses(record: &RunRecord) -> DataTable {
    let link = |pause: &PauseRecord| &record.links[pause.link.index()];
    let column = |of: fn(&PauseRecord) -> u64| record.pauses.iter().map(of);
    DataTable::new("pauses")
        .texts("node", record.pauses.iter().map(|pause| node(record, link(pause).from)))
        .texts("to", record.pauses.iter().map(|pause| node(record, link(pause).to)))
        .integers("port", "", record.pauses.iter().map(|pause| u64::from(link(pause).port)))
        .integers("class", "", column(|pause| u64::from(pause.class)))
        .integers("stopped", "", column(|pause| pause.stopped))
        .integers("paused_ps", "ps", column(|pause| pause.paused.0))
        .integers("longest_ps", "ps", column(|pause| pause.longest.0))
        .integers("watchdog", "", column(|pause| pause.watchdog))
        .integers("asked", "", column(|pause| pause.asked))
        .integers("resumed", "", column(|pause| pause.resumed))
        .integers("caused", "", column(|pause| pause.caused))
        .integers("in_discards", "packets", column(|pause| pause.in_discards))
        .integers("headroom_bytes", "B", column(|pause| pause.headroom.0))
        .integers("headroom_peak_bytes", "B", column(|pause| pause.headroom_peak.0))
        .integers("frames", "", column(|pause| pause.frames))
}

fn drops(record: &RunRecord) -> DataTable {
    DataTable::new("drops")
        .integers("hop", "", record.drops.iter().map(|row| u64::from(row.hop)))
        .texts("reason", record.drops.iter().map(|row| row.reason.name().to_owned()))
        .integers("packets", "packets", record.drops.iter().map(|row| row.packets))
        .integers("bytes", "B", record.drops.iter().map(|row| row.bytes.0))
}

/// One row per bin and port; `time_ps` is the start of the bin.
fn queues(record: &RunRecord, series: &QueueSeries) -> DataTable {
    let ports = series.links.len();
    let width = series.every.0 * series.samples_per_bin;
    let rows = 0..series.peak.len();
    let link = |row: usize| series.links[row % ports];
    let of_link = |id: LinkId| &record.links[id.index()];
    let mean = |row: usize| series.sum[row] as f64 / samples_in_bin(series, row / ports) as f64;
    DataTable::new("queues")
        .integers("time_ps", "ps", rows.clone().map(|row| series.begins.0 + (row / ports) as u64 * width))
        .texts("node", rows.clone().map(|row| node(record, of_link(link(row)).from)))
        .integers("port", "", rows.clone().map(|row| u64::from(of_link(link(row)).port)))
        .integers("peak_bytes", "B", series.peak.iter().copied())
        .numbers("mean_bytes", "B", rows.map(mean))
}

/// One row per line of the queue monitor; `duration_us` is empty before the end.
fn queue_monitor(record: &RunRecord, events: &[QueueEvent]) -> DataTable {
    let link = |event: &QueueEvent| &record.links[event.link.index()];
    let column = |of: fn(&QueueEvent) -> u64| events.iter().map(of);
    let lasted = events.iter().map(|event| event.lasted.map(|span| span.micros().round() as u64)).collect();
    DataTable::new("queue-monitor")
        .integers("time_ps", "ps", column(|event| event.time.0))
        .texts("type", events.iter().map(|event| event.stage.letter().to_owned()))
        .texts("node", events.iter().map(|event| node(record, link(event).from)))
        .integers("port", "", events.iter().map(|event| u64::from(link(event).port)))
        .texts("inputs", events.iter().map(|event| event.inputs.to_string()))
        .integers("length_bytes", "B", column(|event| event.length.0))
        .column("duration_us", "us", Cells::Integers(lasted))
}

/// One row per sample and open sampled flow; `ssthresh_bytes` is empty until there is a threshold, `rate_bps` where a
/// window limits the sender, not a rate.
fn flow_samples(series: &FlowSeries) -> DataTable {
    let column = |of: fn(&FlowSample) -> u64| series.rows.iter().map(of);
    let rates = series.rows.iter().map(|row| row.rate.map(|rate| rate.0)).collect();
    let ssthresh = series.rows.iter().map(|row| row.ssthresh.map(|bytes| bytes.0)).collect();
    DataTable::new("flow-samples")
        .integers("time_ps", "ps", column(|row| row.time.0))
        .integers("flow_id", "", column(|row| u64::from(row.flow.0)))
        .integers("cwnd_bytes", "B", column(|row| row.cwnd.0))
        .column("ssthresh_bytes", "B", Cells::Integers(ssthresh))
        .integers("in_flight_bytes", "B", column(|row| row.in_flight.0))
        .integers("srtt_ps", "ps", column(|row| row.srtt.0))
        .texts("state", series.rows.iter().map(|row| row.state.name().to_owned()))
        .integers("acked_bytes", "B", column(|row| row.acknowledged.0))
        .integers("retx_bytes", "B", column(|row| row.retransmitted.0))
        .column("rate_bps", "bps", Cells::Integers(rates))
}

/// One row per run of a sweep: the labels, the seed, the folders of its case and its files, the reason for its end, and
/// every metric.
#[must_use]
pub fn of_sweep(runs: &[Run]) -> DataTable {
    let mut paths: Vec<String> = Vec::new();
    let values: Vec<std::collections::BTreeMap<String, f64>> =
        runs.iter().map(|run| run.summary.metrics().into_iter().collect()).collect();
    for (path, _) in runs.iter().flat_map(|run| run.summary.metrics()) {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    let mut table = DataTable::new("sweep");
    for axis in crate::sweep::axes(runs) {
        table = table.column(&axis_column(&axis), "", axis_cells(&axis, runs));
    }
    table = table.integers("seed", "", runs.iter().map(|run| run.manifest.seed));
    table = table
        .texts("case", runs.iter().map(|run| folder(run, 1)))
        .texts("path", runs.iter().map(|run| folder(run, 0)));
    table = table.texts("stop", runs.iter().map(|run| run.summary.stop.clone()));
    for path in paths {
        let unit = crate::metric::unit(&path);
        let cells = values.iter().map(|row| row.get(&path).copied()).collect();
        table = table.column(&with_unit(&path, unit), unit, Cells::Numbers(cells));
    }
    table
}

/// The values of an axis: numbers where all are numbers without unit, otherwise texts as written.
fn axis_cells(axis: &str, runs: &[Run]) -> Cells {
    let labels = || runs.iter().map(|run| run.label(axis));
    let read = |text: &str| match text {
        "" => Some(None),
        text => crate::sweep::number(text).map(Some),
    };
    let numbers: Option<Vec<Option<f64>>> = labels().map(read).collect();
    match numbers.filter(|all| !FIXED.contains(&axis) && all.iter().any(Option::is_some)) {
        Some(numbers) => Cells::Numbers(numbers),
        None => Cells::Texts(labels().map(str::to_owned).collect()),
    }
}

/// The column of an axis: its key, or `case_name` for the names of cases, which are not their folders.
fn axis_column(axis: &str) -> String {
    if FIXED.contains(&axis) { format!("{axis}_name") } else { axis.to_owned() }
}

/// Columns that every table of a sweep has.
const FIXED: [&str; 4] = ["seed", "case", "path", "stop"];

/// The folder of a run's files relative to the table, or one of its parents: `above` levels up.
fn folder(run: &Run, above: usize) -> String {
    let folder = std::path::Path::new(&run.link).ancestors().nth(1 + above);
    folder.map_or(String::new(), |folder| folder.display().to_string())
}

/// The name of a metric's column: its path, with the unit appended unless the path already ends in it.
fn with_unit(path: &str, unit: &str) -> String {
    let suffix = unit.to_lowercase();
    if unit.is_empty() || path.ends_with(&format!("_{suffix}")) {
        path.to_owned()
    } else {
        format!("{path}_{suffix}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Manifest;

    /// `10` is more than `9`; a quantity keeps its unit, and the number of samples has none.
    #[test]
    fn an_axis_of_numbers_is_a_column_of_numbers() {
        let of = |load: &str, buffer: &str| {
            let labels = vec![("load".to_owned(), load.to_owned()), ("buffer".to_owned(), buffer.to_owned())];
            Run { manifest: Manifest { labels, ..Manifest::default() }, ..Run::default() }
        };
        let table = of_sweep(&[of("0.2", "4 MB"), of("", "none"), of("10", "9")]);
        let column =
            |name: &str| table.columns.iter().find(|column| column.name == name).expect("it is there");
        assert_eq!(column("load").cells, Cells::Numbers(vec![Some(0.2), None, Some(10.0)]));
        assert_eq!(column("buffer").cells, Cells::Texts(["4 MB", "none", "9"].map(str::to_owned).to_vec()));
        assert_eq!(column("fct.count").unit, "");
    }
}
