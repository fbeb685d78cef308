//! Remarks on in-band telemetry: settings with which HPCC cannot do its work.

use std::collections::BTreeSet;

use weft_core::{Bytes, HostId, Span};
use weft_model::{ScenarioSettings, devices};
use weft_switch::balance::BalancerSettings;
use weft_topology::{Graph, Ideal, LinkState, Train};
use weft_transport::{Transport, TransportSettings};

/// What keeps HPCC from reaching the links' rates, or from slowing down.
pub(crate) fn remarks(settings: &ScenarioSettings, graph: &Graph) -> Vec<String> {
    let TransportSettings::Hpcc(own) = &settings.transport else { return Vec::new() };
    let devices = devices(settings, graph);
    let mut latencies = vec![Span::ZERO; graph.switches().len()];
    for device in &devices {
        device.switches.iter().for_each(|switch| latencies[switch.index()] = device.switch.latency);
    }
    let trip = round_trip(graph, latencies, &Transport::new(&settings.transport));
    let short = (own.law.base_rtt < trip).then(|| {
        let trip = Span::from_ns(trip.0.div_ceil(1_000));
        format!(
            "flows cannot use their links: transport.hpcc.base_rtt = {}, but a round trip in the empty network takes up to {trip}",
            own.law.base_rtt
        )
    });
    let spread = devices.iter().find_map(|device| spreads(&device.balance)).map(|name| {
        format!("windows of HPCC stay as they begin: it compares consecutive reports of one path, and {name} spreads the packets of a flow")
    });
    short.into_iter().chain(spread).collect()
}

/// The name of a balancer that chooses a path for each packet.
fn spreads(balancer: &BalancerSettings) -> Option<&'static str> {
    use BalancerSettings::{Drill, PerPacketRandom, Presto, RoundRobin};
    matches!(balancer, PerPacketRandom(_) | RoundRobin(_) | Drill(_) | Presto(_)).then(|| balancer.name())
}

/// The longest time of a full packet and its answer from the first host to another and back in the empty network.
pub(crate) fn round_trip(graph: &Graph, latencies: Vec<Span>, transport: &Transport) -> Span {
    let mut ideal = Ideal::with_latencies(graph, &LinkState::all_up(graph), latencies);
    let frames = transport.frames();
    let [full, least] = [frames.full_wire(), frames.wire(0)].map(|wire| Bytes(u64::from(wire)));
    let train = |wire| Train { count: 1, full_wire: wire, last_wire: wire, handshake: None };
    let mut leaves = BTreeSet::new();
    let others = (1..graph.hosts()).map(HostId).filter(|host| leaves.insert(graph.switch_of_host(*host)));
    let round = |host| ideal.fct(HostId(0), host, &train(full)) + ideal.fct(host, HostId(0), &train(least));
    others.map(round).max().unwrap_or(Span::ZERO)
}
