//! What a scenario can say of NDP. Nothing is computed here.

use weft_core::stack::Sizes;
use weft_core::{Bytes, Span, choice, settings};

/// One sentence for lists.
pub const SUMMARY: &str =
    "receiver-driven: a full first window, trimmed packets, paced pulls (Handley et al. 2017)";

choice! {
    /// Whose pull goes next among flows of one class.
    pub enum PullOrder {
        /// One pull for each flow in turn.
        Fair = "fair",
        /// All pulls of the flow that began to wait first.
        Fifo = "fifo",
    }
}

settings! {
    /// NDP.
    pub struct NdpSettings {
        /// Largest IP packet; NDP is meant for large ones, whose headers are small beside them.
        mtu: Bytes = Bytes(9_000),
        /// What a frame occupies on the wire beyond the IP packet: Ethernet header 14, FCS 4, preamble 8, gap 12.
        framing: Bytes = Bytes(38),
        /// A shorter frame is padded to this size on the wire: 64 bytes of Ethernet with preamble and gap.
        least_wire: Bytes = Bytes(84),
        /// IP 20 and NDP 20.
        header: Bytes = Bytes(40),
        /// Packets that a sender sends before anything comes back: at least what fits into a round trip.
        initial_window: u32 [1, 65536] = 30,
        /// Priority class of payload. A traffic entry's own class says besides in which order the receiver pulls: it serves a
        /// lower one first.
        class: u32 [0, 7] = 1,
        /// Priority class of acknowledgements, negative ones and pulls. Where switches trim, it is that of headers
        /// (`switch.trim.class`).
        control_class: u32 [0, 7] = 0,
        /// Which flow is pulled next, among those of one class.
        pull_order: PullOrder = PullOrder::Fair,
        /// A packet of which nothing was heard for so long, neither that it arrived nor that it was trimmed, is lost and sent
        /// again unasked. Each expiry in a row waits twice as long, up to `pull_timeout`.
        rto: Span = Span::from_ms(2),
        /// A sender that has something to send, nothing in flight and no pull for so long sends one packet unasked: pulls were
        /// lost, and their number comes back with the next.
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
