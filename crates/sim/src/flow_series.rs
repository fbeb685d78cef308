//! Samples the senders of flows that are here: see [`FlowWatch`].

use weft_core::record::FlowSeries;
use weft_core::{FlowId, Time};
use weft_recorder::flow_series::{FlowWatch, sample};

use crate::domain::Domain;

/// Combines the samples of all domains.
pub(crate) fn gathered(domains: &mut [Domain]) -> Option<FlowSeries> {
    FlowWatch::finish(domains.iter_mut().filter_map(|domain| domain.flow_watch.take()))
}

impl Domain {
    /// Samples the watched flows whose senders are here, after all events of `now`, if a sample is due.
    pub(crate) fn look_at_flows(&mut self, now: Time) {
        let setup = &self.cx.plan.setup;
        let Some(watch) = self.flow_watch.as_mut().filter(|watch| watch.wants(now)) else { return };
        if now < setup.warm_up {
            return;
        }
        for flow in (0..watch.flows.min(setup.flows.len() as u32)).map(FlowId) {
            if let Some(active) = self.hosts.ends.senders.get(flow)
                && watch.wants(now)
            {
                watch.add(sample(now, flow, &active.end.report()));
            }
        }
    }
}
