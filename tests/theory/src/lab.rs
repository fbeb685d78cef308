//! Networks, transports and flows in a few words. Draws come from one stream per test; nothing here judges a result.

use weft_core::record::{FlowRecord, RunRecord};
use weft_core::settings::{Amount, Share};
use weft_core::{Bytes, Grouping, HostId, Purpose, Random, Rate, Span, Time};
use weft_plan::Setup;
use weft_sim::Simulation;
use weft_switch::SwitchSettings;
use weft_switch::mark::{MarkerSettings, step::StepSettings};
use weft_switch::share::{SharingSettings, fixed::FixedSharingSettings};
use weft_topology::shapes::{dumbbell::DumbbellSettings, leaf_spine::LeafSpineSettings};
use weft_topology::{FailurePlan, Graph, LinkSettings, RoutingSettings, TopologySettings, build, timeline};
use weft_transport::settings::Tcp;
use weft_transport::{Transport, TransportSettings};
use weft_workload::pattern::open_loop::OpenLoopSettings;
use weft_workload::{Flow, Framing, Limits, PatternSettings, Shape, TrafficSettings, generate};

/// Wire size of a full packet in these tests: the 1500 bytes that the papers calculate with, framing included.
pub const PACKET: u64 = 1_500;
/// Wire size of an acknowledgement.
pub const ACK: u64 = 84;
/// A size that no flow of these tests ever finishes.
pub const ENDLESS: u64 = 1 << 40;

/// A run on this topology without flows, failures, marks or switch latency, ECMP, one second at most.
#[must_use]
pub fn setup(topology: &TopologySettings, transport: &TransportSettings) -> Setup {
    on(build(topology).expect("a valid topology"), transport)
}

/// The same on a graph.
#[must_use]
pub fn on(graph: Graph, transport: &TransportSettings) -> Setup {
    let timeline = timeline(&graph, &FailurePlan::default(), &RoutingSettings::default(), Grouping::Together);
    Setup {
        switch: SwitchSettings { latency: Span::ZERO, ..SwitchSettings::default() },
        tags: vec!["test".into()],
        until: Time::ZERO + Span::from_s(1),
        ..Setup::new(graph, timeline, Transport::new(transport))
    }
}

/// A path shared by `senders` flows: their cards are ten times faster than the bottleneck.
#[derive(Clone, Copy, Debug)]
pub struct SharedPath {
    /// Flows and hosts on either side.
    pub senders: u32,
    /// Rate of the bottleneck.
    pub rate: Rate,
    /// Round trip of a full packet and its acknowledgement through empty queues.
    pub round_trip: Span,
}

impl SharedPath {
    /// Packets that fit into the empty round trip (C RTT).
    #[must_use]
    pub fn pipe(&self) -> f64 {
        self.rate.0 as f64 * self.round_trip.seconds() / 8.0 / PACKET as f64
    }

    /// The dumbbell of this path: `left` is switch 0, and its bottleneck port is number `senders`.
    #[must_use]
    pub fn setup(&self, transport: &TransportSettings) -> Setup {
        let edge = self.rate * 10;
        let both = |rate: Rate| rate.time_for(Bytes(PACKET)) + rate.time_for(Bytes(ACK));
        let delay = (self.round_trip - both(self.rate) - both(edge) * 2) / 6;
        let link = |rate| LinkSettings { delay, ..LinkSettings::of(rate) };
        let shape = DumbbellSettings {
            hosts_per_side: self.senders,
            host_link: link(edge),
            bottleneck: link(self.rate),
        };
        setup(&TopologySettings::Dumbbell(shape), transport)
    }

    /// One endless flow per sender, the n-th starting after n times `apart`.
    #[must_use]
    pub fn endless(&self, apart: Span) -> Vec<Flow> {
        (0..self.senders).map(|n| flow(apart * u64::from(n), n, self.senders + n, ENDLESS)).collect()
    }
}

/// TCP as the models of the papers have it: every packet is acknowledged, 1500 bytes on the wire, no handshake.
#[must_use]
pub fn model_tcp() -> Tcp {
    Tcp {
        mtu: Bytes(PACKET - 38),
        delayed_ack: 1,
        handshake: false,
        min_rto: Span::from_ms(10),
        ..Tcp::default()
    }
}

/// NewReno over the given TCP.
#[must_use]
pub fn newreno(tcp: Tcp) -> TransportSettings {
    TransportSettings::NewReno(weft_transport::protocols::newreno::TcpNewRenoSettings {
        tcp,
        ..Default::default()
    })
}

/// CUBIC as RFC 9438 has it over the given TCP: without Linux's way to look for an unknown path.
#[must_use]
pub fn cubic(tcp: Tcp) -> TransportSettings {
    let law = weft_transport::congestion::cubic::CubicSettings { fast_probing: false, ..Default::default() };
    TransportSettings::Cubic(weft_transport::protocols::cubic::TcpCubicSettings { law, tcp })
}

/// DCTCP over the given TCP.
#[must_use]
pub fn dctcp(tcp: Tcp) -> TransportSettings {
    TransportSettings::Dctcp(weft_transport::protocols::dctcp::TcpDctcpSettings { tcp, ..Default::default() })
}

/// Step marking above a number of packets.
#[must_use]
pub fn step_marking(packets: u64) -> MarkerSettings {
    let threshold = Amount::Packets(packets);
    MarkerSettings::Step(StepSettings { threshold, packet: Bytes(PACKET), ..Default::default() })
}

/// A fixed buffer per port, in bytes.
#[must_use]
pub fn port_buffer(bytes: u64) -> SharingSettings {
    SharingSettings::Fixed(FixedSharingSettings { per_port: Bytes(bytes) })
}

/// A flow of `size` bytes.
#[must_use]
pub fn flow(start: Span, source: u32, destination: u32, size: u64) -> Flow {
    Flow::new(0, Time::ZERO + start, (HostId(source), HostId(destination)), Bytes(size))
}

/// The same as datagrams at a constant rate.
#[must_use]
pub fn datagrams(start: Span, (source, destination): (u32, u32), size: u64, rate: Rate) -> Flow {
    Flow { rate, ..flow(start, source, destination, size) }
}

/// The stream of draws of a test.
#[must_use]
pub fn draws(seed: u64) -> Random {
    Random::new(seed, Purpose::Test, 0)
}

/// Runs to the end.
#[must_use]
pub fn run(setup: Setup) -> RunRecord {
    Simulation::new(setup).run(&mut |_| true)
}

/// Completion time of a flow that finished.
///
/// # Panics
/// If the flow did not finish.
#[must_use]
pub fn completion(flow: &FlowRecord) -> Span {
    flow.end.expect("the flow finished").since(flow.start)
}

/// Mean completion time of all flows in seconds; every flow must have finished.
#[must_use]
pub fn mean_completion(record: &RunRecord) -> f64 {
    record.flows.iter().map(|flow| completion(flow).seconds()).sum::<f64>() / record.flows.len() as f64
}

/// Whether `measured` is within a share `tolerance` of `expected`.
#[must_use]
pub fn near(measured: f64, expected: f64, tolerance: f64) -> bool {
    (measured - expected).abs() <= tolerance * expected.abs()
}

/// A leaf-spine network without switch latency and with cables of 1 us.
#[must_use]
pub fn leaf_spine(
    (leaves, spines, hosts_per_leaf): (u32, u32, u32),
    (host, fabric): (Rate, Rate),
    transport: &TransportSettings,
) -> Setup {
    let link = |rate| LinkSettings { delay: Span::from_us(1), ..LinkSettings::of(rate) };
    let shape = LeafSpineSettings {
        leaves,
        spines,
        hosts_per_leaf,
        host_link: link(host),
        fabric_link: link(fabric),
        ..Default::default()
    };
    setup(&TopologySettings::LeafSpine(shape), transport)
}

/// Gives the setup `count` flows, after those of its warm-up, between leaves at a share of the uplinks' capacity.
///
/// # Panics
/// If the traffic makes no sense on the network.
pub fn load_with(setup: &mut Setup, load: f64, sizes: &str, count: u64) {
    let state = &setup.timeline.initial;
    let (host_rate, uplink_capacity) = (setup.graph.host_rates(state), setup.graph.uplink_capacity(state));
    let transport = &setup.transport;
    let shape = Shape {
        leaf_of_host: setup.graph.leaf_of_host(),
        host_rate: &host_rate,
        uplink_capacity: &uplink_capacity,
        framing: Framing::from(transport.frames()),
        folder: std::path::Path::new("."),
        host_names: setup.graph.host_names(),
    };
    let open = OpenLoopSettings { load: Share(load), sizes: sizes.to_owned(), ..Default::default() };
    let traffic = TrafficSettings { pattern: PatternSettings::OpenLoop(open), ..TrafficSettings::default() };
    let limits = Limits { warm_up: setup.warm_up, measured_flows: Some(count), until: None };
    setup.flows = generate(&[traffic], &shape, &limits, setup.seed).expect("traffic that fits the network");
}
