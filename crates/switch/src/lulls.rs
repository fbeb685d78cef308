//! Ports in a [lull](crate::lull): how packets join them, when the memory of departed packets is released, and how
//! departures are revoked.

use weft_core::{Header, Headers, PacketId, PacketKind, PortId, Span, Time, Transmission};
use weft_foresight::{RevocableForesight, Slot};
use weft_mark::AnyMarker;
use weft_queue::ClassQueue;
use weft_queue::schedule::AnyScheduler;
use weft_visibility::Visible;

use crate::groups::PriorityGroups;
use crate::join::Joined;
use crate::lull::{Lull, MANY};
use crate::outputs::{Outputs, chosen_of, slot};
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
        let Some(quiet) = self.ingress.as_ref().and_then(|ingress| ingress.quiet_up_to()) else {
            return false;
        };
        let mut admits = u64::MAX;
        if self.has_lossy_queues() {
            admits = self.store.admits_while().min(self.port(port).limit);
        }
        let output = &mut self.ports[port.index()];
        let strict = self.queues == 1 || matches!(output.scheduler, AnyScheduler::Strict(_));
        let plain = output.shaper.is_none() && output.red.is_none() && !output.looks_at_departures();
        if !self.lulls || !strict || !plain {
            return false;
        }
        output.unmarked_up_to = output.markers.iter().map(AnyMarker::passes_up_to).min().unwrap_or(0);
        output.in_lull = Some(Box::new(RevocableForesight::new(line)));
        let fresh = || Box::new(Lull { lasts: true, quiet, admits, ..Lull::default() });
        let lull = self.lull.get_or_insert_with(fresh);
        lull.admits = lull.admits.min(admits);
        lull.quiet = lull.quiet.min(quiet).min(admits);
        lull.room = lull.quiet;
        true
    }

    /// Whether a queue drops instead of pausing.
    fn has_lossy_queues(&self) -> bool {
        self.ingress.as_ref().is_some_and(|ingress| (0..self.queues).any(|queue| !ingress.is_lossless(queue)))
    }

    /// Whether one more packet could pause a sender, and departures must be revoked before it is received.
    #[inline(always)]
    pub(crate) fn ends_lull(&mut self, now: Time, wire: u16) -> bool {
        let Some(lull) = self.lull.as_mut().filter(|lull| lull.lasts) else { return false };
        match lull.room.checked_sub(u64::from(wire)) {
            Some(room) => lull.room = room,
            None => return self.is_loud(now, wire),
        }
        false
    }

    /// [`Outputs::ends_lull`] after what has arrived since the last count.
    #[inline(never)]
    fn is_loud(&mut self, now: Time, wire: u16) -> bool {
        (0..self.ports.len()).for_each(|port| self.settle_lull(now, PortId(port as u16)));
        let Outputs { ports, lull: Some(lull), ingress: Some(ingress), queues, .. } = self else {
            return false;
        };
        let foreseen = ports.iter().filter(|output| output.lull().is_some()).map(|output| output.port.bytes);
        let total = ingress.shared() + foreseen.sum::<u64>();
        let (mut room, least) = (lull.quiet.saturating_sub(total), lull.quiet / 8);
        if room < least {
            count_by_ingress(ports, (*queues, ingress.groups()), &mut lull.counts);
            room = room.max(ingress.room(&lull.counts, total).min(lull.admits.saturating_sub(total)));
        }
        lull.room = room.saturating_sub(u64::from(wire));
        lull.over || room < least.max(wire.into())
    }

    /// Releases the packets that left a port in a lull before `now`.
    #[inline(never)]
    pub(crate) fn settle_lull(&mut self, now: Time, port: PortId) {
        let Outputs { ports, visible, .. } = self;
        let output = &mut ports[port.index()];
        if output.lull().is_some() && !output.forget_in_lull(now, visible) {
            output.release_in_lull(now, port, visible);
        }
    }

    /// Whether a port currently foresees departures and, if so, whether a packet may be marked.
    #[inline(always)]
    pub(crate) fn look_in_lull(&mut self, now: Time, port: PortId, wire: u16) -> InLull {
        let Outputs { ports, visible, lull: Some(lull), .. } = self else { return InLull::No };
        let output = chosen_of(ports, port);
        if !lull.lasts || output.in_lull.is_none() || output.port.in_service.is_some() {
            return InLull::No;
        }
        // Packets that have left a busy port still count: only where that could make a difference are they released.
        let unmarked = output.unmarked_up_to;
        let most = |output: &Output| output.port.bytes + u64::from(wire);
        if !output.forget_in_lull(now, visible) && most(output) > output.port.peak.min(unmarked) {
            output.release_in_lull(now, port, visible);
        }
        if most(output) > unmarked { InLull::NearMark } else { InLull::Calm }
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
        let Output { in_lull: Some(foreseen), port: held, .. } = chosen_of(ports, port) else {
            unreachable!("the port foresees departures")
        };
        let Header { wire, ingress, class, .. } = *header;
        let queue = classes.queue(class);
        let (place, overtaken) = foreseen.join(now, ingress, (queue as u8, wire));
        let mut byte_time = u128::from(wire) * u128::from(place.end.0 - now.0);
        if overtaken > 0 {
            let longer = u128::from(place.end.0 - place.start.0);
            byte_time +=
                foreseen.last(overtaken).map(|packet| u128::from(packet.wire) * longer).sum::<u128>();
            if overtaken > MANY {
                (lull.over, lull.room) = (true, 0);
            }
        }
        held.store_until(held.bytes + u64::from(wire), byte_time);
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
        let Outputs { ports, store, ingress: Some(ingress), .. } = self else { return };
        let Output { in_lull: Some(foreseen), port: held, queues, .. } = &mut ports[port.index()] else {
            return;
        };
        held.restart(turn.now, packets.len() as u64, foreseen.byte_time_after(turn.now));
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
            queues[queue].bytes += u64::from(wire);
            match ingress.pooled(from, queue, wire) {
                None => store.stored((queue, queues[queue].bytes), wire),
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
            (lull.lasts, lull.over) = (ingress.is_at_rest(), false);
            lull.room = lull.quiet - ingress.shared();
        }
    }
}

/// The foreseen bytes of each port of entry and priority group, named by its lowest queue.
fn count_by_ingress(ports: &[Output], (queues, groups): (usize, &PriorityGroups), counts: &mut Vec<u64>) {
    counts.clear();
    counts.resize(ports.len() * queues, 0);
    for packet in ports.iter().filter_map(Output::lull).flat_map(RevocableForesight::packets_here) {
        counts[slot(packet.ingress, groups.of(packet.queue.into()), queues)] += u64::from(packet.wire);
    }
}

impl Output {
    /// Releases the packets that left the port, which has this number, before `now`.
    #[inline(never)]
    fn release_in_lull(&mut self, now: Time, port: PortId, visible: &mut Visible) {
        let Output { in_lull: Some(foreseen), port: held, queues, .. } = self else { return };
        while let Some(left) = foreseen.take_left(now) {
            let (queue, bytes) = (usize::from(left.queue), u64::from(left.wire));
            held.bytes -= bytes;
            visible.left(slot(port, queue, queues.len()), bytes);
        }
    }

    /// Releases all packets at once if all have left before `now` and nobody reads the lengths of single queues. Returns
    /// whether it has.
    #[inline(always)]
    fn forget_in_lull(&mut self, now: Time, visible: &Visible) -> bool {
        let Output { in_lull: Some(foreseen), port: held, queues, .. } = self else { return false };
        let forgets = foreseen.all_have_left(now) && !visible.is_read();
        if forgets {
            debug_assert!(queues.iter().all(|own| own.packets.is_empty()), "it holds only what it foresees");
            foreseen.clear();
            held.bytes = 0;
        }
        forgets
    }
}
