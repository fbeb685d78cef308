//! One flow followed through a run on one thread: the observations, and the observers of switches.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use weft_core::record::Reason;
use weft_core::stack::Layout;
use weft_core::trace::{FlowTrace, TraceEvent, TraceStep, TracedPacket};
use weft_core::{Ecn, FlowId, Header, HostId, PacketId, PacketKind, PortId, Time};
use weft_switch::Observer;
use weft_transport::Body;

/// The packets of the flow that are under way, and the observations so far.
#[derive(Debug, Default)]
pub struct Tracing {
    /// The observations so far.
    pub found: FlowTrace,
    /// The sender: the host that sends the first packet.
    from: Option<HostId>,
    /// Packets in the network, by their slots in the pool.
    alive: HashMap<PacketId, u32>,
    /// Packets on their last link: when they land, and the event of their landing.
    landing: HashMap<PacketId, (Time, usize)>,
    /// Events of packets that the sender receives, in order of landing.
    pub answers: Vec<(Time, usize)>,
}

/// The state that all observers of a run share.
#[derive(Clone, Debug)]
pub struct Trace(Arc<Mutex<Tracing>>);

impl Trace {
    /// A trace of a flow, before the run starts.
    #[must_use]
    pub fn new(flow: FlowId) -> Trace {
        let found = FlowTrace { flow, ..FlowTrace::default() };
        Trace(Arc::new(Mutex::new(Tracing { found, ..Tracing::default() })))
    }

    /// The shared trace.
    ///
    /// # Panics
    /// If another thread panicked while it held this.
    pub fn open(&self) -> MutexGuard<'_, Tracing> {
        self.0.lock().expect("nobody panics while holding a trace")
    }

    /// The observations, ordered by time; events of one instant stay in their order.
    #[must_use]
    pub fn finish(&self, end: Time) -> FlowTrace {
        let mut found = std::mem::take(&mut self.open().found);
        found.events.retain(|event| event.time <= end);
        found.events.sort_by_key(|event| event.time);
        found
    }
}

impl Tracing {
    fn note(&mut self, time: Time, step: TraceStep, node: u32, (packet, header): (u32, &Header)) -> usize {
        let marked = header.marks.ecn == Ecn::Marked;
        let wire = header.wire;
        self.found.events.push(TraceEvent { time, step, node, packet, marked, wire, sender: None });
        self.found.events.len() - 1
    }

    /// Called when a packet of the flow leaves its host.
    pub fn sent(&mut self, now: Time, node: u32, id: PacketId, (header, body): (&Header, &Body)) {
        let number = self.written(id, (header, body));
        self.alive.insert(id, number);
        self.note(now, TraceStep::Sent, node, (number, header));
    }

    /// Called when the card of its host has no room for a packet of the flow.
    pub fn refused(&mut self, now: Time, node: u32, id: PacketId, (header, body): (&Header, &Body)) {
        let number = self.written(id, (header, body));
        self.note(now, TraceStep::Dropped(Reason::PortFull), node, (number, header));
    }

    /// The number of a new packet.
    fn written(&mut self, id: PacketId, (header, body): (&Header, &Body)) -> u32 {
        let number = self.found.packets.len() as u32;
        self.found.packets.push(TracedPacket {
            header: *header,
            forward: header.source == *self.from.get_or_insert(header.source),
            payload: if header.kind.is_payload() { body.payload() } else { 0 },
            segment: match body {
                Body::Segment(segment) => Some(*segment),
                _ => None,
            },
        });
        self.landing.remove(&id);
        number
    }

    /// Called when a packet is on the link to a host. Returns `None` for packets of other flows.
    pub fn lands(&mut self, lands: Time, node: u32, id: PacketId, header: &Header) {
        let Some(number) = self.alive.remove(&id) else { return };
        let event = self.note(lands, TraceStep::Received, node, (number, header));
        self.landing.insert(id, (lands, event));
        let back = !self.found.packets[number as usize].forward || header.kind == PacketKind::Returned;
        if back {
            self.answers.push((lands, event));
        }
    }

    /// Called when a packet is lost on a link that leaves a node.
    pub fn lost(&mut self, now: Time, node: u32, id: PacketId, (header, reason): (&Header, Reason)) {
        if let Some(number) = self.alive.remove(&id) {
            self.note(now, TraceStep::Dropped(reason), node, (number, header));
        } else if let Some((lands, event)) = self.landing.remove(&id)
            && lands >= now
        {
            let event = &mut self.found.events[event];
            (event.time, event.step, event.node) = (now, TraceStep::Dropped(reason), node);
        }
    }
}

/// Observes the packets of the flow at a switch.
#[derive(Debug)]
pub struct TracedSwitch {
    /// The switch, as an index into the nodes of the record.
    pub node: u32,
    /// The trace shared by all.
    pub trace: Trace,
}

impl TracedSwitch {
    fn note(&self, now: Time, step: TraceStep, packet: PacketId, header: &Header) {
        let mut tracing = self.trace.open();
        if let Some(number) = tracing.alive.get(&packet).copied() {
            tracing.note(now, step, self.node, (number, header));
        }
    }
}

impl Observer for TracedSwitch {
    fn received(&mut self, now: Time, _from: PortId, packet: PacketId, header: &Header) {
        self.note(now, TraceStep::Queued, packet, header);
    }

    fn sends(&mut self, start: Time, _port: PortId, packet: PacketId, header: &Header) {
        self.note(start, TraceStep::Left, packet, header);
    }

    fn dropped(&mut self, now: Time, packet: PacketId, reason: Reason) {
        let mut tracing = self.trace.open();
        if let Some(number) = tracing.alive.remove(&packet) {
            let header = tracing.found.packets[number as usize].header;
            tracing.note(now, TraceStep::Dropped(reason), self.node, (number, &header));
        }
    }
}
