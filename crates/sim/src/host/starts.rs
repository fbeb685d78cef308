//! How flows begin at their hosts: one is drawn ahead.

use weft_core::{FlowId, Rate};
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

    /// Opens a flow; its sender may send.
    pub(crate) fn begin(&mut self, flow: FlowId, spec: Flow) {
        let host = &mut self.hosts[spec.source.index()];
        let site = host.site(self.plan.setup.seed);
        host.open += 1;
        self.ends.open_sender((flow, spec), &site, self.now);
        match self.plan.partition.of_host(spec.destination) {
            here if here == self.number => self.ends.expect(flow, spec),
            there => self.outbox.announce(there, flow, spec),
        }
        self.uses_queue(spec.source, spec.rate != Rate(0));
        self.sender_begins(flow, spec.source);
    }
}
