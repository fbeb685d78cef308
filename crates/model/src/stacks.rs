//! The levels at which a scenario chooses the transport of a flow: `[transport]` for all hosts, `[[hosts]]` for some,
//! and the entry of `[[traffic]]` for its flows. Applied in this order they give every flow its transport.
//!
//! The rules decide which values a level may give.

use weft_core::{Class, HostId, Rate};
use weft_topology::{Graph, Node};
use weft_transport::{Transport, TransportSettings};
use weft_workload::{PatternSettings, TrafficSettings};

use crate::hosts::{HostSection, TrafficSection};
use crate::levels::is_named;
use crate::settings::ScenarioSettings;
use weft_codec::Provenance;

/// A transport in use, and the levels it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct TransportInUse {
    /// All settings.
    pub transport: TransportSettings,
    /// The levels above `[transport]`, highest precedence last: `hosts[0]`, `traffic[1]`.
    pub levels: Vec<String>,
}

/// The transports of a scenario and the hosts and flows that use them.
#[derive(Clone, Debug, PartialEq)]
pub struct TransportsInUse {
    /// All transports; at least one.
    pub all: Vec<TransportInUse>,
    /// For each host, its group: hosts named by the same entries of `[[hosts]]`.
    pub group_of_host: Vec<u16>,
    /// The index of the transport, by group and traffic entry.
    pub of: Vec<Vec<u16>>,
}

/// The transports of a scenario, by group of hosts and traffic entry.
#[must_use]
pub fn stacks(settings: &ScenarioSettings, graph: &Graph) -> TransportsInUse {
    let entries = settings.hosts.over(&Vec::new());
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut group_of_host = Vec::new();
    for host in (0..graph.hosts()).map(HostId) {
        let own = covering(&entries, graph, host);
        let known = groups.iter().position(|group| *group == own);
        group_of_host.push(known.unwrap_or(groups.len()) as u16);
        if known.is_none() {
            groups.push(own);
        }
    }
    let mut all: Vec<TransportInUse> = Vec::new();
    let of = groups.iter().map(|group| {
        let stack = |(number, entry): (usize, &TrafficSection)| {
            let stack = TransportInUse::new(settings, &entries, (group, (number, entry)));
            all.iter().position(|known| *known == stack).unwrap_or_else(|| {
                all.push(stack);
                all.len() - 1
            }) as u16
        };
        settings.traffic.iter().enumerate().map(stack).collect()
    });
    let of = of.collect();
    if all.is_empty() {
        all.push(TransportInUse::of_all(settings));
    }
    TransportsInUse { all, group_of_host, of }
}

/// The entries that name a host.
pub(crate) fn covering(entries: &[HostSection], graph: &Graph, host: HostId) -> Vec<usize> {
    let name = |node| graph.name(node);
    let (own, leaf) = (name(Node::Host(host)), name(Node::Switch(graph.switch_of_host(host))));
    let covers = |entry: &HostSection| is_named(&entry.names, &own) && is_named(&entry.at, &leaf);
    (0..entries.len()).filter(|number| covers(&entries[*number])).collect()
}

/// Whether an entry names any host.
pub fn names_somebody(entry: &HostSection, graph: &Graph) -> bool {
    (0..graph.hosts()).any(|host| !covering(std::slice::from_ref(entry), graph, HostId(host)).is_empty())
}

/// Whether a transport sends red packets, which switches may drop early (TLT).
#[must_use]
pub fn sends_red(transport: &TransportSettings) -> bool {
    transport.tcp().is_some_and(|tcp| tcp.tlt.is_some())
        || transport.roce().is_some_and(|pairs| pairs.tlt.is_some())
}

/// The queues that carry payload of some transports at ports with `queues` queues: bit `q` for queue `q`. `chosen` is
/// asked for each transport in use, and with `None` for datagrams at a constant rate.
#[must_use]
pub fn payload_queues(
    (settings, graph): (&ScenarioSettings, &Graph),
    queue: impl Fn(Class) -> usize,
    chosen: impl Fn(Option<&TransportSettings>) -> bool,
) -> u8 {
    let stacks = stacks(settings, graph);
    let ends: Vec<Transport> = stacks.all.iter().map(|stack| Transport::new(&stack.transport)).collect();
    let mut found = 0;
    for (index, entry) in settings.traffic.iter().enumerate() {
        let own = entry.flows.class.map(|class| Class(class.min(7) as u8));
        let constant = matches!(entry.flows.pattern, PatternSettings::Constant(_));
        for number in stacks.of.iter().map(|group| usize::from(group[index])) {
            let transport = (!constant).then_some(&stacks.all[number].transport);
            if chosen(transport) {
                let classes = ends[number].classes(own, constant.then_some(Rate::default())).sender;
                found |= classes.iter().fold(0, |set, class| set | 1 << queue(class));
            }
        }
    }
    found
}

impl TransportInUse {
    /// The transport of flows without overrides.
    pub fn of_all(settings: &ScenarioSettings) -> TransportInUse {
        TransportInUse { transport: settings.transport.clone(), levels: Vec::new() }
    }

    /// The path of the level with the highest precedence that sets anything at or below a path of `[transport]`.
    pub fn said_at(&self, said: &Provenance, path: &str) -> Option<String> {
        let levels = self.levels.iter().rev().map(|level| format!("{level}.{path}"));
        levels.chain([path.to_owned()]).find(|path| said.mentions(&said.tagged(path)))
    }

    fn new(
        settings: &ScenarioSettings,
        entries: &[HostSection],
        (group, (number, entry)): (&[usize], (usize, &TrafficSection)),
    ) -> TransportInUse {
        let of_hosts = group.iter().map(|number| (format!("hosts[{number}]"), &entries[*number].transport));
        let of_entry = [(format!("traffic[{number}]"), &entry.transport)];
        let levels = of_hosts.chain(of_entry).filter(|(_, says)| !says.is_empty());
        let mut stack = TransportInUse::of_all(settings);
        for (path, says) in levels {
            stack.transport = says.over(&stack.transport);
            stack.levels.push(path);
        }
        stack
    }
}

impl ScenarioSettings {
    /// The traffic entries without their transports.
    #[must_use]
    pub fn flows(&self) -> Vec<TrafficSettings> {
        self.traffic.iter().map(|entry| entry.flows.clone()).collect()
    }
}
