//! A host: one network card that pulls packets from the ends of its flows, acknowledgements first, flows in turn.
//!
//! Nothing waits in the card: a packet exists from the moment its transmission starts. What a flow may not send yet
//! because the card serves others is counted as waiting at hop 0.

use std::collections::VecDeque;

use weft_core::{Ecn, FlowId, Header, HostId, LinkId, Marks, PacketId, PortId, Rate, Time};
use weft_transport::{FlowSite, Outgoing, Segment, reply_after_close};
use weft_workload::Flow;

use crate::ends::{Active, End, Slab};
use crate::event::Event;
use crate::domain::Domain;

/// The network card of a host and who wants to use it.
pub(crate) struct Host {
    pub(crate) link: LinkId,
    rate: Rate,
    /// The card transmits until then.
    busy_until: Time,
    /// An event will come when the card is idle.
    called: bool,
    /// Replies of connections that are closed already.
    replies: VecDeque<(FlowId, Outgoing)>,
    /// Receivers with something to acknowledge.
    receivers: VecDeque<FlowId>,
    /// Senders that may send.
    senders: VecDeque<FlowId>,
}

impl Host {
    pub(crate) fn new(link: LinkId, rate: Rate) -> Host {
        Host {
            link,
            rate,
            busy_until: Time::ZERO,
            called: false,
            replies: VecDeque::new(),
            receivers: VecDeque::new(),
            senders: VecDeque::new(),
        }
    }

    /// Somebody may want to use the card.
    fn is_wanted(&self) -> bool {
        !(self.senders.is_empty() && self.receivers.is_empty() && self.replies.is_empty())
    }

    fn site(&self) -> FlowSite {
        FlowSite { line_rate: self.rate, ..FlowSite::default() }
    }
}

/// What an end of a flow needs after anything happened to it.
struct Needs {
    wake: Option<Time>,
    done: bool,
}

/// Looks at an end after an event: it joins the ring when it can send, and says what else it needs.
fn attend<E: End>(ends: &mut Slab<E>, ring: &mut VecDeque<FlowId>, flow: FlowId, now: Time) -> Option<Needs> {
    let active = ends.get(flow)?;
    let deadline = active.end.next_wakeup();
    let wake = (deadline < active.wake_at).then_some(deadline);
    if let Some(time) = wake {
        active.wake_at = time;
    }
    if !active.in_ring && active.end.ready(now) {
        active.in_ring = true;
        active.ready_since = now;
        ring.push_back(flow);
    }
    Some(Needs { wake, done: active.end.done() && !active.in_ring })
}

/// A timer event of an end fires. Events of timers that have moved since are stale.
fn wake<E: End>(ends: &mut Slab<E>, flow: FlowId, now: Time) -> Option<&mut Active<E>> {
    let active = ends.get(flow).filter(|active| active.wake_at == now)?;
    active.wake_at = Time::NEVER;
    if active.end.next_wakeup() <= now {
        active.end.on_wakeup(now);
    }
    Some(active)
}

impl Domain {
    /// Plans the next start of a flow that begins here.
    pub(crate) fn schedule_next_flow(&mut self) {
        let flows = &self.plan.setup.flows[self.ends.started..];
        let Some(ahead) = flows.iter().position(|flow| self.has_host(flow.source)) else { return };
        let (number, start) = (self.ends.started + ahead, flows[ahead].start);
        self.ends.started = number + 1;
        self.schedule(start.max(self.now), Event::FlowStart(FlowId(number as u32)));
    }

    /// The application hands over a flow.
    pub(crate) fn flow_start(&mut self, flow: FlowId) {
        let spec = self.plan.setup.flows[flow.index()];
        let source = spec.source;
        let site = self.hosts[source.index()].site();
        self.ends.open_sender((flow, &spec), &site, self.now);
        self.schedule_next_flow();
        self.attend_sender(flow, source);
        self.use_card(source);
    }

    /// A packet reached a host.
    pub(crate) fn at_host(&mut self, host: HostId, packet: PacketId) {
        let ecn = self.pool.headers.get(packet).marks.ecn;
        let segment = *self.pool.body(packet);
        self.pool.remove(packet);
        self.tally.packets.delivered += 1;
        if self.flow(segment.flow).source == host {
            self.hand_to_sender(&segment, ecn, host);
        } else {
            self.hand_to_receiver(&segment, ecn, host);
        }
        self.use_card(host);
    }

    fn hand_to_sender(&mut self, segment: &Segment, ecn: Ecn, host: HostId) {
        if let Some(active) = self.ends.senders.get(segment.flow) {
            active.end.on_packet(self.now, ecn, segment);
            self.attend_sender(segment.flow, host);
        }
    }

    fn hand_to_receiver(&mut self, segment: &Segment, ecn: Ecn, host: HostId) {
        let flow = segment.flow;
        if self.ends.receivers.is_new(flow) {
            let site = self.hosts[host.index()].site();
            let spec = *self.flow(flow);
            self.ends.open_receiver((flow, &spec), &site, self.now);
        }
        match self.ends.receivers.get(flow) {
            Some(active) => {
                active.end.on_packet(self.now, ecn, segment);
                self.attend_receiver(flow, host);
            }
            None => {
                let reply = reply_after_close(&self.plan.setup.transport, segment, self.now);
                self.hosts[host.index()].replies.extend(reply.map(|out| (flow, out)));
            }
        }
    }

    /// A timer of a sender.
    pub(crate) fn sender_wake(&mut self, flow: FlowId) {
        if wake(&mut self.ends.senders, flow, self.now).is_some() {
            let source = self.flow(flow).source;
            self.attend_sender(flow, source);
            self.use_card(source);
        }
    }

    /// A timer of a receiver.
    pub(crate) fn receiver_wake(&mut self, flow: FlowId) {
        if wake(&mut self.ends.receivers, flow, self.now).is_some() {
            let destination = self.flow(flow).destination;
            self.attend_receiver(flow, destination);
            self.use_card(destination);
        }
    }

    fn attend_sender(&mut self, flow: FlowId, host: HostId) {
        let ring = &mut self.hosts[host.index()].senders;
        let Some(needs) = attend(&mut self.ends.senders, ring, flow, self.now) else { return };
        if let Some(time) = needs.wake {
            self.schedule(time.max(self.now), Event::SenderWake(flow));
        }
        if needs.done {
            self.ends.close_sender(flow);
        }
    }

    fn attend_receiver(&mut self, flow: FlowId, host: HostId) {
        let ring = &mut self.hosts[host.index()].receivers;
        let Some(needs) = attend(&mut self.ends.receivers, ring, flow, self.now) else { return };
        if let Some(time) = needs.wake {
            self.schedule(time.max(self.now), Event::ReceiverWake(flow));
        }
        if self.ends.note_completion(flow) {
            self.completed_one();
        }
        if needs.done {
            self.ends.close_receiver(flow);
        }
    }

    /// The last byte of a flow has arrived. On one thread the run ends on the grid when that was the last flow.
    fn completed_one(&mut self) {
        if self.plan.partition.domains == 1 && self.ends.completed == self.plan.setup.flows.len() {
            let grid = self.plan.partition.grid.0;
            self.horizon = self.horizon.min(Time((self.now.0 / grid + 1) * grid));
        }
    }

    /// The card is idle, and was wanted when it became busy.
    pub(crate) fn card_idle(&mut self, host: HostId) {
        self.hosts[host.index()].called = false;
        self.use_card(host);
    }

    /// Starts the next packet if the card is idle and anybody has one: replies, acknowledgements, senders in turn. If
    /// anybody is left waiting, an event comes when the card is idle.
    fn use_card(&mut self, host: HostId) {
        let card = &mut self.hosts[host.index()];
        if self.now >= card.busy_until {
            let reply = card.replies.pop_front();
            let next = reply.or_else(|| self.next_of_receivers(host)).or_else(|| self.next_of_senders(host));
            if let Some((flow, out)) = next {
                self.send(host, flow, &out);
            }
        }
        let card = &mut self.hosts[host.index()];
        if !card.called && card.is_wanted() {
            card.called = true;
            self.calendar.push(card.busy_until, Event::Transmitted(card.link));
        }
    }

    fn next_of_receivers(&mut self, host: HostId) -> Option<(FlowId, Outgoing)> {
        while let Some(flow) = self.hosts[host.index()].receivers.pop_front() {
            let Some(active) = self.ends.receivers.get(flow) else { continue };
            active.in_ring = false;
            let out = active.end.poll(self.now);
            self.attend_receiver(flow, host);
            if let Some(out) = out {
                return Some((flow, out));
            }
        }
        None
    }

    fn next_of_senders(&mut self, host: HostId) -> Option<(FlowId, Outgoing)> {
        while let Some(flow) = self.hosts[host.index()].senders.pop_front() {
            let Some(active) = self.ends.senders.get(flow) else { continue };
            active.in_ring = false;
            let waited = self.now.since(active.ready_since);
            let out = active.end.poll(self.now);
            self.attend_sender(flow, host);
            if let Some(out) = out {
                self.tally.waited_at_host(out.kind, waited);
                return Some((flow, out));
            }
        }
        None
    }

    /// Puts a packet on the wire.
    fn send(&mut self, host: HostId, flow: FlowId, out: &Outgoing) {
        let spec = *self.flow(flow);
        let peer = if spec.source == host { spec.destination } else { spec.source };
        let header = Header {
            arrived: self.now,
            source: host,
            destination: peer,
            ports: out.ports,
            note: 0,
            wire: out.wire,
            ingress: PortId(0),
            kind: out.kind,
            class: out.class,
            marks: Marks { ecn: out.ecn },
            hops: 0,
        };
        let packet = self.pool.insert(header, out.segment);
        self.tally.packets.created += 1;
        let card = &mut self.hosts[host.index()];
        let link = card.link;
        card.busy_until = self.wires[link.index()].end_of(self.now, out.wire);
        let end = card.busy_until;
        self.launch(link, packet, out.wire, end);
    }

    fn flow(&self, flow: FlowId) -> &Flow {
        &self.plan.setup.flows[flow.index()]
    }
}
