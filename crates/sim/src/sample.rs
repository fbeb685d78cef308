//! Samples the queues of this domain at fixed intervals: see [`Sampler`](weft_recorder::sample::Sampler).

use weft_core::{LinkId, PortId, SwitchId};
use weft_recorder::monitor::MonitoredQueue;
use weft_recorder::sample::{Look, monitored, sampled};
use weft_topology::Link;

use crate::devices::Devices;
use crate::plan::RunPlan;

/// The samples of one domain: the values of its own ports among all sampled ones; other domains' ports stay zero.
pub(crate) struct Eye {
    own: Vec<(usize, SwitchId, PortId)>,
    /// Queues of the monitor, in the columns after the ports.
    queues: Vec<(usize, MonitoredQueue)>,
    seen: Vec<Look>,
}

impl Eye {
    pub(crate) fn new(plan: &RunPlan, domain: usize) -> Option<Eye> {
        plan.setup.queues_every?;
        let all = sampled(&plan.setup.graph);
        let own = |(_, _, switch): &(LinkId, &Link, SwitchId)| plan.partition.of_switch(*switch) == domain;
        let numbered = all.iter().enumerate().filter(|(_, port)| own(port));
        let own = numbered.map(|(column, (_, link, switch))| (column, *switch, link.port)).collect();
        let monitored = monitored(&plan.setup);
        let seen = vec![(0, 0); all.len() + monitored.len()];
        let mut queues: Vec<_> = (all.len()..).zip(monitored).collect();
        queues.retain(|(_, queue)| plan.partition.of_switch(queue.switch) == domain);
        Some(Eye { own, queues, seen })
    }
}

impl Eye {
    /// Samples the queues of the domain's switches, which have been settled.
    pub(crate) fn look(&mut self, devices: &Devices) -> &Vec<Look> {
        for (column, switch, port) in &self.own {
            if let Some(own) = devices.get(*switch) {
                self.seen[*column] =
                    (own.switch.reading().queued(*port).0, own.switch.reading().queued_packets(*port));
            }
        }
        for (column, queue) in &self.queues {
            let own = devices.get(queue.switch);
            self.seen[*column].0 =
                own.map_or(0, |own| own.switch.reading().queued_from(queue.group, queue.port).0);
        }
        &self.seen
    }
}
