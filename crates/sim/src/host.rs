//! A host: one network card that pulls packets from the ends of its flows, acknowledgements first, flows in turn.
//!
//! Nothing waits in the card: a packet exists from the moment its transmission starts. What a flow may not send yet
//! because the card serves others is counted as waiting at hop 0.

mod pauses;
mod starts;

use weft_core::label::cell_of;
use weft_core::{FlowId, Header, HostId, Kind, LinkId, PacketId, PortId, Rate, Ring, Time};
use weft_core::{Marks, Pool};
use weft_transport::segment::Flags;
use weft_transport::{FlowSite, Outgoing, Segment, reply_after_close};

use crate::carry::wire_of;
use crate::domain::Domain;
use crate::ends::{Active, End, Seat, Slab};
use crate::event::{Event, LinkEvent};
use crate::labels::{Labels, Parcel};
use crate::setup::Setup;

/// The network card of a host and who wants to use it.
pub(crate) struct Host {
    pub(crate) link: LinkId,
    rate: Rate,
    /// The card transmits until then.
    busy_until: Time,
    /// If a pause holds the card, then `busy_until` is never, and this is when its last packet has left.
    held: Option<Time>,
    /// A pause holds what senders send, and not what receivers answer.
    senders_held: bool,
    /// By queue: those that are paused, and those that the senders of this card have used.
    paused: u8,
    used: u8,
    /// An event will come when the card is idle.
    called: bool,
    /// Replies of connections that are closed already, and to whom.
    replies: Vec<(HostId, Outgoing)>,
    /// Receivers with something to acknowledge.
    receivers: Ring<Seat>,
    /// Senders that may send.
    senders: Ring<Seat>,
    /// Flows whose senders are open here.
    open: u32,
    /// No congestion notification leaves before, where the card limits them for all its flows.
    quiet_until: Time,
}

impl Host {
    pub(crate) fn new(link: LinkId, rate: Rate) -> Host {
        Host {
            link,
            rate,
            busy_until: Time::ZERO,
            held: None,
            senders_held: false,
            paused: 0,
            used: 0,
            called: false,
            replies: Vec::new(),
            receivers: Ring::new(),
            senders: Ring::new(),
            open: 0,
            quiet_until: Time::ZERO,
        }
    }

    /// Somebody waits for the card.
    #[inline]
    fn is_wanted(&self) -> bool {
        let senders = !self.senders.is_empty() && !self.senders_held;
        senders || !self.receivers.is_empty() || !self.replies.is_empty()
    }

    /// Whoever comes may send at once.
    #[inline]
    fn is_free(&self, now: Time) -> bool {
        now >= self.busy_until && !self.is_wanted()
    }

    fn site(&self, seed: u64) -> FlowSite {
        FlowSite { line_rate: self.rate, others: self.open, seed, ..FlowSite::default() }
    }
}

/// What else is needed to write a packet.
struct Desk<'a> {
    now: Time,
    setup: &'a Setup,
    labels: Option<&'a mut Labels>,
}

/// What an end did, and what it needs, after anything happened to it.
struct Acted {
    /// The packet it sends.
    sent: Option<PacketId>,
    /// How long that could have been sent.
    waited: weft_core::Span,
    wake: Option<Time>,
    /// It waits for the card.
    joins: bool,
    complete: bool,
    done: bool,
}

/// Lets an end act after an event: if the card is `free` for it, it sends a packet; if it has more, it waits for its turn.
#[inline(always)]
fn act<E: End>(active: &mut Active<E>, pool: &mut Pool<Segment>, desk: Desk<'_>, free: bool) -> Acted {
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
    let wake = (needs.wake < active.wake_at).then_some(needs.wake);
    if wake.is_some() {
        active.wake_at = needs.wake;
    }
    let joins = needs.ready && !active.in_ring;
    if joins {
        active.in_ring = true;
        active.ready_since = now;
    }
    Acted { sent, waited, wake, joins, complete: needs.complete, done: needs.done && !active.in_ring }
}

/// The next packet of an end that has one.
#[inline]
fn write<E: End>(active: &mut Active<E>, pool: &mut Pool<Segment>, desk: Desk<'_>) -> PacketId {
    let (packet, header, segment) = pool.place();
    active.end.send(desk.now, header, segment);
    header.arrived = desk.now;
    header.source = active.host;
    header.destination = active.peer;
    header.note = match desk.labels {
        None => 0,
        Some(labels) => label(active, labels, desk.setup, (segment, desk.now)),
    };
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
    (segment, now): (&Segment, Time),
) -> u32 {
    let (length, rest) = (u64::from(segment.length), active.end.burst());
    let parcel = Parcel { from: active.host, to: active.peer, flow: active.flow, length, rest };
    labels.stamp(setup, &mut active.cells, parcel, now)
}

/// A timer event of an end fires. Events of timers that have moved since are stale.
fn wake<E: End>(ends: &mut Slab<E>, flow: FlowId, now: Time) -> Option<(Seat, HostId)> {
    let seat = ends.find(flow)?;
    let active = ends.at(seat).filter(|active| active.wake_at == now)?;
    active.wake_at = Time::NEVER;
    if active.end.needs().wake <= now {
        active.end.on_wakeup(now);
    }
    Some((seat, active.host))
}

/// The card of a host; in all of its steps an event needs it several times.
#[inline]
#[allow(unsafe_code, reason = "1 % of all instructions")]
fn card_of(hosts: &mut [Host], host: HostId) -> &mut Host {
    debug_assert!(host.index() < hosts.len(), "hosts are those of the network");
    // SAFETY: `Domain::new` makes a card for every host of the graph, and only hosts of the graph are named: by wires, by
    // flows, which the workload draws among them, and by the ends of these flows.
    unsafe { hosts.get_unchecked_mut(host.index()) }
}

impl Domain {
    /// A packet reached a host.
    #[inline]
    pub(crate) fn at_host(&mut self, host: HostId, packet: PacketId) {
        self.tally.packets.delivered += 1;
        let segment = self.pool.body(packet);
        if segment.flags.has(Flags::ACK) {
            self.at_sender(host, packet);
        } else {
            self.at_receiver(host, packet);
        }
    }

    #[inline]
    fn at_sender(&mut self, host: HostId, packet: PacketId) {
        let segment = self.pool.body(packet);
        let seat = self.ends.senders.find(segment.flow);
        if let Some(active) = seat.and_then(|seat| self.ends.senders.at(seat)) {
            active.end.on_packet(self.now, self.pool.headers.get(packet).marks.ecn, segment);
        }
        self.pool.remove(packet);
        match seat {
            Some(seat) => self.sender_has_news(seat, host),
            None => self.use_card(host),
        }
    }

    #[inline]
    fn at_receiver(&mut self, host: HostId, packet: PacketId) {
        let Header { marks: Marks { ecn }, note, .. } = *self.pool.headers.get(packet);
        let segment = self.pool.body(packet);
        let seat = self.ends.receivers.find(segment.flow);
        let Some(active) = seat.and_then(|seat| self.ends.receivers.at(seat)) else {
            return self.at_closed_door(packet, host);
        };
        active.end.on_packet_of_cell(self.now, ecn, cell_of(note), segment);
        self.pool.remove(packet);
        self.receiver_has_news(seat.expect("it is there"), host);
    }

    /// A packet for a receiver that is not there: no longer, or not yet.
    #[cold]
    fn at_closed_door(&mut self, packet: PacketId, host: HostId) {
        let (header, segment) = (*self.pool.headers.get(packet), *self.pool.body(packet));
        self.pool.remove(packet);
        let flow = segment.flow;
        if let Some(spec) = self.ends.receivers.expected(flow) {
            let site = self.hosts[host.index()].site(self.plan.setup.seed);
            self.ends.open_receiver((flow, spec), &site, self.now);
            let Some(seat) = self.ends.receivers.find(flow) else { return };
            if let Some(active) = self.ends.receivers.at(seat) {
                active.end.on_packet_of_cell(self.now, header.marks.ecn, cell_of(header.note), &segment);
            }
            self.receiver_has_news(seat, host);
        } else {
            let reply = reply_after_close(&self.plan.setup.transport, &segment, self.now);
            self.hosts[host.index()].replies.extend(reply.map(|out| (header.source, out)));
            self.use_card(host);
        }
    }

    /// A timer of a sender.
    pub(crate) fn sender_wake(&mut self, flow: FlowId) {
        if let Some((seat, host)) = wake(&mut self.ends.senders, flow, self.now) {
            self.sender_has_news(seat, host);
        }
    }

    /// A timer of a receiver.
    pub(crate) fn receiver_wake(&mut self, flow: FlowId) {
        if let Some((seat, host)) = wake(&mut self.ends.receivers, flow, self.now) {
            self.receiver_has_news(seat, host);
        }
    }

    /// A flow has opened its sender.
    pub(crate) fn sender_begins(&mut self, flow: FlowId, host: HostId) {
        if let Some(seat) = self.ends.senders.find(flow) {
            self.sender_has_news(seat, host);
        }
    }

    #[inline]
    fn sender_has_news(&mut self, seat: Seat, host: HostId) {
        let card = card_of(&mut self.hosts, host);
        if card.is_free(self.now) && !card.senders_held {
            self.sender_sends(seat, host);
        } else {
            self.sender_acts(seat, host, false);
        }
        self.use_card(host);
    }

    #[inline]
    fn receiver_has_news(&mut self, seat: Seat, host: HostId) {
        if card_of(&mut self.hosts, host).is_free(self.now) {
            self.receiver_sends(seat, host);
        } else {
            self.receiver_acts(seat, host, false);
        }
        self.use_card(host);
    }

    /// The card is free for a sender. Returns whether it has sent a packet.
    #[inline(never)]
    fn sender_sends(&mut self, seat: Seat, host: HostId) -> bool {
        self.sender_acts(seat, host, true)
    }

    /// The card is free for a receiver. Returns whether it has sent a packet.
    #[inline(never)]
    fn receiver_sends(&mut self, seat: Seat, host: HostId) -> bool {
        self.receiver_acts(seat, host, true)
    }

    /// Returns whether it has sent a packet.
    #[inline(always)]
    fn sender_acts(&mut self, seat: Seat, host: HostId, free: bool) -> bool {
        let Some(active) = self.ends.senders.at(seat) else { return false };
        let flow = active.flow;
        let desk = Desk { now: self.now, setup: &self.plan.setup, labels: self.labels.as_deref_mut() };
        let acted = act(active, &mut self.pool, desk, free);
        if acted.joins {
            card_of(&mut self.hosts, host).senders.push(seat);
        }
        if let Some(time) = acted.wake {
            self.schedule(time.max(self.now), Event::SenderWake(flow));
        }
        if acted.done {
            self.sender_closes(flow, host);
        }
        let Some(packet) = acted.sent else { return false };
        if self.pool.headers.get(packet).kind == Kind::Data {
            self.tally.waited_at_host(acted.waited);
        }
        self.send(host, packet);
        true
    }

    #[inline(never)]
    fn sender_closes(&mut self, flow: FlowId, host: HostId) {
        self.hosts[host.index()].open -= 1;
        self.sender_done(flow);
    }

    /// Returns whether it has sent a packet.
    #[inline(always)]
    fn receiver_acts(&mut self, seat: Seat, host: HostId, free: bool) -> bool {
        let Some(active) = self.ends.receivers.at(seat) else { return false };
        let flow = active.flow;
        let desk = Desk { now: self.now, setup: &self.plan.setup, labels: self.labels.as_deref_mut() };
        let acted = act(active, &mut self.pool, desk, free);
        let completes = acted.complete && !active.completed;
        active.completed |= acted.complete;
        if acted.joins {
            card_of(&mut self.hosts, host).receivers.push(seat);
        }
        if let Some(time) = acted.wake {
            self.schedule(time.max(self.now), Event::ReceiverWake(flow));
        }
        if completes {
            self.completed_one();
        }
        if acted.done {
            self.ends.close_receiver(flow, self.now);
        }
        let Some(packet) = acted.sent else { return false };
        if self.pool.headers.get(packet).kind == Kind::Control && self.withholds(host, packet) {
            return false;
        }
        self.send(host, packet);
        true
    }

    /// A card that limits congestion notifications for all its flows together drops those that come too soon.
    fn withholds(&mut self, host: HostId, packet: PacketId) -> bool {
        let pairs = self.plan.setup.transport.roce();
        let Some(interval) = pairs.and_then(|pairs| pairs.port_interval()) else { return false };
        let card = &mut self.hosts[host.index()];
        let early = self.now < card.quiet_until;
        if early {
            self.pool.remove(packet);
        } else {
            card.quiet_until = self.now + interval;
        }
        early
    }

    /// The last byte of a flow has arrived. On one thread the run ends on the grid when that was the last flow.
    fn completed_one(&mut self) {
        self.ends.completed += 1;
        if self.plan.partition.domains == 1 && self.ends.completed == self.plan.setup.flows.len() {
            let grid = self.plan.partition.grid.0;
            let end = Time((self.now.0 / grid + 1) * grid);
            self.calendar.set_end(end.min(self.calendar.end()));
        }
    }

    /// The card is idle, and was wanted when it became busy.
    pub(crate) fn card_idle(&mut self, host: HostId) {
        card_of(&mut self.hosts, host).called = false;
        self.use_card(host);
    }

    /// If somebody waits for the card: the next packet if it is idle, and an event for when it is idle again if anybody is
    /// left waiting.
    #[inline]
    fn use_card(&mut self, host: HostId) {
        let card = card_of(&mut self.hosts, host);
        if card.is_wanted() && (!card.called || self.now >= card.busy_until) {
            self.serve_card(host);
        }
    }

    #[inline(never)]
    fn serve_card(&mut self, host: HostId) {
        if self.now >= card_of(&mut self.hosts, host).busy_until {
            let _ = self.reply(host) || self.next_of_receivers(host) || self.next_of_senders(host);
        }
        let card = card_of(&mut self.hosts, host);
        if !card.called && card.is_wanted() && card.held.is_none() {
            card.called = true;
            self.calendar.push_link(card.busy_until, LinkEvent::Transmitted, card.link);
        }
    }

    /// The oldest reply of a closed connection.
    #[inline(never)]
    fn reply(&mut self, host: HostId) -> bool {
        let replies = &mut self.hosts[host.index()].replies;
        if replies.is_empty() {
            return false;
        }
        let (peer, out) = replies.remove(0);
        let packet = self.pool.insert(header(host, peer, &out), out.segment);
        self.send(host, packet);
        true
    }

    fn next_of_receivers(&mut self, host: HostId) -> bool {
        while let Some(seat) = card_of(&mut self.hosts, host).receivers.pop() {
            if self.receiver_sends(seat, host) {
                return true;
            }
        }
        false
    }

    fn next_of_senders(&mut self, host: HostId) -> bool {
        if card_of(&mut self.hosts, host).senders_held {
            return false;
        }
        while let Some(seat) = card_of(&mut self.hosts, host).senders.pop() {
            if self.sender_sends(seat, host) {
                return true;
            }
        }
        false
    }

    /// Puts a packet on the wire.
    #[inline(always)]
    fn send(&mut self, host: HostId, packet: PacketId) {
        self.tally.packets.created += 1;
        let wire_bytes = self.pool.headers.get(packet).wire;
        let card = card_of(&mut self.hosts, host);
        let (link, end) = (card.link, wire_of(&mut self.wires, card.link).end_of(self.now, wire_bytes));
        card.busy_until = end;
        self.launch(link, packet, wire_bytes, end);
    }
}

/// The header of a packet that no end has written.
fn header(source: HostId, destination: HostId, out: &Outgoing) -> Header {
    Header {
        source,
        destination,
        ports: out.ports,
        wire: out.wire,
        kind: out.kind,
        class: out.class,
        marks: weft_core::Marks { ecn: out.ecn },
        ..Header::default()
    }
}
