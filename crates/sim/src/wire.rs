//! One direction of a cable: a transmitter and the packets in flight. At most one pending arrival per link; the packets
//! behind it wait in an intrusive list with their arrival times in their headers.

use weft_core::record::Reason;
use weft_core::{Bytes, Headers, PacketId, PortId, Purpose, Queue, Random, Rate, Span, Time};
use weft_topology::{Link, Node};

/// A transmitter and its wire.
pub(crate) struct Wire {
    /// Picoseconds per byte if that is a whole number, else 0.
    ps_per_byte: u64,
    rate: Rate,
    /// Propagation, and the latency of the switch at the far end.
    delay: Span,
    pub(crate) from: Node,
    pub(crate) port: PortId,
    pub(crate) to: Node,
    pub(crate) to_port: PortId,
    pub(crate) in_flight: Queue,
    pub(crate) up: bool,
    /// Down for at least part of the run.
    pub(crate) failed: bool,
    pub(crate) sent: Bytes,
    pub(crate) packets: u64,
    /// Packets lost on this wire or at its transmitter, without the drops that the switch counts itself.
    pub(crate) lost: u64,
    loss: Option<(f64, Random)>,
}

impl Wire {
    /// A wire that is up. `extra` is the latency of the node at the far end.
    pub(crate) fn new(link: &Link, extra: Span, seed: u64, number: usize) -> Wire {
        let per_second = 8 * weft_core::units::PS_PER_S;
        let whole = per_second.is_multiple_of(link.rate.0.max(1));
        let random = || Random::new(seed, Purpose::Loss, number as u64);
        Wire {
            ps_per_byte: if whole { per_second / link.rate.0.max(1) } else { 0 },
            rate: link.rate,
            delay: link.delay + extra,
            from: link.from,
            port: link.port,
            to: link.to,
            to_port: link.to_port,
            in_flight: Queue::EMPTY,
            up: true,
            failed: false,
            sent: Bytes::ZERO,
            packets: 0,
            lost: 0,
            loss: (link.loss > 0.0).then(|| (link.loss, random())),
        }
    }

    /// Counts a packet whose transmission starts at `now`: when its last bit leaves, and when it lands.
    #[inline]
    pub(crate) fn launch(&mut self, now: Time, wire: u16) -> (Time, Time) {
        self.sent += Bytes(u64::from(wire));
        self.packets += 1;
        let left = now + self.time_for(wire);
        (left, left + self.delay)
    }

    #[inline]
    fn time_for(&self, wire: u16) -> Span {
        match self.ps_per_byte {
            0 => self.rate.time_for(Bytes(u64::from(wire))),
            ps => Span(ps * u64::from(wire)),
        }
    }

    /// Why the next packet will not arrive, if it will not.
    #[inline]
    pub(crate) fn failure(&mut self) -> Option<Reason> {
        if !self.up {
            return Some(Reason::LinkDown);
        }
        let (share, random) = self.loss.as_mut()?;
        random.chance(*share).then_some(Reason::Loss)
    }

    /// The packet that lands at `now`, if any: after a failure an arrival may find nothing.
    #[inline]
    pub(crate) fn land(&mut self, now: Time, headers: &Headers) -> Option<PacketId> {
        let first = self.in_flight.front()?;
        if headers.get(first).arrived != now {
            return None;
        }
        self.in_flight.pop(headers)
    }
}
