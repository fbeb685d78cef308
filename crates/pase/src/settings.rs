//! The settings of PASE's ends. Nothing is computed here.

use weft_core::settings::Share;
use weft_core::stack::Sizes;
use weft_core::{Bytes, Span, settings};

/// Summary shown by `weft list`.
pub const SUMMARY: &str =
    "classes and reference rates arbitrated by the links, DCTCP around them (Munir et al. 2014)";

settings! {
    /// PASE.
    pub struct PaseSettings {
        /// Largest IP packet.
        mtu: Bytes = Bytes(1_500),
        /// What a frame occupies on the wire beyond the IP packet: Ethernet header 14, FCS 4, preamble 8, gap 12.
        framing: Bytes = Bytes(38),
        /// Shorter frames are padded to this size on the wire: 64 bytes of Ethernet with preamble and gap.
        least_wire: Bytes = Bytes(84),
        /// IP 20, TCP 20, scheduling header 16.
        header: Bytes = Bytes(56),
        /// Whether links arbitrate; off: every flow sends by DCTCP in one class.
        arbitration: bool = true,
        /// Priority classes that links assign, from `class` on; switches need as many queues.
        queues: u32 [2, 8] = 8,
        /// The round-trip time that a flow reports until it has measured its own.
        round_trip: Span = Span::from_us(100),
        /// Round trips between the requests of a flow.
        interval: f64 [0.1, 1000.0] = 1.0,
        /// Window until the first grant, in packets.
        initial_window: u32 [1, 10000] = 10,
        /// Largest window, in packets.
        max_window: u32 [1, 100000] = 1000,
        /// Weight of the newest window in DCTCP's estimate (g).
        gain: Share [0.001, 1.0] = Share(1.0 / 16.0),
        /// Number of later packets of the same class that must arrive before an earlier one is considered lost.
        dup_threshold: u32 [1, 1000000] = 3,
        /// After this long without progress, a flow of the highest class considers its packets in flight lost.
        rto: Span = Span::from_ms(10),
        /// As `rto`, for flows of lower classes, whose packets may wait for a long time.
        low_rto: Span = Span::from_ms(200),
        /// Highest priority class of payload.
        class: u32 [0, 7] = 0,
        /// Priority class of answers and requests without payload.
        control_class: u32 [0, 7] = 0,
    }
}

impl PaseSettings {
    /// The sizes of packets.
    #[must_use]
    pub fn sizes(&self) -> Sizes {
        Sizes { mtu: self.mtu, header: self.header, framing: self.framing, least_wire: self.least_wire }
    }
}
