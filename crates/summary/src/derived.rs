//! Values derived from single rows of a record, and the parts of a record that are kept. Must not depend on
//! statistics.

use weft_core::Bytes;
use weft_core::record::{ArrivalRecord, FlowRecord, LinkRecord, Measured, Quantity, QueueSeries, RunRecord};

/// Upper ends of the classes "small" and "medium", bytes (the buckets of pFabric, PIAS and DRILL).
pub const PAPER_BUCKETS: [u64; 2] = [100_000, 10_000_000];

/// An ideal schedule that can be computed besides the bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdealSchedule {
    /// One switch between all hosts, with a greedy matching by remaining size.
    BigSwitch,
    /// Each host's link serves the flow with the least remaining bytes first.
    ShortestRemaining,
    /// Each host's link serves the smallest flow first.
    ShortestFirst,
    /// Each host's link serves the flows with the least attained service.
    LeastAttained,
    /// Each host's link is shared equally.
    ProcessorSharing,
}

impl IdealSchedule {
    /// All of them, in the order of their names.
    pub const ALL: [IdealSchedule; 5] = [
        IdealSchedule::BigSwitch,
        IdealSchedule::ShortestRemaining,
        IdealSchedule::ShortestFirst,
        IdealSchedule::LeastAttained,
        IdealSchedule::ProcessorSharing,
    ];

    /// The last word of its metric.
    #[must_use]
    pub const fn metric(self) -> &'static str {
        match self {
            IdealSchedule::BigSwitch => "big_switch",
            IdealSchedule::ShortestRemaining => "srpt",
            IdealSchedule::ShortestFirst => "sjf",
            IdealSchedule::LeastAttained => "las",
            IdealSchedule::ProcessorSharing => "ps",
        }
    }
}

/// A set of ideal schedules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdealSchedules(u8);

impl IdealSchedules {
    /// None of them.
    pub const NONE: IdealSchedules = IdealSchedules(0);
    /// All of them.
    pub const ALL: IdealSchedules = IdealSchedules(0b1_1111);

    /// This set and one more.
    #[must_use]
    pub const fn and(self, schedule: IdealSchedule) -> IdealSchedules {
        IdealSchedules(self.0 | 1 << schedule as u8)
    }

    /// Its members.
    pub fn iter(self) -> impl Iterator<Item = IdealSchedule> {
        IdealSchedule::ALL.into_iter().filter(move |of| self.0 >> *of as u8 & 1 == 1)
    }
}

/// The parts of a record that are written, and how. A part that is left out appears in no table, statistic or plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// One row per flow.
    pub flows: bool,
    /// One row per direction of a cable.
    pub links: bool,
    /// Waiting times by hop.
    pub hops: bool,
    /// Queue lengths over time and their spread over parallel ports.
    pub queues: bool,
    /// Duplicate acknowledgements and displacement.
    pub reordering: bool,
    /// Drops by hop and reason; the total is always kept.
    pub drops: bool,
    /// The tables, besides the statistics.
    pub tables: bool,
    /// Ideal schedules computed beside the bounds.
    pub ideals: IdealSchedules,
    /// Which tables are written as CSV beside Parquet.
    pub csv: CsvTables,
}

/// Which tables are written as CSV beside Parquet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CsvTables {
    /// Those of at most [`CsvTables::SMALL`] rows.
    Small,
    /// All.
    All,
    /// None.
    Never,
}

impl CsvTables {
    /// Maximum number of rows of a small table.
    pub const SMALL: u64 = 10_000;

    /// Whether a table of `rows` rows belongs to this group.
    #[must_use]
    pub const fn takes(self, rows: u64) -> bool {
        match self {
            CsvTables::Small => rows <= CsvTables::SMALL,
            CsvTables::All => true,
            CsvTables::Never => false,
        }
    }
}

impl Kept {
    /// Everything that was recorded.
    pub const ALL: Kept = Kept {
        flows: true,
        links: true,
        hops: true,
        queues: true,
        reordering: true,
        drops: true,
        tables: true,
        ideals: IdealSchedules::NONE,
        csv: CsvTables::All,
    };

    /// Limits the parts to what the engine measured.
    #[must_use]
    pub fn of(self, measured: Measured) -> Kept {
        Kept {
            hops: self.hops && measured.has(Quantity::Waits),
            queues: self.queues && measured.has(Quantity::Queues),
            reordering: self.reordering && measured.has(Quantity::Reordering),
            drops: self.drops && measured.has(Quantity::Drops),
            ..self
        }
    }
}

/// The class of a size among those that [`PAPER_BUCKETS`] divides: 0 is small, 1 medium, 2 large.
#[must_use]
pub fn size_class(size: Bytes) -> usize {
    PAPER_BUCKETS.iter().filter(|end| size.0 > **end).count()
}

/// The tier of a node: 0 for hosts and nodes that the record does not know.
#[must_use]
pub fn tier(record: &RunRecord, number: u32) -> u8 {
    record.nodes.get(number as usize).map_or(0, |node| node.tier)
}

/// The name of a node, or its number if it has no name.
#[must_use]
pub fn node(record: &RunRecord, number: u32) -> String {
    record.nodes.get(number as usize).map_or_else(|| format!("node{number}"), |node| node.name.clone())
}

/// Completion time in microseconds; zero when unfinished.
#[must_use]
pub fn fct_us(flow: &FlowRecord) -> f64 {
    flow.end.map_or(0.0, |end| end.since(flow.start).micros())
}

/// Completion time as seen by the sender, in microseconds; `None` if no last acknowledgement arrived before the run
/// ended.
#[must_use]
pub fn acknowledged_us(flow: &FlowRecord) -> Option<f64> {
    flow.acknowledged.map(|at| at.since(flow.start).micros())
}

/// Completion time divided by the ideal time. A flow without an ideal time has slowdown 1.
#[must_use]
pub fn slowdown(flow: &FlowRecord) -> f64 {
    let ideal = flow.ideal.micros();
    if ideal > 0.0 { fct_us(flow) / ideal } else { 1.0 }
}

/// The time in which a link could send while flows arrived or, without that period, over the whole run, as a fraction of
/// the period, which begins with the traffic. 1 unless its cable was down.
#[must_use]
pub fn time_up(link: &LinkRecord, record: &RunRecord, window: Option<ArrivalRecord>) -> f64 {
    let until = window.map_or(record.ended, |arrivals| arrivals.until);
    let (up, all) = (link.up_between(record.begins, until), until.since(record.begins));
    if all.0 > 0 { up.seconds() / all.seconds() } else { 0.0 }
}

/// The share of its line rate at which a link sent in that time. A packet counts from its first bit; the part of it beyond
/// the end of the period, which would exceed 1, is cut off.
#[must_use]
pub fn utilisation(link: &LinkRecord, record: &RunRecord, window: Option<ArrivalRecord>) -> f64 {
    let (sent, until) = match window {
        Some(arrivals) => (link.sent_in_arrivals, arrivals.until),
        None => (link.sent, record.ended),
    };
    let capacity = link.rate.0 as f64 * link.up_between(record.begins, until).seconds();
    if capacity > 0.0 { (sent.bits() as f64 / capacity).min(1.0) } else { 0.0 }
}

/// The number of samples in a bin: all bins but the last are full.
#[must_use]
pub fn samples_in_bin(series: &QueueSeries, bin: usize) -> u64 {
    let before = bin as u64 * series.samples_per_bin;
    series.samples.saturating_sub(before).clamp(1, series.samples_per_bin.max(1))
}
