//! What a scenario can say of pFabric. Nothing is computed here.

use weft_core::stack::Sizes;
use weft_core::{Bytes, Span, choice, settings};

/// One sentence for lists.
pub const SUMMARY: &str =
    "line rate from the start; switches serve and drop by packet rank (Alizadeh et al. 2013)";

choice! {
    /// What the rank of a packet says; a smaller rank goes first.
    pub enum RankBy {
        /// The bytes of the flow that are not acknowledged: shortest remaining first.
        Remaining = "remaining",
        /// The bytes of the flow that were sent before: least attained service first, for senders that do not know sizes.
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
        /// A shorter frame is padded to this size on the wire: 64 bytes of Ethernet with preamble and gap.
        least_wire: Bytes = Bytes(84),
        /// IP 20 and pFabric 20.
        header: Bytes = Bytes(40),
        /// Packets of the first window: a bandwidth-delay product.
        initial_window: u32 [1, 65536] = 12,
        /// The window does not grow beyond so many packets.
        max_window: u32 [1, 65536] = 15,
        /// Without progress for so long, all that is in flight is lost; three round trips. It does not double.
        rto: Span = Span::from_us(45),
        /// After so many time-outs in a row a flow sends one packet without payload per `rto` until that is answered.
        probe_after: u32 [1, 1000000] = 5,
        /// What the rank of a packet says.
        rank: RankBy = RankBy::Remaining,
        /// Priority class of payload.
        class: u32 [0, 7] = 0,
        /// Priority class of acknowledgements, whose rank is 0: they go before all payload of their queue.
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
