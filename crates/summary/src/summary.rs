//! One run in numbers: the contents of `summary.json`. Must not depend on how they are computed or shown.

mod causes;
mod deadlines;
mod drops;
mod hops;
mod ideal;
mod imbalance;
mod incidents;
mod links;
mod offered;
mod reordering;
mod uplinks;

use crate::derived::Kept;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use weft_statistics::Distribution;

pub use causes::{DelayCause, SlowFlows, TimedOut, held_by_pauses};
pub use deadlines::{DeadlineCounts, Deadlines};
pub use drops::{DropCell, Drops};
pub use hops::{hop_names, tier_words};
pub use ideal::IdealTimes;
pub use imbalance::{Imbalance, Lengths};
pub use incidents::{IncidentCost, ThroughputDip};
pub use links::{ArrivalAverages, DroppedTowards, Links};
pub use offered::Offered;
pub use reordering::{DuplicateAcks, Reordering};
pub use uplinks::Uplinks;
use weft_core::record::Stop;

/// Facts about a run that the engine does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunFacts {
    /// Wall-clock time of the computation, seconds.
    pub wall_s: f64,
    /// Threads used.
    pub threads: u32,
}

/// Every statistic of a run. Flow statistics cover flows that start at or after the end of the warm-up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Simulated time, seconds.
    pub simulated_s: f64,
    /// Length of the warm-up, seconds.
    pub warm_up_s: f64,
    /// The least `start` of the traffic entries, seconds, from which goodput and loads are averaged; absent if it is 0.
    #[serde(default, skip_serializing_if = "is_start_of_run")]
    pub begins_s: f64,
    /// Wall-clock time of the computation, seconds.
    pub wall_s: f64,
    /// Threads used.
    pub threads: u32,
    /// Events handled.
    pub events: u64,
    /// Link traversals by any packet. This and others are absent when the engine did not measure them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet_hops: Option<u64>,
    /// Why the run ended: `finished`, `time_limit`, `interrupted` or `stuck`.
    pub stop: String,
    /// Failures and repairs of cables scheduled after the end; absent if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub late_changes: u64,
    /// Counts of flows.
    pub flows: FlowCounts,
    /// Flow completion time of finished flows, microseconds.
    pub fct_us: FlowMeasure,
    /// Completion time until the sender's last acknowledgement; excludes flows that still wait for it when the run
    /// ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fct_acknowledged_us: Option<FlowMeasure>,
    /// Completion time divided by that of the same flow alone in the empty network.
    pub slowdown: FlowMeasure,
    /// Time of the same flows alone in the empty network, microseconds: no percentile of their completion times is lower.
    #[serde(default)]
    pub alone_us: FlowMeasure,
    /// Ideal schedules of the same flows; absent where flows are not numbered in order of start, as with jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ideal: Option<IdealTimes>,
    /// Flows with deadlines; absent without them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadlines: Option<Deadlines>,
    /// Twenty size classes of equal count, from small to large flows; fewer where many flows have one size.
    pub equal20: Vec<SizeClass>,
    /// Packets lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drops: Option<Drops>,
    /// Waiting time by hop, microseconds; hop 0 is the sending host's card. Absent when not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queueing_us: Vec<Waiting>,
    /// The names of the hops, by number: `host → leaf`, `leaf → spine`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hop_names: Vec<String>,
    /// Failures and pause storms during the run, with the cost of each; absent if there were none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incidents: Vec<IncidentCost>,
    /// Spread of queue lengths over parallel ports, when sampled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imbalance: Vec<Imbalance>,
    /// Packets overtaking each other. Absent when not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reordering: Option<Reordering>,
    /// Load and queues of the links.
    pub links: Links,
    /// Payload that measured flows deliver after the warm-up while flows arrive, or else to the end of the run, Gbit/s.
    pub goodput_gbps: f64,
    /// The start of the last flow, seconds, if goodput and the loads of links are averages until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals_until_s: Option<f64>,
    /// The start of the last flow, seconds, if goodput and loads are averages over a whole run that mostly drains:
    /// less than half of the payload arrived before this instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drains_from_s: Option<f64>,
    /// The averages of the arrivals, if goodput and loads are averages over the whole run because it mostly drains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_arrivals: Option<ArrivalAverages>,
    /// Mean throughput of measured flows, finished or not, by size and by traffic entry.
    #[serde(default)]
    pub throughput_gbps: Throughput,
    /// Jain's index of the measured flows' throughput (delivered payload by time open); absent without flows.
    pub jain: Option<f64>,
    /// Pauses of priority flow control, by the names of `PAUSE_MEASURES` and `HELD_MEASURES`; absent when there were none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pauses: BTreeMap<String, f64>,
    /// The queues that caused the most pauses without being held themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pause_causes: Vec<PauseCause>,
    /// Cycles of ports that waited for each other, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deadlocks: Vec<String>,
    /// Savings and costs of delegation in PASE, by the names of metrics; absent without it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub arbitration: BTreeMap<String, f64>,
    /// Cluster jobs, by the names of `JOB_MEASURES`; absent when there were none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub jobs: BTreeMap<String, f64>,
    /// Unfinished tasks of jobs, with what they were doing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished_tasks: Vec<String>,
    /// Packets marked by switches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marks: Option<u64>,
    /// Packets that switches trimmed to their headers; absent if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub trims: u64,
    /// Headers for which there was no room and that were returned to their senders; absent if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub returns: u64,
    /// Payload retransmitted by measured flows, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmitted_bytes: Option<u64>,
    /// Retransmission time-outs of measured flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<u64>,
    /// Measured flows with time-outs; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed_out: Option<TimedOut>,
    /// Measured flows with at least two time-outs in a row; absent if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub starved: u64,
    /// Flows with time-outs by tag of the traffic entry, if there are several; only tags with time-outs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub timed_out_tags: BTreeMap<String, u64>,
    /// Payload that measured flows sent in important packets (TLT), as a fraction of payload delivered or
    /// retransmitted; absent without TLT.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub important_share: Option<f64>,
    /// The causes that delayed the slowest flows, by slowdown: 1 % of those that finished, at most 1000. Only causes
    /// that occurred.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slowest: Vec<SlowFlows>,
    /// Names of the quantities that the engine did not measure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_measured: Vec<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
fn is_start_of_run(seconds: &f64) -> bool {
    *seconds == 0.0
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Counts of flows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowCounts {
    /// Measured flows: those that started after the warm-up.
    pub started: u64,
    /// Measured flows that finished.
    pub finished: u64,
    /// Measured flows that did not finish: censored, in no distribution.
    pub unfinished: u64,
    /// Payload of measured flows that did not finish, bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub open_bytes: u64,
    /// Of this, payload that arrived.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub open_delivered_bytes: u64,
    /// Ages of measured flows that did not finish, and deadlines of those given up, summed, microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_age_us: Option<f64>,
    /// Flows that started during the warm-up: not measured.
    pub warm_up: u64,
}

/// A per-flow measure overall, by size (0 to 100 kB, to 10 MB, above; kB = 1000 B) and by traffic entry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowMeasure {
    /// All measured, finished flows.
    #[serde(flatten)]
    pub all: Distribution,
    /// Flows up to and including 100 kB.
    pub small: Distribution,
    /// Flows above 100 kB, up to and including 10 MB.
    pub medium: Distribution,
    /// Flows above 10 MB.
    pub large: Distribution,
    /// By the tag of the traffic entry, when there are several.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, Distribution>,
}

/// Mean throughput of flows, Gbit/s: for each flow, its delivered payload divided by the time it was open. Absent
/// without flows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Throughput {
    /// All measured flows.
    pub all: Option<f64>,
    /// Flows up to and including 100 kB.
    pub small: Option<f64>,
    /// Flows above 100 kB, up to and including 10 MB.
    pub medium: Option<f64>,
    /// Flows above 10 MB, the elephants.
    pub large: Option<f64>,
    /// By the tag of the traffic entry, when there are several.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, f64>,
}

/// One of twenty size classes with equally many flows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SizeClass {
    /// Least flow size, bytes.
    pub from_bytes: u64,
    /// Greatest flow size, bytes.
    pub to_bytes: u64,
    /// Completion time, microseconds.
    pub fct_us: Distribution,
    /// Slowdown.
    pub slowdown: Distribution,
}

/// A queue that made its switch pause others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseCause {
    /// The port, its far end, and the class.
    pub port: String,
    /// How often it did.
    pub stops: u64,
}

/// Waiting at one hop, microseconds; percentiles from a histogram with a relative error below 1/64.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Waiting {
    /// Data packets that passed this hop.
    pub count: u64,
    /// Exact mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p99_9: f64,
    /// Exact maximum.
    pub max: f64,
}

impl Summary {
    /// Removes what is not kept. Counts and completion times always stay.
    #[must_use]
    pub fn keeping(mut self, kept: &Kept) -> Summary {
        if !kept.hops {
            self.queueing_us.clear();
        }
        if !kept.queues {
            self.imbalance.clear();
            self.links.busiest_queue = None;
        }
        if !kept.reordering {
            self.reordering = None;
        }
        if !kept.drops {
            self.drops =
                self.drops.map(|Drops { total, bytes, .. }| Drops { total, bytes, ..Drops::default() });
        }
        self
    }

    /// Whether drops are known by hop and reason, or there are none.
    #[must_use]
    pub fn drops_are_told(&self) -> bool {
        self.drops.as_ref().is_some_and(|drops| drops.total == 0 || !drops.cells.is_empty())
    }

    /// Packets lost as a share of link traversals.
    #[must_use]
    pub fn drop_share(&self) -> Option<f64> {
        Some(self.drops.as_ref()?.total as f64 / self.packet_hops?.max(1) as f64)
    }

    /// Whether the user interrupted the run.
    #[must_use]
    pub fn interrupted(&self) -> bool {
        self.stop == stop_name(Stop::Interrupted)
    }

    /// Mean completion time in which open flows count with their age (restricted mean); `None` if the ages are unknown.
    #[must_use]
    pub fn mean_with_open(&self) -> Option<f64> {
        let finished = self.fct_us.all.mean.map_or(0.0, |mean| mean * self.flows.finished as f64);
        let open = if self.flows.unfinished == 0 { 0.0 } else { self.flows.open_age_us? };
        (self.flows.started > 0).then(|| (finished + open) / self.flows.started as f64)
    }

    /// Share of measured flows that did not finish.
    #[must_use]
    pub fn unfinished_share(&self) -> f64 {
        self.flows.unfinished as f64 / self.flows.started.max(1) as f64
    }

    /// The instant from which goodput is averaged, seconds: the end of the warm-up or, if later, the beginning of the traffic.
    #[must_use]
    pub fn measured_from_s(&self) -> f64 {
        self.warm_up_s.max(self.begins_s)
    }

    /// The time from the start of the last flow to the end, seconds; `None` if averages include it.
    #[must_use]
    pub fn drain_s(&self) -> Option<f64> {
        self.arrivals_until_s.map(|until| self.simulated_s - until)
    }

    /// Mean waiting time of a data packet over its whole path, microseconds.
    #[must_use]
    pub fn queueing_total(&self) -> f64 {
        (0..self.queueing_us.len()).map(|hop| self.queueing_at(hop)).sum()
    }

    /// The contribution of a hop to the mean waiting time of a data packet, microseconds: its mean, weighted by the
    /// share of all data packets that pass it. Few of them pass the later hops of a path around a failure.
    #[must_use]
    pub fn queueing_at(&self, hop: usize) -> f64 {
        let all = self.queueing_us.first().map_or(0, |first| first.count).max(1) as f64;
        self.queueing_us.get(hop).map_or(0.0, |hop| hop.mean * hop.count as f64 / all)
    }
}

/// The name of a reason to stop, as in `summary.json`.
#[must_use]
pub fn stop_name(stop: Stop) -> &'static str {
    match stop {
        Stop::Finished => "finished",
        Stop::TimeLimit => "time_limit",
        Stop::Interrupted => "interrupted",
        Stop::Stuck => "stuck",
    }
}
