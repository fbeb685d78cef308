//! Ports with strict priority whose departures are foreseen: how packets join them, wait and are served, and when the memory of
//! departed packets is released.

use weft_core::record::Reason;
use weft_core::{Header, PacketId, PortId, Time};
use weft_foresight::{QUEUES, Slot, StrictForesight};

use crate::join::Joined;
use crate::outputs::{Outputs, chosen_of, queue_of, slot};
use crate::port::{Output, Port};
use crate::turn::{Departure, SentEarly, Turn};

impl Outputs {
    /// Releases what has left a port with strict priority before `now`.
    #[inline(always)]
    pub(crate) fn settle_strict(&mut self, now: Time, port: PortId) {
        let Output { strict: Some(strict), port: held, .. } = chosen_of(&mut self.ports, port) else {
            return;
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

    /// A packet joins an unobserved port with strict priority whose transmitter is idle, with neither limit nor marker near.
    #[inline(always)]
    pub(crate) fn join_strict_idle(&mut self, now: Time, port: PortId, header: &Header) -> Option<Slot> {
        let Output { strict: Some(strict), port: held, .. } = chosen_of(&mut self.ports, port) else {
            return None;
        };
        if !strict.takes_at_once(now, header.wire) {
            return None;
        }
        let wire = header.wire;
        let place = strict.take_idle_place(now, (queue_of(header.class, self.queues), wire));
        held.store_until(u64::from(wire), u128::from(wire) * u128::from(place.end.0 - now.0));
        Some(place)
    }

    /// A packet joins a port with strict priority.
    #[inline(never)]
    pub(crate) fn join_strict(&mut self, turn: &mut Turn<'_>, port: PortId, packet: PacketId) -> Joined {
        let now = turn.now;
        self.settle_strict(now, port);
        let header = turn.headers.get(packet);
        let (wire, queue) = (header.wire, queue_of(header.class, self.queues) % QUEUES);
        let (held, strict) = of_strict(&mut self.ports, port);
        let total = held.bytes + u64::from(wire);
        if !strict.is_calm(total)
            && let Err(reason) = self.admit_strict(now, (port, queue), turn.headers.get_mut(packet))
        {
            return Joined::Dropped(self.refuse(port, reason));
        }
        let (held, strict) = of_strict(&mut self.ports, port);
        let (known, observed) = (strict.knows(now, queue), strict.is_observed());
        let joined = if known {
            let place = strict.take_place(now, (queue, wire));
            held.store_until(total, u128::from(wire) * u128::from(place.end.0 - now.0));
            Joined::Line(place)
        } else {
            self.wait(turn, (port, queue), packet)
        };
        if observed {
            self.tell_joined(now, (port, queue), turn.headers.get(packet));
        }
        joined
    }

    /// Whether a packet may join a queue with a limit or the marker near; if so, it may get a mark.
    #[inline(never)]
    fn admit_strict(&mut self, now: Time, at: (PortId, usize), header: &mut Header) -> Result<(), Reason> {
        self.admit::<true>(now, at, header)?;
        self.mark::<true>(now, at, header)
    }

    /// The store and the engines are told of a packet that has joined.
    #[inline(never)]
    fn tell_joined(&mut self, now: Time, (port, queue): (PortId, usize), header: &Header) {
        self.store.stored((queue, self.chosen(port).bytes_of::<true>(queue)), header.wire);
        self.visible.joined(now, (header.ingress, header.wire), slot(port, queue, self.queues));
    }

    /// A packet waits in a queue that others may overtake. The first to wait asks for a call.
    #[inline(never)]
    fn wait(&mut self, turn: &mut Turn<'_>, (port, queue): (PortId, usize), packet: PacketId) -> Joined {
        let wire = turn.headers.get(packet).wire;
        let output = chosen_of(&mut self.ports, port);
        output.queues[queue].packets.push(packet, turn.headers);
        let (held, strict) = of_strict(&mut self.ports, port);
        let (counted, asks) = strict.wait(turn.now, (queue, wire));
        held.store_until(held.bytes + u64::from(wire), counted);
        asks.map_or(Joined::Queued, Joined::QueuedUntil)
    }

    /// The transmission after which a port with strict priority was to be asked has ended: what it sends now; an instant, if packets
    /// of the first queue have taken its link until then.
    #[inline(never)]
    pub(crate) fn serve_strict(&mut self, turn: &mut Turn<'_>, port: PortId) -> Option<SentEarly> {
        let Output { strict: Some(strict), queues, port: held, .. } = chosen_of(&mut self.ports, port) else {
            return None;
        };
        let queue = match strict.pick(turn.now) {
            Ok(queue) => queue,
            Err(busy_until) => return Some(SentEarly::Later(busy_until)),
        };
        let waiting = &mut queues.get_mut(queue)?.packets;
        let packet = waiting.pop(turn.headers)?;
        let header = turn.headers.get(packet);
        let (place, counted, next) = strict.send(turn.now, (queue, header.wire), waiting.is_empty());
        let to_come = u128::from(header.wire) * u128::from(place.end.0 - turn.now.0);
        held.store_until(held.bytes, counted + to_come);
        Some(SentEarly::Packet(packet, Departure::of(header, port, place), next))
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
