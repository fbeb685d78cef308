//! The statistics of a run's flows, one record at a time: counts immediately, distributions from sorted rows at the
//! end. Memory does not depend on the number of flows. Must not depend on how results are shown.

mod ideals;
mod overtaking;
mod punctuality;
mod slow_flows;
mod slowest;
mod tail;
mod throughput;

pub use tail::{Tail, shares};

use crate::derived::{IdealSchedules, acknowledged_us, fct_us, size_class, slowdown};
use crate::rows::{FlowGroups, Sample, figure_of, figure_row};
use crate::summary::{
    Deadlines, FlowCounts, FlowMeasure, IdealTimes, Reordering, SizeClass, SlowFlows, Throughput, TimedOut,
};
use ideals::Ideals;
use overtaking::Overtaking;
use punctuality::Punctuality;
use slow_flows::SlowFlowList;
use slowest::Slowest;
use std::collections::BTreeMap;
use tail::Thinning;
use throughput::Throughputs;
use weft_core::record::{FlowRecord, HeldFlows, RunRecord};
use weft_core::{Bytes, Span, Time};
use weft_statistics::{Ascending, Distribution, Jain};
use weft_table::sorter::SpillError;
use weft_table::sorter::{Scratch, Sorter};

/// Number of equal-count classes (the convention of the HPCC family of simulators). Flows of one size share a class, so
/// there may be fewer.
const CLASSES: u64 = 20;

/// Statistics of the flows of a run. They cover flows that start at or after the end of the warm-up.
#[derive(Clone, Debug, Default)]
pub struct FlowStatistics {
    pub(crate) flows: FlowCounts,
    pub(crate) fct_us: FlowMeasure,
    pub(crate) slowdown: FlowMeasure,
    pub(crate) fct_acknowledged_us: FlowMeasure,
    pub(crate) equal20: Vec<SizeClass>,
    pub(crate) reordering: Reordering,
    pub(crate) delivered_bits: u64,
    pub(crate) jain: Option<f64>,
    pub(crate) throughput_gbps: Throughput,
    pub(crate) retransmitted_bytes: u64,
    pub(crate) important_bytes: u64,
    pub(crate) timeouts: u64,
    pub(crate) timed_out: TimedOut,
    /// Flows with at least two time-outs in a row.
    pub(crate) starved: u64,
    /// Flows with time-outs, by tag; only tags that have any.
    pub(crate) timed_out_tags: BTreeMap<String, u64>,
    pub(crate) slowest: Vec<SlowFlows>,
    /// Completion times for a plot of the tail.
    pub fct_tail: Tail,
    /// The slowest finished flows of each traffic entry and size class, the slowest first.
    pub slow_flows: Vec<FlowRecord>,
    /// The times of the flows that finished alone in the empty network, for the same plot.
    pub alone_tail: Tail,
    pub(crate) alone_us: FlowMeasure,
    pub(crate) ideal: Option<IdealTimes>,
    pub(crate) deadlines: Option<Deadlines>,
    pub(crate) held: HeldFlows,
    /// The earliest and the latest start of a measured flow.
    pub(crate) starts: Option<(Time, Time)>,
}

impl FlowStatistics {
    /// The statistics of the flows in a record, which are ordered by number.
    #[must_use]
    pub fn of(record: &RunRecord) -> FlowStatistics {
        const SURE: &str = "in memory nothing fails";
        let mut survey = RecordSurvey::new(record, Scratch::memory(), IdealSchedules::NONE);
        record.flows.iter().for_each(|flow| survey.add(flow).expect(SURE));
        survey.finish().expect(SURE)
    }
}

/// A survey in progress.
pub struct RecordSurvey<'a> {
    record: &'a RunRecord,
    scratch: Scratch,
    so_far: FlowStatistics,
    fairness: Jain,
    throughputs: Throughputs,
    overtaking: Overtaking,
    slowest: Slowest,
    slow_flows: SlowFlowList,
    ideals: Ideals,
    punctuality: Punctuality,
    /// Finished flows that were acknowledged.
    acknowledged: u64,
    samples: Sorter<5>,
}

impl<'a> RecordSurvey<'a> {
    /// The survey of a run, with these ideal schedules; flows are added in the order of their numbers.
    pub fn new(record: &'a RunRecord, scratch: Scratch, ideals: IdealSchedules) -> RecordSurvey<'a> {
        let samples = Sorter::new(&scratch, "samples");
        let (fairness, overtaking) = (Jain::default(), Overtaking::default());
        let throughputs = Throughputs::new(record.tags.len());
        RecordSurvey {
            record,
            scratch,
            so_far: FlowStatistics::default(),
            fairness,
            throughputs,
            overtaking,
            slowest: Slowest::default(),
            slow_flows: SlowFlowList::default(),
            ideals: Ideals::new(record, ideals),
            punctuality: Punctuality::new(record.tags.len()),
            acknowledged: 0,
            samples,
        }
    }

    /// Adds a flow.
    ///
    /// # Errors
    /// A file could not be written, if there are more flows than fit into memory.
    pub fn add(&mut self, flow: &FlowRecord) -> Result<(), SpillError> {
        let so_far = &mut self.so_far;
        let is_measured = flow.start >= self.record.warm_up;
        self.ideals.add(flow, is_measured && flow.end.is_some());
        if !is_measured {
            so_far.flows.warm_up += 1;
            return Ok(());
        }
        so_far.flows.started += 1;
        let (first, last) = so_far.starts.unwrap_or((flow.start, flow.start));
        so_far.starts = Some((first.min(flow.start), last.max(flow.start)));
        so_far.delivered_bits += flow.delivered.bits();
        so_far.retransmitted_bytes += flow.retransmitted.0;
        so_far.important_bytes += flow.important.0;
        so_far.timeouts += u64::from(flow.timeouts);
        so_far.held.add(flow, flow.end.map(|_| slowdown(flow)));
        let throughput = throughput(flow, self.record);
        self.fairness.add(throughput);
        self.throughputs.add(flow, throughput);
        self.slowest.add(flow);
        self.slow_flows.add(flow);
        self.punctuality.add(flow);
        if flow.timeouts > 0
            && let Some(tag) = self.record.tags.get(usize::from(flow.tag))
        {
            *so_far.timed_out_tags.entry(tag.clone()).or_default() += 1;
        }
        so_far.starved += u64::from(flow.timeouts_in_a_row >= 2);
        if flow.end.is_none() {
            so_far.flows.unfinished += 1;
            so_far.flows.open_bytes = so_far.flows.open_bytes.saturating_add(flow.size.0);
            so_far.flows.open_delivered_bytes += flow.delivered.0;
            *so_far.flows.open_age_us.get_or_insert(0.0) += age(flow, self.record.ended).micros();
            return Ok(());
        }
        so_far.flows.finished += 1;
        self.overtaking.add(flow);
        let (fct_us, alone_us) = (fct_us(flow), flow.ideal.micros());
        let acknowledged_us = acknowledged_us(flow);
        self.acknowledged += u64::from(acknowledged_us.is_some());
        let (size, number, tag) = (flow.size.0, flow.flow.0, flow.tag);
        let sample = Sample { size, flow: number, tag, fct_us, alone_us, acknowledged_us };
        self.samples.add(sample.row())
    }

    /// The statistics.
    ///
    /// # Errors
    /// A file could not be written or read, if there are more flows than fit into memory.
    pub fn finish(self) -> Result<FlowStatistics, SpillError> {
        let RecordSurvey { record, scratch, mut so_far, fairness, throughputs, overtaking, .. } = self;
        (so_far.timed_out, so_far.slowest) = self.slowest.finish();
        so_far.slow_flows = self.slow_flows.finish();
        so_far.ideal = self.ideals.finish();
        so_far.deadlines = self.punctuality.finish(record);
        so_far.reordering = overtaking.of(so_far.flows.finished, record.measured);
        so_far.jain = fairness.index();
        so_far.throughput_gbps = throughputs.finish(&record.tags);
        let [mut fct_us, mut slowdown, mut acknowledged, mut alone] =
            ["fct", "slowdown", "acknowledged", "alone"].map(|name| Sorter::new(&scratch, name));
        let mut members = Members::new(record.tags.len(), so_far.flows.finished);
        let mut known = Members::new(record.tags.len(), self.acknowledged);
        for sample in self.samples.sorted()? {
            let sample = Sample::of(&sample?);
            let groups = members.join(&sample);
            fct_us.add(figure_row(sample.fct_us, groups))?;
            slowdown.add(figure_row(sample.slowdown(), groups))?;
            alone.add(figure_row(sample.alone_us, groups))?;
            if let Some(figure) = sample.acknowledged_us {
                acknowledged.add(figure_row(figure, known.join(&sample)))?;
            }
        }
        let mut thinning = Thinning::new(so_far.flows.finished);
        let fct_us = members.distributions(fct_us, |figure| thinning.add(figure))?;
        let slowdown = members.distributions(slowdown, |_| {})?;
        let mut alone_thinning = Thinning::new(so_far.flows.finished);
        let alone = members.distributions(alone, |figure| alone_thinning.add(figure))?;
        (so_far.alone_us, so_far.alone_tail) = (alone.measured(&record.tags), alone_thinning.finish());
        so_far.fct_acknowledged_us = known.distributions(acknowledged, |_| {})?.measured(&record.tags);
        let classes = members.sizes.iter().zip(fct_us.classes.iter().zip(&slowdown.classes));
        let class = |(size, (fct_us, slowdown)): (&(u64, u64), (&Distribution, &Distribution))| SizeClass {
            from_bytes: size.0,
            to_bytes: size.1,
            fct_us: fct_us.clone(),
            slowdown: slowdown.clone(),
        };
        so_far.equal20 = classes.map(class).filter(|class| class.fct_us.count > 0).collect();
        so_far.fct_us = fct_us.measured(&record.tags);
        so_far.slowdown = slowdown.measured(&record.tags);
        so_far.fct_tail = thinning.finish();
        Ok(so_far)
    }
}

/// How long an open flow has taken or would have taken, at least. One that its sender gave up could not have met its deadline,
/// whether the run ended before or went on for long.
fn age(flow: &FlowRecord, ended: Time) -> Span {
    let given_up = flow.deadline.filter(|_| flow.terminated);
    given_up.unwrap_or_else(|| ended.since(flow.start))
}

/// Assigns flows to groups.
struct Members {
    joined: u64,
    finished: u64,
    buckets: [u64; 3],
    tags: Vec<u64>,
    classes: [u64; CLASSES as usize],
    /// Minimum and maximum size of each class.
    sizes: [(u64, u64); CLASSES as usize],
    /// The size and the class of the last flow.
    last: (u64, usize),
}

impl Members {
    fn new(tags: usize, finished: u64) -> Members {
        Members {
            joined: 0,
            finished,
            buckets: [0; 3],
            tags: vec![0; tags],
            classes: [0; CLASSES as usize],
            sizes: [(0, 0); CLASSES as usize],
            last: (0, 0),
        }
    }

    /// The groups of the next flow, in ascending order of size.
    fn join(&mut self, sample: &Sample) -> FlowGroups {
        let bucket = size_class(Bytes(sample.size));
        // Class n begins with flow n * finished / CLASSES, rounded down; flows of one size stay together.
        let by_rank = (((self.joined + 1) * CLASSES - 1) / self.finished) as usize;
        let class = if self.joined > 0 && self.last.0 == sample.size { self.last.1 } else { by_rank };
        self.last = (sample.size, class);
        self.joined += 1;
        self.buckets[bucket] += 1;
        if let Some(count) = self.tags.get_mut(usize::from(sample.tag)) {
            *count += 1;
        }
        let from = if self.classes[class] == 0 { sample.size } else { self.sizes[class].0 };
        self.sizes[class] = (from, sample.size);
        self.classes[class] += 1;
        FlowGroups { bucket: bucket as u8, class: class as u8, tag: sample.tag }
    }

    /// The distributions of a figure in all groups; `each` is called with every figure in ascending order.
    fn distributions(
        &self,
        figures: Sorter<2>,
        mut each: impl FnMut(f64),
    ) -> Result<Distributions, SpillError> {
        let open = |counts: &[u64]| counts.iter().map(|count| Ascending::new(*count)).collect::<Vec<_>>();
        let mut all = Ascending::new(self.finished);
        let (mut buckets, mut tags, mut classes) =
            (open(&self.buckets), open(&self.tags), open(&self.classes));
        for figure in figures.sorted()? {
            let (figure, groups) = figure_of(&figure?);
            each(figure);
            all.add(figure);
            buckets[usize::from(groups.bucket)].add(figure);
            classes[usize::from(groups.class)].add(figure);
            if let Some(tag) = tags.get_mut(usize::from(groups.tag)) {
                tag.add(figure);
            }
        }
        let close = |open: Vec<Ascending>| open.into_iter().map(Ascending::finish).collect();
        Ok(Distributions {
            all: all.finish(),
            buckets: close(buckets),
            tags: close(tags),
            classes: close(classes),
        })
    }
}

/// The distributions of a figure.
struct Distributions {
    all: Distribution,
    buckets: Vec<Distribution>,
    tags: Vec<Distribution>,
    classes: Vec<Distribution>,
}

impl Distributions {
    fn measured(self, tags: &[String]) -> FlowMeasure {
        let [small, medium, large] = self.buckets.try_into().expect("there are three buckets");
        let tags = if tags.len() > 1 { tags } else { &[] };
        let tags: BTreeMap<_, _> = tags.iter().cloned().zip(self.tags).collect();
        FlowMeasure { all: self.all, small, medium, large, tags }
    }
}

/// Delivered payload divided by the time the flow was open, bits per second.
fn throughput(flow: &FlowRecord, record: &RunRecord) -> f64 {
    let open = flow.end.map_or_else(|| age(flow, record.ended), |end| end.since(flow.start)).seconds();
    if open > 0.0 { flow.delivered.bits() as f64 / open } else { 0.0 }
}
