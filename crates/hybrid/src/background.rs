//! The traffic beside the jobs: flows that all start before the jobs use the network and outlast them. Flows over the
//! same links are one entry.

use std::collections::BTreeMap;

use weft_core::{HostId, Time};
use weft_plan::Setup;
use weft_workload::Flow;

/// Flows of the setup that belong to no job.
#[derive(Clone, Debug, Default)]
pub(crate) struct Background {
    pub(crate) flows: Vec<Flow>,
}

impl Background {
    pub(crate) fn of(setup: &Setup) -> Background {
        Background { flows: setup.flows.iter().collect() }
    }

    /// The first and the last start.
    pub(crate) fn starts(&self) -> Option<(Time, Time)> {
        Some((self.flows.first()?.start, self.flows.last()?.start))
    }

    /// By host, the number of flows that it sends and receives.
    pub(crate) fn loads(&self) -> BTreeMap<HostId, (u32, u32)> {
        let mut loads: BTreeMap<HostId, (u32, u32)> = BTreeMap::new();
        for flow in &self.flows {
            loads.entry(flow.source).or_default().0 += 1;
            loads.entry(flow.destination).or_default().1 += 1;
        }
        loads
    }
}

/// The message about a flow of a traffic entry that ends too early.
pub(crate) fn ends_early(setup: &Setup, tag: u16) -> String {
    let tag = setup.tags.get(usize::from(tag)).map_or("", String::as_str);
    format!("a flow of `{tag}` ends before the jobs do: all other traffic must outlast them")
}
