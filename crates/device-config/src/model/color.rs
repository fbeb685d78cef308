//! Colours of packets, and transports that rely on the order of their packets. Must not depend on files or rules.

use weft_config::place::{Placed, Spot};
use weft_core::Bytes;

/// How a kind of switch treats red packets.
#[derive(Debug)]
pub struct RedPackets {
    /// The setting that drops red packets early.
    pub at: Spot,
    /// The fixed threshold, if there is one.
    pub threshold: Option<Placed<Bytes>>,
    /// Whether senders of red packets react to marks.
    pub reads_marks: bool,
    /// Whether red packets are sent in a lossless class.
    pub lossless: bool,
    /// Transports whose payload shares a queue with red packets and is green.
    pub beside: Vec<String>,
}

/// A transport whose rules assume that the packets of a flow keep their order or their path.
#[derive(Debug)]
pub struct OrderedFlows {
    /// Its name.
    pub transport: String,
    /// The first balancer that sends packets of one flow over several paths, if a switch has one.
    pub sprayed: Option<Placed<String>>,
    /// How it treats packets out of order.
    pub assumes: ReliesOn,
    /// Duplicate acknowledgements that mean a loss, if that decides.
    pub patience: Option<Placed<u32>>,
}

/// An assumption of a transport about the packets of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReliesOn {
    /// TLT: packets that an important packet overtook are lost.
    Order,
    /// PDQ: the links of one path see all requests.
    Path,
}
