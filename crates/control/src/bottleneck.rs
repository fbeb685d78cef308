//! Finds the link that all flows of a scenario share, and the delay of its feedback. Must not depend on models.

use weft_core::{Bytes, Grouping, HostId, LinkId, Rate, Span, Time};
use weft_plan::Setup;
use weft_topology::{Graph, LinkState, Node, Routes};

/// Maximum number of flows: with more, a scenario is a workload and not a control loop.
pub(crate) const MOST_FLOWS: usize = 4096;

/// A flow's path through the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FlowPath {
    pub(crate) start: Time,
    /// Line rate of the sender.
    pub(crate) line: Rate,
    /// Round-trip time without queueing.
    pub(crate) round_trip: Span,
}

/// The link that limits all flows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BottleneckLink {
    pub(crate) id: LinkId,
    pub(crate) name: String,
    pub(crate) rate: Rate,
    pub(crate) paths: Vec<FlowPath>,
}

/// Wire sizes of data packets and of the packets that answer them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WireSizes {
    pub(crate) data: Bytes,
    pub(crate) feedback: Bytes,
}

/// Finds the bottleneck, or explains why there is none.
pub(crate) fn find(setup: &Setup, wire: WireSizes) -> Result<BottleneckLink, String> {
    let graph = &setup.graph;
    if setup.flows.is_empty() || setup.flows.len() > MOST_FLOWS {
        let count = setup.flows.len();
        return Err(format!("{count} flows; a fluid model needs 1 to {MOST_FLOWS} long-lived flows"));
    }
    if setup.ports.values().any(|port| port.shaper.is_some()) {
        return Err(
            "a port has a shaper; a fluid model covers only queues served at their link rate".to_owned()
        );
    }
    if setup.switch_kinds().any(|switch| switch.voq.is_some()) {
        return Err(
            "a switch has virtual output queues; a fluid model knows one queue in front of each link"
                .to_owned(),
        );
    }
    let state = LinkState::all_up(graph);
    let network = Network {
        graph,
        routes: Routes::new(graph, &state, Grouping::Together),
        latency: setup.switch.latency,
    };
    let flows: Vec<_> = setup.flows.iter().collect();
    let walk = |flow: &weft_workload::Flow| network.links(flow.source, flow.destination);
    let links: Vec<Vec<LinkId>> = flows.iter().map(walk).collect::<Result<_, _>>()?;
    let shared = network.tightest(&links)?;
    let path = |(flow, links): (&weft_workload::Flow, &Vec<LinkId>)| FlowPath {
        start: flow.start,
        line: graph.links()[links[0].index()].rate,
        round_trip: network.round_trip(links, wire),
    };
    let link = &graph.links()[shared.index()];
    Ok(BottleneckLink {
        id: shared,
        name: format!("{} -> {}", graph.name(link.from), graph.name(link.to)),
        rate: link.rate,
        paths: flows.iter().zip(&links).map(path).collect(),
    })
}

struct Network<'a> {
    graph: &'a Graph,
    routes: Routes,
    latency: Span,
}

impl Network<'_> {
    /// The only path of a flow.
    fn links(&self, source: HostId, destination: HostId) -> Result<Vec<LinkId>, String> {
        let graph = self.graph;
        let name = |host| graph.name(Node::Host(host));
        let leaf = usize::from(graph.leaf_of_host()[destination.index()]);
        let mut links = vec![graph.first_link(Node::Host(source))];
        let (mut at, last) = (graph.switch_of_host(source), graph.switch_of_host(destination));
        while at != last {
            let ports = self.routes.ports(at, leaf);
            let [port] = ports[..] else {
                return Err(format!(
                    "from {} to {} there are {} equal paths at {}; a fluid model has one bottleneck, so use a network \
                     with one path (`topology.dumbbell`, or one spine)",
                    name(source),
                    name(destination),
                    ports.len(),
                    graph.name(Node::Switch(at))
                ));
            };
            let link = graph.link_at(Node::Switch(at), port);
            links.push(link);
            let Node::Switch(next) = graph.links()[link.index()].to else { break };
            at = next;
        }
        let to_host = graph.reverse(graph.first_link(Node::Host(destination)));
        links.push(to_host);
        Ok(links)
    }

    /// The switch link with the lowest rate per flow, which must be on every path.
    fn tightest(&self, ways: &[Vec<LinkId>]) -> Result<LinkId, String> {
        let mut load = vec![0u64; self.graph.links().len()];
        ways.iter().flatten().for_each(|link| load[link.index()] += 1);
        let share = |link: &LinkId| self.graph.links()[link.index()].rate.0 / load[link.index()];
        let of_switch = |link: &&LinkId| matches!(self.graph.links()[link.index()].from, Node::Switch(_));
        let candidates = ways.iter().flatten().filter(of_switch);
        let tightest =
            *candidates.min_by_key(|link| (share(link), link.index())).ok_or("no flow crosses a switch")?;
        let link = &self.graph.links()[tightest.index()];
        let name = format!("{} -> {}", self.graph.name(link.from), self.graph.name(link.to));
        let through = load[tightest.index()] as usize;
        if through < ways.len() {
            return Err(format!(
                "no single bottleneck: the busiest link, {name}, carries {through} of {} flows; a fluid model has one \
                 queue that all flows share",
                ways.len()
            ));
        }
        Ok(tightest)
    }

    /// Propagation, switches and transmission of one packet, in both directions.
    fn round_trip(&self, links: &[LinkId], wire: WireSizes) -> Span {
        let one_way = |size: Bytes| -> Span {
            let of = |link: &LinkId| {
                let link = &self.graph.links()[link.index()];
                link.delay + link.rate.time_for(size)
            };
            links.iter().map(of).sum::<Span>() + self.latency * (links.len() as u64 - 1)
        };
        one_way(wire.data) + one_way(wire.feedback)
    }
}
