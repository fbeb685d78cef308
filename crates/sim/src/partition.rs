//! The cut of a network into domains, and the grid of instants at which they meet.
//!
//! A packet on a link between two domains lands at least the link's delay after the decision that sent it. So domains
//! that meet at every multiple of a span no longer than the delay of any link between them never miss a packet. The
//! grid depends on the network alone, not on the cut, because runs end on it: hosts and switches closer together than
//! the grid are never separated.

use weft_core::{HostId, Purpose, Random, Span, SwitchId};
use weft_plan::{Setup, Threads};
use weft_switch::SwitchSettings;
use weft_topology::{Graph, Link, Node};

/// Minimum number of packet-hops that a thread should handle between two meetings, with all links busy, for meetings
/// to be cheap.
const WORTH_MEETING: f64 = 200.0;

/// The number of domains that a run should have: as many as requested, or fewer if threads would mostly wait for each
/// other; one if there are jobs, which depend on the completion of all flows.
pub(crate) fn wanted(setup: &Setup, delays: &[Span]) -> usize {
    if !setup.flows.jobs().is_empty() {
        return 1;
    }
    let most = match setup.division.threads {
        Threads::Exactly(threads) => return threads,
        Threads::UpTo(most) => most,
    };
    let grid = grid(&setup.graph, delays).seconds();
    let packet = 8.0 * f64::from(setup.transport.full_wire());
    let hops: f64 = setup.graph.links().iter().map(|link| link.rate.0 as f64 / packet * grid).sum();
    most.min((hops / WORTH_MEETING) as usize)
}

/// The cut: the domain of every node, and the grid.
#[derive(Clone, Debug)]
pub(crate) struct Partition {
    /// Domains; at least one.
    pub(crate) domains: usize,
    /// Domains meet at multiples of this.
    pub(crate) grid: Span,
    /// Indexed by the graph's node numbers.
    of_node: Vec<u16>,
    /// Switches follow the hosts in that numbering.
    hosts: usize,
}

/// The grid of a network without delays.
const TIMELESS: Span = Span::from_us(1);

impl Partition {
    /// Cuts a network with these link delays into `domains` domains; randomly if `scatter` gives a seed.
    pub(crate) fn new(graph: &Graph, delays: &[Span], (domains, scatter): (usize, Option<u64>)) -> Partition {
        let grid = grid(graph, delays);
        let units = units(graph, delays, grid);
        let domains = domains.clamp(1, units.len().min(usize::from(u16::MAX)));
        let mut of_node = vec![0; graph.nodes()];
        let chosen = match scatter {
            Some(seed) => scattered(units.len(), domains, seed),
            None => balanced(graph, &units, domains),
        };
        for (unit, domain) in units.iter().zip(chosen) {
            unit.iter().for_each(|node| of_node[*node] = domain);
        }
        Partition { domains, grid, of_node, hosts: graph.hosts() as usize }
    }

    pub(crate) fn of_host(&self, host: HostId) -> usize {
        usize::from(self.of_node[host.index()])
    }

    pub(crate) fn of_switch(&self, switch: SwitchId) -> usize {
        usize::from(self.of_node[self.hosts + switch.index()])
    }

    pub(crate) fn of(&self, node: Node) -> usize {
        match node {
            Node::Host(host) => self.of_host(host),
            Node::Switch(switch) => self.of_switch(switch),
        }
    }
}

/// For every link, the delay from decision to decision, or from a pause frame to its effect if that is shorter.
pub(crate) fn delays<'a>(graph: &Graph, at: impl Fn(SwitchId) -> &'a SwitchSettings) -> Vec<Span> {
    let extra = |link: &Link| match link.to {
        Node::Host(_) => Span::ZERO,
        Node::Switch(switch) => {
            let SwitchSettings { latency, pfc, .. } = at(switch);
            if pfc.is_on() { (*latency).min(pfc.response_at(link.rate)) } else { *latency }
        }
    };
    graph.links().iter().map(|link| link.delay + extra(link)).collect()
}

/// The minimum delay between switches; if no two switches are linked, the minimum of all.
fn grid(graph: &Graph, delays: &[Span]) -> Span {
    let between = |n: &usize| {
        let link = &graph.links()[*n];
        matches!((link.from, link.to), (Node::Switch(_), Node::Switch(_)))
    };
    let least = |among: &mut dyn Iterator<Item = usize>| {
        among.map(|n| delays[n]).filter(|delay| *delay > Span::ZERO).min()
    };
    let all = 0..delays.len();
    least(&mut all.clone().filter(between)).or_else(|| least(&mut all.clone())).unwrap_or(TIMELESS)
}

/// Nodes that must stay together, in the order of their first node: those joined by links shorter than the grid, and
/// every host with its switch.
fn units(graph: &Graph, delays: &[Span], grid: Span) -> Vec<Vec<usize>> {
    let mut leader: Vec<usize> = (0..graph.nodes()).collect();
    for (link, delay) in graph.links().iter().zip(delays) {
        let access = matches!(link.from, Node::Host(_)) || matches!(link.to, Node::Host(_));
        if *delay < grid || access {
            let (a, b) = (graph.node_index(link.from), graph.node_index(link.to));
            let (a, b) = (find(&mut leader, a), find(&mut leader, b));
            leader[a.max(b)] = a.min(b);
        }
    }
    let mut members = vec![Vec::new(); graph.nodes()];
    for node in 0..graph.nodes() {
        members[find(&mut leader, node)].push(node);
    }
    members.into_iter().filter(|unit| !unit.is_empty()).collect()
}

fn find(leader: &mut [usize], node: usize) -> usize {
    let mut at = node;
    while leader[at] != at {
        leader[at] = leader[leader[at]];
        at = leader[at];
    }
    at
}

fn scattered(units: usize, domains: usize, seed: u64) -> Vec<u16> {
    let mut random = Random::new(seed, Purpose::Test, 0);
    (0..units).map(|_| random.below(domains as u32) as u16).collect()
}

/// Divides every tier evenly by link bandwidth; neighbours in the numbering stay together.
fn balanced(graph: &Graph, units: &[Vec<usize>], domains: usize) -> Vec<u16> {
    let tier = |unit: &[usize]| {
        let tier = |node: &usize| match graph.node_at(*node) {
            Node::Host(_) => 0,
            Node::Switch(switch) => graph.switches()[switch.index()].tier,
        };
        unit.iter().map(tier).max().unwrap_or(0)
    };
    let weight = |unit: &[usize]| -> u128 {
        let rates =
            |node: &usize| graph.links_of(graph.node_at(*node)).iter().map(|link| u128::from(link.rate.0));
        unit.iter().flat_map(rates).sum()
    };
    let mut total = vec![0u128; 256];
    for unit in units {
        total[usize::from(tier(unit))] += weight(unit);
    }
    let mut before = vec![0u128; 256];
    let mut place = |unit: &Vec<usize>| {
        let (tier, weight) = (usize::from(tier(unit)), weight(unit));
        let middle = before[tier] + weight / 2;
        before[tier] += weight;
        (middle * domains as u128 / total[tier].max(1)).min(domains as u128 - 1) as u16
    };
    units.iter().map(&mut place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_topology::shapes::leaf_spine::LeafSpineSettings;
    use weft_topology::{TopologySettings, build};

    fn graph() -> Graph {
        build(&TopologySettings::LeafSpine(LeafSpineSettings::default())).expect("defaults are valid")
    }

    fn settings(latency: Span) -> SwitchSettings {
        SwitchSettings { latency, ..SwitchSettings::default() }
    }

    #[test]
    fn hosts_stay_with_their_leaf_and_tiers_are_halved() {
        let (graph, instant) = (graph(), settings(Span::ZERO));
        let partition = Partition::new(&graph, &delays(&graph, |_| &instant), (2, None));
        assert_eq!(partition.domains, 2);
        for host in (0..graph.hosts()).map(HostId) {
            assert_eq!(partition.of_host(host), partition.of_switch(graph.switch_of_host(host)));
        }
        for tier in [1, 2] {
            let of_tier = graph.switches().iter().enumerate().filter(|(_, switch)| switch.tier == tier);
            let (mut all, mut first) = (0, 0);
            for (number, _) in of_tier {
                all += 1;
                first += usize::from(partition.of_switch(SwitchId(number as u32)) == 0);
            }
            assert_eq!(first, all / 2, "tier {tier}");
        }
    }

    #[test]
    fn the_grid_is_the_least_delay_between_switches_whatever_the_cut() {
        let graph = graph();
        let latency = Span::from_ns(500);
        let built = settings(latency);
        let fabric = graph.fabric_cables()[0];
        let expected = graph.cables()[fabric].delay + latency;
        for domains in [1, 2, 3, 100] {
            let partition = Partition::new(&graph, &delays(&graph, |_| &built), (domains, None));
            assert_eq!(partition.grid, expected);
            assert!(partition.domains <= graph.switches().len());
        }
    }
}
