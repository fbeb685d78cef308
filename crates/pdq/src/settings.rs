//! The settings of PDQ's ends. Nothing is computed here.

use weft_core::stack::Sizes;
use weft_core::{Bytes, Span, settings};

/// Summary shown by `weft list`.
pub const SUMMARY: &str =
    "rates granted by switches, which pause all but the most critical flows (Hong et al. 2012)";

settings! {
    /// PDQ.
    pub struct PdqSettings {
        /// Largest IP packet.
        mtu: Bytes = Bytes(1_500),
        /// What a frame occupies on the wire beyond the IP packet: Ethernet header 14, FCS 4, preamble 8, gap 12.
        framing: Bytes = Bytes(38),
        /// Shorter frames are padded to this size on the wire: 64 bytes of Ethernet with preamble and gap.
        least_wire: Bytes = Bytes(84),
        /// IP 20, TCP 20, scheduling header 16.
        header: Bytes = Bytes(56),
        /// The round-trip time that a flow reports until it has measured its own.
        round_trip: Span = Span::from_us(100),
        /// Round trips between the probes of a paused flow that its switch does not list.
        probe_interval: f64 [0.01, 1000.0] = 1.0,
        /// After this long without an answer, and two measured round trips, packets in flight are considered lost and
        /// the flow probes. Each consecutive expiry waits twice as long.
        rto: Span = Span::from_ms(1),
        /// Early Termination: a flow gives up when its deadline can no longer be met.
        early_termination: bool = true,
        /// Priority class of payload.
        class: u32 [0, 7] = 0,
        /// Priority class of answers.
        control_class: u32 [0, 7] = 0,
    }
}

impl PdqSettings {
    /// The sizes of packets.
    #[must_use]
    pub fn sizes(&self) -> Sizes {
        Sizes { mtu: self.mtu, header: self.header, framing: self.framing, least_wire: self.least_wire }
    }
}
