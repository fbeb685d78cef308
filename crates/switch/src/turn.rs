//! The interface between a switch and its driver.

use std::collections::VecDeque;

use weft_core::record::Reason;
use weft_core::{Header, Headers, PacketId, PacketKind, PortId, Time};
use weft_pfc::PauseFrame;

use weft_foresight::Slot;

/// What the driver of a switch must carry out, in the order given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The idle transmitter of this port has something to send: call [`crate::Switch::transmit`].
    HasWork(PortId),
    /// At this instant, call [`crate::Switch::wake`] for this port.
    WakeAt(Time, PortId),
    /// A queued packet is dropped; the driver must free its slot in the pool.
    Dropped(PacketId, Reason),
}

/// A reused list of effects, drained by the driver after each call, the oldest first.
pub type Effects = VecDeque<Effect>;

/// The resources that a driver lends to a switch for one call.
#[derive(Debug)]
pub struct Turn<'a> {
    /// The time.
    pub now: Time,
    /// The headers of all packets.
    pub headers: &'a mut Headers,
    /// The list to which the switch appends effects.
    pub effects: &'a mut Effects,
}

impl Turn<'_> {
    /// Reborrows the turn. Functions that are not inlined get a reborrow, so that the caller's turn can stay in
    /// registers.
    #[inline(always)]
    pub(crate) fn again(&mut self) -> Turn<'_> {
        Turn { now: self.now, headers: self.headers, effects: self.effects }
    }
}

/// When a packet that was received leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// The port by which it leaves.
    pub port: PortId,
    /// Its first bit leaves.
    pub start: Time,
    /// Its last bit leaves.
    pub end: Time,
    /// Its size on the wire, bytes.
    pub wire: u16,
    /// The hop it leaves, from its header.
    pub hops: u8,
    /// Its kind, from its header.
    pub kind: PacketKind,
}

impl Departure {
    /// The departure of a packet with this slot on a port's link.
    #[inline(always)]
    pub(crate) fn of(header: &Header, port: PortId, Slot { start, end }: Slot) -> Departure {
        Departure { port, start, end, wire: header.wire, hops: header.hops, kind: header.kind }
    }
}

/// The outcome for a received packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// It leaves at a known time, by a port whose departures are foreseen, without further notice.
    LeavesAt(Departure),
    /// The same, unless the driver [revokes](crate::Switch::revoke) the departure before its first bit leaves. It overtakes the last
    /// packets of its port, this many, which leave [later](crate::Switch::overtaken).
    LeavesUnlessHeld(Departure, u32),
    /// Nothing has happened: the driver must [revoke](crate::Switch::revoke) the foreseen departures and call
    /// [`crate::Switch::receive`] again.
    RevokeFirst,
    /// It is queued at a port whose transmitter is idle: call [`crate::Switch::transmit`].
    Ready(PortId),
    /// It is queued at a port whose transmitter is busy, or whose queue is held: nothing to do now.
    Queued(PortId),
    /// It is queued at a port whose transmitter is busy until then: call [`crate::Switch::transmit_early`] at that instant, after
    /// all packets that arrive at it.
    QueuedUntil(PortId, Time),
    /// There was no room for it even without its payload: its header returns to its sender. Call
    /// [`crate::Switch::receive`] again, with the same port.
    Returned,
    /// It is dropped, for this reason; the driver must free its slot in the pool.
    Dropped(Reason),
}

/// An event of priority flow control at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseOrder {
    /// The pauses that the port requested are about to expire: those still needed are refreshed.
    Refresh,
    /// The far end pauses or resumes a queue.
    Hold {
        /// The queue.
        queue: usize,
        /// Whether it is paused.
        held: bool,
    },
    /// The watchdog of a lossless queue starts or stops discarding waiting and arriving packets.
    Discard {
        /// The queue.
        queue: usize,
        /// Whether it discards.
        on: bool,
    },
}

/// What a transmitter puts on the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// A packet.
    Packet(PacketId),
    /// A pause frame to the far end; it occupies the link for [`FRAME`](weft_pfc::FRAME) bytes.
    Frame(PauseFrame),
}

/// What a port that foresees departures puts on the link: where packets overtake each other, once the transmission has
/// ended after which it asked to be called; behind virtual output queues, once it is [woken](crate::Switch::wake).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SentEarly {
    /// A packet, and when it leaves. If an instant is given, ask again then.
    Packet(PacketId, Departure, Option<Time>),
    /// Nothing: ask again at this instant; until then packets of the first queue occupy the link, or credits are on
    /// their way.
    Later(Time),
}
