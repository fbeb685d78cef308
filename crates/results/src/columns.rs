//! The files of results and the meaning of their columns, in one list: the source of `weft list columns` and of the
//! reference page. A test compares it with the tables themselves.

mod series;

/// The description of a table of results; `<name>.parquet` and, if it is written, `<name>.csv` have the same columns.
#[derive(Clone, Copy, Debug)]
pub struct TableWords {
    /// The name of both files, without extension.
    pub name: &'static str,
    /// The meaning of a row, and when the table is written.
    pub rows: &'static str,
    /// Name, unit (empty for names, counts and ratios) and meaning of each column, in order.
    pub columns: &'static [ColumnWords],
}

/// Name, unit and meaning of a column.
pub type ColumnWords = (&'static str, &'static str, &'static str);

impl TableWords {
    /// Its own columns, followed by those that every table of a run has.
    pub fn all(&self) -> impl Iterator<Item = &ColumnWords> {
        let of_run: &[ColumnWords] = if self.name == SWEEP.name { &[] } else { &OF_RUN };
        self.columns.iter().chain(of_run)
    }
}

/// The last columns of every table of a run.
const OF_RUN: [ColumnWords; 2] = [
    ("case", "", "folder of the case, as in sweep; with the seed it identifies the run"),
    ("seed", "", "the seed of the run"),
];

/// The other files of results.
pub const FILES: &[(&str, &str)] = &[
    ("report.html", "the report of the sweep; one more in the folder of each run where there are several"),
    ("scenario.toml", "the complete scenario, defaults included, of the sweep and of each run"),
    ("sweep.json", "which runs belong together, and the verdicts on expectations"),
    ("summary.json", "every statistic of a run"),
    ("manifest.json", "how to repeat a run: version, results epoch, seed, hashes, command, machine"),
    ("detail.json", "data for the report's plots of a run; not meant for other programs"),
    ("queue-monitor.txt", "the lines of the queue monitor for people, with measure.queues_above"),
    ("quiver.svg", "the components of a run's paths, where they are not all alike"),
];

/// Every table.
pub const TABLES: &[TableWords] = &[
    SWEEP,
    FLOWS,
    LINKS,
    HOPS,
    DROPS,
    PAUSES,
    QUEUES,
    QUEUE_MONITOR,
    FLOW_SAMPLES,
    series::SERIES,
    series::LINKS,
    series::PAUSES,
    series::INCIDENTS,
    JOBS,
    PHASES,
    TASKS,
];

const SWEEP: TableWords = TableWords {
    name: "sweep",
    rows: "One row per run, in the folder of the sweep. The first columns are the settings that vary (`case_name` where \
           cases have names), as numbers or as quantities with their units, the last ones every metric of `weft list metrics`, with its unit as suffix.",
    columns: &[
        ("seed", "", "the seed of the run"),
        ("case", "", "folder of the case, relative to the table"),
        ("path", "", "folder of the run, relative to the table; it holds the run's other tables"),
        ("stop", "", "why the run ended: finished, time_limit, interrupted or stuck"),
    ],
};

const FLOWS: TableWords = TableWords {
    name: "flows",
    rows: "One row per flow of a run, in the order of start.",
    columns: &[
        ("flow_id", "", "number in the order of start"),
        ("tag", "", "the traffic entry"),
        ("src", "", "sending host"),
        ("dst", "", "receiving host"),
        ("size_bytes", "B", "payload to carry"),
        ("start_ps", "ps", "when the application started it"),
        (
            "fct_ps",
            "ps",
            "from the start until the last payload byte reached the receiver; empty: unfinished",
        ),
        ("fct_acknowledged_ps", "ps", "from the start until the sender's last acknowledgement; empty: none"),
        ("ideal_fct_ps", "ps", "completion time alone in the empty network"),
        ("slowdown", "", "fct_ps / ideal_fct_ps; empty: unfinished"),
        ("measured", "", "whether it started after the warm-up"),
        ("delivered_bytes", "B", "payload that has reached the receiver"),
        ("retx_bytes", "B", "retransmitted payload"),
        ("timeouts", "", "retransmission time-outs"),
        ("syn_timeouts", "", "time-outs of the packet that opens the connection"),
        ("timeouts_in_a_row", "", "the most retransmission time-outs without progress in between"),
        (
            "listed_id",
            "",
            "`flow_id` of the flow file it comes from; only where a flow file has such a column",
        ),
        (
            "deadline_ps",
            "ps",
            "its deadline, counted from its start; where any flow has a deadline, as the next two",
        ),
        (
            "missed_by_ps",
            "ps",
            "from its deadline until it finished; empty: in time, unfinished or no deadline",
        ),
        ("terminated", "", "whether its sender gave it up because of its deadline"),
        (
            "dupacks",
            "",
            "duplicate acknowledgements; with \"reordering\" in measure.record, where a transport of the run has any, as the \
             next",
        ),
        ("dupacks_reorder", "", "duplicate acknowledgements sent while nothing of the flow was lost"),
        (
            "ooo_packets",
            "packets",
            "packets that arrived out of order; with \"reordering\" in measure.record, as the next three",
        ),
        ("displacement_packets", "packets", "largest displacement of a late packet"),
        ("displacement_sum_packets", "packets", "sum of the displacements of all late packets"),
        ("gro_batches", "", "batches that receive offload forms from arriving packets, even if `gro` is off"),
        ("ecn_marks", "packets", "packets with a congestion mark that arrived before the flow was complete"),
        ("cnps_sent", "packets", "congestion notifications sent by the receiver"),
        ("cnps", "packets", "congestion notifications that reached the sender"),
        ("nacks", "packets", "negative acknowledgements sent"),
        ("held_packets", "packets", "packets held up by pauses; where any port was paused, as the next four"),
        ("held_ps", "ps", "time that pauses held its packets, summed over them"),
        ("held_at_host_ps", "ps", "time that pauses held it at the sending host"),
        ("culprit", "", "whether it filled a queue that caused pauses"),
        ("victim", "", "whether pauses that others caused held it up"),
    ],
};

const LINKS: TableWords = TableWords {
    name: "links",
    rows: "One row per direction of a cable.",
    columns: &[
        ("node", "", "the sending node"),
        ("port", "", "its port"),
        ("to", "", "the receiving node"),
        ("rate_bps", "bps", "line rate"),
        ("delay_ps", "ps", "propagation delay"),
        ("failed", "", "whether it was down for at least part of the run"),
        ("tx_bytes", "B", "bytes on the wire"),
        ("tx_packets", "packets", "packets sent"),
        (
            "tx_bytes_in_arrivals",
            "B",
            "bytes on the wire up to the start of the last flow; where loads are averages over the arrivals",
        ),
        (
            "utilisation",
            "",
            "share of capacity used while its cable was up, over the period that summary.json names",
        ),
        (
            "utilisation_in_arrivals",
            "",
            "share of capacity used up to the start of the last flow; where flows arrive over time",
        ),
        (
            "offered",
            "",
            "load that the flows would put on it if every switch split them equally, as a share of capacity",
        ),
        (
            "dropped_packets",
            "packets",
            "packets lost there: dropped at its queue or on the way to it (`in_discards` of pauses), by its loss, or because it \
             was down",
        ),
        ("marked_packets", "packets", "packets marked at its queue"),
        ("trimmed_packets", "packets", "packets trimmed to their headers; where any were"),
        ("returned_headers", "packets", "headers returned to their senders; where any packet was trimmed"),
        ("peak_queue_bytes", "B", "longest queue; for a host, the queue of its card, if it has one"),
        ("mean_queue_bytes", "B", "mean queue over time"),
    ],
};

const HOPS: TableWords = TableWords {
    name: "hops",
    rows: "The histogram of waiting times: one row per hop and occupied bucket.",
    columns: &[
        ("hop", "", "0 is the sending host, 1 the first switch"),
        ("wait_from_ns", "ns", "lower end of the bucket"),
        ("packets", "packets", "packets in it"),
    ],
};

const DROPS: TableWords = TableWords {
    name: "drops",
    rows: "One row per hop and reason.",
    columns: &[
        ("hop", "", "0 is the sending host, 1 the first switch"),
        ("reason", "", "why"),
        ("packets", "packets", "packets dropped"),
        ("bytes", "B", "bytes of these packets on the wire"),
    ],
};

const PAUSES: TableWords = TableWords {
    name: "pauses",
    rows: "One row per port and class that was paused, paused its far end or discarded packets at its input, where any did.",
    columns: &[
        ("node", "", "the node"),
        ("to", "", "the node at the far end"),
        ("port", "", "its port"),
        ("class", "", "priority class"),
        ("stopped", "", "times it was paused"),
        ("paused_ps", "ps", "time paused in total"),
        ("longest_ps", "ps", "longest pause"),
        ("watchdog", "", "times the watchdog acted"),
        ("asked", "", "times it asked the far end to pause"),
        ("resumed", "", "times it let the far end resume"),
        ("caused", "", "pauses of others that this queue caused"),
        (
            "in_discards",
            "packets",
            "packets that came in by this port and were dropped because headroom or the input's share of the buffer was full",
        ),
        ("headroom_bytes", "B", "headroom reserved"),
        ("headroom_peak_bytes", "B", "headroom used at most"),
        ("frames", "", "pause frames sent"),
    ],
};

const QUEUES: TableWords = TableWords {
    name: "queues",
    rows: "One row per bin of time and port, with \"queues\" in measure.record.",
    columns: &[
        ("time_ps", "ps", "start of the bin"),
        ("node", "", "the node"),
        ("port", "", "its port"),
        ("peak_bytes", "B", "longest queue among the samples of the bin"),
        ("mean_bytes", "B", "mean of these samples"),
    ],
};

const QUEUE_MONITOR: TableWords = TableWords {
    name: "queue-monitor",
    rows: "One row per line of the queue monitor, with measure.queues_above: samples of queues longer than that; the last million lines.",
    columns: &[
        ("time_ps", "ps", "the instant of the sample"),
        ("type", "", "S: the first sample above the threshold; U: a further one; E: the first that is not"),
        ("node", "", "the switch"),
        ("port", "", "its output port"),
        ("inputs", "", "the input ports the packets came from, as in `0-3,12`"),
        ("length_bytes", "B", "length of the queue; of E the longest sample since S"),
        ("duration_us", "us", "of E: time since S; otherwise empty"),
    ],
};

const FLOW_SAMPLES: TableWords = TableWords {
    name: "flow-samples",
    rows: "One row per sample and open flow, with measure.flows_every.",
    columns: &[
        ("time_ps", "ps", "the instant"),
        ("flow_id", "", "as in flows"),
        ("cwnd_bytes", "B", "congestion window"),
        ("ssthresh_bytes", "B", "slow-start threshold; empty: none yet"),
        ("in_flight_bytes", "B", "payload in flight"),
        ("srtt_ps", "ps", "smoothed round-trip time"),
        ("state", "", "state of the sender's congestion control"),
        ("acked_bytes", "B", "payload acknowledged"),
        ("retx_bytes", "B", "retransmitted payload"),
        ("rate_bps", "bps", "sending rate; empty where a window limits the sender"),
    ],
};

const JOBS: TableWords = TableWords {
    name: "jobs",
    rows: "One row per cluster job, where there are any.",
    columns: &[
        ("tag", "", "the traffic entry"),
        ("start_ps", "ps", "when it was submitted"),
        ("duration_ps", "ps", "from then until it ended, history and commit included; empty: unfinished"),
        ("tasks", "", "its tasks"),
        ("unfinished_tasks", "", "tasks that were not done"),
        ("shuffled_bytes", "B", "map output that reducers fetched, also from their own host"),
        ("transferred_bytes", "B", "bytes of its transfers over the network that arrived, calls included"),
    ],
};

const PHASES: TableWords = TableWords {
    name: "phases",
    rows: "One row per phase of a cluster job, where there are any; phases overlap, their critical paths do not.",
    columns: &[
        ("tag", "", "the traffic entry"),
        ("phase", "", "submission, map, shuffle, reduce or commit"),
        ("start_ps", "ps", "when its first step began; empty: it did not"),
        ("duration_ps", "ps", "from then to the end of its last step"),
        (
            "bound",
            "",
            "what took most of its critical path: fixed, latency, cpu, disk or network; empty: not on that path",
        ),
        (
            "path_ps",
            "ps",
            "its part of the job's critical path; over all phases these add up to the time of the job",
        ),
        ("path_fixed_ps", "ps", "of that, fixed delays and waits for heartbeats"),
        ("path_latency_ps", "ps", "of that, remote procedure calls"),
        ("path_cpu_ps", "ps", "of that, cores"),
        ("path_disk_ps", "ps", "of that, disks"),
        ("path_network_ps", "ps", "of that, bulk data on the network"),
    ],
};

const TASKS: TableWords = TableWords {
    name: "tasks",
    rows: "One row per step of a task, where there are jobs; the rows of a host are its Gantt chart.",
    columns: &[
        ("tag", "", "the traffic entry"),
        ("task", "", "the task"),
        ("host", "", "where it ran; empty: not placed"),
        ("step", "", "what it did"),
        ("start_ps", "ps", "when the step began"),
        ("duration_ps", "ps", "how long it took; empty: unfinished"),
        ("bound", "", "what it waited for: cpu, disk, network, latency (calls), fixed (delays) or tasks"),
        ("killed", "", "whether the task's copy (or, for a copy, its original) finished first"),
    ],
};
