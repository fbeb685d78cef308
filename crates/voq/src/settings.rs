//! The `[switch.voq]` section of a scenario.

use weft_core::{Bytes, Rate, Span, settings};

settings! {
    /// Virtual output queues, credits and deep memory. The defaults describe a chassis of the Jericho class; what vendors do not
    /// publish is an assumption (docs/src/chassis.md).
    pub struct VoqSettings {
        /// Packet processors, each with the same number of neighbouring ports and queues of its own for every output.
        groups: u32 [1, 64] = 1,
        /// The most that one virtual output queue may hold.
        limit: Bytes = Bytes(200_000_000),
        /// TieredMemory on the chip of each group.
        on_chip: Bytes = Bytes(16_000_000),
        /// A queue that would hold more than this moves to deep memory, and back when it has run empty.
        spill: Bytes = Bytes(200_000),
        /// Deep memory of the whole switch.
        deep: Bytes = Bytes(8_000_000_000),
        /// Bandwidth of the deep memory, reads and writes together.
        deep_rate: Rate = Rate::from_gbps(900),
        /// What one credit lets a queue send; what it sends more is taken from the next.
        credit: Bytes = Bytes(4_096),
        /// Credits are granted at this multiple of the line rate.
        speedup: f64 [1.0, 2.0] = 1.02,
        /// How long a request takes to the output, or a credit back.
        credit_delay: Span = Span::from_ns(250),
        /// How long a packet takes across the fabric.
        crossing: Span = Span::from_ns(500),
        /// No credit is granted while so much is granted, on its way or waiting behind the fabric.
        output: Bytes = Bytes(131_072),
    }
}
