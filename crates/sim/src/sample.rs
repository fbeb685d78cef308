//! Looks at the queues that are here, for samples taken at fixed intervals: see [`Sampler`](weft_recorder::sample::Sampler).

use weft_core::{LinkId, PortId, SwitchId, Time};
use weft_recorder::sample::{Look, sampled};
use weft_topology::Link;

use crate::domain::Domain;
use crate::plan::RunPlan;

/// The samples of one domain: the values of its own ports among all sampled ones; other domains' ports stay zero.
pub(crate) struct Eye {
    own: Vec<(usize, SwitchId, PortId)>,
    seen: Vec<Look>,
}

impl Eye {
    pub(crate) fn new(plan: &RunPlan, domain: usize) -> Option<Eye> {
        plan.setup.queues_every?;
        let all = sampled(&plan.setup.graph);
        let own = |(_, _, switch): &(LinkId, &Link, SwitchId)| plan.partition.of_switch(*switch) == domain;
        let numbered = all.iter().enumerate().filter(|(_, port)| own(port));
        let own = numbered.map(|(column, (_, link, switch))| (column, *switch, link.port)).collect();
        Some(Eye { own, seen: vec![(0, 0); all.len()] })
    }
}

impl Domain {
    /// Samples the domain's flows and queues after all events of `now`.
    pub(crate) fn look(&mut self, now: Time) -> Option<&Vec<Look>> {
        self.look_at_flows(now);
        self.look_at_series(now);
        let after = Time(now.0 + 1);
        self.devices.all_mut().for_each(|own| own.switch.settle(after));
        let eye = self.eye.as_mut()?;
        for (column, switch, port) in &eye.own {
            if let Some(own) = self.devices.get(*switch) {
                eye.seen[*column] = (own.switch.queued(*port).0, own.switch.queued_packets(*port));
            }
        }
        Some(&eye.seen)
    }
}
