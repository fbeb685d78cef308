//! The settings of pFabric. Nothing is computed here.

use weft_core::stack::Sizes;
use weft_core::{Bytes, Span, choice, settings};

/// Summary shown by `weft list`.
pub const SUMMARY: &str =
    "line rate from the start; switches serve and drop by packet rank (Alizadeh et al. 2013)";

choice! {
    /// The rank of a packet; smaller ranks are served first.
    pub enum RankBy {
        /// The unacknowledged bytes of the flow: shortest remaining first.
        Remaining = "remaining",
        /// The bytes that the flow has already sent: least attained service first, for senders that do not know flow
        /// sizes.
        Sent = "sent",
        /// The size of the flow: shortest first.
        Size = "size",
    }
}

settings! {
    /// pFabric.
    pub struct PfabricSettings {
        /// Largest IP packet.
        mtu: Bytes = Bytes(1_500),
        /// What a frame occupies on the wire beyond the IP packet: Ethernet header 14, FCS 4, preamble 8, gap 12.
        framing: Bytes = Bytes(38),
        /// Shorter frames are padded to this size on the wire: 64 bytes of Ethernet with preamble and gap.
        least_wire: Bytes = Bytes(84),
        /// IP 20 and pFabric 20.
        header: Bytes = Bytes(40),
        /// The first window in packets: a bandwidth-delay product.
        initial_window: u32 [1, 65536] = 12,
        /// Maximum window in packets.
        max_window: u32 [1, 65536] = 15,
        /// After this long without progress, everything in flight is considered lost; three round trips. It does not
        /// double.
        rto: Span = Span::from_us(45),
        /// After this many consecutive time-outs, a flow sends one packet without payload per `rto` until one is
        /// acknowledged.
        probe_after: u32 [1, 1000000] = 5,
        /// The rank of a packet.
        rank: RankBy = RankBy::Remaining,
        /// Priority class of payload.
        class: u32 [0, 7] = 0,
        /// Priority class of acknowledgements, whose rank is 0: they precede all payload in their queue.
        control_class: u32 [0, 7] = 0,
    }
}

impl PfabricSettings {
    /// The sizes of packets.
    #[must_use]
    pub fn sizes(&self) -> Sizes {
        Sizes { mtu: self.mtu, header: self.header, framing: self.framing, least_wire: self.least_wire }
    }
}
