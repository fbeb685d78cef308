//! The record of an engine: the same for simulator and router, so that one report reads both. Must not depend on file
//! formats.

mod activity;
mod arbitration;
mod arrivals;
mod incident;
mod job;
mod measured;
mod path;
mod pause;
mod series;
mod time_series;
mod waits;

use crate::histogram::Histogram;
use crate::ids::{FlowId, HostId};
use crate::units::{Bytes, Rate, Span, Time};

pub use activity::Activity;
pub use arbitration::ArbitrationCounts;
pub use arrivals::ArrivalRecord;
pub use incident::{Incident, IncidentRecord};
pub use job::{JOB_MEASURES, JobPhase, JobRecord, Resource, StepRecord, TaskRecord};
pub use measured::{Measured, Quantity};
pub use path::PathSection;
pub use pause::{DeadlockRecord, FlowPauses, HELD_MEASURES, HeldFlows, PAUSE_MEASURES, PauseRecord};
pub use series::{
    FlowSample, FlowSeries, FlowState, ImbalanceRecord, QueueEvent, QueueEvents, QueueSeries, QueueStage,
};
pub use time_series::{GroupBin, LinkGroup, PausedLink, TimeBin, TimeSeries};
pub use waits::{HopWaits, WAIT_HOPS, WaitSum};

/// Everything measured in one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunRecord {
    /// Names of the traffic entries; [`FlowRecord::tag`] points here.
    pub tags: Vec<String>,
    /// Hosts first (node n is host n), then switches (node hosts + s is switch s).
    pub nodes: Vec<NodeRecord>,
    /// Every direction of every cable, indexed by [`LinkId`](crate::ids::LinkId).
    pub links: Vec<LinkRecord>,
    /// One row per flow due to start before the run ended, ordered by id; empty if they were handed out during the
    /// run.
    pub flows: Vec<FlowRecord>,
    /// Waiting times by hop, indexed by hop: 0 is the host's network card, 1 the first switch, and so on.
    pub hops: Vec<HopRecord>,
    /// Drops, one row per (hop, reason) that occurred, ordered.
    pub drops: Vec<DropRecord>,
    /// Queue lengths over time, when sampled.
    pub queues: Option<QueueSeries>,
    /// Lines of the queue monitor, if queues were monitored.
    pub queue_events: Option<QueueEvents>,
    /// Standard deviation of queue lengths over parallel ports, when sampled.
    pub imbalance: Vec<ImbalanceRecord>,
    /// The run over time, in bins, when recorded.
    pub series: Option<TimeSeries>,
    /// Failures, repairs and pause storms that the setup plans, ordered by time; some may lie after the end.
    pub incidents: Vec<IncidentRecord>,
    /// Windows of flows over time, when sampled.
    pub flow_series: Option<FlowSeries>,
    /// Whether any switch pauses senders: if so, a run without rows had no pauses; otherwise pauses do not apply.
    pub may_pause: bool,
    /// Pauses of priority flow control, one row per (link, class) that was paused or paused its far end, ordered.
    pub pauses: Vec<PauseRecord>,
    /// Cycles of ports that wait for each other, in the order in which they were found.
    pub deadlocks: Vec<DeadlockRecord>,
    /// What arbiters did about the upper links of a tree of three tiers; zero without PASE.
    pub arbitration: ArbitrationCounts,
    /// Cluster jobs, in the order of their traffic entries.
    pub jobs: Vec<JobRecord>,
    /// Events handled.
    pub events: u64,
    /// Link traversals by any packet, data or acknowledgement.
    pub packet_hops: u64,
    /// The fates of all packets.
    pub packets: PacketBalance,
    /// Simulated instant at which the run ended.
    pub ended: Time,
    /// Statistics cover flows that start at or after this instant.
    pub warm_up: Time,
    /// No traffic starts before this instant, and goodput and loads are averages from here on: the least `start` of the
    /// traffic entries.
    pub begins: Time,
    /// The part of the run in which flows arrived. `None`: flows start together or in turn, or the run ended before the last
    /// flow started or during the warm-up.
    pub arrivals: Option<ArrivalRecord>,
    /// Failures and repairs of cables scheduled after the end.
    pub late_changes: u64,
    /// Why the run ended.
    pub stop: Stop,
    /// The quantities that the engine measured; fields of others are empty.
    pub measured: Measured,
}

impl RunRecord {
    /// The part of the run over which loads are averaged. `None`: the whole run, because flows do not arrive over time, or most
    /// of what arrived came after the start of the last flow.
    #[must_use]
    pub fn averaged(&self) -> Option<ArrivalRecord> {
        self.arrivals.filter(|arrivals| arrivals.most)
    }

    /// The instant from which goodput is averaged: the end of the warm-up or, if later, the beginning of the traffic.
    #[must_use]
    pub fn measured_from(&self) -> Time {
        self.warm_up.max(self.begins)
    }
}

/// The fates of all packets: created = delivered + dropped + left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketBalance {
    /// Sent by hosts, data and acknowledgements.
    pub created: u64,
    /// Arrived at their hosts.
    pub delivered: u64,
    /// Lost.
    pub dropped: u64,
    /// Queued or in flight at the end.
    pub left: u64,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stop {
    /// Every flow finished, or was given up because of its deadline.
    #[default]
    Finished,
    /// The time limit of the scenario was reached with flows open.
    TimeLimit,
    /// The user interrupted it; results are valid up to [`RunRecord::ended`].
    Interrupted,
    /// Flows were open and nothing could finish them: hosts permanently cut off from each other, a cycle of paused
    /// ports, or no event left.
    Stuck,
}

/// A host or a switch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeRecord {
    /// `host12`, `leaf3`, `spine0`.
    pub name: String,
    /// Layer for drawing: 0 hosts, 1 switches with hosts, 2 above them, and so on.
    pub tier: u8,
}

/// One direction of a cable: the transmitter, its queue and the wire.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkRecord {
    /// Transmitting node.
    pub from: u32,
    /// Receiving node.
    pub to: u32,
    /// Port number at the transmitting node.
    pub port: u16,
    /// Line rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// Down for at least part of the run.
    pub failed: bool,
    /// When its cable is down, in order: from, until; [`Time::NEVER`] if it stays down.
    pub down: Vec<(Time, Time)>,
    /// Bytes sent, wire bytes.
    pub sent: Bytes,
    /// Of these, bytes sent while flows arrived; see [`RunRecord::arrivals`].
    pub sent_in_arrivals: Bytes,
    /// Packets sent.
    pub packets: u64,
    /// Packets dropped at this transmitter, any reason.
    pub dropped: u64,
    /// Packets marked at this transmitter.
    pub marked: u64,
    /// Packets trimmed to their headers at this transmitter.
    pub trimmed: u64,
    /// Headers for which there was no room and that were returned to their senders.
    pub returned: u64,
    /// Longest queue in wire bytes, including the packet in service.
    pub peak: Bytes,
    /// Time integral of the queue divided by the run's length, bytes.
    pub mean_queue: f64,
    /// Load that the flows would put on it if every switch split each of them equally over its shortest paths, as a
    /// fraction of its rate. `None`: it was down at the start, is not between switches, or flows do not arrive over
    /// time. Engines leave it empty.
    pub offered: Option<f64>,
}

impl LinkRecord {
    /// The time between two instants in which its cable was up.
    #[must_use]
    pub fn up_between(&self, from: Time, until: Time) -> Span {
        let lost = self.down.iter().map(|down| down.1.min(until).since(down.0.max(from)));
        lost.fold(until.since(from), |up, lost| Span(up.0 - lost.0))
    }
}

/// One flow, finished or not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowRecord {
    /// Its number in order of start.
    pub flow: FlowId,
    /// Its identifier in the flow file it was read from.
    pub listed: Option<u32>,
    /// Index of the traffic entry it belongs to.
    pub tag: u16,
    /// Sender.
    pub source: HostId,
    /// Receiver.
    pub destination: HostId,
    /// Payload to carry.
    pub size: Bytes,
    /// When the application started it.
    pub start: Time,
    /// When the last payload byte reached the receiving application in order; `None`: unfinished.
    pub end: Option<Time>,
    /// Its deadline, counted from its start; `None`: it has none.
    pub deadline: Option<Span>,
    /// The sender gave it up, because its deadline could not be met.
    pub terminated: bool,
    /// When the sender learned that, by its last acknowledgement; `None`: none arrived before the run ended, or none
    /// is ever sent.
    pub acknowledged: Option<Time>,
    /// Time the same flow would take alone in the empty network at full rate.
    pub ideal: Span,
    /// Payload delivered in order so far.
    pub delivered: Bytes,
    /// Retransmitted payload.
    pub retransmitted: Bytes,
    /// Payload sent in important packets (TLT), including retransmissions.
    pub important: Bytes,
    /// Retransmission time-outs.
    pub timeouts: u32,
    /// Of these, those of the packet that opens the connection.
    pub syn_timeouts: u32,
    /// The most retransmission time-outs without progress in between; up to 65535.
    pub timeouts_in_a_row: u32,
    /// Duplicate acknowledgements the receiver sent.
    pub dupacks: u32,
    /// Of these, sent while none of the flow's packets had been lost.
    pub dupacks_reorder: u32,
    /// Packets that arrived out of order.
    pub out_of_order: u32,
    /// Maximum displacement: packets between a late packet's position and the highest that had arrived.
    pub displacement: u32,
    /// Sum of the displacements of all late packets.
    pub displaced: u64,
    /// Batches delivered by the receive offload.
    pub gro_batches: u32,
    /// Packets that arrived with a congestion mark.
    pub ecn_marks: u32,
    /// Congestion notification packets that the receiver's card sent (RoCE).
    pub cnps_sent: u32,
    /// Of these, those that reached the sender while it was open.
    pub cnps: u32,
    /// Negative acknowledgements the receiver sent (RoCE).
    pub nacks: u32,
    /// The effect of priority flow control on it.
    pub pauses: FlowPauses,
    /// Where its packets waited, when recorded.
    pub waits: HopWaits,
}

/// Waiting at one hop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HopRecord {
    /// Time from arrival at the queue to the start of transmission, in nanoseconds, data packets only.
    pub wait_ns: Histogram,
}

/// Drops of one reason at one hop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropRecord {
    /// Hop at which the packet was lost: 0 is the sending host's card, 1 the first switch.
    pub hop: u8,
    /// The reason.
    pub reason: Reason,
    /// The number of packets.
    pub packets: u64,
    /// Their wire bytes.
    pub bytes: Bytes,
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The static buffer of the port is full.
    PortFull,
    /// The queue reached its dynamic threshold of the shared buffer.
    Threshold,
    /// The whole buffer is full.
    BufferFull,
    /// An active queue manager dropped a packet that cannot be marked.
    Early,
    /// No route to the destination.
    NoRoute,
    /// Queued on, or sent over, a link that is down.
    LinkDown,
    /// Random loss configured on a link.
    Loss,
    /// A lossless class has exhausted its headroom: too little was set aside.
    Headroom,
    /// The watchdog of priority flow control discards what a paused port holds.
    Watchdog,
    /// A lossy class exceeds the limit of its ingress port, or its pool is full.
    Ingress,
    /// A packet of smaller rank needed the room.
    Evicted,
    /// A red packet reached the threshold of its colour.
    Red,
    /// It had passed as many switches as its hop limit allows, because routes form a loop.
    HopLimit,
}

impl Reason {
    /// All reasons, in their order.
    pub const ALL: [Reason; 13] = [
        Reason::PortFull,
        Reason::Threshold,
        Reason::BufferFull,
        Reason::Early,
        Reason::NoRoute,
        Reason::LinkDown,
        Reason::Loss,
        Reason::Headroom,
        Reason::Watchdog,
        Reason::Ingress,
        Reason::Evicted,
        Reason::Red,
        Reason::HopLimit,
    ];

    /// The name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Reason::PortFull => "port_full",
            Reason::Threshold => "threshold",
            Reason::BufferFull => "buffer_full",
            Reason::Early => "early",
            Reason::NoRoute => "no_route",
            Reason::LinkDown => "link_down",
            Reason::Loss => "loss",
            Reason::Headroom => "headroom",
            Reason::Watchdog => "watchdog",
            Reason::Ingress => "ingress",
            Reason::Evicted => "evicted",
            Reason::Red => "red",
            Reason::HopLimit => "hop_limit",
        }
    }
}
