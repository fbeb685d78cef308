//! One flow followed through a run on one thread. Hosts' links are then special, so that their packets take a branch
//! that other links do not have, and switches get observers. A run without a trace executes none of this.

use std::sync::Arc;

use weft_core::record::Reason;
use weft_core::stack::Layout;
use weft_core::{FlowId, Header, LinkId, PacketId, SwitchId, Time};
use weft_recorder::flow_series::sample;
use weft_recorder::trace::{Trace, TracedSwitch, Tracing};
use weft_topology::Node;
use weft_transport::Body;

use crate::context::Context;
use crate::domain::Domain;

impl Domain {
    /// Follows a flow from now on; the domain is the only one, and nothing has happened yet.
    pub(crate) fn follow(&mut self, flow: FlowId) -> Trace {
        let trace = Trace::new(flow);
        let plan = Arc::clone(&self.cx.plan);
        for number in 0..plan.setup.graph.switches().len() {
            let switch = SwitchId(number as u32);
            let node = plan.setup.graph.node_index(Node::Switch(switch)) as u32;
            self.devices.observe(&plan, switch, Box::new(TracedSwitch { node, trace: trace.clone() }));
        }
        self.cx.wires.trace_hosts();
        self.cx.trace = Some(trace.clone());
        trace
    }

    /// Records the state of the sender that has just received packets.
    pub(crate) fn note_sender(&mut self) {
        let Some(trace) = &self.cx.trace else { return };
        let (now, mut tracing) = (self.cx.now, trace.open());
        let Tracing { found, answers, .. } = &mut *tracing;
        answers.retain(|(lands, _)| *lands >= now);
        if let Some(active) = self.hosts.ends.senders.get(found.flow) {
            let state = sample(now, found.flow, &active.end.report());
            for (_, event) in answers.iter().filter(|(lands, _)| *lands == now) {
                found.events[*event].sender = Some(state);
            }
        }
    }
}

impl Context {
    /// The index of the node that a link leaves, or that it leads to.
    fn node(&self, node: Node) -> u32 {
        self.plan.setup.graph.node_index(node) as u32
    }

    /// Called when the first bit of a packet leaves by a special link.
    #[cold]
    pub(crate) fn trace_sent(&mut self, link: LinkId, packet: PacketId) {
        self.trace_at_host(link, packet, Tracing::sent);
    }

    /// Called when the card of a host has no room for a packet.
    #[cold]
    pub(crate) fn trace_refused(&mut self, link: LinkId, packet: PacketId) {
        self.trace_at_host(link, packet, Tracing::refused);
    }

    /// Records the fate of a packet of the flow where it enters the network.
    fn trace_at_host(
        &mut self,
        link: LinkId,
        packet: PacketId,
        note: fn(&mut Tracing, Time, u32, PacketId, (&Header, &Body)),
    ) {
        let (from, Some(trace)) = (self.wires[link].from, &self.trace) else { return };
        let (header, body) = (self.pool.headers.get(packet), self.pool.body(packet));
        let mut tracing = trace.open();
        if matches!(from, Node::Host(_)) && body.flow() == tracing.found.flow {
            note(&mut tracing, self.now, self.node(from), packet, (header, body));
        }
    }

    /// Called when a packet will land at the far end of a special link.
    #[cold]
    pub(crate) fn trace_lands(&mut self, link: LinkId, packet: PacketId, lands: Time) {
        let (to, Some(trace)) = (self.wires[link].to, &self.trace) else { return };
        if matches!(to, Node::Host(_)) {
            trace.open().lands(lands, self.node(to), packet, self.pool.headers.get(packet));
        }
    }

    /// Called when a packet is lost on a link.
    #[cold]
    pub(crate) fn trace_lost(&mut self, link: LinkId, packet: PacketId, reason: Reason) {
        let Some(trace) = &self.trace else { return };
        let node = self.node(self.wires[link].from);
        trace.open().lost(self.now, node, packet, (self.pool.headers.get(packet), reason));
    }
}
