//! Ports whose departures are foreseen unless packets may be overtaken, with strict priority or one queue in an order of
//! its own (both are called strict here): how packets join them, wait, are served or evicted, and when the memory of
//! departed packets is released.

use weft_core::record::Reason;
use weft_core::{Header, PacketId, PortId, Time, Transmission};
use weft_foresight::{QUEUES, Slot, StrictForesight};
use weft_mark::AnyMarker;
use weft_queue::schedule::AnyScheduler;

use crate::join::Joined;
use crate::outputs::{Outputs, chosen_of, slot};
use crate::port::{Output, Port};
use crate::turn::{Departure, SentEarly, Turn};

impl Outputs {
    /// Makes those departures of a port known that nothing can overtake. `false` for a port that is not of this kind.
    pub(crate) fn foresee_partly(&mut self, port: PortId, line: Transmission) -> bool {
        let (ordered, output) = (!self.orders.is_empty(), &mut self.ports[port.index()]);
        let strict = matches!(output.scheduler, AnyScheduler::Strict(_));
        let picks = if ordered { self.queues == 1 } else { strict };
        if picks {
            let calm = output.markers.iter().map(AnyMarker::passes_up_to).min().unwrap_or(0);
            let calm = calm.min(self.store.admits_up_to()).min(output.limit);
            output.strict = Some(Box::new(StrictForesight::new(line, calm, ordered)));
            self.set_observed(port);
        }
        picks
    }

    /// Whether there may be such a port.
    #[inline(always)]
    pub(crate) fn may_be_overtaken(&self) -> bool {
        self.queues > 1 || !self.orders.is_empty()
    }

    /// Releases the packets that left a port with strict priority, or one in a lull, before `now`.
    #[inline(always)]
    pub(crate) fn settle_strict(&mut self, now: Time, port: PortId) {
        let Output { strict: Some(strict), port: held, .. } = chosen_of(&mut self.ports, port) else {
            return self.settle_lull(now, port);
        };
        if strict.is_observed() {
            self.settle_observed(now, port);
        } else {
            strict.give_back_unseen(now, &mut held.bytes);
        }
    }

    #[inline(never)]
    fn settle_observed(&mut self, now: Time, port: PortId) {
        let Outputs { ports, store, visible, queues, .. } = self;
        let Output { strict: Some(strict), port: held, .. } = chosen_of(ports, port) else { return };
        while let Some(left) = strict.take_left(now).or_else(|| strict.take_newest(now)) {
            let (queue, wire) = (usize::from(left.queue), u64::from(left.leaving.wire));
            held.bytes -= wire;
            store.released((queue, strict.bytes_of(queue)), wire);
            visible.left(slot(port, queue, *queues), wire);
        }
    }

    /// Adds a packet to an unobserved port with strict priority whose transmitter is idle, with neither limit nor
    /// marker near.
    #[inline(always)]
    pub(crate) fn join_strict_idle(&mut self, now: Time, port: PortId, header: &Header) -> Option<Slot> {
        let Output { strict: Some(strict), port: held, .. } = chosen_of(&mut self.ports, port) else {
            return None;
        };
        if !strict.takes_at_once(now, header.wire) {
            return None;
        }
        let wire = header.wire;
        let place = strict.take_idle_place(now, (self.classes.queue(header.class), wire));
        held.store_until(u64::from(wire), u128::from(wire) * u128::from(place.end.0 - now.0));
        Some(place)
    }

    /// Adds a packet to a port with strict priority.
    #[inline(never)]
    pub(crate) fn join_strict(&mut self, turn: &mut Turn<'_>, port: PortId, packet: PacketId) -> Joined {
        let now = turn.now;
        let header = turn.headers.get(packet);
        let (wire, queue) = (header.wire, self.classes.queue(header.class) % QUEUES);
        let Output { strict: Some(strict), port: held, .. } = chosen_of(&mut self.ports, port) else {
            unreachable!("only ports with strict priority are asked")
        };
        if strict.is_observed() {
            return self.join_observed_strict(turn, (port, queue), packet);
        }
        strict.give_back_unseen(now, &mut held.bytes);
        if strict.is_calm(held.bytes + u64::from(wire)) {
            return self.take_in(turn, (port, queue), packet);
        }
        self.join_strict_near(turn, (port, queue), packet)
    }

    /// Adds a packet to a port with strict priority, with a limit or the marker near.
    fn join_strict_near(
        &mut self,
        turn: &mut Turn<'_>,
        (port, queue): (PortId, usize),
        packet: PacketId,
    ) -> Joined {
        while let Err(reason) = self.admit_strict(turn.now, (port, queue), turn.headers.get_mut(packet)) {
            if reason == Reason::Early || !self.evict_waiting(turn, (port, queue), packet) {
                return Joined::Dropped(self.refuse(port, reason));
            }
        }
        self.take_in(turn, (port, queue), packet)
    }

    /// [`Outputs::join_strict`] at an observed port.
    #[inline(never)]
    fn join_observed_strict(
        &mut self,
        turn: &mut Turn<'_>,
        (port, queue): (PortId, usize),
        packet: PacketId,
    ) -> Joined {
        self.settle_observed(turn.now, port);
        let wire = turn.headers.get(packet).wire;
        let (held, strict) = of_strict(&mut self.ports, port);
        let joined = if strict.is_calm(held.bytes + u64::from(wire)) {
            self.take_in(turn, (port, queue), packet)
        } else {
            self.join_strict_near(turn, (port, queue), packet)
        };
        if !matches!(joined, Joined::Dropped(_)) {
            self.tell_joined(turn.now, (port, queue), turn.headers.get(packet));
        }
        joined
    }

    /// Whether a packet may join a queue with a limit or the marker near; if so, it may get a mark.
    #[inline(never)]
    fn admit_strict(&mut self, now: Time, at: (PortId, usize), header: &mut Header) -> Result<(), Reason> {
        self.admit::<true>(now, at, header)?;
        self.mark::<true>(now, at, header)
    }

    /// Updates memory and engines for a packet that has joined.
    #[inline(never)]
    fn tell_joined(&mut self, now: Time, (port, queue): (PortId, usize), header: &Header) {
        self.store.stored((queue, self.chosen(port).bytes_of::<true>(queue)), header.wire);
        self.visible.joined(now, (header.ingress, header.wire), slot(port, queue, self.queues));
    }

    /// Called when the transmission ends after which a strict-priority port asked to be called. Returns what it sends
    /// now, or, if packets of the first queue occupy the link, when to ask again.
    #[inline(always)]
    pub(crate) fn serve_strict(&mut self, turn: &mut Turn<'_>, port: PortId) -> Option<SentEarly> {
        let Output { strict: Some(strict), queues, port: held, .. } = &mut self.ports[port.index()] else {
            return None;
        };
        let queue = match strict.pick(turn.now) {
            Ok(queue) => queue,
            Err(busy_until) => return Some(SentEarly::Later(busy_until)),
        };
        let waiting = &mut queues.get_mut(queue)?.packets;
        let Some(packet) = waiting.pop(turn.headers) else {
            strict.found_empty(queue);
            return None;
        };
        if let Some(order) = self.orders.get_mut(slot(port, queue, self.queues)) {
            order.left(waiting, packet, turn.headers);
        }
        let header = turn.headers.get(packet);
        let (place, counted, next) = strict.send(turn.now, (queue, header.wire), waiting.is_empty());
        let to_come = u128::from(header.wire) * u128::from(place.end.0 - turn.now.0);
        held.store_until(held.bytes, counted + to_come);
        Some(SentEarly::Packet(packet, Departure::of(header, port, place), next))
    }

    /// Gives an admitted packet a slot on the link of a port with strict priority, or queues it where others may
    /// overtake it. The first to wait requests a call.
    #[inline(always)]
    fn take_in(&mut self, turn: &mut Turn<'_>, (port, queue): (PortId, usize), packet: PacketId) -> Joined {
        let Outputs { ports, orders, queues: each, .. } = self;
        let Output { strict: Some(strict), port: held, queues, .. } = chosen_of(ports, port) else {
            unreachable!("only ports with strict priority are asked")
        };
        let (now, wire) = (turn.now, turn.headers.get(packet).wire);
        let total = held.bytes + u64::from(wire);
        if strict.knows(now, queue) {
            let place = strict.take_place(now, (queue, wire));
            held.store_until(total, u128::from(wire) * u128::from(place.end.0 - now.0));
            return Joined::Line(place);
        }
        let waiting = &mut queues[queue].packets;
        match orders.get_mut(slot(port, queue, *each)) {
            Some(order) => order.join(waiting, packet, turn.headers),
            None => waiting.push(packet, turn.headers),
        }
        let (counted, asks) = strict.wait(now, (queue, wire));
        held.store_until(total, counted);
        asks.map_or(Joined::Queued, Joined::QueuedUntil)
    }

    /// Drops a waiting packet that ranks behind a newcomer for which there is no room. `false` if there is none.
    #[cold]
    fn evict_waiting(
        &mut self,
        turn: &mut Turn<'_>,
        (port, queue): (PortId, usize),
        newcomer: PacketId,
    ) -> bool {
        let newcomer = *turn.headers.get(newcomer);
        let place = slot(port, queue, self.queues);
        let output = &mut self.ports[port.index()];
        let Some(order) = self.orders.get_mut(place) else { return false };
        let victim = order.evict(&mut output.queues[queue].packets, turn.headers, &newcomer);
        let (Some(victim), Output { strict: Some(strict), port: held, .. }) = (victim, output) else {
            return false;
        };
        let wire = turn.headers.get(victim).wire;
        let counted = strict.give_up(turn.now, (queue, wire));
        held.store_until(held.bytes - u64::from(wire), counted);
        if strict.is_observed() {
            self.store.released((queue, strict.bytes_of(queue)), u64::from(wire));
            self.visible.left(place, u64::from(wire));
        }
        self.dropped(port, victim, Reason::Evicted, turn.effects);
        true
    }
}

/// The contents of a port with strict priority and its foreseen departures.
#[inline(always)]
fn of_strict(ports: &mut [Output], port: PortId) -> (&mut Port, &mut StrictForesight) {
    match chosen_of(ports, port) {
        Output { port, strict: Some(strict), .. } => (port, strict),
        _ => unreachable!("only ports with strict priority are asked"),
    }
}
