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

use crate::domain::Domain;
use crate::ends::{Active, End, Slab};
use crate::event::{Event, LinkEvent};
use crate::labels::{Labels, Parcel};
use crate::setup::Setup;
use pauses::Parked;

/// The network card of a host and who wants to use it.
pub(crate) struct Host {
    pub(crate) link: LinkId,
    rate: Rate,
    /// The card transmits until then.
    busy_until: Time,
    /// Bit q: queue q is paused.
    paused: u8,
    /// An event will come when the card is idle.
    called: bool,
    /// Replies of connections that are closed already, and to whom.
    replies: Vec<(HostId, Outgoing)>,
    /// Receivers with something to acknowledge.
    receivers: Ring<FlowId>,
    /// Senders that may send.
    senders: Ring<FlowId>,
    /// Who waits for the end of a pause.
    parked: Parked,
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
            paused: 0,
            called: false,
            replies: Vec::new(),
            receivers: Ring::new(),
            senders: Ring::new(),
            parked: Parked::default(),
            open: 0,
            quiet_until: Time::ZERO,
        }
    }

    /// Somebody waits for the card.
    #[inline]
    fn is_wanted(&self) -> bool {
        !self.senders.is_empty() || !self.receivers.is_empty() || !self.replies.is_empty()
    }

    /// Whoever comes may send at once. While a queue is paused, whoever comes takes a turn, to be asked for its queue.
    #[inline]
    fn is_free(&self, now: Time) -> bool {
        now >= self.busy_until && self.paused == 0 && !self.is_wanted()
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
#[inline]
fn act<E: End>(active: &mut Active<E>, pool: &mut Pool<Segment>, desk: Desk<'_>, free: bool) -> Acted {
    let now = desk.now;
    let waited = if active.in_ring { now.since(active.ready_since) } else { weft_core::Span::ZERO };
    active.in_ring &= !free;
    let sent = if free && active.end.needs().ready { Some(write(active, pool, desk)) } else { None };
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
fn wake<E: End>(ends: &mut Slab<E>, flow: FlowId, now: Time) -> Option<HostId> {
    let active = ends.get(flow).filter(|active| active.wake_at == now)?;
    active.wake_at = Time::NEVER;
    if active.end.needs().wake <= now {
        active.end.on_wakeup(now);
    }
    Some(active.host)
}

impl Domain {
    /// A packet reached a host.
    #[inline]
    pub(crate) fn at_host(&mut self, host: HostId, packet: PacketId) {
        self.tally.packets.delivered += 1;
        let Header { marks: Marks { ecn }, note, .. } = *self.pool.headers.get(packet);
        let segment = self.pool.body(packet);
        let flow = segment.flow;
        if segment.flags.has(Flags::ACK) {
            if let Some(active) = self.ends.senders.get(flow) {
                active.end.on_packet(self.now, ecn, segment);
            }
            self.pool.remove(packet);
            self.sender_has_news(flow, host);
        } else if let Some(active) = self.ends.receivers.get(flow) {
            active.end.on_packet_of_cell(self.now, ecn, cell_of(note), segment);
            self.pool.remove(packet);
            self.receiver_has_news(flow, host);
        } else {
            self.at_closed_door(packet, host);
        }
    }

    /// A packet for a receiver that is not there: no longer, or not yet.
    #[cold]
    fn at_closed_door(&mut self, packet: PacketId, host: HostId) {
        let (header, segment) = (*self.pool.headers.get(packet), *self.pool.body(packet));
        self.pool.remove(packet);
        let flow = segment.flow;
        if let Some(spec) = self.ends.receivers.expected(flow) {
            let (site, (_, queues)) = (self.site_of(host, &spec), self.plan.setup.queues_of(&spec));
            self.ends.open_receiver((flow, spec), (&site, queues), self.now);
            if let Some(active) = self.ends.receivers.get(flow) {
                active.end.on_packet_of_cell(self.now, header.marks.ecn, cell_of(header.note), &segment);
            }
            self.receiver_has_news(flow, host);
        } else {
            let transport = &self.plan.setup.transport;
            let mut reply = reply_after_close(transport, &segment, self.now);
            if let Some(out) = reply.as_mut().filter(|_| transport.roce().is_none()) {
                out.class = header.class;
            }
            self.hosts[host.index()].replies.extend(reply.map(|out| (header.source, out)));
            self.use_card(host);
        }
    }

    /// A timer of a sender.
    pub(crate) fn sender_wake(&mut self, flow: FlowId) {
        if let Some(host) = wake(&mut self.ends.senders, flow, self.now) {
            self.sender_has_news(flow, host);
        }
    }

    /// A timer of a receiver.
    pub(crate) fn receiver_wake(&mut self, flow: FlowId) {
        if let Some(host) = wake(&mut self.ends.receivers, flow, self.now) {
            self.receiver_has_news(flow, host);
        }
    }

    #[inline(always)]
    #[allow(clippy::inline_always, reason = "1 % of all instructions, with `receiver_has_news`")]
    fn sender_has_news(&mut self, flow: FlowId, host: HostId) {
        let free = self.hosts[host.index()].is_free(self.now);
        self.sender_acts(flow, host, free);
        self.use_card(host);
    }

    #[inline(always)]
    #[allow(clippy::inline_always, reason = "1 % of all instructions, with `sender_has_news`")]
    fn receiver_has_news(&mut self, flow: FlowId, host: HostId) {
        let free = self.hosts[host.index()].is_free(self.now);
        self.receiver_acts(flow, host, free);
        self.use_card(host);
    }

    /// Returns whether it has sent a packet.
    fn sender_acts(&mut self, flow: FlowId, host: HostId, free: bool) -> bool {
        let Some(active) = self.ends.senders.get(flow) else { return false };
        let desk = Desk { now: self.now, setup: &self.plan.setup, labels: self.labels.as_deref_mut() };
        let acted = act(active, &mut self.pool, desk, free);
        if acted.joins {
            self.hosts[host.index()].senders.push(flow);
        }
        if let Some(time) = acted.wake {
            self.schedule(time.max(self.now), Event::SenderWake(flow));
        }
        if acted.done {
            self.hosts[host.index()].open -= 1;
            self.sender_done(flow);
        }
        let Some(packet) = acted.sent else { return false };
        if self.pool.headers.get(packet).kind == Kind::Data {
            self.tally.waited_at_host(acted.waited);
        }
        self.send(host, packet);
        true
    }

    /// Returns whether it has sent a packet.
    fn receiver_acts(&mut self, flow: FlowId, host: HostId, free: bool) -> bool {
        let Some(active) = self.ends.receivers.get(flow) else { return false };
        let desk = Desk { now: self.now, setup: &self.plan.setup, labels: self.labels.as_deref_mut() };
        let acted = act(active, &mut self.pool, desk, free);
        let completes = acted.complete && !active.completed;
        active.completed |= acted.complete;
        if acted.joins {
            self.hosts[host.index()].receivers.push(flow);
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
        self.hosts[host.index()].called = false;
        self.use_card(host);
    }

    /// If somebody waits for the card: the next packet if it is idle, and an event for when it is idle again if anybody is
    /// left waiting.
    #[inline]
    fn use_card(&mut self, host: HostId) {
        if self.hosts[host.index()].is_wanted() {
            self.serve_card(host);
        }
    }

    #[inline(never)]
    fn serve_card(&mut self, host: HostId) {
        if self.now >= self.hosts[host.index()].busy_until {
            let _ = self.reply(host) || self.next_of_receivers(host) || self.next_of_senders(host);
        }
        let card = &mut self.hosts[host.index()];
        if !card.called && card.is_wanted() {
            card.called = true;
            self.calendar.push_link(card.busy_until, LinkEvent::Transmitted, card.link);
        }
    }

    /// The oldest reply of a closed connection.
    fn reply(&mut self, host: HostId) -> bool {
        let card = &mut self.hosts[host.index()];
        if card.paused != 0 {
            card.park_replies(&self.plan.setup);
        }
        if card.replies.is_empty() {
            return false;
        }
        let (peer, out) = card.replies.remove(0);
        let packet = self.pool.insert(header(host, peer, &out), out.segment);
        self.send(host, packet);
        true
    }

    fn next_of_receivers(&mut self, host: HostId) -> bool {
        while let Some(flow) = self.hosts[host.index()].receivers.pop() {
            if self.hosts[host.index()].parks(self.ends.receivers.get(flow)) {
                self.hosts[host.index()].parked.receivers.push(flow);
            } else if self.receiver_acts(flow, host, true) {
                return true;
            }
        }
        false
    }

    fn next_of_senders(&mut self, host: HostId) -> bool {
        while let Some(flow) = self.hosts[host.index()].senders.pop() {
            if self.hosts[host.index()].parks(self.ends.senders.get(flow)) {
                self.hosts[host.index()].parked.senders.push(flow);
            } else if self.sender_acts(flow, host, true) {
                return true;
            }
        }
        false
    }

    /// Puts a packet on the wire.
    #[inline]
    fn send(&mut self, host: HostId, packet: PacketId) {
        self.tally.packets.created += 1;
        let wire_bytes = self.pool.headers.get(packet).wire;
        let card = &mut self.hosts[host.index()];
        let (link, end) = (card.link, self.wires[card.link.index()].end_of(self.now, wire_bytes));
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
