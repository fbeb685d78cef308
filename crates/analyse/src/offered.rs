//! The flows of a run before it starts: a hash of their list, and the load they would put on the links of the fabric if
//! every switch split them equally. Must not depend on balancers or queues.

use weft_core::{Checksum, Time};
use weft_plan::Setup;
use weft_topology::Node;
use weft_topology::split::{Demand, equal_split};
use weft_workload::{Flow, Framing};

/// Minimum number of flows for a load: with fewer, it would depend on when the last one happens to start.
const FEWEST: u64 = 100;

/// Properties of a run's flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// FNV-1a over start (picoseconds, 8 bytes), source (4), destination (4), size (bytes, 8) and traffic entry (2) of every
    /// flow in order, each with its lowest byte first. `None` with jobs, whose flows depend on the network.
    pub hash: Option<u64>,
    /// For each link the share of its rate that flows would take with equal splitting; `None` for links that are down at the
    /// start or lead to or from hosts. Empty without switches above the leaves, for fewer than 100 flows, and when all flows
    /// start at one instant.
    pub offered: Vec<Option<f64>>,
}

/// Computes the properties in a single pass over the flows.
#[must_use]
pub fn traffic(setup: &Setup) -> Traffic {
    let alone = (!setup.stacks.differ()).then(|| Framing::from(setup.transport.frames()));
    let leaf_of_host = setup.graph.leaf_of_host();
    let leaves = setup.graph.leaves().len();
    let mut list = List { demand: LeafPairs::new(leaves), ..List::default() };
    for flow in &setup.flows {
        let leaf = |host: weft_core::HostId| leaf_of_host[host.index()];
        let framing = alone.unwrap_or_else(|| Framing::from(setup.sender(&flow).frames()));
        list.add(&flow, (leaf(flow.destination), leaf(flow.source)), framing);
    }
    let hash = setup.flows.jobs().is_empty().then(|| list.checksum.value());
    Traffic { hash, offered: list.offered(setup).unwrap_or_default() }
}

/// The accumulated properties.
#[derive(Default)]
struct List {
    checksum: Checksum,
    flows: u64,
    first: Option<Time>,
    last: Time,
    /// Bytes on the wire between different leaves.
    demand: LeafPairs,
}

/// Amounts by the leaves of their destination and source: in a table if there are few leaves, because a map takes ten times
/// as many instructions.
#[derive(Default)]
struct LeafPairs {
    /// By destination, then source; empty if there are many leaves.
    table: Vec<f64>,
    leaves: usize,
    others: Demand,
}

impl LeafPairs {
    /// Number of leaves whose table takes half a megabyte.
    const FEW: usize = 256;

    fn new(leaves: usize) -> LeafPairs {
        let pairs = if leaves <= LeafPairs::FEW { leaves * leaves } else { 0 };
        LeafPairs { table: vec![0.0; pairs], leaves, others: Demand::new() }
    }

    fn add(&mut self, (to, from): (u16, u16), amount: f64) {
        match self.table.get_mut(usize::from(to) * self.leaves + usize::from(from)) {
            Some(sum) => *sum += amount,
            None => *self.others.entry((to, from)).or_default() += amount,
        }
    }

    fn demand(&self) -> Demand {
        let pair = |place: usize| ((place / self.leaves) as u16, (place % self.leaves) as u16);
        let sums = self.table.iter().enumerate().filter(|(_, sum)| **sum > 0.0);
        sums.map(|(place, sum)| (pair(place), *sum)).chain(self.others.clone()).collect()
    }
}

impl List {
    fn add(&mut self, flow: &Flow, leaves: (u16, u16), framing: Framing) {
        self.checksum = with(self.checksum, flow);
        self.flows += 1;
        self.first.get_or_insert(flow.start);
        self.last = self.last.max(flow.start);
        if leaves.0 != leaves.1 {
            self.demand.add(leaves, framing.wire(flow.size).0 as f64);
        }
    }

    fn offered(&self, setup: &Setup) -> Option<Vec<Option<f64>>> {
        let (graph, state) = (&setup.graph, &setup.timeline.initial);
        let seconds = self.last.since(self.first?).seconds();
        let above = graph.switches().iter().any(|switch| switch.tier > 1);
        if !above || self.flows < FEWEST || seconds == 0.0 {
            return None;
        }
        let passed = equal_split(graph, state, &self.demand.demand());
        let share = |(link, bytes): (&weft_topology::Link, f64)| {
            let fabric = matches!((link.from, link.to), (Node::Switch(_), Node::Switch(_)));
            let share = bytes * 8.0 / (link.rate.0 as f64 * seconds);
            (fabric && state.is_up(link.cable)).then_some(share)
        };
        Some(graph.links().iter().zip(passed).map(share).collect())
    }
}

fn with(checksum: Checksum, flow: &Flow) -> Checksum {
    let pair = checksum.with(&flow.start.0.to_le_bytes()).with(&flow.source.0.to_le_bytes());
    let pair = pair.with(&flow.destination.0.to_le_bytes());
    pair.with(&flow.size.0.to_le_bytes()).with(&flow.tag.to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::{Bytes, Grouping, HostId, Purpose, Random};
    use weft_topology::{FailurePlan, RoutingSettings, TopologySettings, build, timeline};
    use weft_transport::{Transport, TransportSettings};
    use weft_workload::pattern::terasort::TeraSortSettings;
    use weft_workload::{Cluster, ClusterJob, Flows};

    /// The flows of a job are known only after it has run: a hash of the others would be the same for jobs of any
    /// size.
    #[test]
    fn flows_of_jobs_have_no_hash_before_the_run() {
        let graph = build(&TopologySettings::default()).expect("the default is a network");
        let timeline =
            timeline(&graph, &FailurePlan::default(), &RoutingSettings::default(), Grouping::Together);
        let setup = |flows| Setup {
            flows,
            ..Setup::new(graph.clone(), timeline.clone(), Transport::new(&TransportSettings::default()))
        };
        let flow = |size| Flow::new(0, Time::ZERO, (HostId(0), HostId(1)), Bytes(size));
        let hash = |flows: Flows| traffic(&setup(flows)).hash;
        let drawn = |size| Flows::from(vec![flow(size)]);
        assert!(hash(drawn(1)).is_some() && hash(drawn(1)) != hash(drawn(2)));
        let job = TeraSortSettings { input: Bytes(1_000), reducers: 1, ..TeraSortSettings::default() };
        let cluster = Cluster { compute: vec![HostId(1)], data: vec![HostId(1)], master: HostId(0) };
        let random = Random::new(1, Purpose::Stragglers, 0);
        let job = ClusterJob::new(job.plan(), cluster, (0, Time::ZERO), random);
        assert_eq!(hash(drawn(1).with_jobs(vec![job])), None);
    }
}
