//! Colours of packets, and transports that rely on the order of their packets. Must not depend on files or rules.

use weft_config::place::{Placed, Spot};
use weft_core::Bytes;

/// What a kind of switch does with red packets.
#[derive(Debug)]
pub(crate) struct RedPackets {
    pub(crate) at: Spot,
    /// The fixed threshold, if there is one.
    pub(crate) threshold: Option<Placed<Bytes>>,
    /// Whether senders of red packets go by marks.
    pub(crate) reads_marks: bool,
    /// Whether red packets are sent in a lossless class.
    pub(crate) lossless: bool,
    /// Transports whose payload shares a queue with red packets and is green.
    pub(crate) beside: Vec<String>,
}

/// A transport whose rules assume that the packets of a flow keep their order or their path.
#[derive(Debug)]
pub(crate) struct OrderedFlows {
    pub(crate) transport: String,
    /// The first balancer that sends packets of one flow over several paths, if a switch has one.
    pub(crate) sprayed: Option<Placed<String>>,
    /// What it does with packets out of order.
    pub(crate) assumes: ReliesOn,
    /// Duplicate acknowledgements that mean a loss, if that decides.
    pub(crate) patience: Option<Placed<u32>>,
}

/// What a transport assumes of the packets of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReliesOn {
    /// TLT: what an important packet overtook is lost.
    Order,
    /// PDQ: the links of one path see all requests.
    Path,
}
