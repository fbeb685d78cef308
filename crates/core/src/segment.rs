//! The part of a packet that only the ends of a flow see, and what an end hands to the network card. Must not depend
//! on windows or timers.
//!
//! A flow carries payload in one direction, bytes `0..size`; the other direction carries acknowledgements only.
//! Opening and closing take no sequence numbers: the closing flag is on the last payload, whose acknowledgement
//! confirms it.

use crate::header::{Class, Ecn, Header, Marks, PacketKind};
use crate::ids::FlowId;
use crate::stack::{Layout, Side};
use crate::units::{Span, Time};

pub use crate::needs::Needs;
pub use crate::toll::Toll;

/// Maximum number of selective acknowledgement blocks in a segment; a TCP header with timestamps has room for three
/// (RFC 2018).
pub const MAX_BLOCKS: usize = 3;

/// Flags of the transport header, and what a receiver knows implicitly. The names are TCP's; another transport may
/// give them other meanings, except that a segment with [`Flags::ACK`] goes to the sender of its flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// Opens the connection.
    pub const SYN: Flags = Flags(1);
    /// Carries an acknowledgement.
    pub const ACK: Flags = Flags(2);
    /// Nothing follows.
    pub const FIN: Flags = Flags(4);
    /// A congestion mark was seen (RFC 3168).
    pub const ECE: Flags = Flags(8);
    /// The window has been reduced (RFC 3168).
    pub const CWR: Flags = Flags(16);
    /// A retransmission; in an acknowledgement, the packet whose time is echoed was a retransmission.
    pub const AGAIN: Flags = Flags(32);
    /// Acknowledges payload that had already arrived (a duplicate SACK block, RFC 2883).
    pub const DUPLICATE: Flags = Flags(64);
    /// A datagram: it is not acknowledged.
    pub const DATAGRAM: Flags = Flags(128);

    /// Whether all of `other` are set.
    #[must_use]
    #[inline]
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// These and `other`.
    #[must_use]
    #[inline]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// These but `other`.
    #[must_use]
    pub const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }

    /// These, and `other` if `condition`.
    #[must_use]
    #[inline]
    pub const fn with_if(self, condition: bool, other: Flags) -> Flags {
        if condition { self.with(other) } else { self }
    }
}

/// A block of bytes received beyond the cumulative acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// First byte, counted from the acknowledgement number.
    pub offset: u32,
    /// How many bytes; zero: no block.
    pub length: u32,
}

/// The number of blocks of a segment in use. Four values in a byte leave room to mark a packet that is not a segment,
/// so that other layouts share the 64 bytes without an extra byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum BlockCount {
    /// None.
    #[default]
    Zero,
    /// The first.
    One,
    /// The first two.
    Two,
    /// All.
    Three,
}

impl BlockCount {
    /// A count of at most [`MAX_BLOCKS`].
    #[must_use]
    #[inline]
    pub const fn new(count: usize) -> BlockCount {
        match count {
            0 => BlockCount::Zero,
            1 => BlockCount::One,
            2 => BlockCount::Two,
            _ => BlockCount::Three,
        }
    }

    /// The number.
    #[must_use]
    #[inline]
    pub const fn get(self) -> usize {
        self as usize
    }
}

/// The layout of TCP, queue pairs and datagrams: 64 bytes that only the ends interpret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Its flow.
    pub flow: FlowId,
    /// Payload in bytes.
    pub length: u16,
    /// Flags.
    pub flags: Flags,
    /// How many of `blocks` are in use; the first holds the packet being acknowledged (RFC 2018).
    pub blocks_used: BlockCount,
    /// First payload byte. In an acknowledgement: the receive window, if it tunes itself, otherwise 0.
    pub sequence: u64,
    /// All bytes below this have arrived; [`Segment::EVERYTHING`] if the whole flow has.
    pub ack: u64,
    /// When it was sent.
    pub sent: Time,
    /// In an acknowledgement: when the acknowledged packet was sent; of several, the first. In payload: its [`Toll`].
    pub echo: Time,
    /// Blocks that have arrived beyond `ack`.
    pub blocks: [Block; MAX_BLOCKS],
}

impl Segment {
    /// The acknowledgement number of a receiver that has everything and no longer knows the size.
    pub const EVERYTHING: u64 = u64::MAX;

    /// The byte after the payload.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.sequence + self.length as u64
    }

    /// In an acknowledgement of payload that had already arrived: its first byte. It is in the block after those in
    /// use, which are then one fewer than the maximum, and may lie on either side of the acknowledgement number.
    #[must_use]
    pub fn duplicate(&self) -> Option<u64> {
        let block = self.blocks.get(self.blocks_used.get())?;
        let start = self.ack.wrapping_add_signed(i64::from(block.offset.cast_signed()));
        self.flags.has(Flags::DUPLICATE).then_some(start)
    }

    /// The blocks in use as byte ranges.
    #[inline]
    pub fn sacked(&self) -> impl Iterator<Item = (u64, u64)> {
        let first = self.ack;
        let used = &self.blocks[..self.blocks_used.get()];
        used.iter().map(move |block| {
            let start = first + u64::from(block.offset);
            (start, start + u64::from(block.length))
        })
    }
}

/// In payload packets `echo` is free and holds the toll: the time held, shifted left by one, and in the lowest bit
/// whether a queue was congested.
impl Layout for Segment {
    #[inline]
    fn flow(&self) -> FlowId {
        self.flow
    }

    #[inline]
    fn payload(&self) -> u64 {
        u64::from(self.length)
    }

    #[inline]
    fn side(&self, _header: &Header) -> Side {
        if self.flags.has(Flags::ACK) { Side::Sender } else { Side::Receiver }
    }

    #[inline]
    fn has_toll(&self) -> bool {
        self.echo != Time::ZERO
    }

    #[inline]
    fn toll(&self) -> Toll {
        Toll { held: Span(self.echo.0 >> 1), congested: self.echo.0 & 1 == 1 }
    }

    fn add_toll(&mut self, toll: Toll) {
        let sum = self.toll().and(toll);
        self.echo = Time(sum.held.0 << 1 | u64::from(sum.congested));
    }
}

/// A segment that an end wants to send. The host adds the addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The segment that the other end will see.
    pub segment: Segment,
    /// Size on the wire, framing included.
    pub wire: u16,
    /// Its kind, as switches distinguish it.
    pub kind: PacketKind,
    /// Priority.
    pub class: Class,
    /// Whether switches may mark it.
    pub ecn: Ecn,
    /// Source (high half) and destination port.
    pub ports: u32,
}

impl Outgoing {
    /// The header, addresses aside.
    #[must_use]
    pub fn header(&self) -> Header {
        let Outgoing { wire, kind, class, ecn, ports, .. } = *self;
        Header { ports, wire, kind, class, marks: Marks { ecn }, ..Header::default() }
    }

    /// A segment and the header that an end has written.
    #[must_use]
    #[inline]
    pub const fn new(header: &Header, segment: Segment) -> Outgoing {
        let Header { ports, wire, kind, class, marks, .. } = *header;
        Outgoing { segment, wire, kind, class, ecn: marks.ecn, ports }
    }
}

/// Source and destination port of a flow in its own direction: the flow's number, spread over the ports from 1024 on, so
/// that no two flows between the same hosts share both.
#[must_use]
pub const fn ports(flow: FlowId) -> u32 {
    const SPREAD: u32 = 65_536 - 1_024;
    let source = 1_024 + flow.0 % SPREAD;
    let destination = 5_001 + flow.0 / SPREAD % (65_536 - 5_001);
    source << 16 | destination
}

/// The ports of the opposite direction.
#[must_use]
pub const fn reverse_ports(flow: FlowId) -> u32 {
    ports(flow).rotate_left(16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_segment_is_a_cache_line_and_needs_are_two_registers() {
        assert_eq!(size_of::<Segment>(), 64);
        assert_eq!(size_of::<Needs>(), 16);
    }

    #[test]
    fn tolls_add_up() {
        let mut segment = Segment::default();
        assert_eq!(segment.toll(), Toll::default());
        segment.add_toll(Toll { held: Span(7), congested: true });
        segment.add_toll(Toll { held: Span(1 << 50), congested: false });
        assert_eq!(segment.toll(), Toll { held: Span((1 << 50) + 7), congested: true });
        segment.echo = Time::ZERO;
        segment.add_toll(Toll { held: Span::ZERO, congested: true });
        assert_ne!(segment.echo, Time::ZERO, "it can be told from a packet that met nothing");
    }

    #[test]
    fn blocks_are_counted_from_the_acknowledgement() {
        let block = Block { offset: 1460, length: 2920 };
        let segment =
            Segment { ack: 1 << 40, blocks_used: BlockCount::One, blocks: [block; 3], ..Segment::default() };
        let start = (1 << 40) + 1460;
        assert_eq!(segment.sacked().collect::<Vec<_>>(), [(start, start + 2920)]);
    }

    #[test]
    fn ports_name_a_flow_in_both_directions() {
        let all: BTreeSet<u32> = (0..200_000).map(|n| ports(FlowId(n))).collect();
        assert_eq!(all.len(), 200_000);
        assert_eq!(reverse_ports(FlowId(7)) >> 16, ports(FlowId(7)) & 0xffff);
    }
}
