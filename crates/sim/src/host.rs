//! A host: one network card that pulls packets from the ends of its flows, acknowledgements first, flows in turn.
//!
//! Nothing waits in the card: a packet exists from the moment its transmission starts. What a flow may not send yet
//! because the card serves others is counted as waiting at hop 0.

mod act;
mod card;
mod part;
mod pauses;
mod starts;

use weft_core::stack::{HostPart, Layout, Side};
use weft_core::{FlowId, Header, HostId, Kind, LinkId, PacketId, Rate, Ring, Time};
use weft_plan::Setup;
use weft_transport::{AnyHost, Body, FlowSite, Transport};

use crate::domain::Domain;
use crate::ends::Seat;
use crate::event::Event;

use act::{Desk, act, wake};
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
    /// Replies of connections that are closed already.
    replies: Vec<(Header, Body)>,
    /// Receivers with something to acknowledge.
    receivers: Ring<Seat>,
    /// Senders that may send.
    senders: Ring<Seat>,
    /// Who waits for the end of a pause.
    parked: Parked,
    /// Flows whose senders are open here.
    open: u32,
    /// What all flows at this host share.
    parts: Box<[AnyHost]>,
    /// The earliest pending event of these parts; later ones are stale.
    part_at: Time,
}

impl Host {
    pub(crate) fn new(link: LinkId, rate: Rate, setup: &Setup) -> Host {
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
            parts: Transport::hosts(setup.transports(), rate).into(),
            part_at: Time::NEVER,
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
        let body = self.pool.body(packet);
        match body.side(self.pool.headers.get(packet)) {
            Side::Sender => self.at_sender(host, packet, body.flow()),
            Side::Receiver => self.at_receiver(host, packet, body.flow()),
        }
    }

    #[inline]
    fn at_sender(&mut self, host: HostId, packet: PacketId, flow: FlowId) {
        let Some((seat, active)) = self.ends.senders.seated(flow) else {
            self.pool.remove(packet);
            return self.use_card(host);
        };
        active.end.receive(self.now, self.pool.headers.get(packet), self.pool.body(packet));
        self.pool.remove(packet);
        self.tell_sender(seat, host);
    }

    #[inline]
    fn at_receiver(&mut self, host: HostId, packet: PacketId, flow: FlowId) {
        if self.pool.body(packet).has_toll() {
            self.collect_toll(packet);
        }
        let Some((seat, active)) = self.ends.receivers.seated(flow) else {
            return self.at_closed_door(packet, host);
        };
        active.end.receive(self.now, self.pool.headers.get(packet), self.pool.body(packet));
        self.pool.remove(packet);
        self.tell_receiver(seat, host);
    }

    /// A packet for a receiver that is not there: no longer, or not yet.
    #[cold]
    fn at_closed_door(&mut self, packet: PacketId, host: HostId) {
        let (header, body) = (*self.pool.headers.get(packet), *self.pool.body(packet));
        self.pool.remove(packet);
        let flow = body.flow();
        if let Some(spec) = self.ends.receivers.expected(flow) {
            let (site, (_, queues)) = (self.site_of(host, &spec), self.plan.setup.queues_of(&spec));
            let setup = &self.plan.setup;
            self.ends.open_receiver((flow, spec), (setup.receiver(&spec), &site, queues), self.now);
            if setup.stacks.differ() {
                self.ends.note_entry(flow, spec.tag);
            }
            let Some((seat, active)) = self.ends.receivers.seated(flow) else { return };
            active.end.receive(self.now, &header, &body);
            self.receiver_has_news(seat, host);
        } else {
            let setup = &self.plan.setup;
            let ended = self.ends.closed_flow(flow, (header.source, header.destination));
            let reply = setup.receiver(&ended).reply_after_close(&header, &body, self.now);
            let addressed = reply
                .map(|(reply, body)| (Header { source: host, destination: header.source, ..reply }, body));
            self.hosts[host.index()].replies.extend(addressed);
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
        if let Some((seat, _)) = self.ends.senders.seated(flow) {
            self.sender_has_news(seat, host);
        }
    }

    #[inline(never)]
    fn sender_has_news(&mut self, seat: Seat, host: HostId) {
        self.tell_sender(seat, host);
    }

    #[inline(never)]
    fn receiver_has_news(&mut self, seat: Seat, host: HostId) {
        self.tell_receiver(seat, host);
    }

    /// Something happened to a sender: it may have a packet.
    #[inline(always)]
    fn tell_sender(&mut self, seat: Seat, host: HostId) {
        if card_of(&mut self.hosts, host).is_free(self.now) {
            self.sender_sends(seat, host);
        } else {
            self.sender_acts(seat, host, false);
        }
        self.use_card(host);
    }

    /// Something happened to a receiver: it may have an acknowledgement.
    #[inline(always)]
    fn tell_receiver(&mut self, seat: Seat, host: HostId) {
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
            self.schedule(time, Event::SenderWake(flow));
        }
        if acted.done | acted.asks {
            self.sender_turns(flow, host, (acted.asks, acted.done));
        }
        let Some(packet) = acted.sent else { return false };
        if self.pool.headers.get(packet).kind.is_payload() {
            self.tally.waited_at_host(acted.waited);
        }
        self.send(host, packet);
        true
    }

    /// A sender wants something of its host's part, or is done.
    #[inline(never)]
    fn sender_turns(&mut self, flow: FlowId, host: HostId, (asks, done): (bool, bool)) {
        if asks {
            self.sender_asks(flow, host);
        }
        if done {
            self.hosts[host.index()].open -= 1;
            self.sender_done(flow);
        }
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
            self.schedule(time, Event::ReceiverWake(flow));
        }
        if completes | acted.done | acted.asks {
            self.receiver_turns(flow, host, (acted.asks, completes, acted.done));
        }
        let Some(packet) = acted.sent else { return false };
        if self.pool.headers.get(packet).kind == Kind::Control && self.withholds(host, packet) {
            return false;
        }
        self.send(host, packet);
        true
    }

    /// A receiver wants something of its host's part, is complete, or is done.
    #[inline(never)]
    fn receiver_turns(&mut self, flow: FlowId, host: HostId, (asks, completes, done): (bool, bool, bool)) {
        if asks {
            self.receiver_asks(flow, host);
        }
        if completes {
            self.completed_one();
        }
        if done {
            let pauses = self.tolls_of(flow);
            self.ends.close_receiver(flow, self.now, pauses);
        }
    }

    /// The host's part may refuse a control packet that an end has written.
    fn withholds(&mut self, host: HostId, packet: PacketId) -> bool {
        let (now, parts) = (self.now, &mut self.hosts[host.index()].parts);
        let admitted = parts.iter_mut().all(|part| part.admits(now, Kind::Control));
        if !admitted {
            self.pool.remove(packet);
        }
        !admitted
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
}
