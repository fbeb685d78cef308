//! One direction of a cable: a transmitter and the packets in flight. At most one pending arrival per link; the packets
//! behind it wait in a ring with their times.

use weft_core::record::Reason;
use weft_core::{Bytes, PacketId, PortId, Purpose, Random, Ring, Span, Time, Transmission};
use weft_topology::{Link, Node};

/// A transmitter and its wire. What every packet touches comes first, on one cache line; what its transmitter alone
/// counts, after it.
#[repr(C, align(64))]
pub(crate) struct Wire {
    /// What has been sent, or will be when its turn comes, and has not landed.
    pub(crate) in_flight: Ring<Flying>,
    pub(crate) to: Node,
    pub(crate) to_port: PortId,
    /// Down, lossy or leading to another domain: a packet that is sent may not land here.
    pub(crate) special: bool,
    pub(crate) up: bool,
    /// Propagation, and the latency of the switch at the far end.
    delay: Span,
    pub(crate) sent: Bytes,
    pub(crate) packets: u64,
    transmission: Transmission,
    pub(crate) from: Node,
    pub(crate) port: PortId,
    /// The domain of the far end, if that is another one.
    pub(crate) away: Option<u16>,
    /// Down for at least part of the run.
    pub(crate) failed: bool,
    /// Packets lost on this wire or at its transmitter, without the drops that the switch counts itself.
    pub(crate) lost: u64,
    loss: Option<Box<(f64, Random)>>,
}

/// A packet in flight.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flying {
    pub(crate) lands: Time,
    pub(crate) packet: PacketId,
}

impl Wire {
    /// A wire that is up. `extra` is the latency of the node at the far end.
    pub(crate) fn new(link: &Link, extra: Span, seed: u64, number: usize) -> Wire {
        let random = || Random::new(seed, Purpose::Loss, number as u64);
        Wire {
            transmission: Transmission::at(link.rate),
            delay: link.delay + extra,
            from: link.from,
            port: link.port,
            to: link.to,
            to_port: link.to_port,
            away: None,
            in_flight: Ring::new(),
            special: link.loss > 0.0,
            up: true,
            failed: false,
            sent: Bytes::ZERO,
            packets: 0,
            lost: 0,
            loss: (link.loss > 0.0).then(|| Box::new((link.loss, random()))),
        }
    }

    /// When the last bit of a packet leaves whose first bit leaves at `start`.
    #[inline]
    pub(crate) fn end_of(&self, start: Time, wire: u16) -> Time {
        Time(start.0 + self.transmission.time(wire).0)
    }

    /// Counts a packet whose last bit leaves at `end`: when it lands.
    #[inline]
    pub(crate) fn launch(&mut self, end: Time, wire: u16) -> Time {
        self.sent += Bytes(u64::from(wire));
        self.packets += 1;
        Time(end.0 + self.delay.0)
    }

    /// The cable fails or comes back.
    pub(crate) fn set_up(&mut self, up: bool) {
        self.up = up;
        self.failed |= !up;
        self.special = !up || self.away.is_some() || self.loss.is_some();
    }

    /// Why the next packet will not arrive, if it will not.
    #[inline]
    pub(crate) fn failure(&mut self) -> Option<Reason> {
        if !self.up {
            return Some(Reason::LinkDown);
        }
        let (share, random) = &mut **self.loss.as_mut()?;
        random.chance(*share).then_some(Reason::Loss)
    }

    /// The packet that lands at `now`, if any: after a failure an arrival may find nothing.
    #[inline]
    pub(crate) fn land(&mut self, now: Time) -> Option<PacketId> {
        let first = self.in_flight.front().filter(|first| first.lands == now)?;
        self.in_flight.skip();
        Some(first.packet)
    }
}
