//! The run over time for plots: throughput, loads, queues, drops, marks and pauses by bin, and the incidents that the
//! scenario planned.

use crate::derived::node;
use crate::summary::tier_words;
use crate::text::rounded;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use weft_core::record::{IncidentRecord, PausedLink, Reason, RunRecord, TimeSeries};

/// Maximum number of rows of paused ports: those with the longest pauses.
const PAUSED: usize = 40;

/// A run in bins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunCourse {
    /// Length of each of the first bins, microseconds.
    pub every_us: f64,
    /// Number of bins with this length.
    #[serde(default)]
    pub fine: usize,
    /// Length of the later bins, microseconds.
    #[serde(default)]
    pub later_us: f64,
    /// When the run ended, microseconds.
    pub ended_us: f64,
    /// Payload delivered by bin, Gbit/s.
    pub throughput_gbps: Vec<f64>,
    /// Groups of links.
    pub groups: Vec<GroupCourse>,
    /// Packets dropped by bin; only reasons that occurred.
    pub drops: Vec<(String, Vec<u64>)>,
    /// Packets marked by bin; empty if none was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<u64>,
    /// Ports that were paused, those with the longest pauses, and their share of each bin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paused: Vec<(String, Vec<f64>)>,
    /// Total number of paused ports.
    #[serde(default)]
    pub paused_ports: usize,
    /// Failures, repairs and storms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incidents: Vec<IncidentMark>,
}

/// A group of links over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupCourse {
    /// `leaf → spine`.
    pub name: String,
    /// The number of links.
    pub links: u32,
    /// Utilisation by bin, fraction of the capacity.
    pub load: Vec<f64>,
    /// Longest queue of a port by bin, wire bytes; empty for hosts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peak_bytes: Vec<u64>,
    /// Mean queue of a port by bin, wire bytes; empty for hosts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mean_bytes: Vec<f64>,
    /// The port with the longest queue of all bins.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub peak_port: String,
}

/// An incident of the network.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IncidentMark {
    /// When, microseconds.
    pub at_us: f64,
    /// `leaf0-spine1 fails`.
    pub words: String,
}

/// Shares of the payload of a run that may arrive in what is called its drain, greatest first.
const DRAINED: [f64; 4] = [0.2, 0.1, 0.05, 0.01];

impl RunCourse {
    /// The course of a run; `None` without a time series.
    #[must_use]
    pub fn new(record: &RunRecord) -> Option<RunCourse> {
        let series = record.series.as_ref().filter(|series| !series.bins.is_empty())?;
        let bins = 0..series.bins.len();
        let ended = record.ended;
        let drops = Reason::ALL.into_iter().filter_map(|reason| {
            let by_bin: Vec<u64> = series.bins.iter().map(|bin| bin.dropped[reason as usize]).collect();
            by_bin.iter().any(|dropped| *dropped > 0).then(|| (reason.name().replace('_', " "), by_bin))
        });
        let marks: Vec<u64> = series.bins.iter().map(|bin| bin.marked).collect();
        let incidents = record.incidents.iter().filter(|incident| incident.at < ended);
        Some(RunCourse {
            every_us: series.every.micros(),
            fine: series.fine,
            later_us: series.later.micros(),
            ended_us: ended.0 as f64 / 1e6,
            throughput_gbps: bins.map(|bin| rounded(series.throughput(bin, ended) / 1e9)).collect(),
            groups: (0..series.groups.len()).map(|group| group_course(record, series, group)).collect(),
            drops: drops.collect(),
            marks: if marks.iter().any(|marked| *marked > 0) { marks } else { Vec::new() },
            paused: paused(record, series),
            paused_ports: series.paused.len(),
            incidents: incidents.map(mark).collect(),
        })
    }

    /// When a bin begins, microseconds.
    #[must_use]
    pub fn begins_us(&self, bin: usize) -> f64 {
        let fine = bin.min(self.fine);
        (self.every_us * fine as f64 + self.later_us * (bin - fine) as f64).min(self.ended_us)
    }

    /// How long a bin lasts, microseconds.
    #[must_use]
    pub fn length_us(&self, bin: usize) -> f64 {
        self.begins_us(bin + 1) - self.begins_us(bin)
    }

    /// The middle of each bin, microseconds.
    #[must_use]
    pub fn times_us(&self) -> Vec<f64> {
        let middle = |bin: usize| rounded((self.begins_us(bin) + self.begins_us(bin + 1)) / 2.0);
        (0..self.throughput_gbps.len()).map(middle).collect()
    }

    /// When the drain begins, if the run has one: after the first bins, when a fifth of the payload is still to arrive, or a smaller share
    /// if that takes less than twice as long; and before the middle of the run. Microseconds.
    #[must_use]
    pub fn drain_from_us(&self) -> Option<f64> {
        let all = self.throughput_gbps.len();
        let bytes = |bins: std::ops::Range<usize>| {
            bins.map(|bin| self.throughput_gbps[bin] * self.length_us(bin)).sum::<f64>()
        };
        let total = bytes(0..all);
        let left = |share: f64| (self.fine..all).find(|bin| bytes(*bin..all) < share * total);
        let later = |from: Option<f64>, share: f64| {
            let at = self.begins_us(left(share)?);
            Some(from.filter(|from| at >= 2.0 * from).unwrap_or(at))
        };
        let from = DRAINED.into_iter().fold(None, |from, share| later(from, share).or(from));
        from.filter(|from| self.fine > 1 && self.ended_us > 2.0 * from)
    }

    /// The run without its drain, if it has one.
    #[must_use]
    pub fn before_drain(&self) -> RunCourse {
        self.until(self.drain_from_us().unwrap_or(self.ended_us))
    }

    /// The bins that begin before a time, microseconds.
    #[must_use]
    pub fn until(&self, us: f64) -> RunCourse {
        let all = self.throughput_gbps.len();
        let bins = (0..all).find(|bin| self.begins_us(*bin) >= us).unwrap_or(all);
        let until = self.begins_us(bins);
        let mut course = self.clone();
        course.ended_us = until;
        course.throughput_gbps.truncate(bins);
        course.marks.truncate(bins);
        for group in &mut course.groups {
            group.load.truncate(bins);
            group.peak_bytes.truncate(bins);
            group.mean_bytes.truncate(bins);
        }
        course.drops.iter_mut().for_each(|(_, drops)| drops.truncate(bins));
        course.paused.iter_mut().for_each(|(_, paused)| paused.truncate(bins));
        course.incidents.retain(|incident| incident.at_us < until);
        course
    }
}

/// `leaf0-spine1 fails`, `12 cables repaired`.
fn mark(incident: &IncidentRecord) -> IncidentMark {
    use weft_core::record::Incident;
    let many = incident.places.len();
    let place = match (incident.places.as_slice(), incident.kind) {
        ([one], _) => one.clone(),
        (_, Incident::Failure | Incident::Repair) => format!("{many} cables"),
        _ => format!("{many} hosts"),
    };
    let words = match incident.kind {
        Incident::Failure if many == 1 => format!("{place} fails"),
        Incident::Failure => format!("{place} fail"),
        Incident::Repair => format!("{place} repaired"),
        Incident::StormBegins => format!("pause storm of {place}"),
        Incident::StormEnds => format!("storm of {place} ends"),
    };
    IncidentMark { at_us: rounded(incident.at.0 as f64 / 1e6), words }
}

fn group_course(record: &RunRecord, series: &TimeSeries, group: usize) -> GroupCourse {
    let tiers = tier_words(record);
    let word = |tier: u8| tiers.get(usize::from(tier)).map_or("?", String::as_str);
    let own = &series.groups[group];
    let bins = 0..series.bins.len();
    let queues = if own.from == 0 { 0..0 } else { bins.clone() };
    let cells = series.bins.iter().map(|bin| &bin.groups[group]);
    let longest = cells.max_by_key(|cell| (cell.peak, Reverse(cell.peak_at)));
    let port = longest.filter(|cell| cell.peak.0 > 0 && own.from > 0).map(|cell| {
        let link = &record.links[cell.peak_at.index()];
        format!("{} → {}", node(record, link.from), node(record, link.to))
    });
    GroupCourse {
        name: format!("{} → {}", word(own.from), word(own.to)),
        links: own.links,
        load: bins.map(|bin| rounded(series.load(bin, group, record.ended))).collect(),
        peak_bytes: queues.clone().map(|bin| series.bins[bin].groups[group].peak.0).collect(),
        mean_bytes: queues.map(|bin| rounded(series.mean_queue(bin, group, record.ended))).collect(),
        peak_port: port.unwrap_or_default(),
    }
}

/// Paused ports in the order of the topology.
fn paused(record: &RunRecord, series: &TimeSeries) -> Vec<(String, Vec<f64>)> {
    let total = |link: &PausedLink| link.paused.iter().map(|paused| paused.0).sum::<u64>();
    let mut all: Vec<&PausedLink> = series.paused.iter().collect();
    all.sort_by_key(|link| (Reverse(total(link)), link.link));
    all.truncate(PAUSED);
    all.sort_by_key(|link| link.link);
    let share = |bin: usize, paused: u64| {
        let length = series.length(bin, record.ended).0.max(1);
        rounded((paused as f64 / length as f64).min(1.0))
    };
    let row = |link: &&PausedLink| {
        let ends = &record.links[link.link.index()];
        let name = format!("{} → {}", node(record, ends.from), node(record, ends.to));
        (name, link.paused.iter().enumerate().map(|(bin, paused)| share(bin, paused.0)).collect())
    };
    all.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::record::{GroupBin, Incident, LinkGroup, LinkRecord, NodeRecord, TimeBin};
    use weft_core::{Bytes, LinkId, Rate, Span, Time};

    #[test]
    fn a_long_drain_is_cut_off_and_a_long_transfer_is_not() {
        let group = GroupCourse { load: vec![0.5; 6], peak_bytes: vec![1; 6], ..GroupCourse::default() };
        let run = |later: f64| RunCourse {
            every_us: 10.0,
            fine: 4,
            later_us: 1_000.0,
            ended_us: 2_040.0,
            throughput_gbps: vec![8.0, 8.0, 8.0, 8.0, later, later],
            groups: vec![group.clone()],
            marks: vec![0, 1, 0, 0, 0, 2],
            incidents: vec![IncidentMark { at_us: 500.0, words: "leaf0-spine0 repaired".into() }],
            ..RunCourse::default()
        };
        let drained = run(0.01).before_drain();
        assert_eq!((run(0.01).drain_from_us(), drained.ended_us), (Some(40.0), 40.0));
        assert_eq!((drained.times_us(), drained.marks.len()), (vec![5.0, 15.0, 25.0, 35.0], 4));
        assert_eq!((drained.groups[0].load.len(), drained.incidents.len()), (4, 0));
        assert_eq!(run(1.0).before_drain(), run(1.0), "2000 us at 1 Gbps are more than 40 us at 8 Gbps");
    }

    /// A third of the payload arrives after the first bins, and all but the hundredth part soon.
    #[test]
    fn a_drain_begins_when_nearly_all_has_arrived() {
        let later = [8.0, 8.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.01];
        let course = RunCourse {
            every_us: 10.0,
            later_us: 10.0,
            fine: 4,
            ended_us: 130.0,
            throughput_gbps: [vec![8.0; 4], later.to_vec()].concat(),
            ..RunCourse::default()
        };
        assert_eq!(course.drain_from_us(), Some(60.0));
    }

    #[test]
    fn loads_and_pauses_are_shares_of_their_bins() {
        let node = |name: &str, tier| NodeRecord { name: name.into(), tier };
        let group =
            |sent| GroupBin { sent: Bytes(sent), peak: Bytes(3_000), peak_at: LinkId(0), byte_time: 0 };
        let bin = |sent| TimeBin { delivered: Bytes(sent), groups: vec![group(sent)], ..TimeBin::default() };
        let record = RunRecord {
            nodes: vec![node("host0", 0), node("leaf0", 1)],
            links: vec![LinkRecord { from: 1, to: 0, ..LinkRecord::default() }],
            ended: Time::ZERO + Span::from_us(15),
            incidents: vec![IncidentRecord {
                at: Time::ZERO + Span::from_us(3),
                kind: Incident::Failure,
                places: vec!["leaf0-host0".into()],
                lost: 0,
            }],
            series: Some(TimeSeries {
                later: Span::from_us(10),
                groups: vec![LinkGroup { from: 1, to: 0, links: 1, capacity: Rate::from_gbps(10) }],
                bins: vec![bin(12_500), bin(6_250)],
                paused: vec![PausedLink {
                    link: LinkId(0),
                    paused: vec![Span::from_us(1), Span::from_us(5)],
                }],
                ..TimeSeries::default()
            }),
            ..RunRecord::default()
        };
        let course = RunCourse::new(&record).unwrap();
        assert_eq!(course.groups[0].load, [1.0, 1.0], "the last bin is half as long");
        assert_eq!(course.times_us(), [5.0, 12.5]);
        assert_eq!(course.paused, [("leaf0 → host0".to_owned(), vec![0.1, 1.0])]);
        assert_eq!(
            (course.groups[0].name.as_str(), course.incidents[0].words.as_str()),
            ("leaf → host", "leaf0-host0 fails")
        );
    }
}
