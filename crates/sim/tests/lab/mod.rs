//! Ready-made runs for tests: a topology, a transport and flows in a few words.
#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod cases;
pub(crate) mod laws;
pub(crate) mod series;
pub(crate) mod trial;
pub(crate) mod worlds;

use weft_core::record::RunRecord;
use weft_core::{Bytes, Grouping, HostId, Purpose, Random, Rate, Span, Time};
use weft_plan::Setup;
use weft_sim::Simulation;
use weft_topology::shapes::leaf_spine::LeafSpineSettings;
use weft_topology::{FailurePlan, Graph, LinkSettings, RoutingSettings, TopologySettings, build, timeline};
use weft_transport::settings::Tcp;
use weft_transport::{Transport, TransportSettings};
use weft_workload::Flow;

/// A setup with defaults: no flows, no failures, ECMP, one second.
pub(crate) fn setup(topology: &TopologySettings, transport: &TransportSettings) -> Setup {
    let graph = build(topology).expect("a valid topology");
    on(graph, transport)
}

/// The same on a graph.
pub(crate) fn on(graph: Graph, transport: &TransportSettings) -> Setup {
    let timeline = timeline(&graph, &FailurePlan::default(), &RoutingSettings::default(), Grouping::Together);
    Setup {
        tags: vec!["test".into()],
        until: Time::ZERO + Span::from_s(1),
        ..Setup::new(graph, timeline, Transport::new(transport))
    }
}

/// A flow of `size` bytes.
pub(crate) fn flow(start: Span, source: u32, destination: u32, size: u64) -> Flow {
    Flow::new(0, Time::ZERO + start, (HostId(source), HostId(destination)), Bytes(size))
}

/// The same as constant-rate UDP.
pub(crate) fn constant(start: Span, source: u32, destination: u32, size: u64, rate: Rate) -> Flow {
    Flow { rate, ..flow(start, source, destination, size) }
}

/// Runs to the end.
pub(crate) fn run(setup: Setup) -> RunRecord {
    Simulation::new(setup).run(&mut |_| true)
}

/// Four leaves, four spines, four hosts per leaf, 10 Gb/s everywhere, DCTCP.
pub(crate) fn leaf_spine() -> Setup {
    let topology = LeafSpineSettings {
        leaves: 4,
        spines: 4,
        hosts_per_leaf: 4,
        host_link: LinkSettings::of(Rate::from_gbps(10)),
        fabric_link: LinkSettings::of(Rate::from_gbps(10)),
        ..Default::default()
    };
    setup(&TopologySettings::LeafSpine(topology), &TransportSettings::Dctcp(Default::default()))
}

/// `count` flows between random hosts, starts uniform in `within`, sizes exponential with the given mean.
pub(crate) fn random_flows(setup: &Setup, count: usize, within: Span, mean: u64) -> Vec<Flow> {
    let mut random = Random::new(setup.seed, Purpose::Test, 7);
    let hosts = setup.graph.hosts();
    let mut flows: Vec<_> = (0..count)
        .map(|_| {
            let source = random.below(hosts);
            let destination = (source + 1 + random.below(hosts - 1)) % hosts;
            let start = Span(random.bits() % within.0);
            flow(start, source, destination, 1 + random.exponential(mean as f64) as u64)
        })
        .collect();
    flows.sort_by_key(|flow| flow.start);
    flows
}

/// DCTCP with changed TCP settings.
pub(crate) fn dctcp(change: impl FnOnce(&mut Tcp)) -> TransportSettings {
    let mut settings = weft_transport::protocols::dctcp::TcpDctcpSettings::default();
    change(&mut settings.tcp);
    TransportSettings::Dctcp(settings)
}
