//! One flow followed through a run: every packet of it, wherever it is. Must not depend on how it is shown.

use crate::header::Header;
use crate::ids::FlowId;
use crate::record::{FlowSample, Reason};
use crate::segment::Segment;
use crate::units::Time;

/// Everything that happened to the packets of a flow, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowTrace {
    /// The flow.
    pub flow: FlowId,
    /// Its packets, in the order in which they were sent; [`TraceEvent::packet`] points here.
    pub packets: Vec<TracedPacket>,
    /// The events, ordered by time.
    pub events: Vec<TraceEvent>,
}

/// A packet as its sender wrote it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TracedPacket {
    /// The part that switches see.
    pub header: Header,
    /// Whether it travels from the flow's sender to its receiver.
    pub forward: bool,
    /// Payload in bytes.
    pub payload: u64,
    /// The part that its ends see, for transports whose packets are segments: TCP, RoCE and datagrams.
    pub segment: Option<Segment>,
}

impl TracedPacket {
    /// Its payload at an event; zero once a switch has trimmed it.
    #[must_use]
    pub fn payload_at(&self, event: &TraceEvent) -> u64 {
        if event.wire < self.header.wire { 0 } else { self.payload }
    }
}

/// Something that happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceEvent {
    /// The instant.
    pub time: Time,
    /// The event.
    pub step: TraceStep,
    /// The node, as an index into [`RunRecord::nodes`](crate::record::RunRecord::nodes).
    pub node: u32,
    /// The packet.
    pub packet: u32,
    /// Whether it then carries a congestion mark.
    pub marked: bool,
    /// Its size on the wire at that time, which a switch may have trimmed.
    pub wire: u16,
    /// The state of the flow's sender after receiving the packet; only for packets that it receives.
    pub sender: Option<FlowSample>,
}

/// The kinds of events of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceStep {
    /// Its first bit left a host.
    Sent,
    /// It arrived at a switch, which put it into a queue or dropped it.
    Queued,
    /// Its first bit left the switch.
    Left,
    /// It was dropped there, or on the link that leaves the node.
    Dropped(Reason),
    /// Its last bit arrived at a host.
    Received,
}

impl TraceStep {
    /// The name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            TraceStep::Sent => "sent",
            TraceStep::Queued => "queued",
            TraceStep::Left => "left",
            TraceStep::Dropped(_) => "dropped",
            TraceStep::Received => "received",
        }
    }
}
