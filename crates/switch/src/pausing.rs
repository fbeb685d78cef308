//! Priority flow control at the output ports: frames that precede everything, held queues, and memory charged to
//! ingress ports. Unused while no class pauses.

use weft_core::record::Reason;
use weft_core::{Bytes, Component, Header, Headers, PortId};

use crate::ClassQueue;
use crate::outputs::Outputs;
use crate::pause::{Charges, HeldBack, PauseCounters, PauseFrame};
use crate::port::InService;
use crate::turn::{Effect, Effects, Turn};

impl Outputs {
    /// Charges a stored packet to its ingress port, which may then have a frame to send. The queue's own port is served
    /// anyway and must not be announced twice.
    #[inline]
    pub(crate) fn charge(&mut self, effects: &mut Effects, (from, wire): (PortId, u16), at: (PortId, usize)) {
        let Some(ingress) = &mut self.ingress else { return };
        if ingress.stored(from, at, wire) && from != at.0 {
            self.announce(effects, from);
        }
    }

    /// Called when there was no room for a packet. Counts it at its input if that was full. If headroom is exhausted,
    /// its sender must be paused, because other ports may have used up the shared headroom before it was paused.
    #[cold]
    pub(crate) fn refused(&mut self, effects: &mut Effects, header: &Header, queue: usize, reason: Reason) {
        let Some(ingress) = self.ingress.as_mut() else { return };
        if matches!(reason, Reason::Headroom | Reason::Ingress) {
            ingress.discarded(header.ingress, queue);
        }
        if reason == Reason::Headroom && ingress.stop(header.ingress, queue) {
            self.announce(effects, header.ingress);
        }
    }

    /// Credits the ingress port of a packet that has left its queue; the queue's own port is served anyway.
    #[inline]
    pub(crate) fn credit(&mut self, effects: &mut Effects, from: PortId, at: (PortId, usize), wire: u16) {
        let Some(ingress) = &mut self.ingress else { return };
        if ingress.released(from, at, wire) && from != at.0 {
            self.announce(effects, from);
        }
    }

    /// Notifies the driver that a port has something to send, if the port is idle.
    #[inline(never)]
    fn announce(&self, effects: &mut Effects, port: PortId) {
        let work = Effect::HasWork(port);
        if self.ports[port.index()].port.in_service.is_none() && !effects.contains(&work) {
            effects.push_back(work);
        }
    }

    /// Called when the transmitter of a port finds no packet, because a frame may have become due in the meantime.
    #[inline]
    pub(crate) fn nothing_to_send(&mut self, effects: &mut Effects, port: PortId) {
        if self.ingress.as_ref().is_some_and(|ingress| ingress.has_frame(port)) {
            self.announce(effects, port);
        }
        self.may_begin_lull();
    }

    /// See [`Switch::transmit`](crate::Switch::transmit).
    #[inline]
    pub(crate) fn next_frame(&mut self, port: PortId) -> Option<PauseFrame> {
        let frame = self.ingress.as_mut()?.take(port)?;
        self.ports[port.index()].port.in_service = Some(InService::FRAME);
        Some(frame)
    }

    /// See [`PauseOrder::Refresh`](crate::PauseOrder::Refresh).
    pub(crate) fn refresh(&mut self, effects: &mut Effects, port: PortId) {
        if self.ingress.as_mut().is_some_and(|ingress| ingress.refresh(port)) {
            self.announce(effects, port);
        }
    }

    /// See [`PauseOrder::Hold`](crate::PauseOrder::Hold).
    pub(crate) fn hold(&mut self, effects: &mut Effects, (port, queue): (PortId, usize), held: bool) {
        let own = &mut self.ports[port.index()].queues[queue];
        own.hold(ClassQueue::PAUSED, held);
        if own.ready().is_some() {
            self.announce(effects, port);
        }
        self.interrupt(port);
        if let Some(ingress) = self.ingress.as_mut().filter(|ingress| ingress.is_lossless(queue)) {
            ingress.hold((port, queue), held);
        }
    }

    /// See [`SwitchReading::is_congested`](crate::SwitchReading::is_congested).
    #[inline]
    pub(crate) fn is_congested(&self, at: (PortId, usize)) -> bool {
        self.ingress.as_ref().is_some_and(|ingress| ingress.is_congested(at))
    }

    /// A component without the ports on which a queue is paused.
    pub(crate) fn unpaused(&self, component: &Component, queue: usize, left: &mut Component) {
        left.ports.clear();
        left.shares.clear();
        for (port, share) in component.ports.iter().zip(&component.shares) {
            if self.ports[port.index()].queues[queue].held & ClassQueue::PAUSED == 0 {
                left.ports.push(*port);
                left.shares.push(*share);
            }
        }
    }

    /// See [`PauseOrder::Discard`](crate::PauseOrder::Discard).
    pub(crate) fn discard(&mut self, turn: &mut Turn<'_>, at: (PortId, usize), on: bool) {
        let (port, queue) = at;
        self.ports[port.index()].queues[queue].discards = on;
        self.interrupt(port);
        if !on {
            return;
        }
        while let Some(packet) = self.pop(at, turn.headers) {
            self.give_up(turn, at, packet, Reason::Watchdog);
        }
        self.nothing_to_send(turn.effects, port);
    }

    /// See [`SwitchReading::charges`](crate::SwitchReading::charges).
    pub(crate) fn charges(&self) -> Option<Charges> {
        let (minima, shared, headroom) = self.ingress.as_ref()?.charged()?;
        let (queue_minima, queue_shared) = self.store.charged()?;
        Some(Charges {
            minima: Bytes(minima),
            shared: Bytes(shared),
            headroom: Bytes(headroom),
            queue_minima: Bytes(queue_minima),
            queue_shared: Bytes(queue_shared),
        })
    }

    /// Whether the accounting of memory management matches what is stored, on both sides.
    pub(crate) fn books_agree(&self) -> bool {
        let Some(charges) = self.charges() else { return true };
        let stored = Bytes(self.stored());
        charges.minima + charges.shared + charges.headroom == stored
            && charges.queue_minima + charges.queue_shared == stored
    }

    /// See [`SwitchReading::pauses`](crate::SwitchReading::pauses).
    pub(crate) fn pauses(&self, (port, queue): (PortId, usize)) -> PauseCounters {
        self.ingress.as_ref().map_or(PauseCounters::default(), |ingress| ingress.counters(port, queue))
    }

    /// See [`SwitchReading::held_back`](crate::SwitchReading::held_back).
    pub(crate) fn held_back(&self, headers: &Headers, (port, queue): (PortId, usize)) -> Vec<HeldBack> {
        let Some(ingress) = self.ingress.as_ref().filter(|ingress| ingress.is_lossless(queue)) else {
            return Vec::new();
        };
        let mut by_port = vec![0; self.ports.len()];
        for packet in self.ports[port.index()].queues[queue].packets.iter(headers) {
            let header = headers.get(packet);
            by_port[header.ingress.index()] += u64::from(self.cells.occupied(header.wire));
        }
        let limit = ingress.resumes_at(queue);
        let ports = by_port.into_iter().enumerate().map(|(port, bytes)| (PortId(port as u16), bytes));
        let stopped = ports.filter(|(port, bytes)| *bytes > 0 && ingress.has_stopped(*port, queue));
        let held = |(from, bytes)| {
            let apart = Bytes(ingress.apart(from, queue).min(bytes));
            HeldBack { from, bytes: Bytes(bytes), apart, limit }
        };
        stopped.map(held).collect()
    }
}
