//! Joining a port: admission, marking, queueing. One function for every port, with fast paths where little needs
//! checking. Must not depend on the table or the balancer.

use weft_core::record::Reason;
use weft_core::{Header, PacketId, PacketKind, PortId, Time};
use weft_mark::{Action, Sight};

use crate::ClassQueue;
use crate::foreseen::{give_back_unseen, take_idle_place, take_place};
use crate::outputs::{Outputs, chosen_of, slot};
use crate::port::Output;
use crate::turn::{Departure, Turn, Verdict};
use weft_foresight::Slot;

/// The outcome for a packet at an unobserved port.
pub(crate) enum Unseen {
    /// It has a slot on the link.
    Line(Slot),
    /// A limit or the marker is near: see [`Outputs::join_near`].
    Near,
    /// The port is not of this kind: see [`Outputs::join`].
    Look,
}

/// The outcome for a packet at a port. Functions that are not inlined return this through memory; their callers
/// assemble the [`Verdict`] in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Joined {
    /// It has a slot on the link.
    Line(Slot),
    /// See [`Verdict::LeavesUnlessHeld`].
    Revocably(Slot, u32),
    /// See [`Verdict::RevokeFirst`].
    RevokeFirst,
    /// See [`Verdict::Ready`].
    Ready,
    /// See [`Verdict::Queued`].
    Queued,
    /// See [`Verdict::QueuedUntil`].
    QueuedUntil(Time),
    /// See [`Verdict::Returned`].
    Returned,
    /// See [`Verdict::Dropped`].
    Dropped(Reason),
}

impl Joined {
    /// The verdict on a packet that has been sent to a port.
    #[inline(always)]
    pub(crate) fn verdict(self, header: &Header, port: PortId) -> Verdict {
        match self {
            Joined::Line(slot) => Verdict::LeavesAt(Departure::of(header, port, slot)),
            Joined::Revocably(slot, overtaken) => {
                Verdict::LeavesUnlessHeld(Departure::of(header, port, slot), overtaken)
            }
            Joined::RevokeFirst => Verdict::RevokeFirst,
            Joined::Ready => Verdict::Ready(port),
            Joined::Queued => Verdict::Queued(port),
            Joined::QueuedUntil(time) => Verdict::QueuedUntil(port, time),
            Joined::Returned => Verdict::Returned,
            Joined::Dropped(reason) => Verdict::Dropped(reason),
        }
    }
}

impl Outputs {
    #[cold]
    pub(crate) fn refuse(&mut self, port: PortId, reason: Reason) -> Reason {
        self.ports[port.index()].port.dropped += 1;
        self.refused_at = port;
        reason
    }

    /// Adds a packet to an unobserved port with foreseen departures, with neither limit nor marker near: a line of
    /// arithmetic.
    #[inline(always)]
    pub(crate) fn join_unseen(&mut self, now: Time, port: PortId, wire: u16) -> Unseen {
        let Output { port: held, foresight: Some(foresight), .. } = chosen_of(&mut self.ports, port) else {
            return Unseen::Look;
        };
        if foresight.is_observed() {
            return Unseen::Look;
        }
        let idle = foresight.all_have_left(now);
        if idle && foresight.is_calm(u64::from(wire)) {
            return Unseen::Line(take_idle_place(now, (held, foresight), wire));
        }
        give_back_unseen(now, held, foresight);
        if !foresight.is_calm(held.bytes + u64::from(wire)) {
            return Unseen::Near;
        }
        Unseen::Line(take_place(now, (held, foresight), wire))
    }

    /// The slow path of [`Outputs::join_unseen`]: a limit or the marker is near.
    #[inline(never)]
    pub(crate) fn join_near(&mut self, now: Time, port: PortId, header: &mut Header) -> Joined {
        if let Err(reason) = self.admit_and_mark::<true>(now, (port, 0), header) {
            return Joined::Dropped(self.refuse(port, reason));
        }
        let slot = take_place(now, chosen_of(&mut self.ports, port).foreseen(), header.wire);
        Joined::Line(slot)
    }

    /// Adds a packet to any port: admit, mark, queue.
    #[inline]
    pub(crate) fn join(&mut self, turn: &mut Turn<'_>, port: PortId, packet: PacketId) -> Joined {
        if self.foresees(port) {
            self.join_observed(turn.now, port, turn.headers.get_mut(packet))
        } else if self.may_be_overtaken() && self.chosen(port).strict.is_some() {
            self.join_strict(turn, port, packet)
        } else {
            self.join_queue(turn, port, packet)
        }
    }

    /// Adds a packet to an observed port whose departures are foreseen.
    #[inline(never)]
    fn join_observed(&mut self, now: Time, port: PortId, header: &mut Header) -> Joined {
        self.catch_up(now, port);
        if !self.chosen(port).is_calm(header.wire)
            && let Err(reason) = self.admit_and_mark::<true>(now, (port, 0), header)
        {
            return Joined::Dropped(self.refuse(port, reason));
        }
        let slot = self.settle_in(now, port, header);
        Joined::Line(slot)
    }

    /// Adds a packet to a port that announces each departure.
    #[inline(never)]
    fn join_queue(&mut self, turn: &mut Turn<'_>, port: PortId, packet: PacketId) -> Joined {
        let (now, header) = (turn.now, turn.headers.get_mut(packet));
        let queue = self.classes.queue(header.class);
        if let Err(reason) = self.admit_and_mark::<false>(now, (port, queue), header) {
            return self.turned_away(turn, (port, queue), packet, reason);
        }
        let idle = self.enqueue(turn, (port, queue), packet);
        if idle { Joined::Ready } else { Joined::Queued }
    }

    /// Adds an admitted packet to a port whose departures are foreseen.
    #[inline(always)]
    fn settle_in(&mut self, now: Time, port: PortId, header: &Header) -> Slot {
        let (held, foresight) = chosen_of(&mut self.ports, port).foreseen();
        self.store.stored((0, held.bytes + u64::from(header.wire)), header.wire);
        self.visible.joined(now, (header.ingress, header.wire), port.index());
        take_place(now, (held, foresight), header.wire)
    }

    /// Whether a packet may join a queue; if so, it may get a mark. `PLAIN`: the port is one whose departures are
    /// foreseen, so that colours, pauses, trimming and cells cannot occur (`Outputs::plain`).
    #[inline(always)]
    fn admit_and_mark<const PLAIN: bool>(
        &mut self,
        now: Time,
        at: (PortId, usize),
        header: &mut Header,
    ) -> Result<(), Reason> {
        if !PLAIN && header.kind == PacketKind::Red {
            self.admit_red(at, self.cells.occupied(header.wire))?;
        }
        self.admit::<PLAIN>(now, at, header)?;
        let occupied = if PLAIN { header.wire } else { self.cells.occupied(header.wire) };
        if !PLAIN && let Some(trim) = &self.trim {
            trim.admit((header.kind, occupied), self.chosen(at.0).queues[at.1].bytes)?;
        }
        let passes =
            if PLAIN { !self.may_mark(at.0, occupied) } else { self.passes_unmarked(at.0, occupied) };
        if passes { Ok(()) } else { self.mark::<PLAIN>(now, at, header) }
    }

    /// Marks an admitted packet, lets it pass, or drops it instead of marking it.
    #[inline(always)]
    pub(crate) fn mark<const PLAIN: bool>(
        &mut self,
        now: Time,
        at: (PortId, usize),
        header: &mut Header,
    ) -> Result<(), Reason> {
        match self.judge::<PLAIN>(now, at, header) {
            Action::Pass => Ok(()),
            Action::Mark => {
                chosen_of(&mut self.ports, at.0).port.mark(header);
                Ok(())
            }
            Action::Drop => Err(Reason::Early),
        }
    }

    /// Whether there is room at a port. Other ports are asked to release memory only if there would be none otherwise.
    #[inline(always)]
    pub(crate) fn admit<const PLAIN: bool>(
        &mut self,
        now: Time,
        (port, queue): (PortId, usize),
        header: &Header,
    ) -> Result<(), Reason> {
        let wire = if PLAIN { header.wire } else { self.cells.occupied(header.wire) };
        if !PLAIN && let Some(ingress) = &self.ingress {
            let output = &self.ports[port.index()];
            match () {
                () if !output.port.up => return Err(Reason::LinkDown),
                () if output.queues[queue].discards => return Err(Reason::Watchdog),
                () => ingress.admit(header.ingress, queue, wire)?,
            }
            if ingress.is_lossless(queue) {
                return Ok(());
            }
        }
        let first = self.chosen(port).admit::<PLAIN>(queue, wire, &self.store);
        if first.is_ok() || !self.store.counts() {
            return first;
        }
        self.admit_after_settling::<PLAIN>(now, (port, queue), wire)
    }

    #[inline(never)]
    fn admit_after_settling<const PLAIN: bool>(
        &mut self,
        now: Time,
        (port, queue): (PortId, usize),
        wire: u16,
    ) -> Result<(), Reason> {
        self.settle_all(now);
        self.chosen(port).admit::<PLAIN>(queue, wire, &self.store)
    }

    /// Whether the colour rule admits a red packet to a queue. A port that is down refuses it because it is down.
    #[inline(never)]
    fn admit_red(&self, (port, queue): (PortId, usize), wire: u16) -> Result<(), Reason> {
        let output = self.chosen(port);
        let Some(limit) = output.red.as_ref().filter(|_| output.port.up) else { return Ok(()) };
        let ClassQueue { red, bytes, .. } = output.queues[queue];
        let allowed = || self.store.allows(queue).min(output.limit);
        if limit.admits((red, bytes), wire, allowed) { Ok(()) } else { Err(Reason::Red) }
    }

    /// Whether the marker of a foreseen port must be consulted about a packet.
    #[inline(always)]
    fn may_mark(&mut self, port: PortId, wire: u16) -> bool {
        let (held, foresight) = chosen_of(&mut self.ports, port).foreseen();
        foresight.may_mark(held.bytes + u64::from(wire))
    }

    /// Whether the marker of a port with one queue need not be consulted about a packet.
    #[inline(always)]
    fn passes_unmarked(&self, port: PortId, wire: u16) -> bool {
        let output = self.chosen(port);
        matches!(&output.queues[..], [only] if only.bytes + u64::from(wire) <= output.unmarked_up_to)
    }

    /// The marker's decision on an admitted packet of a queue.
    #[inline(always)]
    fn judge<const PLAIN: bool>(
        &mut self,
        now: Time,
        (port, queue): (PortId, usize),
        header: &Header,
    ) -> Action {
        let occupied = if PLAIN { header.wire } else { self.cells.occupied(header.wire) };
        let output = chosen_of(&mut self.ports, port);
        let (queued, port) = (output.bytes_of::<PLAIN>(queue), output.port.bytes);
        let sight = Sight { now, packet: header, occupied, queue: queued, port };
        output.marker(queue).arriving(&sight, &mut self.marking)
    }

    /// Adds an admitted packet to a queue. Returns whether the transmitter is idle.
    #[inline(always)]
    fn enqueue(&mut self, turn: &mut Turn<'_>, (port, queue): (PortId, usize), packet: PacketId) -> bool {
        let Header { wire, ingress, kind, .. } = *turn.headers.get(packet);
        let wire = self.cells.occupied(wire);
        let output = &mut self.ports[port.index()];
        let own = &mut output.queues[queue];
        match self.orders.get_mut(slot(port, queue, self.queues)) {
            Some(order) => order.join(&mut own.packets, packet, turn.headers),
            None => own.packets.push(packet, turn.headers),
        }
        own.bytes += u64::from(wire);
        if kind == PacketKind::Red {
            own.red += u64::from(wire);
        }
        match self.ingress.as_ref().and_then(|own| own.pooled(ingress, queue, wire)) {
            None => self.store.stored((queue, own.bytes), wire),
            Some(bytes) => self.store.charge(bytes),
        }
        output.port.store(turn.now, wire);
        let idle = output.port.in_service.is_none();
        self.charge(turn.effects, (ingress, wire), (port, queue));
        debug_assert!(self.books_agree());
        self.visible.joined(turn.now, (ingress, wire), slot(port, queue, self.queues));
        idle
    }
}
