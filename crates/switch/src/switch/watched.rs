//! The path of a packet through a switch that is watched (its balancer measures paths, or it has an observer) or has a fabric.

use weft_core::record::Reason;
use weft_core::{PacketId, PortId};

use super::{Switch, arrive};
use crate::join::{Joined, Unseen};
use crate::observe::tell_drops;
use crate::turn::{Departure, Turn, Verdict};
use weft_foresight::Slot;

impl Switch {
    /// [`Switch::receive`] for a switch that is not plain. Returned in this form, the verdict of a plain switch stays in
    /// registers.
    #[inline(never)]
    pub(super) fn receive_specially(
        &mut self,
        turn: &mut Turn<'_>,
        from: PortId,
        packet: PacketId,
    ) -> (Joined, PortId) {
        let verdict = match self.arbiters {
            None => self.receive_watched(turn, from, packet),
            Some(_) => self.receive_arbitrated(turn, from, packet),
        };
        match verdict {
            Verdict::LeavesAt(Departure { start, end, port, .. }) => {
                (Joined::Line(Slot { start, end }), port)
            }
            Verdict::LeavesUnlessHeld(Departure { start, end, port, .. }, overtaken) => {
                (Joined::Revocably(Slot { start, end }, overtaken), port)
            }
            Verdict::RevokeFirst => (Joined::RevokeFirst, from),
            Verdict::Ready(port) => (Joined::Ready, port),
            Verdict::Queued(port) => (Joined::Queued, port),
            Verdict::QueuedUntil(port, time) => (Joined::QueuedUntil(time), port),
            Verdict::Returned => (Joined::Returned, from),
            Verdict::Dropped(reason) => (Joined::Dropped(reason), from),
        }
    }

    /// Shows the observer a packet as it arrives.
    pub(super) fn tell_received(&mut self, turn: &mut Turn<'_>, from: PortId, packet: PacketId) {
        if let Some(observer) = &mut self.observer {
            turn.headers.get_mut(packet).arrived = turn.now;
            observer.received(turn.now, from, packet, turn.headers.get(packet));
        }
    }

    /// [`Switch::receive`] for a switch whose balancer measures paths in fields that packets carry, that has an
    /// observer, or that has a fabric between inputs and outputs.
    #[inline(never)]
    pub(super) fn receive_watched(&mut self, turn: &mut Turn<'_>, from: PortId, packet: PacketId) -> Verdict {
        let (now, before) = (turn.now, turn.effects.len());
        self.tell_received(turn, from, packet);
        let header = turn.headers.get_mut(packet);
        let alive = arrive(now, header, from);
        if let Some(congestion) = &mut self.congestion {
            congestion.arrives(now, header);
        }
        let verdict = match alive.and_then(|()| self.output(now, header).ok_or(Reason::NoRoute)) {
            Err(reason) => Verdict::Dropped(reason),
            Ok(port) => {
                if let Some(congestion) = &mut self.congestion {
                    congestion.departs(now, port, header);
                }
                if self.fabric.is_some() {
                    let (joined, _) = self.enter_fabric(turn, port, packet);
                    joined.verdict(turn.headers.get(packet), port)
                } else {
                    match self.outputs.join_unseen(now, port, header.wire) {
                        Unseen::Line(slot) => Verdict::LeavesAt(Departure::of(header, port, slot)),
                        Unseen::Near => self.outputs.join_near(now, port, header).verdict(header, port),
                        Unseen::Look => {
                            let joined = self.outputs.join(turn, port, packet);
                            joined.verdict(turn.headers.get(packet), port)
                        }
                    }
                }
            }
        };
        self.note(turn, packet, verdict);
        self.note_drops(turn, before);
        verdict
    }

    /// Reports to watchers a packet whose departure has become known after it waited.
    #[inline(never)]
    pub(super) fn note_leaving(&mut self, turn: &mut Turn<'_>, packet: PacketId, departure: Departure) {
        self.note(turn, packet, Verdict::LeavesAt(departure));
    }

    /// Reports to watchers the outcome for a packet.
    #[inline(always)]
    fn note(&mut self, turn: &mut Turn<'_>, packet: PacketId, verdict: Verdict) {
        let header = turn.headers.get_mut(packet);
        if let (Some(congestion), Verdict::LeavesAt(leaves)) = (&mut self.congestion, verdict) {
            congestion.will_send(turn.now, leaves.port, (leaves.start, leaves.end), header);
        }
        match (&mut self.observer, verdict) {
            (Some(observer), Verdict::LeavesAt(Departure { port, start, .. })) => {
                observer.sends(start, port, packet, header)
            }
            (Some(observer), Verdict::Dropped(reason)) => observer.dropped(turn.now, packet, reason),
            _ => {}
        }
    }

    /// Reports to watchers the packet that leaves a port, and the drops of a call that started with `before` effects.
    #[inline(never)]
    pub(super) fn note_sent(
        &mut self,
        turn: &mut Turn<'_>,
        (port, packet): (PortId, Option<PacketId>),
        before: usize,
    ) {
        packet.into_iter().for_each(|packet| self.tell_arbiter(turn, port, packet));
        if let (Some(congestion), Some(packet)) = (&mut self.congestion, packet) {
            congestion.sends(turn.now, port, turn.headers.get_mut(packet));
        }
        self.note_drops(turn, before);
        if let (Some(observer), Some(packet)) = (&mut self.observer, packet) {
            observer.sends(turn.now, port, packet, turn.headers.get(packet));
        }
    }

    pub(super) fn note_drops(&mut self, turn: &Turn<'_>, before: usize) {
        if let Some(observer) = &mut self.observer {
            tell_drops(&mut **observer, turn, before);
        }
    }
}
