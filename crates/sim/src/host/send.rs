//! An end sends: it writes a packet, which goes on the wire of its host's card.

use weft_core::segment::Needs;
use weft_core::stack::{Layout, Side};
use weft_core::{FlowId, HostId, PacketId, PacketKind, PortId, Span, Time};
use weft_transport::Body;

use super::{Hosts, card_of};
use crate::context::Context;
use crate::ends::{Active, FlowEnd, Seat};
use weft_labels::{HostLabels, Parcel};

impl Hosts {
    /// The card is free for an end that has a packet, which it sends unless the host part withholds it. Returns whether it has sent one.
    #[inline(never)]
    pub(super) fn send<E: FlowEnd>(&mut self, cx: &mut Context, host: HostId, seat: Seat) -> bool {
        let Hosts { ends, labels, cards, .. } = self;
        let Some(active) = E::slab(ends).at(seat) else { return false };
        let waited = if active.in_ring { cx.now.since(active.ready_since) } else { Span::ZERO };
        active.in_ring = false;
        let flow = active.flow;
        let Written { packet, wire, kind, needs } = write(active, cx, labels.as_deref_mut());
        if E::may_be_withheld(kind, needs) {
            return self.send_if_admitted::<E>(cx, (flow, host, seat), (packet, wire, needs));
        }
        let card = card_of(cards, host);
        if card.paused != 0 {
            return self.send_in_pause::<E>(cx, (host, seat), (packet, wire, needs), waited);
        }
        if E::SIDE == Side::Sender && kind.is_payload() {
            cx.begin_waits(packet, waited);
        }
        card.put_on_wire(cx, (packet, wire));
        if active.note_needs((card, seat), cx.now, needs) {
            self.note_seldom::<E>(cx, (host, seat), needs);
        }
        true
    }

    /// An end that waited has its turn. Returns false if it no longer has a packet.
    #[inline]
    pub(super) fn has_turn<E: FlowEnd>(&mut self, cx: &mut Context, host: HostId, seat: Seat) -> bool {
        let Some(active) = E::slab(&mut self.ends).at(seat) else { return false };
        if active.end.is_ready() {
            return true;
        }
        active.in_ring = false;
        let needs = active.end.needs();
        self.note_needs::<E>(cx, (host, seat), needs);
        false
    }

    /// An end sends a packet that the host part may withhold.
    #[cold]
    fn send_if_admitted<E: FlowEnd>(
        &mut self,
        cx: &mut Context,
        (flow, host, seat): (FlowId, HostId, Seat),
        (packet, wire, needs): (PacketId, u16, Needs),
    ) -> bool {
        if self.withholds(cx, (flow, host), packet) {
            self.note_needs::<E>(cx, (host, seat), needs);
            return false;
        }
        self.send_in_pause::<E>(cx, (host, seat), (packet, wire, needs), Span::ZERO)
    }

    /// An end sends a packet that a pause may hold.
    #[cold]
    fn send_in_pause<E: FlowEnd>(
        &mut self,
        cx: &mut Context,
        (host, seat): (HostId, Seat),
        (packet, wire, needs): (PacketId, u16, Needs),
        waited: Span,
    ) -> bool {
        let leaves = !self.sets_aside::<E>(cx, (host, seat), (packet, waited));
        if leaves {
            cx.leave_host(E::SIDE, packet, waited);
            self.card(host).put_on_wire(cx, (packet, wire));
        }
        self.note_needs::<E>(cx, (host, seat), needs);
        leaves
    }

    /// Takes the next packet without transmitting it: the packet of an end that has one, and whether it has more.
    pub(super) fn take_one<E: FlowEnd>(
        &mut self,
        cx: &mut Context,
        host: HostId,
        seat: Seat,
    ) -> (Option<PacketId>, bool) {
        let Hosts { ends, labels, .. } = self;
        let Some(active) = E::slab(ends).at(seat) else { return (None, false) };
        let flow = active.flow;
        let written = active.end.is_ready().then(|| write(active, cx, labels.as_deref_mut()));
        let needs = written.as_ref().map_or_else(|| active.end.needs(), |written| written.needs);
        active.in_ring = needs.ready;
        active.ready_since = if needs.ready { cx.now } else { active.ready_since };
        let packet = written
            .filter(|own| {
                !E::may_be_withheld(own.kind, needs) || !self.withholds(cx, (flow, host), own.packet)
            })
            .map(|own| own.packet);
        self.note_seldom::<E>(cx, (host, seat), needs);
        (packet, needs.ready)
    }
}

/// A packet that an end has written, and what the end needs now.
struct Written {
    packet: PacketId,
    wire: u16,
    kind: PacketKind,
    needs: Needs,
}

/// Writes the next packet of an end that has one.
#[inline(always)]
fn write<E: FlowEnd>(active: &mut Active<E>, cx: &mut Context, labels: Option<&mut HostLabels>) -> Written {
    let (packet, header, body) = cx.pool.place();
    header.note = 0;
    let needs = active.end.send(cx.now, header, body);
    header.arrived = cx.now;
    header.source = active.host;
    header.destination = active.peer;
    header.ingress = PortId(0);
    header.hops = 0;
    if let Some(labels) = labels {
        header.note = label(active, (labels, &cx.plan.setup), (body, cx.now));
    }
    let (wire, kind) = (header.wire, header.kind);
    if cx.pool.headers.carries_in_band() {
        write_in_band(active, cx, packet);
    }
    Written { packet, wire, kind, needs }
}

/// What a packet that an end has written carries for switches.
#[inline(never)]
fn write_in_band<E: FlowEnd>(active: &Active<E>, cx: &mut Context, packet: PacketId) {
    if let Some(in_band) = cx.pool.headers.in_band_mut(packet) {
        *in_band = active.end.in_band();
    }
}

/// Hands what a packet carries to the end that is about to receive the packet.
#[inline(never)]
pub(super) fn hand_in_band<E: FlowEnd>(active: &mut Active<E>, cx: &Context, packet: PacketId) {
    active.end.on_in_band(cx.now, &cx.pool.headers.in_band(packet));
}

/// The path and the flowcell of a packet that an end has written.
#[inline(never)]
fn label<E: FlowEnd>(
    active: &mut Active<E>,
    (labels, setup): (&mut HostLabels, &weft_plan::Setup),
    (body, now): (&Body, Time),
) -> u32 {
    let (length, rest) = (body.payload(), active.end.burst());
    let parcel = Parcel { from: active.host, to: active.peer, flow: active.flow, length, rest };
    labels.stamp(setup, &mut active.cells, parcel, now)
}
