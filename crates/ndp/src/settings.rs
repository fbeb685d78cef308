//! The settings of NDP. Nothing is computed here.

use weft_core::stack::Sizes;
use weft_core::{Bytes, Span, choice, settings};

/// Summary shown by `weft list`.
pub const SUMMARY: &str =
    "receiver-driven: a full first window, trimmed packets, paced pulls (Handley et al. 2017)";

choice! {
    /// The order in which flows of one class are pulled.
    pub enum PullOrder {
        /// One pull for each flow in turn.
        Fair = "fair",
        /// All pulls of the flow that started waiting first.
        Fifo = "fifo",
    }
}

settings! {
    /// NDP.
    pub struct NdpSettings {
        /// Largest IP packet; NDP is meant for packets that are large compared with their headers.
        mtu: Bytes = Bytes(9_000),
        /// What a frame occupies on the wire beyond the IP packet: Ethernet header 14, FCS 4, preamble 8, gap 12.
        framing: Bytes = Bytes(38),
        /// Shorter frames are padded to this size on the wire: 64 bytes of Ethernet with preamble and gap.
        least_wire: Bytes = Bytes(84),
        /// IP 20 and NDP 20.
        header: Bytes = Bytes(40),
        /// Packets sent before any feedback: at least a bandwidth-delay product.
        initial_window: u32 [1, 65536] = 30,
        /// Priority class of payload. A traffic entry's own class also sets the order in which the receiver pulls:
        /// lower classes first.
        class: u32 [0, 7] = 1,
        /// Priority class of acknowledgements, negative acknowledgements and pulls. Where switches trim, it is that
        /// of headers (`switch.trim.class`).
        control_class: u32 [0, 7] = 0,
        /// The order in which flows of one class are pulled.
        pull_order: PullOrder = PullOrder::Fair,
        /// A packet reported neither as received nor as trimmed for this long is considered lost and retransmitted
        /// without a pull. Each consecutive expiry waits twice as long, up to `pull_timeout`.
        rto: Span = Span::from_ms(2),
        /// A sender that has data, nothing in flight and no pull for this long sends one packet unasked: pulls must
        /// have been lost. The next pull carries their count.
        pull_timeout: Span = Span::from_ms(20),
    }
}

impl NdpSettings {
    /// The sizes of packets.
    #[must_use]
    pub fn sizes(&self) -> Sizes {
        Sizes { mtu: self.mtu, header: self.header, framing: self.framing, least_wire: self.least_wire }
    }
}
