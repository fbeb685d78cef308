//! The report of an end when it closes.

use weft_core::record::{FlowPauses, HopWaits};
use weft_core::{FlowId, Span, Time};
use weft_transport::{ReceiverReport, SenderReport};
use weft_workload::Flow;

/// The pauses and waits that the packets of a flow met on their way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Met {
    pub(crate) pauses: FlowPauses,
    pub(crate) waits: HopWaits,
}

/// The report of an end when it closes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Last {
    Sender { report: SenderReport, at_host: Span },
    Receiver { spec: Flow, report: ReceiverReport, met: Met },
}

/// A closed end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closed {
    pub(crate) flow: FlowId,
    pub(crate) at: Time,
    pub(crate) last: Last,
}
