//! Ports in a [lull](crate::lull): how packets join them, when the memory of departed packets is released, and how
//! departures are revoked.

use weft_core::{Header, Headers, PacketId, PacketKind, PortId, Span, Time, Transmission};
use weft_foresight::{RevocableForesight, Slot};
use weft_mark::AnyMarker;
use weft_queue::ClassQueue;
use weft_queue::schedule::AnyScheduler;
use weft_visibility::Visible;

use crate::join::Joined;
use crate::lull::{Lull, MANY};
use crate::outputs::{Outputs, chosen_of, slot};
use crate::pause::CLASSES;
use crate::port::{InService, Output};
use crate::turn::Turn;

/// How a port handles a packet in a lull.
pub(crate) enum InLull {
    /// The port currently foresees no departures.
    No,
    /// Its departure is foreseen, but the marker must be asked: see [`Outputs::join_near_mark`].
    NearMark,
    /// Its departure is foreseen: see [`Outputs::expect_in_lull`].
    Calm,
}

impl Outputs {
    pub(crate) fn foresee_in_lulls(&mut self, port: PortId, line: Transmission) -> bool {
        let Some(mut quiet) = self.ingress.as_ref().and_then(|ingress| ingress.quiet_up_to()) else {
            return false;
        };
        if self.has_lossy_queues() {
            quiet = quiet.min(self.store.admits_while()).min(self.port(port).limit);
        }
        let output = &mut self.ports[port.index()];
        let strict = self.queues == 1 || matches!(output.scheduler, AnyScheduler::Strict(_));
        let plain = output.shaper.is_none() && output.red.is_none() && !output.looks_at_departures();
        if !self.lulls || !strict || !plain {
            return false;
        }
        output.unmarked_up_to = output.markers.iter().map(AnyMarker::passes_up_to).min().unwrap_or(0);
        output.in_lull = Some(Box::new(RevocableForesight::new(line)));
        let lull = self.lull.get_or_insert_with(|| Box::new(Lull { lasts: true, quiet, ..Lull::default() }));
        lull.quiet = lull.quiet.min(quiet);
        lull.limit = lull.quiet;
        true
    }

    /// Whether a queue drops instead of pausing.
    fn has_lossy_queues(&self) -> bool {
        self.ingress.as_ref().is_some_and(|ingress| (0..self.queues).any(|queue| !ingress.is_lossless(queue)))
    }

    /// Whether one more packet could pause a sender, and departures must be revoked before it is received.
    #[inline]
    pub(crate) fn ends_lull(&mut self, now: Time, wire: u16) -> bool {
        match (&self.lull, &self.ingress) {
            (Some(lull), Some(ingress)) if lull.lasts => {
                ingress.shared() + lull.foreseen + u64::from(wire) > lull.limit && self.is_loud(now, wire)
            }
            _ => false,
        }
    }

    #[inline(never)]
    fn is_loud(&mut self, now: Time, wire: u16) -> bool {
        (0..self.ports.len()).for_each(|port| self.settle_lull(now, PortId(port as u16)));
        let (Some(lull), Some(ingress)) = (&self.lull, &self.ingress) else { return false };
        ingress.shared() + lull.foreseen + u64::from(wire) > lull.limit
    }

    /// Releases the packets that left a port in a lull before `now`.
    #[inline(never)]
    pub(crate) fn settle_lull(&mut self, now: Time, port: PortId) {
        let Outputs { ports, visible, lull: Some(lull), .. } = self else { return };
        ports[port.index()].release_in_lull(now, port, (lull, visible));
    }

    /// Whether a port currently foresees departures and, if so, whether a packet may be marked; departed packets are
    /// released.
    #[inline(always)]
    pub(crate) fn look_in_lull(&mut self, now: Time, port: PortId, wire: u16) -> InLull {
        let Outputs { ports, visible, lull: Some(lull), .. } = self else { return InLull::No };
        let output = chosen_of(ports, port);
        if !lull.lasts || output.in_lull.is_none() || output.port.in_service.is_some() {
            return InLull::No;
        }
        output.release_in_lull(now, port, (lull, visible));
        let near = output.port.bytes + u64::from(wire) > output.unmarked_up_to;
        if near { InLull::NearMark } else { InLull::Calm }
    }

    /// Adds a packet to a port in a lull; the marker is asked first.
    #[inline(never)]
    pub(crate) fn join_near_mark(&mut self, now: Time, port: PortId, header: &mut Header) -> Joined {
        if let Err(reason) = self.mark::<false>(now, (port, self.classes.queue(header.class)), header) {
            return Joined::Dropped(self.refuse(port, reason));
        }
        let (place, overtaken) = self.expect_in_lull(now, port, header);
        Joined::Revocably(place, overtaken)
    }

    /// Adds a packet to a port in a lull. Returns its slot and the number of packets that it overtakes.
    #[inline(always)]
    pub(crate) fn expect_in_lull(&mut self, now: Time, port: PortId, header: &Header) -> (Slot, u32) {
        let Outputs { ports, visible, lull: Some(lull), queues: number, classes, .. } = self else {
            unreachable!("a lull lasts")
        };
        let Output { in_lull: Some(foreseen), port: held, queues, .. } = chosen_of(ports, port) else {
            unreachable!("the port foresees departures")
        };
        let Header { wire, ingress, class, .. } = *header;
        let queue = classes.queue(class);
        let (place, overtaken) = foreseen.join(now, (queue as u8, wire));
        let mut byte_time = u128::from(wire) * u128::from(place.end.0 - now.0);
        if overtaken > 0 {
            let longer = u128::from(place.end.0 - place.start.0);
            byte_time +=
                foreseen.last(overtaken).map(|packet| u128::from(packet.wire) * longer).sum::<u128>();
            lull.limit = if overtaken > MANY { 0 } else { lull.limit };
        }
        held.store_until(held.bytes + u64::from(wire), byte_time);
        queues[queue].bytes += u64::from(wire);
        lull.foreseen += u64::from(wire);
        visible.joined(now, (ingress, wire), slot(port, queue, *number));
        (place, overtaken as u32)
    }

    /// See [`Switch::revoke`]. Queued packets are charged now, for the first time.
    pub(crate) fn revoke(
        &mut self,
        turn: &mut Turn<'_>,
        port: PortId,
        packets: &[PacketId],
        mut revoked: impl FnMut(&mut Headers, PacketId, Span),
    ) {
        let Outputs { ports, store, lull: Some(lull), ingress: Some(ingress), .. } = self else { return };
        let Output { in_lull: Some(foreseen), port: held, queues, .. } = &mut ports[port.index()] else {
            return;
        };
        held.restart(turn.now, packets.len() as u64, foreseen.byte_time_after(turn.now));
        let mut charged = [0; CLASSES];
        for (place, packet) in packets.iter().enumerate() {
            let Some(departure) = foreseen.revoke() else { return };
            let header = turn.headers.get_mut(*packet);
            debug_assert_eq!(
                departure.wire, header.wire,
                "packets on the wire are those of the port, in order"
            );
            let (from, wire, red) = (header.ingress, header.wire, header.kind == PacketKind::Red);
            let queue = usize::from(departure.queue);
            queues[queue].red += if red { u64::from(wire) } else { 0 };
            if place == 0 {
                held.in_service = Some(InService { queue: departure.queue, wire, ingress: from, red });
            } else {
                header.arrived = departure.arrived;
                revoked(turn.headers, *packet, foreseen.wait_of(&departure));
                queues[queue].packets.push(*packet, turn.headers);
            }
            lull.foreseen -= u64::from(wire);
            charged[queue] += u64::from(wire);
            match ingress.pooled(from, queue, wire) {
                None => store.stored((queue, charged[queue]), wire),
                Some(bytes) => store.charge(bytes),
            }
            let stops = ingress.stored(from, (port, queue), wire);
            debug_assert!(!stops, "no sender is paused in a lull");
        }
    }

    /// Called when a queue of a port starts or stops being held or discarding: in between, the port foresees no
    /// departures.
    pub(crate) fn interrupt(&mut self, port: PortId) {
        let Outputs { ports, lull: Some(lull), .. } = self else { return };
        let Output { in_lull, queues, .. } = &mut ports[port.index()];
        let held = queues.iter().any(|queue| queue.held & ClassQueue::PAUSED != 0 || queue.discards);
        if held {
            debug_assert!(
                in_lull.as_ref().is_none_or(|own| own.packets() == 0),
                "its departures are revoked"
            );
            lull.held.extend(in_lull.take().map(|own| (port, own)));
        } else if let Some(place) = lull.held.iter().position(|(other, _)| *other == port) {
            *in_lull = Some(lull.held.swap_remove(place).1);
        }
    }

    /// Called when a transmitter is idle: a lull begins if no sender is paused and little is stored.
    #[inline]
    pub(crate) fn may_begin_lull(&mut self) {
        if let (Some(lull), Some(ingress)) = (&mut self.lull, &self.ingress)
            && !lull.lasts
            && ingress.shared() <= lull.quiet - lull.quiet / 8
        {
            lull.lasts = ingress.is_at_rest();
        }
    }
}

impl Output {
    /// Releases the packets that left the port, which has this number, before `now`.
    #[inline(always)]
    fn release_in_lull(&mut self, now: Time, port: PortId, (lull, visible): (&mut Lull, &mut Visible)) {
        let Output { in_lull: Some(foreseen), port: held, queues, .. } = self else { return };
        while let Some(left) = foreseen.take_left(now) {
            let (queue, bytes) = (usize::from(left.queue), u64::from(left.wire));
            held.bytes -= bytes;
            queues[queue].bytes -= bytes;
            lull.foreseen -= bytes;
            visible.left(slot(port, queue, queues.len()), bytes);
        }
    }
}
