//! A server of the cluster: cores, cycles per packet, cards, and the time a packet spends in it.

use weft_core::units::PS_PER_S;
use weft_core::{Bytes, Rate, Span};

/// The cost of a packet for a core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Cycles, whatever its size.
    pub cycles: f64,
    /// Cycles for each byte.
    pub per_byte: f64,
}

/// A server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServerModel {
    /// Cores that forward packets.
    pub cores: u16,
    /// Cycles per second of a core.
    pub frequency: f64,
    /// Work of the node that a packet enters: headers, look-up.
    pub route: Work,
    /// Work of the other nodes: moving it.
    pub relay: Work,
    /// Cycles of the node that a packet enters to keep flows in order and choose the path.
    pub avoidance: f64,
    /// What a card carries in each direction.
    pub card: Rate,
    /// Ports of a card; port 0 is the external one.
    pub ports_per_card: u16,
    /// One transfer between card and memory; a packet takes four in each server, two on each side.
    pub transfer: Span,
    /// Packets handed to a card at once (kn).
    pub batch: u32,
    /// How long an incomplete batch waits.
    pub batch_wait: Span,
    /// Packets that a queue of a card, or of a core, holds.
    pub ring: u32,
}

/// Bytes of the largest packet, by which the rings of cards are dimensioned.
const LARGEST: u64 = 1500;

impl ServerModel {
    /// The servers of RB4 (2009): 2 × 4 Nehalem cores at 2.8 GHz, cycles per packet from published instructions and
    /// cycles per instruction (forwarding 1033 × 1.19, routing 1512 × 1.23), 12.3 Gb/s per card as measured (24.6 Gb/s
    /// through two), the authors' latency estimate. Without order keeping.
    #[must_use]
    pub const fn of_2009() -> ServerModel {
        ServerModel {
            cores: 8,
            frequency: 2.8e9,
            route: Work { cycles: 1860.0, per_byte: 0.0 },
            relay: Work { cycles: 1229.0, per_byte: 0.0 },
            avoidance: 0.0,
            card: Rate::from_mbps(12_300),
            ports_per_card: 2,
            transfer: Span::from_ns(2_560),
            batch: 16,
            batch_wait: Span::from_ns(12_800),
            ring: 1024,
        }
    }

    /// The time a core takes for a packet.
    #[must_use]
    pub fn time(&self, entering: bool, size: Bytes) -> Span {
        let (work, more) = if entering { (self.route, self.avoidance) } else { (self.relay, 0.0) };
        let cycles = work.cycles + work.per_byte * size.0 as f64 + more;
        Span((cycles / self.frequency * PS_PER_S as f64).round() as u64)
    }

    /// The longest wait for a core.
    #[must_use]
    pub fn longest_wait(&self) -> Span {
        Span(self.time(true, Bytes(LARGEST)).0 * u64::from(self.ring))
    }

    /// The longest wait for a card or link of this rate.
    #[must_use]
    pub fn longest_queue(&self, rate: Rate) -> Span {
        rate.time_for(Bytes(LARGEST * u64::from(self.ring)))
    }

    /// Packets per second of all cores, if each packet takes one node's routing and another's moving.
    #[must_use]
    pub fn packets_per_second(&self, size: Bytes) -> f64 {
        let both = self.time(true, size).0 + self.time(false, size).0;
        f64::from(self.cores) * PS_PER_S as f64 / both as f64
    }
}
