//! The state that the nodes of a domain share: the time, pending events, packets, wires, counts, and the mailbox to
//! other domains. A handler of switches or hosts gets only this and its own nodes.

use std::sync::Arc;

use weft_core::record::{HopWaits, Reason, WaitSum};
use weft_core::{InBand, LinkId, PacketId, Pool, Time};
use weft_recorder::tally::Tally;
use weft_recorder::trace::Trace;
use weft_topology::Node;
use weft_transport::Body;

use crate::calendar::Calendar;
use crate::event::Event;
use crate::outbox::{Handoff, Outbox};
use crate::plan::RunPlan;
use crate::transmitters::Pauses;
use crate::wire::Wires;

/// The state that all nodes of a domain share.
pub(crate) struct Context {
    pub(crate) plan: Arc<RunPlan>,
    /// The number of the domain.
    pub(crate) number: usize,
    pub(crate) now: Time,
    pub(crate) calendar: Calendar,
    pub(crate) pool: Pool<Body>,
    pub(crate) wires: Wires,
    pub(crate) tally: Tally,
    pub(crate) outbox: Outbox,
    /// Present if any class pauses.
    pub(crate) pauses: Option<Box<Pauses>>,
    /// If waits are recorded by flow: those of packets that arrived here, by the receiver's slot.
    pub(crate) waits: Option<Vec<WaitSum>>,
    /// Present if a flow is followed.
    pub(crate) trace: Option<Trace>,
}

impl Context {
    /// Adds an event to the calendar.
    #[inline]
    pub(crate) fn schedule(&mut self, time: Time, event: Event) {
        self.calendar.push(time, event);
    }

    /// Puts a packet on a link; its last bit leaves at `end`. Part of every hop of every packet, hence always
    /// inlined.
    #[inline(always)]
    pub(crate) fn launch(&mut self, link: LinkId, packet: PacketId, wire_bytes: u16, end: Time) {
        let wire = self.wires.of(link);
        let lands = wire.launch(end, wire_bytes);
        if wire.special {
            return self.launch_specially(link, packet, lands);
        }
        let last = std::mem::replace(&mut wire.last, packet);
        if last == PacketId::NONE {
            self.calendar.push_arrival(lands, link, packet);
        } else {
            self.pool.headers.set_follower(last, packet, lands);
        }
    }

    /// [`Context::launch`] for a link that may be down, lossy, stalling or lead to another domain.
    #[inline(never)]
    fn launch_specially(&mut self, link: LinkId, packet: PacketId, lands: Time) {
        if self.trace.is_some() {
            self.trace_sent(link, packet);
        }
        let wire = self.wires.of(link);
        if let Some(reason) = wire.failure() {
            return self.lose(link, packet, reason);
        }
        let lands = wire.taken(lands);
        if let Some(domain) = wire.away {
            return self.hand_over(domain, link, packet, lands);
        }
        if self.trace.is_some() {
            self.trace_lands(link, packet, lands);
        }
        self.fly(link, packet, lands);
    }

    /// Hands a packet over to another domain.
    fn hand_over(&mut self, to: u16, link: LinkId, packet: PacketId, lands: Time) {
        let waits = self.pool.headers.waits_mut(packet).copied();
        let (headers, body) = (&self.pool.headers, *self.pool.body(packet));
        let in_band = headers.carries_in_band().then(|| headers.in_band(packet));
        let handoff = Handoff { link, lands, header: *headers.get(packet), body };
        self.outbox.packet(to, handoff, (in_band, waits));
        self.pool.remove(packet);
    }

    /// Takes in a packet from another domain.
    pub(crate) fn take_in(
        &mut self,
        handoff: &Handoff,
        (in_band, waits): (Option<InBand>, Option<HopWaits>),
    ) {
        let packet = self.pool.insert(handoff.header, handoff.body);
        if let (Some(own), Some(in_band)) = (self.pool.headers.in_band_mut(packet), in_band) {
            *own = in_band;
        }
        if let (Some(own), Some(waits)) = (self.pool.headers.waits_mut(packet), waits) {
            *own = waits;
        }
        self.fly(handoff.link, packet, handoff.lands);
    }

    /// Adds a packet in flight towards this domain, behind earlier ones.
    fn fly(&mut self, link: LinkId, packet: PacketId, lands: Time) {
        let wire = self.wires.of(link);
        match std::mem::replace(&mut wire.last, packet) {
            PacketId::NONE if wire.vacant => (wire.first, wire.first_lands) = (packet, lands),
            PacketId::NONE => self.calendar.push_arrival(lands, link, packet),
            last => self.pool.headers.set_follower(last, packet, lands),
        }
    }

    /// The first packet in flight on a link lands and the next becomes the first. Returns where it lands.
    #[inline(always)]
    pub(crate) fn land(&mut self, link: LinkId, packet: PacketId) -> (Node, weft_core::PortId) {
        let wire = self.wires.of(link);
        let far = (wire.to, wire.to_port);
        if wire.last == packet {
            wire.last = PacketId::NONE;
        } else {
            let (next, lands) = self.pool.headers.follower(packet);
            self.calendar.push_arrival(lands, link, next);
        }
        far
    }

    /// Handles the arrival of a packet that was lost when its cable failed: packets sent since become the first in
    /// flight.
    #[cold]
    pub(crate) fn land_nothing(&mut self, link: LinkId) {
        let wire = self.wires.of(link);
        wire.set_vacant(false);
        match std::mem::replace(&mut wire.first, PacketId::NONE) {
            PacketId::NONE => {}
            first => self.calendar.push_arrival(wire.first_lands, link, first),
        }
    }

    /// Records the loss of a packet on a wire.
    pub(crate) fn lose(&mut self, link: LinkId, packet: PacketId, reason: Reason) {
        self.wires.of(link).lost += 1;
        if self.trace.is_some() {
            self.trace_lost(link, packet, reason);
        }
        self.bury(packet, reason);
    }

    /// Drops the packets in flight on a link whose cable failed.
    pub(crate) fn lose_all(&mut self, link: LinkId) {
        let wire = self.wires.of(link);
        let last = std::mem::replace(&mut wire.last, PacketId::NONE);
        if last == PacketId::NONE {
            return;
        }
        let mut packet = std::mem::replace(&mut wire.first, PacketId::NONE);
        if !wire.vacant {
            wire.set_vacant(true);
            packet = self.calendar.lose_arrival(link);
        }
        loop {
            let (next, _) = self.pool.headers.follower(packet);
            self.lose(link, packet, Reason::LinkDown);
            if packet == last {
                break;
            }
            packet = next;
        }
    }

    /// Counts a lost packet and frees its slot.
    pub(crate) fn bury(&mut self, packet: PacketId, reason: Reason) {
        self.tally.dropped(self.now, self.pool.headers.get(packet), reason);
        self.pool.remove(packet);
    }
}
