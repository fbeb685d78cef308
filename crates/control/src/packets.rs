//! The packets of a case as time series in the form of the fluid model: queue of the bottleneck and rates of the flows.

use weft_core::record::{FlowSample, Quantity, RunRecord, Stop};
use weft_core::{Span, Time};
use weft_plan::{Engine, FlowSampling, Setup};

use crate::subject::Subject;
use weft_prepare::{Error, Prepared};

/// Number of queue samples in a run.
const LOOKS: u64 = 20_000;
/// Maximum number of values kept, over all queues.
const CELLS: usize = 4_000_000;
/// Queue samples per sample of the flows.
const FLOWS_LESS: u64 = 20;

/// The series of a packet run.
#[derive(Clone, Debug, Default)]
pub(crate) struct PacketSeries {
    /// Seconds and kilobytes, in equal steps.
    pub(crate) time: Vec<f64>,
    pub(crate) queue: Vec<f64>,
    pub(crate) flows: Vec<RateTrace>,
    /// Length in seconds that both models cover: to the end, or until the first flow completes.
    pub(crate) until: f64,
    pub(crate) done: usize,
    pub(crate) dropped: u64,
}

/// The series of a flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct RateTrace {
    /// Seconds.
    pub(crate) time: Vec<f64>,
    /// The rate that its law allows, Gb/s on the wire.
    pub(crate) rate: Vec<f64>,
    /// The rate acknowledged in the second half, Gb/s, with headers and framing.
    pub(crate) mean: f64,
}

/// Simulates a case.
pub(crate) fn simulate(
    (case, subject): (&Prepared, &Subject),
    until: Span,
    engine: &dyn Engine,
) -> Result<PacketSeries, Error> {
    of_setup(case.setup(subject.seed)?, subject, until, engine)
}

/// Simulates the run of a case, possibly with other flows than those of the scenario.
pub(crate) fn of_setup(
    mut setup: Setup,
    subject: &Subject,
    until: Span,
    engine: &dyn Engine,
) -> Result<PacketSeries, Error> {
    let every = Span((until.0 / LOOKS).max(Span::from_ns(100).0));
    let flows = setup.flows.len() as u32;
    setup.warm_up = Time::ZERO;
    setup.until = Time::ZERO + until;
    setup.queues_every = Some(every);
    setup.queues_averaged = 1;
    setup.flow_samples = Some(FlowSampling { every: every * FLOWS_LESS, flows });
    let bins = (CELLS / setup.graph.links().len()).min(2 * LOOKS as usize);
    setup.queue_bins = Some(bins);
    let record = engine.run_keeping_flows(setup, &mut |_| true);
    if !record.measured.has(Quantity::Queues) {
        let name = engine.name();
        return Err(Error::BadInput(format!("the engine `{name}` does not measure queue lengths")));
    }
    if record.stop == Stop::Finished && record.flows.is_empty() {
        return Err(Error::Failed("no packet was sent".to_owned()));
    }
    Ok(seen(&record, subject, until))
}

fn seen(record: &RunRecord, subject: &Subject, until: Span) -> PacketSeries {
    let ends = record.flows.iter().filter_map(|flow| flow.end);
    let end = ends.clone().min().map_or(until.seconds(), |end| end.seconds().min(until.seconds()));
    let (time, queue) = queue(record, subject, end);
    let flow = |number: usize| flow(record, number, subject, end);
    PacketSeries {
        time,
        queue,
        flows: (0..record.flows.len()).map(flow).collect(),
        until: end,
        done: ends.count(),
        dropped: record.packets.dropped,
    }
}

/// The queue of the bottleneck in kilobytes.
fn queue(record: &RunRecord, subject: &Subject, end: f64) -> (Vec<f64>, Vec<f64>) {
    let Some(series) = &record.queues else { return Default::default() };
    let Some(column) = series.links.iter().position(|link| *link == subject.id) else {
        return Default::default();
    };
    let (ports, looks) = (series.links.len(), series.samples_per_bin);
    let step = series.every.seconds() * looks as f64;
    let bins = (series.samples / looks) as usize;
    let of = |bin: usize| (bin as f64 * step, series.sum[bin * ports + column] as f64 / looks as f64 / 1e3);
    (0..bins).map(of).take_while(|(time, _)| *time <= end).unzip()
}

fn flow(record: &RunRecord, number: usize, subject: &Subject, end: f64) -> RateTrace {
    let rows = record.flow_series.iter().flat_map(|series| &series.rows);
    let own: Vec<&FlowSample> =
        rows.filter(|row| row.flow.index() == number && row.time.seconds() <= end).collect();
    let rated = own.iter().filter_map(|row| row.rate.map(|rate| (row.time.seconds(), rate.gbps())));
    let (time, rate) = rated.unzip();
    let late = own.iter().find(|row| row.time.seconds() >= end / 2.0);
    let mean = late.zip(own.last()).map_or(0.0, |(from, to)| {
        let packets = (to.acknowledged.0 - from.acknowledged.0) as f64 / subject.payload.0 as f64;
        let seconds = to.time.seconds() - from.time.seconds();
        if seconds > 0.0 { subject.unit.bits(packets) / seconds / 1e9 } else { 0.0 }
    });
    RateTrace { time, rate, mean }
}
