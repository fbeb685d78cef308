//! The slowest flows of a run, one by one, with the cause of each delay.

use crate::derived::{fct_us, node, size_class, slowdown};
use crate::summary::{DelayCause, held_by_pauses};
use crate::text::rounded;
use serde::{Deserialize, Serialize};
use weft_core::record::{FlowRecord, RunRecord};

/// The names of the size classes.
pub const SIZE_CLASSES: [&str; 3] = ["up to 100 kB", "up to 10 MB", "larger"];

/// A slow flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SlowFlow {
    /// Its number.
    pub flow: u32,
    /// Its traffic entry.
    pub tag: String,
    /// Index into [`SIZE_CLASSES`].
    pub class: usize,
    /// Sender.
    pub from: String,
    /// Receiver.
    pub to: String,
    /// Payload, bytes.
    pub size_bytes: u64,
    /// When it started, microseconds.
    pub start_us: f64,
    /// Completion time, microseconds.
    pub fct_us: f64,
    /// Completion time divided by its time in an empty network.
    pub slowdown: f64,
    /// Mean wait of its packets by hop, microseconds; empty when not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wait_us: Vec<f64>,
    /// Payload sent again, bytes.
    pub retransmitted_bytes: u64,
    /// Retransmission time-outs, including those of the SYN.
    pub timeouts: u32,
    /// Of these, those of the SYN.
    pub syn_timeouts: u32,
    /// Packets that arrived with a congestion mark.
    pub marks: u32,
    /// What delayed it: the first cause that applies.
    pub cause: String,
    /// How long pauses held it, microseconds: the mean over the packets held, plus its host's card.
    pub paused_us: f64,
}

impl SlowFlow {
    /// The slowest flows of a record.
    #[must_use]
    pub fn new(record: &RunRecord, flow: &FlowRecord) -> SlowFlow {
        let waits = &flow.waits.0;
        let hops = waits.iter().rposition(|wait| *wait > 0).map_or(0, |last| last + 1);
        SlowFlow {
            flow: flow.flow.0,
            tag: record.tags.get(usize::from(flow.tag)).cloned().unwrap_or_default(),
            class: size_class(flow.size),
            from: node(record, flow.source.0),
            to: node(record, flow.destination.0),
            size_bytes: flow.size.0,
            start_us: rounded(flow.start.0 as f64 / 1e6),
            fct_us: rounded(fct_us(flow)),
            slowdown: rounded(slowdown(flow)),
            wait_us: waits[..hops].iter().map(|wait| f64::from(*wait) / 1e3).collect(),
            retransmitted_bytes: flow.retransmitted.0,
            timeouts: flow.timeouts,
            syn_timeouts: flow.syn_timeouts,
            marks: flow.ecn_marks,
            cause: DelayCause::of(flow).words().to_owned(),
            paused_us: rounded(held_by_pauses(&flow.pauses).micros()),
        }
    }
}
