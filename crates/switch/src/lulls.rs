//! Ports in a [lull](crate::lull): how packets join them, when the memory of departed packets is released, and how departures are
//! revoked.

use weft_core::record::Reason;
use weft_core::{Header, Headers, PacketId, PacketKind, PortId, Span, Time, Transmission};
use weft_foresight::RevocableForesight;

use crate::join::Joined;
use crate::lull::Lull;
use crate::outputs::{Outputs, chosen_of};
use crate::port::{InService, Output};
use crate::turn::Turn;

impl Outputs {
    pub(crate) fn foresee_in_lulls(&mut self, port: PortId, line: Transmission) -> bool {
        let Some(quiet) = self.ingress.as_ref().and_then(|ingress| ingress.quiet_up_to()) else {
            return false;
        };
        let output = &mut self.ports[port.index()];
        if !self.lulls || output.shaper.is_some() || output.red.is_some() || output.looks_at_departures() {
            return false;
        }
        output.in_lull = Some(Box::new(RevocableForesight::new(line)));
        self.lull.get_or_insert_with(|| Box::new(Lull { lasts: true, quiet, ..Lull::default() }));
        true
    }

    /// Whether a packet more could pause a sender, and departures must be revoked before it is received.
    #[inline]
    pub(crate) fn ends_lull(&mut self, now: Time, wire: u16) -> bool {
        match (&self.lull, &self.ingress) {
            (Some(lull), Some(ingress)) if lull.lasts => {
                ingress.shared() + lull.foreseen + u64::from(wire) > lull.quiet && self.is_loud(now, wire)
            }
            _ => false,
        }
    }

    #[inline(never)]
    fn is_loud(&mut self, now: Time, wire: u16) -> bool {
        (0..self.ports.len()).for_each(|port| self.settle_lull(now, PortId(port as u16)));
        let (Some(lull), Some(ingress)) = (&self.lull, &self.ingress) else { return false };
        ingress.shared() + lull.foreseen + u64::from(wire) > lull.quiet
    }

    /// Releases what has left a port in a lull before `now`.
    #[inline]
    pub(crate) fn settle_lull(&mut self, now: Time, port: PortId) {
        let Outputs { ports, visible, lull: Some(lull), .. } = self else { return };
        let Output { in_lull: Some(foreseen), port: held, .. } = chosen_of(ports, port) else { return };
        let bytes = foreseen.bytes_left(now);
        if bytes > 0 {
            held.bytes -= bytes;
            lull.foreseen -= bytes;
            visible.left(port.index(), bytes);
        }
    }

    /// What becomes of a packet at a port that foresees its departure now; `None` if the port does not.
    #[inline]
    pub(crate) fn join_in_lull(&mut self, now: Time, port: PortId, header: &mut Header) -> Option<Joined> {
        let lasts = self.lull.as_ref().is_some_and(|lull| lull.lasts);
        if !lasts || self.chosen(port).in_lull.is_none() || self.chosen(port).port.in_service.is_some() {
            return None;
        }
        self.settle_lull(now, port);
        let output = self.chosen(port);
        if output.port.bytes + u64::from(header.wire) > output.unmarked_up_to
            && let Err(reason) = self.mark_in_lull(now, port, header)
        {
            return Some(Joined::Dropped(reason));
        }
        let Outputs { ports, visible, lull: Some(lull), .. } = self else { return None };
        let Output { in_lull: Some(foreseen), port: held, .. } = chosen_of(ports, port) else { return None };
        let wire = header.wire;
        let place = foreseen.join(now, wire);
        held.store_until(held.bytes + u64::from(wire), u128::from(wire) * u128::from(place.end.0 - now.0));
        lull.foreseen += u64::from(wire);
        visible.joined(now, (header.ingress, wire), port.index());
        Some(Joined::Revocably(place))
    }

    /// The marker of a port is asked about a packet. In a lull the queue holds nothing itself; meanwhile it holds what the port does.
    #[inline(never)]
    fn mark_in_lull(&mut self, now: Time, port: PortId, header: &mut Header) -> Result<(), Reason> {
        let output = &mut self.ports[port.index()];
        output.queues[0].bytes = output.port.bytes;
        let marked = self.mark::<false>(now, (port, 0), header);
        self.ports[port.index()].queues[0].bytes = 0;
        marked.map_err(|reason| self.refuse(port, reason))
    }

    /// See [`Switch::revoke`]. What is queued is charged now, for the first time.
    pub(crate) fn revoke(
        &mut self,
        turn: &mut Turn<'_>,
        port: PortId,
        packets: &[PacketId],
        mut revoked: impl FnMut(&mut Headers, PacketId, Span),
    ) {
        let Outputs { ports, store, lull: Some(lull), ingress: Some(ingress), .. } = self else { return };
        let Output { in_lull: Some(foreseen), port: held, queues, .. } = chosen_of(ports, port) else {
            return;
        };
        held.restart(turn.now, packets.len() as u64, foreseen.byte_time_after(turn.now));
        queues[0].bytes = held.bytes;
        let mut charged = 0;
        for (place, packet) in packets.iter().enumerate() {
            let Some(departure) = foreseen.revoke() else { return };
            let header = turn.headers.get_mut(*packet);
            debug_assert_eq!(
                departure.wire, header.wire,
                "packets on the wire are those of the port, in order"
            );
            let (from, wire, red) = (header.ingress, header.wire, header.kind == PacketKind::Red);
            queues[0].red += if red { u64::from(wire) } else { 0 };
            if place == 0 {
                held.in_service = Some(InService { queue: 0, wire, ingress: from, red });
            } else {
                header.arrived = departure.arrived;
                revoked(turn.headers, *packet, foreseen.wait_of(&departure));
                queues[0].packets.push(*packet, turn.headers);
            }
            lull.foreseen -= u64::from(wire);
            charged += u64::from(wire);
            if !ingress.keeps(0) {
                store.stored((0, charged), wire);
            }
            let stops = ingress.stored(from, (port, 0), wire);
            debug_assert!(!stops, "no sender is paused in a lull");
        }
    }

    /// A port is held or discards from now on, or no longer.
    pub(crate) fn count_held(&mut self, held: bool) {
        if let Some(lull) = &mut self.lull {
            lull.held = if held { lull.held + 1 } else { lull.held - 1 };
        }
    }

    /// A transmitter is idle: a lull begins if nothing is paused or held, and little is stored.
    #[inline]
    pub(crate) fn may_begin_lull(&mut self) {
        if let (Some(lull), Some(ingress)) = (&mut self.lull, &self.ingress)
            && !lull.lasts
            && lull.held == 0
            && ingress.shared() <= lull.quiet / 2
        {
            lull.lasts = ingress.is_at_rest();
        }
    }
}
