//! The tables of a run over time, in words.

use super::TableWords;

pub(super) const SERIES: TableWords = TableWords {
    name: "series",
    rows: "The run over time: one row per bin, at most measure.series_bins of them. Bins after the expected arrivals may be longer.",
    columns: &[
        ("time_ps", "ps", "start of the bin"),
        ("length_ps", "ps", "its length; the last may be shorter"),
        ("delivered_bytes", "B", "payload delivered in order, of all flows"),
        ("throughput_bps", "bps", "the same per second"),
        ("marked_packets", "packets", "packets marked by switches and cards"),
        ("dropped_port_full_packets", "packets", "packets dropped: buffer of the port full"),
        ("dropped_threshold_packets", "packets", "packets dropped: dynamic threshold of the shared buffer"),
        ("dropped_buffer_full_packets", "packets", "packets dropped: the whole buffer is full"),
        ("dropped_early_packets", "packets", "packets dropped by active queue management"),
        ("dropped_no_route_packets", "packets", "packets dropped: no route"),
        ("dropped_link_down_packets", "packets", "packets dropped at or on a failed link"),
        ("dropped_loss_packets", "packets", "packets lost at random on a link"),
        ("dropped_headroom_packets", "packets", "packets dropped: headroom exhausted"),
        ("dropped_watchdog_packets", "packets", "packets discarded by a pause watchdog"),
        ("dropped_ingress_packets", "packets", "packets dropped: limit of the ingress port"),
        ("dropped_evicted_packets", "packets", "packets dropped for one of smaller rank"),
        ("dropped_red_packets", "packets", "red packets dropped at the threshold of their colour"),
        ("dropped_hop_limit_packets", "packets", "packets dropped: hop limit used up, in a loop of routes"),
        ("stops", "", "times a sender was paused; where any was, as the next"),
        ("paused_ps", "ps", "time paused, summed over senders and classes"),
    ],
};

pub(super) const LINKS: TableWords = TableWords {
    name: "series-links",
    rows: "Groups of links over time: one row per bin of `series` and pair of tiers.",
    columns: &[
        ("time_ps", "ps", "start of the bin"),
        ("length_ps", "ps", "its length"),
        ("from", "", "tier of the transmitting nodes: host, leaf, spine"),
        ("to", "", "tier of the receiving nodes"),
        ("links", "", "links in the group, without those that are never up"),
        ("tx_bytes", "B", "bytes on the wire"),
        ("utilisation", "", "the same as a share of the group's capacity"),
        ("mean_queue_bytes", "B", "mean queue of a port over time; empty: hosts have no queues"),
        ("peak_queue_bytes", "B", "longest queue of a port in the bin"),
        ("peak_port", "", "the port that had it: node > next node"),
    ],
};

pub(super) const PAUSES: TableWords = TableWords {
    name: "series-pauses",
    rows: "Pauses over time: one row per bin of `series` and link that was paused in it, at most 1024 links.",
    columns: &[
        ("time_ps", "ps", "start of the bin"),
        ("node", "", "the node that was paused"),
        ("to", "", "the node that asked for it"),
        ("length_ps", "ps", "length of the bin"),
        ("paused_ps", "ps", "time paused in the bin, summed over classes"),
    ],
};

pub(super) const INCIDENTS: TableWords = TableWords {
    name: "incidents",
    rows: "One row per cable or host of a planned failure, repair or pause storm, where the scenario has any.",
    columns: &[
        ("time_ps", "ps", "when; perhaps after the end of the run"),
        ("kind", "", "failure, repair, storm_begins or storm_ends"),
        ("place", "", "the cable or the host"),
    ],
};
