//! The links of a flow: one shortest path, drawn for each flow, where balancers keep a flow on its path; otherwise
//! all shortest paths in equal parts, as with fine-grained spraying.

use std::collections::BTreeMap;

use weft_core::{Grouping, HostId, LinkId, Purpose, Random, SwitchId};
use weft_plan::Setup;
use weft_topology::{Graph, Node, Routes};

/// Routes of a network that does not change.
pub(crate) struct FluidRoutes<'a> {
    graph: &'a Graph,
    routes: Routes,
    one_path: bool,
    seed: u64,
}

impl<'a> FluidRoutes<'a> {
    pub(crate) fn new(setup: &'a Setup) -> FluidRoutes<'a> {
        FluidRoutes {
            graph: &setup.graph,
            routes: Routes::new(&setup.graph, &setup.timeline.initial, Grouping::Together),
            one_path: setup.balancers().all(|balancer| balancer.keeps_paths()),
            seed: setup.seed,
        }
    }

    /// Links by number, each with the part of the flow that it carries; empty if the hosts cannot reach each other.
    pub(crate) fn links(&self, flow: u32, from: HostId, to: HostId) -> Vec<(u32, f64)> {
        let leaf = self.graph.leaf_of_host()[to.index()];
        let last = self
            .graph
            .link_at(Node::Switch(self.graph.switch_of_host(to)), self.routes.port_of_host[to.index()]);
        let mut links = BTreeMap::from([(self.graph.first_link(Node::Host(from)), 1.0), (last, 1.0)]);
        let mut random = Random::new(self.seed, Purpose::Openings, u64::from(flow));
        let start = self.graph.switch_of_host(from);
        match self.spread(&mut links, (start, usize::from(leaf)), 1.0, &mut random) {
            true => links.into_iter().map(|(link, part)| (link.0, part)).collect(),
            false => Vec::new(),
        }
    }

    /// Adds the links from a switch to a leaf; `false` if there is no path.
    fn spread(
        &self,
        links: &mut BTreeMap<LinkId, f64>,
        (at, leaf): (SwitchId, usize),
        part: f64,
        random: &mut Random,
    ) -> bool {
        if self.graph.leaves()[leaf] == at {
            return true;
        }
        let ports = self.routes.ports(at, leaf);
        let ports = match self.one_path && !ports.is_empty() {
            true => vec![ports[random.below(ports.len() as u32) as usize]],
            false => ports,
        };
        let each = part / ports.len() as f64;
        let mut led = !ports.is_empty();
        for port in ports {
            let link = self.graph.link_at(Node::Switch(at), port);
            *links.entry(link).or_insert(0.0) += each;
            if let Node::Switch(next) = self.graph.links()[link.index()].to {
                led &= self.spread(links, (next, leaf), each, random);
            }
        }
        led
    }
}
