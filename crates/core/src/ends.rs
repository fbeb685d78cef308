//! What a host passes to an end of a flow when it opens, and what the end reports. Must not depend on transports.

use crate::header::Class;
use crate::ids::FlowId;
use crate::record::FlowState;
use crate::units::{Bytes, Rate, Span, Time};

/// Which ends of a flow are willing to use ECN: the one that opened the connection if it asks for ECN, the other if it
/// agrees when asked. They use it if both are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EcnConsent {
    /// The sending end.
    pub sender: bool,
    /// The receiving end.
    pub receiver: bool,
}

/// What an end needs to know about its flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowSite {
    /// Its number.
    pub flow: FlowId,
    /// Payload to carry; a flow carries at least one byte.
    pub size: Bytes,
    /// Line rate of the host's network card.
    pub line_rate: Rate,
    /// Payload rate of a flow sent as datagrams at a constant rate, whatever the transport.
    pub rate: Option<Rate>,
    /// Priority class of its payload, and with TCP also of its acknowledgements; absent: the transport's.
    pub class: Option<Class>,
    /// When it should finish, if it has a deadline.
    pub deadline: Option<Time>,
    /// The last round trip of its connection, if that is already open; otherwise the flow opens one.
    pub round_trip: Option<Span>,
    /// For a sender: payload beyond the in-order data that its receiver accepts at first; absent: no limit.
    pub receive_window: Option<Bytes>,
    /// Which ends are willing to use ECN; absent: both have the same settings, and the sender opens the connection.
    pub ecn: Option<EcnConsent>,
    /// Flows that already send from this host.
    pub others: u32,
    /// Seed of the run, for ends that draw random numbers.
    pub seed: u64,
}

/// The state and the counts of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderReport {
    /// Retransmitted payload.
    pub retransmitted: Bytes,
    /// Payload sent in important packets (TLT), including retransmissions.
    pub important: Bytes,
    /// Expiries of the retransmission timer, including those while opening.
    pub timeouts: u32,
    /// Of these, those of the packet that opens the connection.
    pub syn_timeouts: u32,
    /// The most expiries without progress in between.
    pub timeouts_in_a_row: u32,
    /// When the last payload was acknowledged; `None`: not yet, or this transport never acknowledges.
    pub completed: Option<Time>,
    /// Recoveries begun without a time-out.
    pub recoveries: u32,
    /// Reductions due to echoed marks.
    pub reductions: u32,
    /// Tail loss probes.
    pub probes: u32,
    /// Payload acknowledged; of datagrams: sent.
    pub acknowledged: Bytes,
    /// The sender's estimate of the payload in flight (pipe).
    pub in_flight: Bytes,
    /// Congestion window.
    pub cwnd: Bytes,
    /// Slow-start threshold; `u64::MAX` bytes while there is none.
    pub ssthresh: Bytes,
    /// Smoothed round trip; zero before the first measurement.
    pub srtt: Span,
    /// Current retransmission time-out.
    pub rto: Span,
    /// The wire rate at which it may send; `None`: its window decides.
    pub rate: Option<Rate>,
    /// Congestion notifications that arrived.
    pub notifications: u32,
    /// It gave up, because its deadline could not be met.
    pub terminated: bool,
    /// What recovery is doing.
    pub state: FlowState,
}

/// What a receiver saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverReport {
    /// Payload delivered in order; for datagrams, all that arrived, each counted once.
    pub delivered: Bytes,
    /// When the last byte was delivered; for datagrams, when the last of the flow arrived, so that less than its size
    /// may have been delivered.
    pub completed: Option<Time>,
    /// Duplicate acknowledgements: one for each packet that reached TCP beyond a gap while nothing in order was
    /// unacknowledged. Acknowledgements of payload that had already arrived are not counted.
    pub dupacks: u32,
    /// Of these, sent for a gap whose first bytes then arrived in their first transmission: reordering, not loss.
    pub dupacks_reorder: u32,
    /// Packets that, in their first transmission, arrived after one with later bytes; counted below the shim.
    pub out_of_order: u32,
    /// Of these, the maximum number of packets between a packet and the highest that had arrived.
    pub displacement: u32,
    /// The sum of these numbers over all such packets.
    pub displaced: u64,
    /// Batches that receive offload formed.
    pub gro_batches: u32,
    /// Congestion notifications sent.
    pub notifications: u32,
    /// Negative acknowledgements sent.
    pub nacks: u32,
    /// Packets with a congestion mark.
    pub ecn_marks: u32,
}
