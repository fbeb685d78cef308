//! The links of a flow: one path, drawn for each flow, where balancers keep a flow on its path; otherwise all paths of
//! a component, as with fine-grained spraying. Ports get the shares that the balancer gives them while queues are alike.

use std::collections::BTreeMap;

use weft_core::group::share_of;
use weft_core::{Component, Grouping, HostId, LinkId, Purpose, Random, SwitchId};
use weft_plan::Setup;
use weft_topology::{Graph, Node, Routes};

/// Routes of a network that does not change.
pub(crate) struct FluidRoutes<'a> {
    graph: &'a Graph,
    routes: Routes,
    one_path: bool,
    seed: u64,
}

/// A flow on its way: its number, the leaf it is for, and its draws of ports.
struct Underway {
    flow: u32,
    leaf: usize,
    random: Random,
}

impl<'a> FluidRoutes<'a> {
    pub(crate) fn new(setup: &'a Setup) -> FluidRoutes<'a> {
        FluidRoutes {
            graph: &setup.graph,
            routes: routes(setup),
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
        let random = Random::new(self.seed, Purpose::Openings, u64::from(flow));
        let mut way = Underway { flow, leaf: leaf.into(), random };
        match self.spread(&mut links, self.graph.switch_of_host(from), 1.0, &mut way) {
            true => links.into_iter().map(|(link, part)| (link.0, part)).collect(),
            false => Vec::new(),
        }
    }

    /// Adds the links from a switch to the leaf; `false` if there is no path.
    fn spread(&self, links: &mut BTreeMap<LinkId, f64>, at: SwitchId, part: f64, way: &mut Underway) -> bool {
        if self.graph.leaves()[way.leaf] == at {
            return true;
        }
        let Some(Component { ports, shares, .. }) = self.component(at, way) else { return false };
        let drawn = self.one_path.then(|| share_of(way.random.bits() as u32, shares));
        let whole: u64 = shares.iter().sum();
        let mut led = true;
        for (place, (port, share)) in ports.iter().zip(shares).enumerate() {
            let each = match drawn {
                Some(drawn) if drawn != place => continue,
                Some(_) => part,
                None => part * *share as f64 / whole as f64,
            };
            let link = self.graph.link_at(Node::Switch(at), *port);
            *links.entry(link).or_insert(0.0) += each;
            if let Node::Switch(next) = self.graph.links()[link.index()].to {
                led &= self.spread(links, next, each, way);
            }
        }
        led
    }

    /// The component of a flow at a switch, drawn in proportion to its weight: the same however the flow gets there. `None` without a
    /// route.
    fn component(&self, at: SwitchId, way: &Underway) -> Option<&Component> {
        let table = &self.routes.switches[at.index()];
        let components = &table.groups[table.group_of_leaf[way.leaf].index()].components;
        if components.len() < 2 {
            return components.first();
        }
        let flow_here = u64::from(way.flow) | (at.index() as u64 + 1) << 32;
        let hash = Random::new(self.seed, Purpose::Openings, flow_here).bits() as u32;
        let weights: Vec<u64> = components.iter().map(|component| component.weight).collect();
        components.get(share_of(hash, &weights))
    }
}

/// The routes at the start, with the shares that balancers give ports.
fn routes(setup: &Setup) -> Routes {
    let (wanted, known) = (setup.balancer.long_run(), &setup.timeline.states[0]);
    let mut routes = match wanted == setup.balancer.grouping() {
        true => known.clone(),
        // Presto, which all switches have in common.
        false => Routes::new(&setup.graph, &setup.timeline.initial, wanted),
    };
    for (number, table) in (0..).zip(&mut routes.switches) {
        let balancer = setup.balancer_at(SwitchId(number));
        if balancer.grouping() == Grouping::Weighted {
            table.groups = balancer.weighed(&table.groups).into();
        }
    }
    routes
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::Rate;
    use weft_core::settings::{Kind, Setting, Share, Value};
    use weft_topology::shapes::leaf_spine::{LeafSpineSettings, Slow};
    use weft_topology::{FailurePlan, LinkSettings, TopologySettings, build, timeline};
    use weft_transport::Transport;

    /// Two leaves and two spines. The cables to the first spine have this rate, those to the other 40 Gb/s.
    fn graph(rate: Rate) -> Graph {
        let full = Rate::from_gbps(40);
        let slow = Slow { rate, share: Share(0.5), draw: Some(1) };
        let topology = TopologySettings::LeafSpine(LeafSpineSettings {
            leaves: 2,
            spines: 2,
            hosts_per_leaf: 2,
            fabric_link: LinkSettings::of(full),
            slow: (rate < full).then_some(slow),
            ..LeafSpineSettings::default()
        });
        build(&topology).expect("it is a network")
    }

    /// The balancer of this name, with one field changed.
    fn called<B: Setting>(name: &str, change: Option<(&str, Value)>) -> B {
        let Kind::Family(family) = B::KIND else { panic!("balancers are a family") };
        let member = family.members.iter().find(|member| member.name == name).expect("it exists");
        let Value::Table(mut fields) = member.table.defaults() else { panic!("settings are a table") };
        if let Some((name, value)) = change {
            fields.iter_mut().find(|field| field.0 == name).expect("the field exists").1 = value;
        }
        B::from_value(&Value::Member(member.name, Box::new(Value::Table(fields))))
    }

    /// By flow, what each spine carries of it.
    fn parts(slow: u64, name: &str, change: Option<(&str, Value)>) -> Vec<[f64; 2]> {
        let graph = graph(Rate::from_gbps(slow));
        let routing = timeline(&graph, &FailurePlan::default(), &Default::default(), Grouping::Together);
        let mut setup = Setup::new(graph, routing, Transport::new(&Default::default()));
        setup.balancer = called(name, change);
        let grouping = setup.balancer.grouping();
        setup.timeline =
            timeline(&setup.graph, &FailurePlan::default(), &Default::default(), grouping).into();
        let routes = FluidRoutes::new(&setup);
        let spines = [0, 1].map(|spine| setup.graph.node_named(&format!("spine{spine}")).expect("a spine"));
        let of_flow = |flow| {
            let links = routes.links(flow, HostId(0), HostId(2));
            spines.map(|spine| {
                let leads = |link: &&(u32, f64)| setup.graph.links()[link.0 as usize].to == spine;
                links.iter().filter(leads).map(|(_, part)| *part).sum()
            })
        };
        (0..4_000).map(of_flow).collect()
    }

    fn mean(parts: &[[f64; 2]]) -> f64 {
        parts.iter().map(|part| part[0]).sum::<f64>() / parts.len() as f64
    }

    #[test]
    fn flows_that_keep_their_paths_are_drawn_as_the_balancer_weighs_them() {
        let ecmp = parts(10, "ecmp", None);
        let wcmp = parts(10, "wcmp", None);
        let whole = |part: &[f64; 2]| *part == [1.0, 0.0] || *part == [0.0, 1.0];
        assert!(ecmp.iter().chain(&wcmp).all(whole));
        assert!((mean(&ecmp) - 0.5).abs() < 0.03 && (mean(&wcmp) - 0.2).abs() < 0.02);
        // A table with room for one entry each.
        let small = parts(10, "wcmp", Some(("table_size", Value::Integer(2))));
        assert_eq!(small, ecmp);
        assert_eq!(parts(40, "wcmp", None), ecmp, "equal weights draw the same paths");
    }

    #[test]
    fn spread_flows_divide_as_the_balancer_weighs_the_paths() {
        let first = |name: &str, change| parts(10, name, change)[0];
        assert_eq!(first("random", None), [0.5, 0.5]);
        assert_eq!(first("letflow", None), [0.5, 0.5]);
        assert_eq!(first("letflow", Some(("weighted", Value::Flag(true)))), [0.2, 0.8]);
        assert_eq!(first("presto", None), [0.2, 0.8]);
        // DRILL hashes flows to components of like paths: here one each, in proportion to their rates.
        let drill = parts(10, "drill", None);
        assert!(drill.iter().all(|part| part.contains(&1.0)) && (mean(&drill) - 0.2).abs() < 0.02);
        assert_eq!(parts(40, "drill", None)[0], [0.5, 0.5], "one component");
    }
}
