//! Which flows met their deadlines, and by how much others missed them.

use crate::summary::Waiting;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The fates of the measured flows that have a deadline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Deadlines {
    /// All of them.
    pub all: DeadlineCounts,
    /// By the tag of the traffic entry, when there are several; only tags with deadlines.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, DeadlineCounts>,
    /// Payload of the flows that met their deadlines, from the warm-up to the end of the run, Gbit/s.
    pub goodput_gbps: f64,
    /// Lateness of flows that finished after their deadlines, microseconds.
    pub missed_by_us: Waiting,
}

/// Flows with deadlines, by their fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadlineCounts {
    /// All of them.
    pub flows: u64,
    /// Finished in time.
    pub met: u64,
    /// Finished too late.
    pub late: u64,
    /// Given up by their senders (Early Termination).
    pub terminated: u64,
}

impl DeadlineCounts {
    /// Neither finished nor given up when the run ended.
    #[must_use]
    pub fn open(&self) -> u64 {
        self.flows - self.met - self.late - self.terminated
    }

    /// The fraction that met its deadline.
    #[must_use]
    pub fn met_share(&self) -> f64 {
        self.met as f64 / self.flows.max(1) as f64
    }
}

impl Deadlines {
    /// Its metrics.
    pub(crate) fn named(&self, waits: [&str; 6]) -> Vec<(String, f64)> {
        let DeadlineCounts { flows, met, late, terminated } = self.all;
        let counts = [("flows", flows), ("in_time", met), ("late", late), ("terminated", terminated)];
        let counts = counts.into_iter().map(|(name, count)| (name.to_owned(), count as f64));
        let shares = [("met".to_owned(), self.all.met_share()), ("goodput".to_owned(), self.goodput_gbps)];
        let tags = self.tags.iter().map(|(tag, counts)| (format!("met.tag.{tag}"), counts.met_share()));
        let Waiting { mean, p50, p99, p99_9, max, count } = self.missed_by_us;
        // As with completion times, there is no percentile without a sample beyond it.
        let values = [(mean, 1), (p50, 1), (p99, 100), (p99_9, 1000), (max, 1), (count as f64, 1)];
        let known = waits.into_iter().zip(values).filter(|(_, (_, least))| count >= *least);
        let lateness = known.map(|(name, (value, _))| (format!("missed_by.{name}"), value));
        let all = counts.chain(shares).chain(tags).chain(lateness);
        all.map(|(name, value)| (format!("deadline.{name}"), value)).collect()
    }
}
