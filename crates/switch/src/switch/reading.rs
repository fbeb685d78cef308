//! What can be read from a switch: the contents and counters of its ports, and where a packet is likely to go. Reading
//! changes nothing.

use weft_core::record::ArbitrationCounts;
use weft_core::{Bytes, Header, Headers, PacketId, PortId, Time, prefetch_part};

use super::Switch;
use crate::pause::{Charges, HeldBack, PauseCounters};
use crate::port::{Output, Port, PortCounters};
use weft_forwarding::Way;

/// A read-only view of a switch: see [`Switch::reading`].
#[derive(Clone, Copy)]
pub struct SwitchReading<'a> {
    pub(super) switch: &'a Switch,
}

impl<'a> SwitchReading<'a> {
    /// Whether a queue has made the switch pause a sender since it was last empty, without being held itself.
    #[must_use]
    #[inline]
    pub fn is_congested(self, at: (PortId, usize)) -> bool {
        self.switch.outputs.is_congested(at)
    }

    /// The packets that wait in a queue, the oldest first.
    pub fn waiting_in<'h>(
        self,
        headers: &'h Headers,
        (port, queue): (PortId, usize),
    ) -> impl Iterator<Item = PacketId> + use<'a, 'h> {
        self.switch.outputs.port(port).queues[queue].packets.iter(headers)
    }

    /// The port that dropped a packet last.
    #[must_use]
    pub fn refused_at(self) -> PortId {
        self.switch.outputs.refused_at
    }

    /// The pauses that a port has sent for a class.
    #[must_use]
    pub fn pauses(self, at: (PortId, usize)) -> PauseCounters {
        self.switch.outputs.pauses(at)
    }

    /// The decisions of its arbiters about upper links.
    #[must_use]
    pub fn arbitration(self) -> ArbitrationCounts {
        self.switch.arbiters.as_ref().map_or_else(ArbitrationCounts::default, |arbiters| arbiters.counts())
    }

    /// How stored bytes are charged, if [`mmu`](crate::share::mmu) manages the memory.
    #[must_use]
    pub fn charges(self) -> Option<Charges> {
        self.switch.outputs.charges()
    }

    /// The bytes in a queue that came from paused senders.
    #[must_use]
    pub fn held_back(self, headers: &Headers, at: (PortId, usize)) -> Vec<HeldBack> {
        self.switch.outputs.held_back(headers, at)
    }

    /// The counters of a port up to `now`.
    #[must_use]
    pub fn counters(self, now: Time, port: PortId) -> PortCounters {
        let own = self.switch.outputs.counters(now, port);
        let in_front = self.in_front(port).map_or(0, |held| held.counters_until(now).byte_time);
        PortCounters { byte_time: own.byte_time + in_front, ..own }
    }

    /// Packets of a foreseen port, and their bytes, whose transmission has not begun before `now`.
    #[must_use]
    pub fn waiting(self, now: Time, port: PortId) -> (u64, Bytes) {
        self.switch.outputs.waiting(now, port)
    }

    /// Wire bytes that a port holds, including the packet in service.
    #[must_use]
    pub fn queued(self, port: PortId) -> Bytes {
        let in_front = self.in_front(port).map_or(0, |held| held.bytes);
        Bytes(self.switch.outputs.port(port).port.bytes + in_front)
    }

    /// Wire bytes that wait for a port in the virtual output queues of a group; without such queues, everything that
    /// the port holds.
    #[must_use]
    pub fn queued_from(self, group: u16, port: PortId) -> Bytes {
        match &self.switch.fabric {
            Some(side) => Bytes(side.fabric.load(group, port, self.switch.queues)),
            None => self.queued(port),
        }
    }

    /// Packets that a port holds, including the packet in service.
    #[must_use]
    pub fn queued_packets(self, port: PortId) -> u64 {
        self.switch.outputs.packets(port) + self.in_front(port).map_or(0, |held| held.packets)
    }

    /// Wire bytes the whole switch holds.
    #[must_use]
    pub fn stored(self) -> Bytes {
        let in_front =
            self.switch.fabric.as_ref().map_or(0, |side| side.held.iter().map(|held| held.bytes).sum());
        Bytes(self.switch.outputs.stored() + in_front)
    }

    /// Prefetches the memory that [`SwitchReading::likely`] reads first.
    #[inline]
    pub fn prefetch_way(self, header: &Header) {
        self.switch.table.prefetch_way(header);
    }

    /// The port by which a packet will probably leave, if it can be predicted cheaply.
    #[must_use]
    #[inline]
    pub fn likely(self, header: &Header) -> Option<PortId> {
        match self.switch.way(header) {
            Way::Only(port) => Some(port),
            Way::None => None,
            Way::Several(_, component) => self.switch.engines[0].balancer.likely(header, &component.ports),
        }
    }

    /// Bytes and packets for a port that wait in front of a fabric or are crossing it.
    fn in_front(self, port: PortId) -> Option<&'a Port> {
        self.switch.fabric.as_ref().map(|side| &side.held[port.index()])
    }

    /// Prefetches the memory that the next packet needs at a port.
    #[inline]
    pub fn prefetch(self, port: PortId) {
        prefetch_part(self.switch.outputs.port(port), Output::HOT);
    }

    /// Also prefetches the targets of the port's pointers.
    #[inline]
    pub fn prefetch_beyond(self, port: PortId) {
        if let Some(foresight) = &self.switch.outputs.port(port).foresight {
            foresight.prefetch();
        } else if let Some(strict) = &self.switch.outputs.port(port).strict {
            strict.prefetch();
        }
    }

    /// Number of ports.
    #[must_use]
    pub fn ports(self) -> usize {
        self.switch.outputs.len()
    }
}
