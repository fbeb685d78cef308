//! The transport of a run: the configured stack, the datagrams for flows with a constant rate, and packet sizes.
//! Holds no per-flow state.

use std::mem::discriminant;
use std::sync::Arc;

use weft_core::stack::{Classes, Frames, HostPart, Layout, Side, Sizes, Stack};
use weft_core::{Bytes, Class, Header, Rate, Time};

use crate::datagrams::{Datagrams, HEADER};
use crate::protocols::{AnyHost, AnyStack, Body, TransportSettings};
use crate::segment::Flags;
use crate::settings::Tcp;

/// The packets of a flow when nothing is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packetisation {
    /// Data packets.
    pub count: u64,
    /// Wire size of each but the last.
    pub full_wire: Bytes,
    /// Wire size of the last.
    pub last_wire: Bytes,
    /// Wire sizes of SYN and SYN-ACK, if they open the connection.
    pub handshake: Option<(Bytes, Bytes)>,
}

/// The transport of a run, shared by all its ends.
#[derive(Clone, Debug)]
pub struct Transport {
    pub(crate) stack: AnyStack,
    pub(crate) datagrams: Arc<Datagrams>,
    frames: Frames,
}

impl Transport {
    /// Creates it from the settings. A scenario's checks reject impossible values; packet sizes are also clamped to
    /// their bounds here.
    #[must_use]
    pub fn new(settings: &TransportSettings) -> Transport {
        let stack = settings.stack();
        let sizes = stack.sizes();
        let datagrams = match &stack {
            AnyStack::Datagram(own) => Arc::clone(own),
            _ => {
                let batches = settings.tcp().map(|tcp| tcp.batches).unwrap_or_default();
                Arc::new(Datagrams::new(Sizes { header: HEADER, ..sizes }, None, batches))
            }
        };
        Transport { frames: Frames::from(sizes), stack, datagrams }
    }

    /// Largest payload of a packet.
    #[must_use]
    pub fn mss(&self) -> u64 {
        self.frames.mss
    }

    /// Wire bytes of a full-size data packet beyond its payload.
    #[must_use]
    pub fn overhead_wire(&self) -> u64 {
        self.frames.overhead
    }

    /// The sizes of its packets.
    #[must_use]
    pub fn frames(&self) -> Frames {
        self.frames
    }

    /// Wire bytes of a full-size data packet.
    #[must_use]
    pub fn full_wire(&self) -> u16 {
        self.frames.full_wire()
    }

    /// Wire bytes of the largest packet, including datagrams of a constant rate.
    #[must_use]
    pub fn largest_wire(&self) -> u16 {
        self.full_wire().max(self.datagrams.frames.full_wire())
    }

    /// The packets of a flow of `size` that uses this transport, without losses.
    #[must_use]
    pub fn packetisation(&self, size: Bytes) -> Packetisation {
        let opening = self.stack.opening().map(|wire| Bytes(u64::from(wire)));
        Packetisation { handshake: opening.map(|wire| (wire, wire)), ..packets(size, self.frames) }
    }

    /// The packets of a flow of `size` with its own rate, sent as datagrams whatever the transport.
    #[must_use]
    pub fn datagrams(&self, size: Bytes) -> Packetisation {
        packets(size, self.datagrams.frames)
    }

    /// Payload of a full datagram in bytes, the unit of a constant rate.
    #[must_use]
    pub fn datagram_mss(&self) -> u64 {
        self.datagrams.frames.mss
    }

    /// Whether its receivers answer packets out of order with duplicate acknowledgements.
    #[must_use]
    pub fn duplicates_acks(&self) -> bool {
        matches!(self.stack, AnyStack::Tcp(_))
    }

    /// The classes in which the ends of a flow send, given its own class, if any, and whether it has a constant rate.
    #[must_use]
    pub fn classes(&self, own: Option<Class>, rate: Option<Rate>) -> Classes {
        if rate.is_some() { self.datagrams.classes(own) } else { self.stack.classes(own) }
    }

    /// The host parts for a card of this rate, for all transports in use, except those whose flows share nothing.
    pub fn hosts<'a>(all: impl Iterator<Item = &'a Arc<Transport>>, line: Rate) -> Vec<AnyHost> {
        let mut parts: Vec<AnyHost> = Vec::new();
        for part in all.filter_map(|transport| transport.stack.host(line)) {
            let same = |known: &&mut AnyHost| discriminant(&**known) == discriminant(&part);
            match parts.iter_mut().find(same) {
                Some(known) => known.and(part),
                None => parts.push(part),
            }
        }
        parts
    }

    /// The reply of a host that has dropped the receiver's state to a late packet, without addresses.
    #[must_use]
    pub fn reply_after_close(&self, header: &Header, body: &Body, now: Time) -> Option<(Header, Body)> {
        match body {
            Body::Segment(segment) if segment.flags.has(Flags::DATAGRAM) => None,
            _ if body.side(header) == Side::Sender => None,
            _ => self.stack.reply_after_close(header, body, now),
        }
    }

    /// The protocol of its packets on a real wire: `tcp`, `roce`, or `udp` for all others.
    #[must_use]
    pub fn protocol(&self) -> &'static str {
        match &self.stack {
            AnyStack::Tcp(_) => "tcp",
            AnyStack::Roce(_) => "roce",
            _ => "udp",
        }
    }

    /// Whether a host that uses it is willing to use ECN: if it `opens` the connection, whether it asks for it, otherwise
    /// whether it agrees when asked. A host without TCP of its own follows the other end.
    #[must_use]
    pub fn consents_to_ecn(&self, opens: bool) -> bool {
        match &self.stack {
            AnyStack::Tcp(stack) if opens => stack.asks_for_ecn(),
            AnyStack::Tcp(stack) => stack.agrees_to_ecn(),
            _ => true,
        }
    }

    /// The settings that all laws over TCP share, if it is TCP.
    #[must_use]
    pub fn tcp(&self) -> Option<&Tcp> {
        match &self.stack {
            AnyStack::Tcp(stack) => Some(stack.settings()),
            _ => None,
        }
    }

    /// The stack that carries flows without their own rate.
    #[must_use]
    pub fn stack(&self) -> &AnyStack {
        &self.stack
    }
}

fn packets(size: Bytes, frames: Frames) -> Packetisation {
    let size = size.0.max(1);
    let count = size.div_ceil(frames.mss);
    let wire = |payload| Bytes(u64::from(frames.wire(payload)));
    let last = size - (count - 1) * frames.mss;
    Packetisation { count, full_wire: wire(frames.mss), last_wire: wire(last), handshake: None }
}

#[cfg(test)]
mod tests;
