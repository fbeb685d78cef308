//! Queue lengths over time as a small picture: peaks are merged by their maximum, never dropped.

use crate::derived::{node, samples_in_bin, tier};
use crate::text::rounded;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use weft_core::record::{QueueSeries, RunRecord};

/// Maximum number of rows.
const ROWS: usize = 48;
/// Maximum number of columns.
const COLUMNS: usize = 160;

/// Peak queue lengths by port and time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Heat {
    /// `leaf3 → spine0` for each row: the ports with the highest peaks, in the order of the topology.
    pub ports: Vec<String>,
    /// Number of ports sampled.
    pub sampled: usize,
    /// Sampling interval of the queues, microseconds; zero if unknown.
    #[serde(default)]
    pub every_us: f64,
    /// Samples in each value of the series.
    #[serde(default)]
    pub samples_per_value: u64,
    /// The start of the first column, microseconds after the start of the run.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub begins_us: f64,
    /// Length of a column, microseconds.
    pub column_us: f64,
    /// Whether the columns end where the run only drains.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// Peak queue, wire bytes: `bytes[row][column]`.
    pub bytes: Vec<Vec<u64>>,
    /// Mean over switches of the standard deviation of the queue lengths of a switch's uplinks (of means over the
    /// column), bytes; empty when no switch has two sampled uplinks.
    pub spread_bytes: Vec<f64>,
}

impl Heat {
    /// The heat map of a series, until microsecond `until` if it is given; `None` if it is empty.
    #[must_use]
    pub fn new(record: &RunRecord, series: &QueueSeries, until: Option<f64>) -> Option<Heat> {
        let ports = series.links.len();
        let all = series.peak.len().checked_div(ports)?;
        let bins = until.map_or(all, |until| begun(series, until, all));
        let merged = bins.div_ceil(COLUMNS).max(1);
        let peak = |port: usize| (0..bins).map(|bin| series.peak[bin * ports + port]).max().unwrap_or(0);
        let mut chosen: Vec<usize> = (0..ports).collect();
        chosen.sort_by_key(|&port| (std::cmp::Reverse(peak(port)), port));
        chosen.truncate(ROWS);
        chosen.sort_unstable();
        let row = |&port: &usize| -> Vec<u64> {
            let column =
                |from: usize| (from..(from + merged).min(bins)).map(|bin| series.peak[bin * ports + port]);
            (0..bins).step_by(merged).map(|from| column(from).max().unwrap_or(0)).collect()
        };
        (bins > 0).then(|| Heat {
            ports: chosen.iter().map(|&port| port_name(record, series, port)).collect(),
            sampled: ports,
            every_us: series.every.micros(),
            samples_per_value: series.samples_per_bin,
            begins_us: series.begins.0 as f64 / 1e6,
            column_us: series.every.micros() * series.samples_per_bin as f64 * merged as f64,
            cut: bins < all,
            bytes: chosen.iter().map(row).collect(),
            spread_bytes: spread(record, series, (bins, merged)),
        })
    }
}

fn is_zero(time: &f64) -> bool {
    *time == 0.0
}

fn port_name(record: &RunRecord, series: &QueueSeries, port: usize) -> String {
    let link = &record.links[series.links[port].index()];
    format!("{} → {}", node(record, link.from), node(record, link.to))
}

/// Sampled uplinks by switch, for switches with at least two.
fn uplinks(record: &RunRecord, series: &QueueSeries) -> Vec<Vec<usize>> {
    let tier = |node: u32| tier(record, node);
    let mut sets: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (port, id) in series.links.iter().enumerate() {
        let link = &record.links[id.index()];
        if tier(link.from) > 0 && tier(link.to) > tier(link.from) {
            sets.entry(link.from).or_default().push(port);
        }
    }
    sets.into_values().filter(|set| set.len() > 1).collect()
}

/// The bins of a series with `all` that begin before microsecond `until`; at least one.
fn begun(series: &QueueSeries, until: f64, all: usize) -> usize {
    let length = series.every.micros() * series.samples_per_bin as f64;
    let bins = (until - series.begins.0 as f64 / 1e6) / length;
    if bins.is_finite() { (bins.ceil().max(1.0) as usize).min(all) } else { all }
}

fn spread(record: &RunRecord, series: &QueueSeries, (bins, merged): (usize, usize)) -> Vec<f64> {
    let (sets, ports) = (uplinks(record, series), series.links.len());
    let deviation = |from: usize, set: &Vec<usize>| {
        let range = from..(from + merged).min(bins);
        let samples: u64 = range.clone().map(|bin| samples_in_bin(series, bin)).sum();
        let sum = |port: usize| range.clone().map(|bin| series.sum[bin * ports + port]).sum::<u64>();
        let means: Vec<f64> = set.iter().map(|&port| sum(port) as f64 / samples as f64).collect();
        let mean = means.iter().sum::<f64>() / means.len() as f64;
        (means.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / means.len() as f64).sqrt()
    };
    let column = |from| sets.iter().map(|set| deviation(from, set)).sum::<f64>() / sets.len() as f64;
    if sets.is_empty() {
        Vec::new()
    } else {
        (0..bins).step_by(merged).map(|from| rounded(column(from))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::record::{LinkRecord, NodeRecord};
    use weft_core::{LinkId, Span, Time};

    fn record(bins: usize) -> (RunRecord, QueueSeries) {
        let node = |name: &str, tier| NodeRecord { name: name.into(), tier };
        let link = |to| LinkRecord { from: 0, to, ..LinkRecord::default() };
        let record = RunRecord {
            nodes: vec![node("leaf0", 1), node("spine0", 2), node("spine1", 2)],
            links: vec![link(1), link(2)],
            ..RunRecord::default()
        };
        let series = QueueSeries {
            every: Span::from_us(10),
            begins: Time::ZERO + Span::from_us(500),
            samples_per_bin: 1,
            links: vec![LinkId(0), LinkId(1)],
            peak: (0..bins).flat_map(|bin| [if bin == 777 { 9_000 } else { 1 }, 3]).collect(),
            sum: (0..bins).flat_map(|_| [1_000, 3_000]).collect(),
            samples: bins as u64,
        };
        (record, series)
    }

    #[test]
    fn a_single_peak_survives_thinning() {
        let (record, series) = record(5_000);
        let heat = Heat::new(&record, &series, None).unwrap();
        assert!(heat.bytes[0].len() <= COLUMNS);
        assert_eq!(heat.bytes[0].iter().filter(|&&bytes| bytes == 9_000).count(), 1);
        assert_eq!(heat.ports, ["leaf0 → spine0", "leaf0 → spine1"]);
    }

    /// Queues from 500 us on in bins of 10 us.
    #[test]
    fn a_map_may_end_early() {
        let (record, series) = record(2_000);
        let heat = Heat::new(&record, &series, Some(1_000.0)).unwrap();
        assert_eq!((heat.bytes[0].len(), heat.spread_bytes.len(), heat.cut), (50, 50, true));
        let heat = Heat::new(&record, &series, Some(100.0)).unwrap();
        assert_eq!((heat.bytes[0].len(), heat.cut), (1, true), "at least one column");
        assert!(!Heat::new(&record, &series, Some(20_500.0)).unwrap().cut, "no bin begins after that");
    }

    #[test]
    fn the_spread_of_two_ports_is_half_their_difference() {
        let (record, series) = record(10);
        let heat = Heat::new(&record, &series, None).unwrap();
        assert_eq!(heat.spread_bytes, vec![1_000.0; 10]);
        assert_eq!((heat.begins_us, heat.column_us), (500.0, 10.0));
    }
}
