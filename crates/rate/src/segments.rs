//! The segments by which RTT-based laws measure and pace (Mittal et al., SIGCOMM 2015, section 4).

use weft_core::{Bytes, Span, choice, settings};

choice! {
    /// How sending at a rate is spread over time.
    pub enum Pacing {
        /// Packet by packet: the next is sent after the size of the last divided by the rate.
        PerPacket = "per-packet",
        /// A whole segment is sent at line rate, the next one after the size of the segment divided by the rate.
        PerBurst = "per-burst",
    }
}

settings! {
    /// Segments of a message.
    pub struct SegmentSettings {
        /// Wire bytes per round-trip measurement, and per burst; the papers use 16 kB and 64 kB.
        segment: Bytes = Bytes(16_000),
        /// How packets are spread.
        pacing: Pacing = Pacing::PerPacket,
        /// Subtracted from every round trip, so that thresholds refer to queueing alone, as in the fluid model; the
        /// papers subtract nothing.
        base_rtt: Span = Span::ZERO,
    }
}
