//! Names for the numbers of a summary, to which expectations, comparisons and sweep tables refer. Must not depend on
//! where the names are used.

use crate::summary::{
    DroppedTowards, FlowMeasure, Lengths, Links, Offered, Reordering, Summary, Throughput, Uplinks,
};
mod list;

use list::METRICS;
use weft_core::record::Quantity;
use weft_statistics::Distribution;

/// Whether a greater value means a better network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
    /// Neither: a fact about the run.
    Neither,
}

/// A metric or a family of metrics. In a path, `<...>` represents one of the words that the reference lists.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    /// Dotted path, for example `fct.p99`.
    pub path: &'static str,
    /// Unit of the value; empty for counts and ratios.
    pub unit: &'static str,
    /// Its meaning, in a sentence.
    pub meaning: &'static str,
    /// Which direction is better.
    pub better: Better,
}

const STATISTICS: [&str; 12] =
    ["mean", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p99_9", "p99_99", "max", "count"];
const SIZES: [&str; 3] = ["small", "medium", "large"];
const LENGTHS: [&str; 8] = ["mean", "p99", "p99_9", "p99_99", "p99_999", "p99_9999", "max", "count"];
const WAITS: [&str; 6] = ["mean", "p50", "p99", "p99_9", "max", "count"];

/// Every placeholder of a path, with the words that may replace it.
#[must_use]
pub fn placeholders() -> Vec<(&'static str, String)> {
    let reasons: Vec<&str> = weft_core::record::Reason::ALL.iter().map(|reason| reason.name()).collect();
    vec![
        ("<statistic>", STATISTICS.join(", ")),
        ("<size>", format!("{} (to 100 kB, to 10 MB, above)", SIZES.join(", "))),
        ("<tag>", "the tag of a [[traffic]] entry".to_owned()),
        ("<hop>", "hop0 (the sending host's card), hop1 (the first switch), and so on".to_owned()),
        ("<wait>", WAITS.join(", ")),
        ("<length>", LENGTHS.join(", ")),
        ("<reason>", reasons.join(", ")),
    ]
}

/// Whether `word` may replace the placeholder `place` of a path.
fn placeholder(place: &str, word: &str) -> bool {
    match place {
        "<statistic>" => STATISTICS.contains(&word),
        "<size>" => SIZES.contains(&word),
        "<wait>" => WAITS.contains(&word),
        "<length>" => LENGTHS.contains(&word),
        "<hop>" => word.strip_prefix("hop").is_some_and(|digits| digits.parse::<u8>().is_ok()),
        "<reason>" => weft_core::record::Reason::ALL.iter().any(|reason| reason.name() == word),
        "<tag>" => !word.is_empty(),
        _ => place == word,
    }
}

/// The metric that a path names, whether or not a particular run has it; `None` if there is no such metric.
#[must_use]
pub fn find(path: &str) -> Option<&'static Metric> {
    let words: Vec<&str> = path.split('.').collect();
    let fits = |metric: &&Metric| {
        let places: Vec<&str> = metric.path.split('.').collect();
        places.len() == words.len() && places.iter().zip(&words).all(|(place, word)| placeholder(place, word))
    };
    METRICS.iter().find(fits)
}

/// Unit of the metric at `path`. A number of samples has none, whatever the samples measure.
#[must_use]
pub fn unit(path: &str) -> &'static str {
    let samples = ["<statistic>", "<wait>", "<length>"];
    let counts =
        |metric: &Metric| path.ends_with(".count") && samples.iter().any(|of| metric.path.ends_with(of));
    find(path).filter(|metric| !counts(metric)).map_or("", |metric| metric.unit)
}

/// The path most likely meant by a path that names no metric.
#[must_use]
pub fn nearest(path: &str) -> Option<String> {
    let all: Vec<String> = METRICS.iter().flat_map(|metric| spelled(metric.path)).collect();
    weft_core::units::nearest(path, all.iter().map(String::as_str)).map(str::to_owned)
}

/// A path with its placeholders written out, for suggestions.
fn spelled(path: &str) -> Vec<String> {
    let hops = || (0..5).map(|hop| format!("hop{hop}"));
    let reasons = || weft_core::record::Reason::ALL.iter().map(|reason| reason.name().to_owned());
    let words = |place: &str| -> Vec<String> {
        match place {
            "<statistic>" => STATISTICS.map(str::to_owned).to_vec(),
            "<size>" => SIZES.map(str::to_owned).to_vec(),
            "<wait>" => WAITS.map(str::to_owned).to_vec(),
            "<length>" => LENGTHS.map(str::to_owned).to_vec(),
            "<hop>" => hops().collect(),
            "<reason>" => reasons().collect(),
            word => vec![word.to_owned()],
        }
    };
    let join = |heads: Vec<String>, place: &str| -> Vec<String> {
        let tails = words(place);
        heads.iter().flat_map(|head| tails.iter().map(move |tail| format!("{head}.{tail}"))).collect()
    };
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    rest.into_iter().flat_map(|rest| rest.split('.')).fold(words(first), join)
}

/// The metrics of reordering.
fn overtaking(reordering: &Reordering) -> impl Iterator<Item = (String, f64)> {
    let duplicates = reordering.duplicate_acks.iter().flat_map(|duplicates| {
        [
            ("flows_with_dupacks", duplicates.flows_with_dupacks),
            ("over_3", duplicates.over_3),
            ("flows_with_dupacks_reorder", duplicates.flows_with_dupacks_reorder),
            ("over_3_reorder", duplicates.over_3_reorder),
        ]
    });
    let named = [
        ("out_of_order", reordering.out_of_order as f64),
        ("max_displacement", reordering.max_displacement as f64),
        ("gro_batches", reordering.gro_batches as f64),
    ];
    let mean = reordering.mean_displacement.map(|value| ("mean_displacement", value));
    duplicates.chain(named).chain(mean).map(|(name, value)| (format!("reordering.{name}"), value))
}

impl Summary {
    /// All metrics, for documentation and messages.
    pub const METRICS: &'static [Metric] = METRICS;

    /// The value of a metric. `None`: no such metric, or this run has no value for it (no sample, too few samples
    /// for a percentile, a hop that does not exist). Zero drops are a value.
    #[must_use]
    pub fn metric(&self, path: &str) -> Option<f64> {
        let listed = self.metrics().into_iter().find(|(name, _)| name == path).map(|(_, value)| value);
        let drops = || {
            path.starts_with("drops.") && self.drops_are_told() && find(path).is_some() && self.has_hop(path)
        };
        listed.or_else(|| drops().then_some(0.0))
    }

    /// Whether the hop that a path names, if it names one, exists; unknown if waits by hop are not recorded.
    fn has_hop(&self, path: &str) -> bool {
        let hop = path.rsplit('.').next().and_then(|word| word.strip_prefix("hop")?.parse::<usize>().ok());
        self.queueing_us.is_empty() || hop.is_none_or(|hop| hop < self.queueing_us.len())
    }

    /// Whether a metric is a percentile with no sample of this run beyond it: it is the maximum.
    #[must_use]
    pub fn is_maximum(&self, path: &str) -> bool {
        let Some((family, percentile)) = path.rsplit_once('.') else { return false };
        let count = self.metric(&format!("{family}.count"));
        count.is_some_and(|count| weft_statistics::is_maximum(count as u64, percentile))
    }

    /// Every metric of this run with its value, in a fixed order.
    #[must_use]
    pub fn metrics(&self) -> Vec<(String, f64)> {
        let mut list = Vec::new();
        measured("fct", &self.fct_us, &mut list);
        measured("slowdown", &self.slowdown, &mut list);
        self.fct_acknowledged_us.iter().for_each(|times| measured("fct_acknowledged", times, &mut list));
        measured("alone", &self.alone_us, &mut list);
        list.extend(self.ideal.iter().flat_map(crate::summary::IdealTimes::named));
        list.extend(self.deadlines.iter().flat_map(|deadlines| deadlines.named(WAITS)));
        self.counts(&mut list);
        self.network(&mut list);
        list
    }

    fn counts(&self, list: &mut Vec<(String, f64)>) {
        let named = [
            ("flows.started", self.flows.started as f64),
            ("flows.finished", self.flows.finished as f64),
            ("flows.unfinished", self.flows.unfinished as f64),
            ("flows.unfinished_share", self.unfinished_share()),
            ("goodput", self.goodput_gbps),
            ("trims", self.trims as f64),
            ("returns", self.returns as f64),
        ];
        let timed_out = self.timed_out.unwrap_or_default();
        let counted = |count: Option<u64>| count.map(|count| count as f64);
        let perhaps = [
            ("fct.mean_with_open", self.mean_with_open()),
            ("marks", counted(self.marks)),
            ("retransmitted", counted(self.retransmitted_bytes)),
            ("timeouts", counted(self.timeouts)),
            ("flows.timed_out", counted(self.timeouts.map(|_| timed_out.flows))),
            ("flows.syn_timed_out", counted(self.timeouts.map(|_| timed_out.syn))),
            ("flows.starved", counted(self.timeouts.map(|_| self.starved))),
            ("drain", self.drain_s()),
            ("events", counted(Some(self.events))),
            ("packet_hops", counted(self.packet_hops)),
            ("simulated_s", Some(self.simulated_s)),
            ("wall_s", Some(self.wall_s)),
        ];
        let perhaps = perhaps.into_iter().filter_map(|(name, value)| Some((name, value?)));
        list.extend(named.into_iter().chain(perhaps).map(|(name, value)| (name.to_owned(), value)));
        list.extend(self.timed_out_by_tag());
        list.extend(self.important_share.map(|share| ("important_share".to_owned(), share)));
        list.extend(self.throughput_gbps.named());
        list.extend(self.jain.map(|value| ("jain".to_owned(), value)));
        let without = self.not_measured.iter().any(|name| name == Quantity::DuplicateAcks.name());
        let sent = |(path, _): &(String, f64)| !(without && self.lacks(path));
        list.extend(self.reordering.iter().flat_map(overtaking).filter(sent));
    }

    /// Flows with time-outs by tag, when there are several tags.
    fn timed_out_by_tag(&self) -> impl Iterator<Item = (String, f64)> {
        let tags = self.throughput_gbps.tags.keys().filter(|_| self.timeouts.is_some());
        tags.map(|tag| {
            let flows = self.timed_out_tags.get(tag).copied().unwrap_or(0);
            (format!("flows.timed_out.tag.{tag}"), flows as f64)
        })
    }

    /// Packets lost, by total, hop, reason and direction; the names begin with `drops.`.
    fn lost(&self) -> Vec<(String, f64)> {
        let Some(drops) = &self.drops else { return Vec::new() };
        let whole = [("total", Some(drops.total as f64)), ("bytes", Some(drops.bytes as f64))];
        let whole = whole.into_iter().chain([("share", self.drop_share())]);
        let whole = whole.filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let parts = drops.by_hop.iter().chain(&drops.by_reason);
        let parts = parts.map(|(name, packets)| (name.clone(), *packets as f64));
        let towards = self.links.dropped.iter().flat_map(|DroppedTowards { up, down, hosts }| {
            [("up", up), ("down", down), ("to_hosts", hosts)]
                .map(|(name, packets)| (name.to_owned(), *packets as f64))
        });
        whole.chain(parts).chain(towards).collect()
    }

    fn network(&self, list: &mut Vec<(String, f64)>) {
        let mut push = |name: String, value: f64| list.push((name, value));
        self.pauses.iter().for_each(|(name, value)| push(format!("pause.{name}"), *value));
        self.arbitration.iter().for_each(|(name, value)| push(format!("arbitration.{name}"), *value));
        self.jobs.iter().for_each(|(name, value)| push(format!("job.{name}"), *value));
        self.lost().into_iter().for_each(|(name, value)| push(format!("drops.{name}"), value));
        if !self.queueing_us.is_empty() {
            push("queueing.total".into(), self.queueing_total());
        }
        for (hop, wait) in self.queueing_us.iter().enumerate().filter(|(_, wait)| wait.count > 0) {
            let values = [wait.mean, wait.p50, wait.p99, wait.p99_9, wait.max, wait.count as f64];
            WAITS
                .iter()
                .zip(values)
                .for_each(|(name, value)| push(format!("queueing.hop{hop}.{name}"), value));
        }
        for set in &self.imbalance {
            push(format!("imbalance.hop{}", set.hop), set.packets);
            push(format!("imbalance.hop{}.bytes", set.hop), set.bytes);
            push(format!("imbalance.hop{}.waiting", set.hop), set.waiting);
            let Lengths { mean, p99, p99_9, p99_99, p99_999, p99_9999, max, count } = set.lengths;
            let lengths = [mean, p99, p99_9, p99_99, p99_999, p99_9999, max, count as f64];
            LENGTHS
                .iter()
                .zip(lengths)
                .for_each(|(name, value)| push(format!("queue.hop{}.{name}", set.hop), value));
        }
        let Links { utilisation_max, fabric_utilisation, .. } = &self.links;
        for (name, value) in [("max", utilisation_max), ("fabric", fabric_utilisation)] {
            value.iter().for_each(|value| push(format!("utilisation.{name}"), *value));
        }
        self.links.uplinks.iter().flat_map(Uplinks::named).for_each(|(name, value)| push(name, value));
        self.links.offered.iter().flat_map(Offered::named).for_each(|(name, value)| push(name, value));
        self.links.peak_queue_bytes.iter().for_each(|bytes| push("queue.peak".into(), *bytes as f64));
        for (name, value) in self.links.busiest_queue.iter().flat_map(Distribution::statistics) {
            push(format!("queue.busiest.{name}"), value);
        }
    }
}

impl Throughput {
    /// Every value with its path.
    fn named(&self) -> Vec<(String, f64)> {
        let sizes =
            [("mean", self.all), ("small", self.small), ("medium", self.medium), ("large", self.large)];
        let sizes = sizes.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let tags = self.tags.iter().map(|(tag, value)| (format!("tag.{tag}"), *value));
        sizes.chain(tags).map(|(name, value)| (format!("throughput.{name}"), value)).collect()
    }
}

fn measured(name: &str, of: &FlowMeasure, list: &mut Vec<(String, f64)>) {
    let sizes = [("small", &of.small), ("medium", &of.medium), ("large", &of.large)];
    let whole = [(name.to_owned(), &of.all)];
    let by_size = sizes.map(|(size, distribution)| (format!("{name}.{size}"), distribution));
    let by_tag = of.tags.iter().map(|(tag, distribution)| (format!("{name}.tag.{tag}"), distribution));
    for (path, distribution) in whole.into_iter().chain(by_size).chain(by_tag) {
        let statistics = distribution.statistics().into_iter();
        list.extend(statistics.map(|(statistic, value)| (format!("{path}.{statistic}"), value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derived::IdealSchedule;
    use crate::summary::{
        DeadlineCounts, Deadlines, DropCell, Drops, DuplicateAcks, FlowCounts, IdealTimes, Imbalance,
        RunFacts, Waiting,
    };
    use weft_core::record::{HELD_MEASURES, JOB_MEASURES, PAUSE_MEASURES, RunRecord};

    #[test]
    fn a_number_of_samples_has_no_unit() {
        for path in [
            "fct.count",
            "fct.small.count",
            "fct.tag.web.count",
            "queueing.hop1.count",
            "queue.busiest.count",
        ] {
            assert!(find(path).is_some() && unit(path).is_empty(), "{path}");
        }
        assert_eq!([unit("fct.p99"), unit("queueing.hop1.mean"), unit("fct.tag.count.mean")], ["us"; 3]);
        assert_eq!(unit("throughput.tag.count"), "Gbps", "a traffic entry of that name");
    }

    #[test]
    fn a_hop_that_does_not_exist_drops_nothing_and_not_zero() {
        let queueing_us = vec![Waiting { count: 3, mean: 1.5, ..Waiting::default() }; 4];
        let summary = Summary { queueing_us, drops: Some(Drops::default()), ..Summary::default() };
        assert_eq!((summary.metric("drops.hop3"), summary.metric("drops.hop9")), (Some(0.0), None));
        assert_eq!(summary.metric("drops.early"), Some(0.0));
        let unknown = Summary { queueing_us: Vec::new(), ..summary };
        assert_eq!(unknown.metric("drops.hop9"), Some(0.0), "waits by hop were not recorded");
    }

    fn summary() -> Summary {
        let all = Distribution::of((0..2_000).map(f64::from).collect());
        let (tags, busiest) = ([("incast".to_owned(), all.clone())].into(), all.clone());
        let empty = Summary::new(&RunRecord::default(), &RunFacts::default());
        let times = FlowMeasure { all: all.clone(), small: all, tags, ..FlowMeasure::default() };
        Summary {
            fct_acknowledged_us: Some(times.clone()),
            alone_us: times.clone(),
            ideal: Some(IdealTimes {
                small_us: Some(1.0),
                schedules: IdealSchedule::ALL.map(|of| (of.metric().to_owned(), 1.0)).into(),
                ..IdealTimes::default()
            }),
            deadlines: Some(Deadlines {
                tags: [("incast".to_owned(), DeadlineCounts::default())].into(),
                missed_by_us: Waiting { count: 1_000, ..Waiting::default() },
                ..Deadlines::default()
            }),
            fct_us: times,
            flows: FlowCounts { started: 2_000, finished: 2_000, ..FlowCounts::default() },
            arrivals_until_s: Some(0.0),
            queueing_us: vec![Waiting { count: 3, mean: 1.5, ..Waiting::default() }; 2],
            imbalance: vec![Imbalance { hop: 1, packets: 2.5, ..Imbalance::default() }],
            drops: Some(Drops {
                total: 7,
                by_hop: [("hop1".to_owned(), 7)].into(),
                by_reason: [("early".to_owned(), 7)].into(),
                cells: vec![DropCell { hop: 1, reason: "early".to_owned(), packets: 7 }],
                ..Drops::default()
            }),
            reordering: Some(Reordering {
                duplicate_acks: Some(DuplicateAcks::default()),
                mean_displacement: Some(1.5),
                ..Reordering::default()
            }),
            throughput_gbps: Throughput {
                all: Some(1.0),
                small: Some(1.0),
                tags: [("incast".to_owned(), 1.0)].into(),
                ..Throughput::default()
            },
            jain: Some(0.9),
            important_share: Some(0.04),
            links: Links {
                fabric_utilisation: Some(0.2),
                busiest_queue: Some(busiest),
                offered: Some(Offered { uplinks: [0.8, 1.2], downlinks: [0.8, 1.3] }),
                uplinks: Some(Uplinks { min: 0.1, mean: 0.2, max: 0.3, spread: Some(1.0) }),
                ..empty.links
            },
            arbitration: ["spared", "reports", "slices"].map(|name| (name.to_owned(), 1.0)).into(),
            jobs: JOB_MEASURES.iter().map(|(name, ..)| ((*name).to_owned(), 1.0)).collect(),
            pauses: PAUSE_MEASURES
                .iter()
                .chain(&HELD_MEASURES)
                .map(|(name, _, _)| ((*name).to_owned(), 1.0))
                .collect(),
            ..empty
        }
    }

    #[test]
    fn a_hop_that_few_packets_come_to_counts_for_little() {
        let wait = |count, mean| Waiting { count, mean, ..Waiting::default() };
        let queueing_us = vec![wait(100, 2.0), wait(100, 3.0), wait(1, 500.0)];
        let summary = Summary { queueing_us, ..Summary::default() };
        assert_eq!(summary.queueing_total(), 2.0 + 3.0 + 5.0);
    }

    #[test]
    fn every_metric_of_a_run_is_in_the_list_of_metrics() {
        for (path, _) in summary().metrics() {
            assert!(find(&path).is_some(), "{path} is not documented");
        }
    }

    #[test]
    fn every_documented_metric_has_a_value_when_the_run_has_it() {
        let summary = summary();
        for metric in METRICS {
            let concrete = metric.path.replace("<statistic>", "mean").replace("<size>", "small");
            let concrete = concrete
                .replace("<hop>", "hop1")
                .replace("<wait>", "mean")
                .replace("<length>", "p99")
                .replace("<tag>", "incast");
            let concrete = concrete.replace("<reason>", "early");
            let absent = concrete.starts_with("slowdown");
            assert_eq!(summary.metric(&concrete).is_none(), absent, "{concrete}");
        }
    }

    #[test]
    fn absent_values_differ_from_unknown_names() {
        let summary = summary();
        assert_eq!(summary.metric("drops.hop0"), Some(0.0));
        assert_eq!(summary.metric("fct.large.p99"), None);
        assert!(find("fct.large.p99").is_some() && find("fct.large.p98").is_none());
        assert_eq!(nearest("fct.p999").as_deref(), Some("fct.p99"));
        assert_eq!(nearest("queuing.hop1.mean").as_deref(), Some("queueing.hop1.mean"));
    }
}
