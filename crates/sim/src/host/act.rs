//! What an end does when anything has happened to it: it sends, waits for the card, or sets its timer.

use weft_core::stack::Layout;
use weft_core::{FlowId, HostId, PacketId, Pool, PortId, Time};
use weft_plan::Setup;
use weft_transport::Body;

use crate::ends::{Active, End, Seat, Slab};
use crate::labels::{Labels, Parcel};

/// What else is needed to write a packet.
pub(super) struct Desk<'a> {
    pub(super) now: Time,
    pub(super) setup: &'a Setup,
    pub(super) labels: Option<&'a mut Labels>,
}

/// What an end did, and what it needs, after anything happened to it.
pub(super) struct Acted {
    /// The packet it sends.
    pub(super) sent: Option<PacketId>,
    /// How long that could have been sent.
    pub(super) waited: weft_core::Span,
    pub(super) wake: Option<Time>,
    /// It waits for the card.
    pub(super) joins: bool,
    pub(super) complete: bool,
    pub(super) done: bool,
    /// It wants something of the host's part.
    pub(super) asks: bool,
}

/// Lets an end act after an event: if the card is `free` for it, it sends a packet; if it has more, it waits for its turn.
#[inline(always)]
pub(super) fn act<E: End>(
    active: &mut Active<E>,
    pool: &mut Pool<Body>,
    desk: Desk<'_>,
    free: bool,
) -> Acted {
    let now = desk.now;
    let (mut sent, mut waited) = (None, weft_core::Span::ZERO);
    if free && active.end.needs().ready {
        if active.in_ring {
            waited = now.since(active.ready_since);
        }
        sent = Some(write(active, pool, desk));
    }
    active.in_ring &= !free;
    let needs = active.end.needs();
    // A timer may have run out while the end waited for something else; its event comes now, not in the past.
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
    Acted { sent, waited, wake, joins, complete: needs.complete, done, asks: needs.asks }
}

/// The next packet of an end that has one.
#[inline]
fn write<E: End>(active: &mut Active<E>, pool: &mut Pool<Body>, desk: Desk<'_>) -> PacketId {
    let (packet, header, body) = pool.place();
    header.note = 0;
    active.end.send(desk.now, header, body);
    header.arrived = desk.now;
    header.source = active.host;
    header.destination = active.peer;
    if let Some(labels) = desk.labels {
        header.note = label(active, labels, desk.setup, (body, desk.now));
    }
    header.ingress = PortId(0);
    header.hops = 0;
    packet
}

/// The path and the flowcell of a packet that an end has written.
#[inline(never)]
fn label<E: End>(
    active: &mut Active<E>,
    labels: &mut Labels,
    setup: &Setup,
    (body, now): (&Body, Time),
) -> u32 {
    let (length, rest) = (body.payload(), active.end.burst());
    let parcel = Parcel { from: active.host, to: active.peer, flow: active.flow, length, rest };
    labels.stamp(setup, &mut active.cells, parcel, now)
}

/// A timer event of an end fires. Events of timers that have moved since are stale.
pub(super) fn wake<E: End>(ends: &mut Slab<E>, flow: FlowId, now: Time) -> Option<(Seat, HostId)> {
    let (seat, active) = ends.seated(flow).filter(|(_, active)| active.wake_at == now)?;
    active.wake_at = Time::NEVER;
    if active.end.needs().wake <= now {
        active.end.on_wakeup(now);
    }
    Some((seat, active.host))
}
