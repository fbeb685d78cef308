//! How flows begin at their hosts: one is drawn ahead.

use weft_core::{FlowId, HostId};
use weft_transport::FlowSite;
use weft_workload::Flow;

use crate::domain::Domain;
use crate::event::Event;

impl Domain {
    /// Plans the next start of a flow that begins here.
    pub(crate) fn schedule_next_flow(&mut self) {
        self.draw_next_flow();
        if let Some((flow, spec)) = self.upcoming {
            self.schedule(spec.start.max(self.now), Event::FlowStart(flow));
        }
    }

    /// Finds the next flow that begins here.
    pub(crate) fn draw_next_flow(&mut self) {
        let (drawn, next) = &mut self.flows;
        let partition = &self.plan.partition;
        let mut numbered = drawn.map(|spec| (FlowId(std::mem::replace(next, *next + 1)), spec));
        self.upcoming = numbered.find(|(_, spec)| partition.of_host(spec.source) == self.number);
    }

    /// What an end of a flow must know at a host.
    pub(crate) fn site_of(&self, host: HostId, spec: &Flow) -> FlowSite {
        let setup = &self.plan.setup;
        FlowSite { class: setup.class_of(spec), ..self.hosts[host.index()].site(setup.seed) }
    }

    /// Opens a flow; its sender may send.
    pub(crate) fn begin(&mut self, flow: FlowId, spec: Flow) {
        let site = self.site_of(spec.source, &spec);
        self.hosts[spec.source.index()].open += 1;
        let (queues, _) = self.plan.setup.queues_of(&spec);
        let transport = self.plan.setup.sender(&spec);
        self.ends.open_sender((flow, spec), (transport, &site, queues), self.now);
        match self.plan.partition.of_host(spec.destination) {
            here if here == self.number => self.ends.expect(flow, spec),
            there => self.outbox.announce(there, flow, spec),
        }
        self.sender_begins(flow, spec.source);
    }
}
