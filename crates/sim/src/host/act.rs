//! What an end does after an event: it sends, waits for the card, or sets its timer.

use weft_core::stack::{Layout, Side};
use weft_core::{PacketId, PortId, Span, Time};
use weft_transport::Body;

use crate::context::Context;
use crate::ends::{Active, FlowEnd};
use crate::labels::{HostLabels, Parcel};

/// The outcome of an event at an end.
pub(super) struct Acted {
    /// The packet it sends.
    pub(super) sent: Option<PacketId>,
    /// How long the packet had been ready.
    pub(super) waited: Span,
    pub(super) wake: Option<Time>,
    /// The end waits for the card.
    pub(super) joins: bool,
    /// The end is a receiver that now has everything.
    pub(super) completes: bool,
    pub(super) done: bool,
    /// The end needs something from the host part.
    pub(super) asks: bool,
}

/// Lets an end act after an event: if the card is `free` for it, it sends a packet; if it has more, it waits for its
/// turn at the card.
#[inline(always)]
pub(super) fn act<E: FlowEnd>(
    active: &mut Active<E>,
    cx: &mut Context,
    labels: Option<&mut HostLabels>,
    free: bool,
) -> Acted {
    let now = cx.now;
    let (mut sent, mut waited) = (None, Span::ZERO);
    if free && active.end.needs().ready {
        if active.in_ring {
            waited = now.since(active.ready_since);
        }
        sent = Some(write(active, cx, labels));
    }
    active.in_ring &= !free;
    let needs = active.end.needs();
    // A timer may have expired while the end waited for something else; its event comes now, not in the past.
    let due = needs.wake.max(now);
    let wake = (due < active.wake_at).then_some(due);
    if wake.is_some() {
        active.wake_at = due;
    }
    let joins = needs.ready && !active.in_ring;
    if joins {
        active.in_ring = true;
        active.ready_since = now;
    }
    let done = needs.done && !active.in_ring;
    let completes = E::SIDE == Side::Receiver && needs.complete && !active.completed;
    active.completed |= completes;
    Acted { sent, waited, wake, joins, completes, done, asks: needs.asks }
}

/// Writes the next packet of an end that has one.
#[inline]
fn write<E: FlowEnd>(active: &mut Active<E>, cx: &mut Context, labels: Option<&mut HostLabels>) -> PacketId {
    let (packet, header, body) = cx.pool.place();
    header.note = 0;
    active.end.send(cx.now, header, body);
    header.arrived = cx.now;
    header.source = active.host;
    header.destination = active.peer;
    if let Some(labels) = labels {
        header.note = label(active, (labels, &cx.plan.setup), (body, cx.now));
    }
    header.ingress = PortId(0);
    header.hops = 0;
    if cx.pool.headers.carries_scheduling() {
        write_request(active, cx, packet);
    }
    packet
}

/// Writes the scheduling header of a packet that an end has just written.
#[inline(never)]
fn write_request<E: FlowEnd>(active: &Active<E>, cx: &mut Context, packet: PacketId) {
    if let Some(scheduling) = cx.pool.headers.scheduling_mut(packet) {
        *scheduling = active.end.request();
    }
}

/// Hands the scheduling header of a packet to the end that is about to receive the packet.
#[inline(never)]
pub(super) fn hand_grant<E: FlowEnd>(active: &mut Active<E>, cx: &Context, packet: PacketId) {
    active.end.on_grant(cx.now, &cx.pool.headers.scheduling(packet));
}

/// Writes the path label and the flowcell of a packet that an end has just written.
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
