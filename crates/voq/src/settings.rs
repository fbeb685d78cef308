//! The `[switch.voq]` section of a scenario.

use weft_core::{Bytes, Rate, Span, settings};

settings! {
    /// Virtual output queues, credits and deep memory. The defaults describe a chassis of the Jericho class; values
    /// that vendors do not publish are assumptions (docs/src/chassis.md).
    pub struct VoqSettings {
        /// Packet processors, each with its own ports and its own queues for every output.
        groups: u32 [1, 64] = 1,
        /// The group of each port, in the order of the ports (at a leaf, those of its hosts first), counted from 0.
        /// Absent: blocks of adjacent ports.
        port_groups: Vec<u32> = Vec::new(),
        /// Maximum length of a virtual output queue.
        limit: Bytes = Bytes(200_000_000),
        /// Memory on the chip of each group.
        on_chip: Bytes = Bytes(16_000_000),
        /// A queue that would exceed this moves to deep memory; it returns to the chip once it has become empty.
        spill: Bytes = Bytes(200_000),
        /// Deep memory of the whole switch.
        deep: Bytes = Bytes(8_000_000_000),
        /// Bandwidth of the deep memory, reads and writes together.
        deep_rate: Rate = Rate::from_gbps(900),
        /// Bytes that one credit lets a queue send. The last packet may exceed it; the excess is deducted from the
        /// next credit. A queue that runs empty keeps the rest.
        credit: Bytes = Bytes(4_096),
        /// Credits are granted at this multiple of the line rate.
        speedup: f64 [1.0, 2.0] = 1.02,
        /// Delay of a request to the output, and of a credit back.
        credit_delay: Span = Span::from_ns(250),
        /// Delay of a packet across the fabric.
        crossing: Span = Span::from_ns(500),
        /// No credit is granted while this many bytes are granted, on their way or waiting behind the fabric. Credit that
        /// empty queues keep does not count.
        output: Bytes = Bytes(131_072),
    }
}

impl VoqSettings {
    /// The group of port `port` in a switch with `ports` ports.
    #[must_use]
    pub fn group_of(&self, port: usize, ports: usize) -> u16 {
        let block = || port * self.groups as usize / ports;
        self.port_groups.get(port).map_or_else(block, |group| *group as usize) as u16
    }
}
