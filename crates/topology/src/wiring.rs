//! Builds a graph: nodes and cables are added in the order that fixes host, switch and port numbers, then
//! [`Wiring::finish`] checks what every topology must satisfy and returns the [`Graph`].

use crate::graph::{Cable, CableEnd, Graph, Link, Node, Stalls, SwitchNode};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use weft_core::Problem;
use weft_core::settings::Share;
use weft_core::{HostId, PortId, Rate, Span, SwitchId};

weft_core::settings! {
    /// A cable with equal properties in both directions.
    pub struct LinkSettings {
        /// Line rate of either direction.
        rate: Rate,
        /// Propagation delay. Few papers give it; half a microsecond is 100 m of fibre.
        delay: Span = Span::from_ns(500),
        /// Probability that a packet is lost on the way, for damaged cables.
        loss: Share = Share(0.0),
    }
}

impl LinkSettings {
    /// A cable of this rate with the default delay and no loss.
    #[must_use]
    pub fn of(rate: Rate) -> LinkSettings {
        LinkSettings { rate, ..LinkSettings::default() }
    }

    /// Problems with the cable called `name` in the settings.
    pub(crate) fn check(&self, name: &str, problems: &mut Vec<Problem>) {
        if self.rate == Rate(0) {
            problems.push(Problem::new(format!("{name}.rate"), "a cable needs a rate above zero"));
        } else if self.rate < SLOWEST {
            let message = format!(
                "a cable needs at least {SLOWEST}: on a slower one flows outlast the clock, which ends after 213 days"
            );
            problems.push(Problem::new(format!("{name}.rate"), message));
        }
    }
}

/// The slowest cable: 2 GB take 185 of the 213 days that the clock counts.
const SLOWEST: Rate = Rate(1_000);

/// Maximum number of cables: a guard against typing errors, not a limit of the engines.
pub const MAX_CABLES: u64 = 4_000_000;

/// A network under construction.
#[derive(Clone, Debug, Default)]
pub struct Wiring {
    hosts: u32,
    host_names: Vec<String>,
    switches: Vec<(String, Option<&'static str>)>,
    cables: Vec<Cable>,
    ports: BTreeMap<Node, u32>,
    bundles: BTreeMap<(Node, Node), u32>,
    folder: PathBuf,
    seed: u64,
}

impl Wiring {
    /// An empty network of a run with this seed; relative file names in settings start at `folder`.
    #[must_use]
    pub fn new(folder: &Path, seed: u64) -> Wiring {
        Wiring { folder: folder.to_owned(), seed, ..Wiring::default() }
    }

    /// The seed of the run.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Where relative file names start.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Adds a host with its default name.
    pub fn host(&mut self) -> Node {
        self.hosts += 1;
        Node::Host(HostId(self.hosts - 1))
    }

    /// Adds a host with its own name; then every host must have one.
    pub fn named_host(&mut self, name: &str) -> Node {
        self.host_names.push(name.to_owned());
        self.host()
    }

    /// Adds a switch.
    pub fn switch(&mut self, name: impl Into<String>) -> Node {
        self.in_tier(name, None)
    }

    fn in_tier(&mut self, name: impl Into<String>, tier: Option<&'static str>) -> Node {
        self.switches.push((name.into(), tier));
        Node::Switch(SwitchId(self.switches.len() as u32 - 1))
    }

    /// Adds `count` switches called `prefix0`, `prefix1` and so on.
    pub fn switches(&mut self, prefix: &str, count: u32) -> Vec<Node> {
        (0..count).map(|n| self.switch(format!("{prefix}{n}"))).collect()
    }

    /// [`Wiring::switches`] for a named tier.
    pub fn tier(&mut self, (prefix, tier): (&str, &'static str), count: u32) -> Vec<Node> {
        (0..count).map(|n| self.in_tier(format!("{prefix}{n}"), Some(tier))).collect()
    }

    /// Adds `count` hosts, each with a cable to `switch`.
    pub fn hosts_on(&mut self, switch: Node, count: u32, link: &LinkSettings) {
        for _ in 0..count {
            let host = self.host();
            self.cable(host, switch, link);
        }
    }

    /// Adds a cable, on the next free port of either node.
    pub fn cable(&mut self, a: Node, b: Node, link: &LinkSettings) {
        let parallel = self.bundles.entry((a.min(b), a.max(b))).or_default();
        *parallel += 1;
        let parallel = *parallel - 1;
        let (a, b) = (self.plug(a), self.plug(b));
        let LinkSettings { rate, delay, loss } = *link;
        self.cables.push(Cable { a, b, rate, delay, loss: loss.0, stalls: None, parallel });
    }

    /// The second end of the last cable stalls occasionally.
    pub fn stall_far_end(&mut self, stalls: Stalls) {
        if let Some(cable) = self.cables.last_mut() {
            cable.stalls = Some(stalls);
        }
    }

    fn plug(&mut self, node: Node) -> CableEnd {
        let ports = self.ports.entry(node).or_default();
        *ports += 1;
        CableEnd { node, port: PortId((*ports - 1) as u16) }
    }

    /// Checks the network and numbers its links.
    ///
    /// # Errors
    /// Without hosts, with a host that does not have exactly one cable to a switch, with too many ports or
    /// leaves, or if a node cannot reach another.
    pub fn finish(self) -> Result<Graph, Vec<Problem>> {
        let problems = self.problems();
        if !problems.is_empty() {
            return Err(problems);
        }
        let graph = self.numbered();
        match graph.unreachable() {
            None => Ok(graph),
            Some(node) => {
                let message =
                    format!("{} is not connected to {}", graph.name(node), graph.name(graph.node_at(0)));
                Err(vec![Problem::new("", message)])
            }
        }
    }

    fn problems(&self) -> Vec<Problem> {
        let mut messages = Vec::new();
        if self.hosts == 0 {
            messages.push("there are no hosts".to_owned());
        }
        if let Some((&node, ports)) = self.ports.iter().find(|(_, ports)| **ports > u32::from(u16::MAX)) {
            messages.push(format!(
                "{} has {ports} ports; at most {} are possible",
                self.name(node),
                u16::MAX
            ));
        }
        let leaves = self.leaves();
        if leaves > usize::from(u16::MAX) {
            messages.push(format!("{leaves} switches have hosts; at most {} are possible", u16::MAX));
        }
        messages.extend((0..self.hosts).filter_map(|host| self.host_problem(HostId(host))).take(20));
        messages.extend(self.cables.iter().filter_map(|cable| self.cable_problem(cable)).take(20));
        messages.into_iter().map(|message| Problem::new("", message)).collect()
    }

    /// The number of switches that have hosts.
    fn leaves(&self) -> usize {
        let above = |cable: &Cable| match (cable.a.node, cable.b.node) {
            (Node::Host(_), switch) | (switch, Node::Host(_)) => Some(switch),
            _ => None,
        };
        self.cables.iter().filter_map(above).collect::<BTreeSet<_>>().len()
    }

    fn host_problem(&self, host: HostId) -> Option<String> {
        let name = self.name(Node::Host(host));
        match self.ports.get(&Node::Host(host)).copied().unwrap_or(0) {
            0 => Some(format!("{name} has no cable; a host has exactly one, to a switch")),
            1 => None,
            n => Some(format!("{name} has {n} cables; a host has exactly one, to a switch")),
        }
    }

    fn cable_problem(&self, cable: &Cable) -> Option<String> {
        let (a, b) = (self.name(cable.a.node), self.name(cable.b.node));
        match (cable.a.node, cable.b.node) {
            (Node::Host(_), Node::Host(_)) => {
                Some(format!("{a} and {b} are connected directly; a host must connect to a switch"))
            }
            (x, y) if x == y => Some(format!("a cable connects {a} to itself")),
            _ => None,
        }
    }

    fn name(&self, node: Node) -> String {
        match node {
            Node::Host(host) => {
                self.host_names.get(host.index()).cloned().unwrap_or_else(|| host.to_string())
            }
            Node::Switch(switch) => self.switches[switch.index()].0.clone(),
        }
    }

    fn numbered(self) -> Graph {
        let node = |(name, role)| SwitchNode { name, tier: 0, role };
        let switches = self.switches.into_iter().map(node).collect();
        let (links, first) = (Vec::new(), Vec::new());
        let (leaves, leaf_of_host) = (Vec::new(), Vec::new());
        let (hosts, host_names, mut cables) = (self.hosts, self.host_names, self.cables);
        cables.shrink_to_fit();
        let mut graph = Graph { hosts, host_names, switches, cables, links, first, leaves, leaf_of_host };
        graph.number_links();
        graph.find_leaves();
        graph.find_tiers();
        graph
    }
}

impl Graph {
    fn number_links(&mut self) {
        let halves = self.cables.iter().enumerate().flat_map(|(index, cable)| halves(index, cable));
        let mut links: Vec<Link> = halves.collect();
        links.sort_by_key(|link| (link.from, link.port));
        let mut first = vec![0u32; self.nodes() + 1];
        for link in &links {
            first[self.node_index(link.from) + 1] += 1;
        }
        for node in 1..first.len() {
            first[node] += first[node - 1];
        }
        (self.links, self.first) = (links, first);
    }

    fn find_leaves(&mut self) {
        let above = |host: &Link| match host.to {
            Node::Switch(switch) => switch,
            Node::Host(_) => unreachable!("cables between hosts were refused"),
        };
        let switch_of_host: Vec<SwitchId> = self.links[..self.hosts as usize].iter().map(above).collect();
        let mut leaves = switch_of_host.clone();
        leaves.sort_unstable();
        leaves.dedup();
        let index =
            |switch: &SwitchId| leaves.binary_search(switch).expect("every host's switch is a leaf") as u16;
        self.leaf_of_host = switch_of_host.iter().map(index).collect();
        self.leaves = leaves;
    }

    fn find_tiers(&mut self) {
        let mut layer = self.leaves.clone();
        for tier in 1..=u8::MAX {
            for &switch in &layer {
                self.switches[switch.index()].tier = tier;
            }
            layer = self.untiered_neighbours(&layer);
        }
    }

    fn untiered_neighbours(&self, layer: &[SwitchId]) -> Vec<SwitchId> {
        let links = layer.iter().flat_map(|&switch| self.links_of(Node::Switch(switch)));
        let untiered = links.filter_map(|link| match link.to {
            Node::Switch(switch) if self.switches[switch.index()].tier == 0 => Some(switch),
            _ => None,
        });
        let mut next: Vec<SwitchId> = untiered.collect();
        next.sort_unstable();
        next.dedup();
        next
    }

    /// A node that node 0 cannot reach.
    fn unreachable(&self) -> Option<Node> {
        let mut seen = vec![false; self.nodes()];
        let mut waiting = vec![self.node_at(0)];
        seen[0] = true;
        while let Some(node) = waiting.pop() {
            for link in self.links_of(node) {
                let to = self.node_index(link.to);
                if !seen[to] {
                    seen[to] = true;
                    waiting.push(link.to);
                }
            }
        }
        seen.iter().position(|seen| !seen).map(|node| self.node_at(node))
    }
}

fn halves(index: usize, cable: &Cable) -> [Link; 2] {
    let Cable { a, b, rate, delay, loss, stalls, .. } = *cable;
    let half = |from: CableEnd, to: CableEnd| Link {
        from: from.node,
        to: to.node,
        port: from.port,
        to_port: to.port,
        rate,
        delay,
        loss,
        stalls: stalls.filter(|_| to == b),
        cable: index,
    };
    [half(a, b), half(b, a)]
}
