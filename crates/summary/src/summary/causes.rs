//! What holds flows up: time-outs and, for each of the slowest flows, its first cause. Knows counts of flows, no packets.

use serde::{Deserialize, Serialize};
use weft_core::record::FlowRecord;

/// Flows that waited for a retransmission timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimedOut {
    /// Measured flows with at least one time-out, finished or not.
    pub flows: u64,
    /// Of these, flows that waited for the packet that opens the connection.
    pub syn: u64,
    /// Mean completion time of those that finished, microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fct_us: Option<f64>,
    /// Mean completion time of all other measured flows that finished, microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others_fct_us: Option<f64>,
}

/// Why a flow took longer than alone; of several causes the first one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The packet that opens the connection, or its answer, was lost.
    SynTimeout,
    /// The retransmission timer expired with payload on its way.
    Timeout,
    /// Payload was sent again without a time-out.
    Retransmission,
    /// Pauses of priority flow control held it for at least half of the time that it lost.
    Pause,
    /// None of these: its packets waited in queues, or its window or rate was small.
    Queueing,
}

impl Cause {
    /// All causes, in their order.
    pub const ALL: [Cause; 5] =
        [Cause::SynTimeout, Cause::Timeout, Cause::Retransmission, Cause::Pause, Cause::Queueing];

    /// Of a flow that finished.
    pub(crate) fn of(flow: &FlowRecord) -> Cause {
        let lost = flow.end.map_or(0, |end| end.since(flow.start).0.saturating_sub(flow.ideal.0));
        match flow {
            _ if flow.syn_timeouts > 0 => Cause::SynTimeout,
            _ if flow.timeouts > 0 => Cause::Timeout,
            _ if flow.retransmitted.0 > 0 => Cause::Retransmission,
            _ if lost > 0 && (flow.pauses.held.0 + flow.pauses.at_host.0) * 2 >= lost => Cause::Pause,
            _ => Cause::Queueing,
        }
    }

    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Cause::SynTimeout => "time-out of a SYN",
            Cause::Timeout => "time-out of data",
            Cause::Retransmission => "retransmission",
            Cause::Pause => "pauses",
            Cause::Queueing => "queueing, window or rate",
        }
    }
}

/// Slowest flows with the same cause.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slow {
    /// What held them up.
    pub cause: Cause,
    /// How many.
    pub flows: u64,
    /// Their mean completion time, microseconds.
    pub fct_us: f64,
    /// Their mean slowdown.
    pub slowdown: f64,
}
