//! What the two ends of a flow tell each other: the cold column of the packet pool. Switches never look here.

use weft_core::{Class, Ecn, FlowId, Kind, Time};

/// A segment: one cache line. Sequence numbers count payload bytes from 0; a FIN counts as one byte after the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// First payload byte.
    pub seq: u64,
    /// Next byte expected by the sender of this segment.
    pub ack: u64,
    /// When it was sent; echoed by the receiver (RFC 7323 with picoseconds).
    pub sent: Time,
    /// The send time of the packet that this acknowledges.
    pub echo: Time,
    /// Selective acknowledgements, the most recent first, relative to `ack`.
    pub sack: [Block; 3],
    /// Its flow.
    pub flow: FlowId,
    /// Payload bytes.
    pub len: u16,
    /// What else it says.
    pub flags: Flags,
}

/// A block of bytes received out of order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// First byte, counted from the segment's `ack`.
    pub start: u32,
    /// Bytes; 0: no block.
    pub len: u32,
}

/// Bits of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u16);

impl Flags {
    /// Opens a connection.
    pub const SYN: Flags = Flags(1);
    /// `ack` is valid.
    pub const ACK: Flags = Flags(2);
    /// The last byte has been sent.
    pub const FIN: Flags = Flags(4);
    /// Echo of a congestion mark.
    pub const ECE: Flags = Flags(8);
    /// The window was reduced because of an echo.
    pub const CWR: Flags = Flags(16);
    /// Payload that was sent before; for statistics, no end acts on it.
    pub const AGAIN: Flags = Flags(32);
    /// The acknowledged packet had arrived before (RFC 2883).
    pub const DUPLICATE: Flags = Flags(64);

    /// Whether all bits of `other` are set.
    #[must_use]
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// With the bits of `other` if `condition` holds.
    #[must_use]
    pub const fn with(self, other: Flags, condition: bool) -> Flags {
        if condition { Flags(self.0 | other.0) } else { self }
    }
}

impl Segment {
    /// First byte after the payload; a FIN counts.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.seq + u64::from(self.len) + u64::from(self.flags.has(Flags::FIN))
    }
}

/// A packet an end wants to send. The host adds addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// What the other end reads.
    pub segment: Segment,
    /// Size on the wire.
    pub wire: u16,
    /// What it carries.
    pub kind: Kind,
    /// Its priority.
    pub class: Class,
    /// Whether it may be marked.
    pub ecn: Ecn,
    /// Source port (high 16 bits) and destination port.
    pub ports: u32,
}

/// The ports of a flow, from its number: source ports spread over the dynamic range, one service port per 2^14 flows.
#[must_use]
pub fn ports(flow: FlowId, reverse: bool) -> u32 {
    let (source, destination) = (0xc000 | (flow.0 & 0x3fff), 5_000 + (flow.0 >> 14));
    if reverse { destination << 16 | source } else { source << 16 | (destination & 0xffff) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_a_cache_line() {
        assert!(size_of::<Segment>() <= 64, "{}", size_of::<Segment>());
    }

    #[test]
    fn both_directions_of_a_flow_swap_their_ports() {
        let (forth, back) = (ports(FlowId(70_000), false), ports(FlowId(70_000), true));
        assert_eq!(forth, back.rotate_left(16));
        assert_ne!(ports(FlowId(1), false), ports(FlowId(2), false));
    }
}
