//! Samples over time: queues of ports, windows of senders, and how far parallel ports differ.

use std::sync::Arc;

use crate::histogram::Histogram;
use crate::ids::{FlowId, LinkId};
use crate::units::{Bytes, Rate, Span, Time};

/// Queue lengths over time in bins; a bin keeps the maximum and the mean of its samples. When the bins would exceed
/// their limit, neighbours are merged, so that memory does not grow with time and peaks are never lost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueSeries {
    /// Sampling interval.
    pub every: Span,
    /// The instant of the first sample, where the first bin begins.
    pub begins: Time,
    /// Samples per bin.
    pub samples_per_bin: u64,
    /// Which links, in the order of the columns.
    pub links: Vec<LinkId>,
    /// `peak[bin * links.len() + column]`, wire bytes.
    pub peak: Vec<u64>,
    /// `sum[bin * links.len() + column]`, sums of samples; divide by `samples_per_bin` (the last bin may hold fewer).
    pub sum: Vec<u64>,
    /// Samples taken in all.
    pub samples: u64,
}

/// The report of a queue monitor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueEvents {
    /// Its lines, ordered by time: the last million.
    pub lines: Vec<QueueEvent>,
    /// Lines before these, which were not kept.
    pub left_out: u64,
}

/// A line of a queue monitor about one queue that exceeds the threshold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueEvent {
    /// The instant of the sample.
    pub time: Time,
    /// Whether the queue became too long, still is, or no longer is.
    pub stage: QueueStage,
    /// The link of the output port.
    pub link: LinkId,
    /// The input ports that the packets came from, as in `0-3,12`: one group in a switch with virtual output queues,
    /// all ports in any other.
    pub inputs: Arc<str>,
    /// Wire bytes of the sample; at the end, of the longest since the start.
    pub length: Bytes,
    /// At the end: the time since the start.
    pub lasted: Option<Span>,
}

/// A stage of a queue that a monitor reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueStage {
    /// This sample exceeds the threshold; the one before did not.
    Start,
    /// This sample exceeds the threshold, like the one before.
    Update,
    /// This sample no longer exceeds the threshold.
    End,
}

impl QueueStage {
    /// The letter of the line.
    #[must_use]
    pub fn letter(self) -> &'static str {
        match self {
            QueueStage::Start => "S",
            QueueStage::Update => "U",
            QueueStage::End => "E",
        }
    }
}

/// The state of senders over time. Samples are taken at multiples of `every`; when the rows would exceed their limit,
/// every second sample is dropped and `every` doubles, so that memory does not grow with time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowSeries {
    /// Interval between the samples kept.
    pub every: Span,
    /// One row per sample and sampled flow open at that time, ordered by time, then flow.
    pub rows: Vec<FlowSample>,
}

/// The state of a sender at an instant, as `ss -ti` shows it on Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowSample {
    /// The instant.
    pub time: Time,
    /// The flow.
    pub flow: FlowId,
    /// Congestion window, payload.
    pub cwnd: Bytes,
    /// Slow-start threshold; `None` until there is one.
    pub ssthresh: Option<Bytes>,
    /// The sender's estimate of the payload in flight (pipe).
    pub in_flight: Bytes,
    /// Smoothed round trip; zero before the first measurement.
    pub srtt: Span,
    /// What recovery is doing.
    pub state: FlowState,
    /// Payload acknowledged.
    pub acknowledged: Bytes,
    /// Payload retransmitted so far.
    pub retransmitted: Bytes,
    /// The wire rate at which it may send; `None`: its window decides.
    pub rate: Option<Rate>,
}

/// The recovery state of a sender; the names are Linux's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlowState {
    /// Nothing is missing.
    #[default]
    Open,
    /// Packets arrived out of order, too few to declare a loss.
    Disorder,
    /// A mark was echoed; the window falls.
    Reducing,
    /// Something was lost and is being recovered.
    Recovery,
    /// The retransmission timer expired.
    Loss,
}

impl FlowState {
    /// The name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            FlowState::Open => "open",
            FlowState::Disorder => "disorder",
            FlowState::Reducing => "cwr",
            FlowState::Recovery => "recovery",
            FlowState::Loss => "loss",
        }
    }
}

/// Standard deviation of queue lengths over a set of parallel ports, averaged over samples and sets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImbalanceRecord {
    /// `uplinks of a leaf` or `spine ports towards a leaf`.
    pub name: String,
    /// Hop of these ports.
    pub hop: u8,
    /// Samples times sets.
    pub samples: u64,
    /// Mean population standard deviation in packets.
    pub packets: f64,
    /// Mean population standard deviation in bytes.
    pub bytes: f64,
    /// Mean population standard deviation in waiting packets, without the one in transmission.
    pub waiting: f64,
    /// Packets waiting at a port, one value per sample and port.
    pub lengths: Histogram,
}
