//! The causes that delay flows: time-outs and, for each of the slowest flows, its first cause. Must not depend on
//! packets.

use serde::{Deserialize, Serialize};
use weft_core::Span;
use weft_core::record::{FlowPauses, FlowRecord};

/// Flows that waited for a retransmission timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimedOut {
    /// Measured flows with at least one time-out, finished or not.
    pub flows: u64,
    /// Of these, flows with a time-out of the packet that opens the connection.
    pub syn: u64,
    /// Mean completion time of those that finished, microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fct_us: Option<f64>,
    /// Mean completion time of all other measured flows that finished, microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others_fct_us: Option<f64>,
}

/// Why a flow took longer than it would alone; of several causes, the first counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DelayCause {
    /// The packet that opens the connection, or its answer, was lost.
    SynTimeout,
    /// The retransmission timer expired with payload in flight.
    Timeout,
    /// Payload was retransmitted without a time-out.
    Retransmission,
    /// Pauses of priority flow control account for at least half of its delay.
    Pause,
    /// None of these: its packets waited in queues, or its window or rate was small.
    Queueing,
}

impl DelayCause {
    /// All causes, in their order.
    pub const ALL: [DelayCause; 5] = [
        DelayCause::SynTimeout,
        DelayCause::Timeout,
        DelayCause::Retransmission,
        DelayCause::Pause,
        DelayCause::Queueing,
    ];

    /// The cause that delayed a flow that finished.
    #[must_use]
    pub fn of(flow: &FlowRecord) -> DelayCause {
        let lost = flow.end.map_or(0, |end| end.since(flow.start).0.saturating_sub(flow.ideal.0));
        match flow {
            _ if flow.syn_timeouts > 0 => DelayCause::SynTimeout,
            _ if flow.timeouts > 0 => DelayCause::Timeout,
            _ if flow.retransmitted.0 > 0 => DelayCause::Retransmission,
            _ if lost > 0 && held_by_pauses(&flow.pauses).0 * 2 >= lost => DelayCause::Pause,
            _ => DelayCause::Queueing,
        }
    }

    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            DelayCause::SynTimeout => "time-out of the opening packet",
            DelayCause::Timeout => "time-out of data",
            DelayCause::Retransmission => "retransmission",
            DelayCause::Pause => "pauses",
            DelayCause::Queueing => "queueing, window or rate",
        }
    }
}

/// Minimum time for which pauses held a flow: packets of a window wait at the same time, so their mean counts, not
/// their sum.
#[must_use]
pub fn held_by_pauses(pauses: &FlowPauses) -> Span {
    Span(pauses.held.0 / u64::from(pauses.packets.max(1))) + pauses.at_host
}

/// Slowest flows with the same cause.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlowFlows {
    /// The cause.
    pub cause: DelayCause,
    /// The number of flows.
    pub flows: u64,
    /// Their mean completion time, microseconds.
    pub fct_us: f64,
    /// Their mean slowdown.
    pub slowdown: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::Time;

    /// Packets of a window wait simultaneously: a pause of 1 ms that held 312 of them did not cost the flow 312 ms.
    #[test]
    fn a_pause_delays_a_flow_once() {
        let flow = |fct: u64| FlowRecord {
            end: Some(Time::ZERO + Span::from_us(fct)),
            pauses: FlowPauses { held: Span::from_us(312_000), packets: 312, ..FlowPauses::default() },
            ..FlowRecord::default()
        };
        assert_eq!(held_by_pauses(&flow(0).pauses), Span::from_us(1_000));
        assert_eq!(DelayCause::of(&flow(40_000)), DelayCause::Queueing);
        assert_eq!(DelayCause::of(&flow(1_900)), DelayCause::Pause);
    }
}
