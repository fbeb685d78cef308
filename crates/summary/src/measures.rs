//! Computes the summary from a record and the statistics of its flows. Must not depend on how results are shown.

use crate::derived::{tier, time_up, utilisation};
use crate::summary::{
    ArrivalAverages, DropCell, DroppedTowards, Drops, Imbalance, IncidentCost, Lengths, Links, Offered,
    PauseCause, RunFacts, Summary, Uplinks, Waiting, hop_names, stop_name,
};
use crate::survey::FlowStatistics;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use weft_core::Time;
use weft_core::histogram::Histogram;
use weft_core::record::{
    ArbitrationCounts, ArrivalRecord, HELD_MEASURES, HeldFlows, JOB_MEASURES, JobRecord, LinkRecord,
    PAUSE_MEASURES, Quantity, QueueSeries, RunRecord, TaskRecord,
};
use weft_statistics::Distribution;

impl Summary {
    /// Reduces a record that holds its flows to its statistics.
    #[must_use]
    pub fn new(record: &RunRecord, facts: &RunFacts) -> Summary {
        Summary::of(record, FlowStatistics::of(record), facts)
    }

    /// Reduces a record to its statistics, given those of its flows.
    #[must_use]
    pub fn of(record: &RunRecord, flows: FlowStatistics, facts: &RunFacts) -> Summary {
        summarise(record, flows, facts)
    }
}

fn summarise(record: &RunRecord, flows: FlowStatistics, facts: &RunFacts) -> Summary {
    let has = |quantity| record.measured.has(quantity);
    let important_share = important_share(&flows);
    Summary {
        simulated_s: record.ended.seconds(),
        warm_up_s: record.warm_up.seconds(),
        begins_s: record.begins.seconds(),
        wall_s: facts.wall_s,
        threads: facts.threads,
        events: record.events,
        packet_hops: has(Quantity::Loads).then_some(record.packet_hops),
        stop: stop_name(record.stop).to_owned(),
        goodput_gbps: goodput(record, record.averaged(), flows.delivered_bits),
        arrivals_until_s: record.averaged().map(|arrivals| arrivals.until.seconds()),
        in_arrivals: in_arrivals(record, flows.delivered_bits),
        drains_from_s: drains_from(record, flows.starts),
        late_changes: record.late_changes,
        flows: flows.flows,
        fct_us: flows.fct_us,
        slowdown: flows.slowdown,
        ideal: flows.ideal.map(|ideal| ideal.or_alone(&flows.alone_us)),
        alone_us: flows.alone_us,
        deadlines: flows.deadlines,
        fct_acknowledged_us: has(Quantity::Recovery).then_some(flows.fct_acknowledged_us),
        equal20: flows.equal20,
        drops: has(Quantity::Drops).then(|| drops(record)),
        queueing_us: record.hops.iter().map(|hop| Waiting::of_ns(&hop.wait_ns)).collect(),
        hop_names: hop_names(record),
        incidents: IncidentCost::of(record),
        imbalance: imbalance(record),
        reordering: has(Quantity::Reordering).then_some(flows.reordering),
        links: links(record),
        throughput_gbps: flows.throughput_gbps,
        jain: flows.jain,
        pauses: pauses(record, &flows.held),
        pause_causes: causes(record),
        deadlocks: record.deadlocks_in_words().collect(),
        arbitration: arbitration(record),
        jobs: jobs(record),
        unfinished_tasks: unfinished_tasks(record),
        trims: record.links.iter().map(|link| link.trimmed).sum(),
        returns: record.links.iter().map(|link| link.returned).sum(),
        marks: has(Quantity::Marks).then(|| record.links.iter().map(|link| link.marked).sum()),
        retransmitted_bytes: has(Quantity::Recovery).then_some(flows.retransmitted_bytes),
        timeouts: has(Quantity::Recovery).then_some(flows.timeouts),
        timed_out: has(Quantity::Recovery).then_some(flows.timed_out).filter(|found| found.flows > 0),
        starved: flows.starved,
        timed_out_tags: if record.tags.len() > 1 { flows.timed_out_tags } else { BTreeMap::new() },
        important_share,
        slowest: if has(Quantity::Recovery) { flows.slowest } else { Vec::new() },
        not_measured: record.measured.missing().map(|quantity| quantity.name().to_owned()).collect(),
    }
}

fn important_share(flows: &FlowStatistics) -> Option<f64> {
    let sent = flows.delivered_bits / 8 + flows.retransmitted_bytes;
    (flows.important_bytes > 0 && sent > 0).then(|| flows.important_bytes as f64 / sent as f64)
}

fn pauses(record: &RunRecord, flows: &HeldFlows) -> BTreeMap<String, f64> {
    let sums = PAUSE_MEASURES.iter().zip(record.pause_measures().map(Some));
    let asked = !record.pauses.is_empty() || record.may_pause && record.measured.has(Quantity::Pauses);
    let named = sums.chain(HELD_MEASURES.iter().zip(flows.measures())).filter(|_| asked);
    named.filter_map(|((name, ..), value)| Some(((*name).to_owned(), value?))).collect()
}

fn arbitration(record: &RunRecord) -> BTreeMap<String, f64> {
    let ArbitrationCounts { spared, reports, slices, .. } = record.arbitration;
    let named = [("spared", spared), ("reports", reports), ("slices", slices)];
    let delegated = spared + reports > 0;
    named.into_iter().filter(|_| delegated).map(|(name, count)| (name.to_owned(), count as f64)).collect()
}

fn jobs(record: &RunRecord) -> BTreeMap<String, f64> {
    let named = JOB_MEASURES.iter().zip(record.job_measures()).filter(|_| !record.jobs.is_empty());
    named.filter_map(|((name, ..), value)| Some(((*name).to_owned(), value?))).collect()
}

/// One line per unfinished job: its tag, a task, and the step the task is in.
fn unfinished_tasks(record: &RunRecord) -> Vec<String> {
    let of_job = |job: &JobRecord| {
        let tag = record.tags.get(usize::from(job.tag)).map_or("job", String::as_str).to_owned();
        let open: BTreeMap<u32, &str> =
            job.steps.iter().filter(|step| step.end.is_none()).map(|step| (step.task, step.name)).collect();
        let tasks = job.tasks.iter().zip(0..).filter(|(task, _)| task.end.is_none());
        let words = |(task, number): (&TaskRecord, u32)| match (open.get(&number), task.host) {
            (Some(step), _) => format!("{tag}: {} ({step})", task.name),
            (None, None) if number > 0 => format!("{tag}: {} (not started)", task.name),
            (None, _) => format!("{tag}: {}", task.name),
        };
        tasks.map(words).collect::<Vec<_>>()
    };
    record.jobs.iter().flat_map(of_job).collect()
}

/// The ten queues that caused the most pauses.
fn causes(record: &RunRecord) -> Vec<PauseCause> {
    let causes = record.causes_of_pauses().into_iter().take(10);
    causes.map(|(port, stops)| PauseCause { port, stops }).collect()
}

fn drops(record: &RunRecord) -> Drops {
    let mut drops = Drops::default();
    for row in &record.drops {
        drops.total += row.packets;
        drops.bytes += row.bytes.0;
        *drops.by_hop.entry(format!("hop{}", row.hop)).or_default() += row.packets;
        *drops.by_reason.entry(row.reason.name().to_owned()).or_default() += row.packets;
        let reason = row.reason.name().to_owned();
        drops.cells.push(DropCell { hop: row.hop, reason, packets: row.packets });
    }
    drops
}

impl Waiting {
    /// The statistics of a histogram of nanoseconds.
    pub(crate) fn of_ns(wait: &Histogram) -> Waiting {
        let quantile = |q| wait.quantile(q) as f64 / 1e3;
        Waiting {
            count: wait.count(),
            mean: wait.mean() / 1e3,
            p50: quantile(0.5),
            p99: quantile(0.99),
            p99_9: quantile(0.999),
            max: wait.max() as f64 / 1e3,
        }
    }
}

fn imbalance(record: &RunRecord) -> Vec<Imbalance> {
    let row = |set: &weft_core::record::ImbalanceRecord| Imbalance {
        name: set.name.clone(),
        hop: set.hop,
        packets: set.packets,
        bytes: set.bytes,
        waiting: set.waiting,
        samples: set.samples,
        lengths: lengths(&set.lengths),
    };
    record.imbalance.iter().map(row).collect()
}

fn lengths(packets: &Histogram) -> Lengths {
    let quantile = |q| packets.quantile(q) as f64;
    Lengths {
        count: packets.count(),
        mean: packets.mean(),
        p99: quantile(0.99),
        p99_9: quantile(0.999),
        p99_99: quantile(0.9999),
        p99_999: quantile(0.99999),
        p99_9999: quantile(0.999_999),
        max: packets.max() as f64,
    }
}

/// The averages of the arrivals, in a run that is averaged as a whole because it mostly drains.
fn in_arrivals(record: &RunRecord, bits: u64) -> Option<ArrivalAverages> {
    let arrivals = record.arrivals.filter(|arrivals| !arrivals.most)?;
    let (utilisation_max, fabric_utilisation) = loads(record, Some(arrivals));
    Some(ArrivalAverages {
        until_s: arrivals.until.seconds(),
        goodput_gbps: goodput(record, Some(arrivals), bits),
        utilisation_max,
        fabric_utilisation,
        uplinks: Uplinks::of(record, Some(arrivals)).filter(|_| record.measured.has(Quantity::Loads)),
    })
}

/// Greatest utilisation of a switch's link, and the mean of those between switches, where loads were measured.
fn loads(record: &RunRecord, window: Option<ArrivalRecord>) -> (Option<f64>, Option<f64>) {
    if !record.measured.has(Quantity::Loads) {
        return (None, None);
    }
    let switches = || record.links.iter().filter(|link| tier(record, link.from) > 0);
    let used = |link: &LinkRecord| utilisation(link, record, window);
    let fabric = switches().filter(|link| tier(record, link.to) > 0);
    let fabric = fabric.map(|link| (used(link), time_up(link, record, window)));
    (Some(switches().map(used).fold(0.0, f64::max)), weighted_mean(fabric))
}

/// The mean of values with weights; `None` without a positive weight.
fn weighted_mean(values: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (sum, weights) =
        values.fold((0.0, 0.0), |(sum, weights), (value, weight)| (sum + value * weight, weights + weight));
    (weights > 0.0).then(|| sum / weights)
}

fn links(record: &RunRecord) -> Links {
    let has = |quantity| record.measured.has(quantity);
    let tier = |node: u32| tier(record, node);
    let switches = || record.links.iter().filter(|link| tier(link.from) > 0);
    let (utilisation_max, fabric_utilisation) = loads(record, record.averaged());
    Links {
        utilisation_max,
        fabric_utilisation,
        peak_queue_bytes: has(Quantity::Queues)
            .then(|| switches().map(|link| link.peak.0).max().unwrap_or(0)),
        busiest_queue: record.queues.as_ref().filter(|series| series.samples > 0).map(busiest),
        uplinks: Uplinks::of(record, record.averaged()).filter(|_| has(Quantity::Loads)),
        offered: Offered::of(record),
        dropped: has(Quantity::Drops).then(|| dropped(record, tier)),
    }
}

/// The queue of the port with the greatest mean, the first of equal ones; a sample is the mean of a bin.
fn busiest(series: &QueueSeries) -> Distribution {
    let width = series.links.len().max(1);
    let of = |column: usize| series.sum.iter().skip(column).step_by(width);
    let total = |column: &usize| (of(*column).sum::<u64>(), Reverse(*column));
    let column = (0..width).max_by_key(total).unwrap_or(0);
    let whole = (series.samples / series.samples_per_bin) as usize;
    let rest = series.samples % series.samples_per_bin;
    let looks = |bin: usize| if bin < whole { series.samples_per_bin } else { rest };
    Distribution::of(of(column).enumerate().map(|(bin, sum)| *sum as f64 / looks(bin) as f64).collect())
}

fn dropped(record: &RunRecord, tier: impl Fn(u32) -> u8) -> DroppedTowards {
    let mut towards = DroppedTowards::default();
    for link in record.links.iter().filter(|link| tier(link.from) > 0) {
        let count = match tier(link.to) {
            0 => &mut towards.hosts,
            to if to > tier(link.from) => &mut towards.up,
            _ => &mut towards.down,
        };
        *count += link.dropped;
    }
    towards
}

/// Goodput after the warm-up and the beginning of the traffic, Gbit/s, while flows arrived or over the whole run.
fn goodput(record: &RunRecord, window: Option<ArrivalRecord>, bits: u64) -> f64 {
    let (bits, until) = match window {
        Some(arrivals) => (arrivals.delivered.bits(), arrivals.until),
        None => (bits, record.ended),
    };
    let span = until.since(record.measured_from()).seconds();
    if span > 0.0 { bits as f64 / span / 1e9 } else { 0.0 }
}

/// The last start, if the run is averaged as a whole and drains for longer than flows arrive; flows that start together
/// have no arrival period.
fn drains_from(record: &RunRecord, starts: Option<(Time, Time)>) -> Option<f64> {
    let (first, last) = starts.filter(|_| record.averaged().is_none())?;
    let drain = record.ended.0.saturating_sub(last.0);
    (first < last && drain > last.since(record.measured_from()).0).then(|| last.seconds())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::FlowCounts;
    use weft_core::record::{ArrivalRecord, DropRecord, FlowRecord, LinkRecord, NodeRecord, Reason, Stop};
    use weft_core::{Bytes, LinkId, Span, Time};

    fn flow(size: u64, start_us: u64, fct_us: Option<u64>) -> FlowRecord {
        let start = Time::ZERO + Span::from_us(start_us);
        FlowRecord {
            size: Bytes(size),
            start,
            end: fct_us.map(|us| start + Span::from_us(us)),
            ideal: Span::from_us(10),
            delivered: Bytes(if fct_us.is_some() { size } else { 0 }),
            ..FlowRecord::default()
        }
    }

    fn record() -> RunRecord {
        RunRecord {
            flows: vec![
                flow(1_000, 5, Some(1_000_000)),
                flow(100_000, 20, Some(20)),
                flow(100_001, 20, Some(40)),
                flow(20_000_000, 30, None),
            ],
            drops: vec![
                DropRecord { hop: 1, reason: Reason::PortFull, packets: 3, bytes: Bytes(4_500) },
                DropRecord { hop: 1, reason: Reason::Threshold, packets: 2, bytes: Bytes(3_000) },
                DropRecord { hop: 3, reason: Reason::PortFull, packets: 1, bytes: Bytes(1_500) },
            ],
            ended: Time::ZERO + Span::from_us(110),
            warm_up: Time::ZERO + Span::from_us(10),
            stop: Stop::TimeLimit,
            ..RunRecord::default()
        }
    }

    #[test]
    fn warm_up_flows_are_not_measured_and_unfinished_ones_are_counted() {
        let summary = Summary::new(&record(), &RunFacts::default());
        let FlowCounts { started, finished, unfinished, warm_up, .. } = summary.flows;
        assert_eq!((started, finished, unfinished, warm_up), (3, 2, 1, 1));
        assert_eq!(summary.fct_us.all.mean, Some(30.0));
        assert_eq!(summary.slowdown.all.mean, Some(3.0));
        assert_eq!(summary.stop, "time_limit");
    }

    /// Two flows finish after 30 us on average. An open one counts with its age of 80 us, whatever its deadline; one that was given
    /// up, with its deadline, even if the run ends before that.
    #[test]
    fn a_flow_given_up_counts_with_its_deadline() {
        let mean = |terminated, deadline| {
            let mut record = record();
            let open = record.flows.last_mut().expect("four flows");
            (open.terminated, open.deadline) = (terminated, Some(Span::from_us(deadline)));
            Summary::new(&record, &RunFacts::default()).mean_with_open()
        };
        assert_eq!([mean(false, 15), mean(true, 15)], [Some(140.0 / 3.0), Some(25.0)]);
        assert_eq!([mean(false, 900), mean(true, 900)], [Some(140.0 / 3.0), Some(320.0)]);
    }

    /// Each flow may be as long as a flow file allows.
    #[test]
    fn the_sizes_of_unfinished_flows_do_not_wrap() {
        let longest = flow(i64::MAX as u64, 20, None);
        let flows = vec![longest.clone(), longest.clone(), longest];
        let summary = Summary::new(&RunRecord { flows, ..record() }, &RunFacts::default());
        assert_eq!((summary.flows.unfinished, summary.flows.open_bytes), (3, u64::MAX));
    }

    #[test]
    fn of_nothing_sent_no_share_is_important() {
        let share = |important_bytes, delivered_bits| {
            important_share(&FlowStatistics { important_bytes, delivered_bits, ..FlowStatistics::default() })
        };
        assert_eq!([share(100, 1_600), share(100, 0), share(0, 1_600)], [Some(0.5), None, None]);
    }

    #[test]
    fn size_buckets_include_their_upper_end() {
        let fct = Summary::new(&record(), &RunFacts::default()).fct_us;
        assert_eq!((fct.small.mean, fct.medium.mean, fct.large.count), (Some(20.0), Some(40.0), 0));
    }

    #[test]
    fn drops_add_up_in_every_direction() {
        let drops = Summary::new(&record(), &RunFacts::default()).drops.expect("drops are measured");
        assert_eq!((drops.total, drops.bytes), (6, 9_000));
        assert_eq!(drops.by_hop.values().sum::<u64>(), drops.total);
        assert_eq!(drops.by_reason["port_full"], 4);
        assert_eq!(drops.by_hop["hop1"], 5);
    }

    #[test]
    fn drops_are_told_by_where_the_port_leads() {
        let nodes = [0, 1, 2, 2].map(|tier| NodeRecord { tier, ..NodeRecord::default() }).to_vec();
        let link = |(from, to, dropped)| LinkRecord { from, to, dropped, ..LinkRecord::default() };
        let links = [(0, 1, 1), (1, 0, 2), (1, 2, 4), (2, 1, 8), (2, 3, 16)].map(link).to_vec();
        let found = Summary::new(&RunRecord { nodes, links, ..record() }, &RunFacts::default());
        assert_eq!(found.links.dropped, Some(DroppedTowards { up: 4, down: 24, hosts: 2 }));
        assert_eq!(found.metric("drops.up"), Some(4.0));
    }

    #[test]
    fn goodput_counts_measured_payload_after_the_warm_up() {
        let gbps = Summary::new(&record(), &RunFacts::default()).goodput_gbps;
        assert!((gbps - 200_001.0 * 8.0 / 100e-6 / 1e9).abs() < 1e-9);
    }

    #[test]
    fn twenty_classes_hold_every_flow_once() {
        let flows: Vec<FlowRecord> = (0..1_234).map(|n| flow(n * 7 % 997, 20, Some(n + 1))).collect();
        let classes = FlowStatistics::of(&RunRecord { flows, ..RunRecord::default() }).equal20;
        assert_eq!(classes.len(), 20);
        assert_eq!(classes.iter().map(|class| class.fct_us.count).sum::<u64>(), 1_234);
        assert!(classes.windows(2).all(|pair| pair[0].to_bytes <= pair[1].from_bytes));
    }

    /// A size that most flows share is one class, however many flows there are of it.
    #[test]
    fn flows_of_one_size_are_in_one_class() {
        let size = |n: u64| if (100..900).contains(&n) { 256_000 } else { n * 1_000 };
        let flows: Vec<FlowRecord> = (1..1_001).map(|n| flow(size(n), 20, Some(n))).collect();
        let classes = FlowStatistics::of(&RunRecord { flows, ..RunRecord::default() }).equal20;
        assert!(classes.windows(2).all(|pair| pair[0].to_bytes < pair[1].from_bytes), "{classes:?}");
        let shared = classes.iter().filter(|class| class.from_bytes == 256_000 || class.to_bytes == 256_000);
        let counts: Vec<u64> = shared.map(|class| class.fct_us.count).collect();
        assert!(matches!(counts[..], [800..850]), "{counts:?}: none of them elsewhere");
        assert_eq!(classes.iter().map(|class| class.fct_us.count).sum::<u64>(), 1_000);
    }

    /// 100 Gbit/s of payload for 10 us, then a drain of 90 us that would divide it by ten.
    #[test]
    fn a_run_that_mostly_drains_says_so() {
        let of = |ended_us, arrivals| {
            let flows = vec![flow(1_000, 10, Some(5)), flow(1_000, 30, Some(8))];
            let record =
                RunRecord { flows, arrivals, ended: Time::ZERO + Span::from_us(ended_us), ..record() };
            Summary::new(&record, &RunFacts::default()).drains_from_s
        };
        assert_eq!(of(200, None), Some(30e-6));
        assert_eq!(of(50, None), None, "arrivals are the longer part");
        let arrivals =
            ArrivalRecord { until: Time::ZERO + Span::from_us(30), delivered: Bytes(1_000), most: true };
        assert_eq!(of(200, Some(arrivals)), None, "the drain is left out");
    }

    #[test]
    fn averages_end_with_the_arrivals() {
        let arrivals =
            ArrivalRecord { until: Time::ZERO + Span::from_us(20), delivered: Bytes(125_000), most: true };
        let link = LinkRecord {
            rate: weft_core::Rate::from_gbps(100),
            sent: Bytes(250_000),
            sent_in_arrivals: Bytes(200_000),
            ..LinkRecord::default()
        };
        let nodes = [1, 2].map(|tier| NodeRecord { tier, ..NodeRecord::default() }).to_vec();
        let links = vec![LinkRecord { to: 1, ..link }];
        let arriving = RunRecord { arrivals: Some(arrivals), nodes, links, ..record() };
        let summary = Summary::new(&arriving, &RunFacts::default());
        assert!((summary.goodput_gbps - 100.0).abs() < 1e-9, "{}", summary.goodput_gbps);
        assert!((summary.links.utilisation_max.expect("measured") - 0.8).abs() < 1e-9);
        assert!((summary.drain_s().expect("known") - 90e-6).abs() < 1e-12);
        let whole = Summary::new(&RunRecord { arrivals: None, ..arriving }, &RunFacts::default());
        assert!((whole.links.utilisation_max.expect("measured") - 2.0 / 11.0).abs() < 1e-9);
    }

    /// Traffic that begins at 90 us of 110: 1 Mbit in 20 us, not in 100.
    #[test]
    fn averages_begin_with_the_traffic() {
        let begins = Time::ZERO + Span::from_us(90);
        let nodes = [1, 2].map(|tier| NodeRecord { tier, ..NodeRecord::default() }).to_vec();
        let rate = weft_core::Rate::from_gbps(100);
        let link = LinkRecord { to: 1, rate, sent: Bytes(125_000), ..LinkRecord::default() };
        let flows = vec![flow(125_000, 95, Some(10))];
        let late = RunRecord { begins, nodes, links: vec![link], flows, ..record() };
        let of = |record: &RunRecord| {
            let summary = Summary::new(record, &RunFacts::default());
            ["goodput", "utilisation.max", "utilisation.fabric"]
                .map(|name| summary.metric(name).expect("measured"))
        };
        let near = |found: [f64; 3], told: [f64; 3]| {
            assert!(found.iter().zip(told).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?} is not {told:?}");
        };
        near(of(&late), [50.0, 0.5, 0.5]);
        near(of(&RunRecord { begins: Time::ZERO, ..late }), [10.0, 1.0 / 11.0, 1.0 / 11.0]);
    }

    /// Of 110 us at 100 Gbit/s, a cable that is down from 10 to 65 us can carry half: then 0.4 of its capacity, in half of the time.
    #[test]
    fn links_between_switches_count_while_they_are_up() {
        let at = |us| Time::ZERO + Span::from_us(us);
        let nodes = [0, 1, 2].map(|tier| NodeRecord { tier, ..NodeRecord::default() }).to_vec();
        let rate = weft_core::Rate::from_gbps(100);
        let link = |from, to, bytes, down: &[(Time, Time)]| LinkRecord {
            from,
            to,
            rate,
            sent: Bytes(bytes),
            failed: !down.is_empty(),
            down: down.to_vec(),
            ..LinkRecord::default()
        };
        let fabric = |links: Vec<LinkRecord>| {
            let record = RunRecord { nodes: nodes.clone(), links, ..record() };
            Summary::new(&record, &RunFacts::default()).metric("utilisation.fabric")
        };
        let near = |found: Option<f64>, told: f64| assert!((found.expect("measured") - told).abs() < 1e-9);
        let (whole, half) = (link(1, 2, 1_375_000, &[]), link(2, 1, 275_000, &[(at(10), at(65))]));
        let never = link(1, 2, 0, &[(Time::ZERO, Time::NEVER)]);
        near(fabric(vec![half.clone()]), 0.4);
        near(fabric(vec![whole, half, never.clone()]), (1.0 + 0.4 * 0.5) / 1.5);
        assert_eq!(fabric(vec![never]), None);
        assert_eq!(fabric(vec![link(1, 0, 1_375_000, &[]), link(0, 1, 9, &[])]), None, "hosts only");
    }

    #[test]
    fn the_busiest_queue_is_that_of_the_port_with_the_greatest_mean() {
        let mut series = QueueSeries {
            samples_per_bin: 2,
            samples: 5,
            links: vec![LinkId(3), LinkId(4)],
            sum: vec![10, 20, 0, 40, 7, 30],
            ..QueueSeries::default()
        };
        let queue = busiest(&series);
        assert_eq!((queue.count, queue.p50, queue.max), (3, Some(20.0), Some(30.0)), "10, 20 and 30 / 1");
        series.sum[2] = 100;
        assert_eq!(busiest(&series).max, Some(50.0), "now the other port has the greater mean");
        let record = RunRecord { queues: Some(series), ..RunRecord::default() };
        let links = Summary::new(&record, &RunFacts::default()).links;
        assert_eq!(links.busiest_queue.and_then(|queue| queue.p50), Some(7.0), "5, 50 and 7");
    }

    #[test]
    fn an_empty_record_has_no_percentiles_and_does_not_panic() {
        let summary = Summary::new(&RunRecord::default(), &RunFacts::default());
        assert_eq!((summary.fct_us.all.p50, summary.jain, summary.equal20.len()), (None, None, 0));
    }
}
