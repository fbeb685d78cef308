//! The topology as it is drawn: nodes in tiers and links with their load, grouped until the drawing is legible.

use crate::derived::utilisation;
use crate::text::{duration, plural, rounded};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use weft_core::Time;
use weft_core::record::{ArrivalRecord, LinkRecord, Quantity, RunRecord};

/// Maximum number of hosts drawn; with more, one symbol per switch represents its hosts.
const MOST_HOSTS: usize = 40;
/// Maximum number of directions of links drawn; with more, links are drawn by group.
const MOST_LINKS: usize = 2_000;

/// Nodes and links to draw, column by column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NetworkColumns {
    /// Nodes or groups of nodes.
    pub nodes: Nodes,
    /// Links, or all links between two groups; one entry per direction.
    pub links: LinkColumns,
    /// Hosts in the network.
    pub hosts: usize,
    /// Switches in the network.
    pub switches: usize,
    /// Directions of links in the network.
    pub directions: usize,
    /// The part of the run over which loads are averaged, in words.
    #[serde(default)]
    pub averaged: String,
    /// Loads of the arrivals, if those of the links cover a whole run that mostly drains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_arrivals: Option<ArrivalLoads>,
}

/// Loads of links while flows arrived.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ArrivalLoads {
    /// The period in words.
    pub averaged: String,
    /// As in [`LinkColumns`].
    pub load: Vec<f64>,
    /// As in [`LinkColumns`].
    pub load_max: Vec<f64>,
}

/// Columns of nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Nodes {
    /// `leaf3`, or `20 hosts`.
    pub name: Vec<String>,
    /// 0 hosts, 1 switches with hosts, and so on upwards.
    pub tier: Vec<u8>,
    /// Number of nodes that the symbol represents.
    pub members: Vec<u32>,
}

/// Columns of links.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkColumns {
    /// Transmitting node, index into the nodes.
    pub from: Vec<u32>,
    /// Receiving node.
    pub to: Vec<u32>,
    /// Number of links that the line represents.
    pub members: Vec<u32>,
    /// Of these, links that were down for part of the run.
    pub failed: Vec<u32>,
    /// Line rate of one link, Gbit/s (the mean, if they differ).
    pub rate_gbps: Vec<f64>,
    /// Mean utilisation, fraction of the line rate. This and the following are empty when not measured.
    pub load: Vec<f64>,
    /// Utilisation of the busiest member.
    pub load_max: Vec<f64>,
    /// Packets dropped.
    pub dropped: Vec<u64>,
    /// Packets marked.
    pub marked: Vec<u64>,
    /// Peak queue of a member, wire bytes.
    pub peak_bytes: Vec<u64>,
}

impl NetworkColumns {
    /// Groups the nodes of a record if needed.
    #[must_use]
    pub fn new(record: &RunRecord) -> NetworkColumns {
        let hosts = record.nodes.iter().filter(|node| node.tier == 0).count();
        let by_switch = if hosts > MOST_HOSTS { hosts_by_switch(record) } else { alone(record) };
        let grouping = [by_switch, by_pod(record), by_tier(record)]
            .into_iter()
            .find(|groups| pairs(record, groups).len() <= MOST_LINKS)
            .unwrap_or_else(|| by_tier(record));
        let mut network = drawn(record, &grouping);
        network.hosts = hosts;
        network.switches = record.nodes.len() - hosts;
        network.directions = record.links.len();
        network.averaged = match record.averaged() {
            Some(arrivals) => while_arriving(record, arrivals),
            None => format!("over the whole run ({})", period(record, record.ended)),
        };
        network.in_arrivals = record.arrivals.filter(|arrivals| !arrivals.most).map(|arrivals| {
            let pairs = pairs(record, &grouping);
            let (load, load_max) =
                pairs.values().map(|members| loads(members, record, Some(arrivals))).unzip();
            ArrivalLoads { averaged: while_arriving(record, arrivals), load, load_max }
        });
        network
    }

    /// Loads of the arrivals instead of the whole run, if flows arrived over time.
    pub fn average_over_arrivals(&mut self) {
        let Some(ArrivalLoads { averaged, load, load_max }) = self.in_arrivals.take() else { return };
        (self.averaged, self.links.load, self.links.load_max) = (averaged, load, load_max);
    }
}

fn while_arriving(record: &RunRecord, arrivals: ArrivalRecord) -> String {
    format!("while flows arrived ({})", period(record, arrivals.until))
}

/// `2 ms`, or with traffic that begins later `1 ms to 2 ms`: the part of the run up to an instant over which loads are averaged.
fn period(record: &RunRecord, until: Time) -> String {
    let (from, until) = (record.begins.seconds(), duration(until.seconds() * 1e6));
    if from > 0.0 { format!("{} to {until}", duration(from * 1e6)) } else { until }
}

/// Mean and greatest utilisation of links.
fn loads(members: &[&LinkRecord], record: &RunRecord, window: Option<ArrivalRecord>) -> (f64, f64) {
    let loads = members.iter().map(|link| utilisation(link, record, window));
    let most = loads.clone().fold(0.0, f64::max);
    (rounded(loads.sum::<f64>() / members.len() as f64), rounded(most))
}

/// The group of every node, named by the group's first member.
type NodeGroups = Vec<usize>;

fn alone(record: &RunRecord) -> NodeGroups {
    (0..record.nodes.len()).collect()
}

/// Groups hosts by their switch.
fn hosts_by_switch(record: &RunRecord) -> NodeGroups {
    let mut groups = alone(record);
    let mut first: BTreeMap<u32, usize> = BTreeMap::new();
    for link in record.links.iter().filter(|link| tier(record, link.from as usize) == 0) {
        groups[link.from as usize] = *first.entry(link.to).or_insert(link.from as usize);
    }
    groups
}

fn tier(record: &RunRecord, node: usize) -> u8 {
    record.nodes.get(node).map_or(0, |node| node.tier)
}

fn top(record: &RunRecord) -> u8 {
    record.nodes.iter().map(|node| node.tier).max().unwrap_or(0)
}

/// Groups the nodes of one tier that are connected without the top tier, and the top tier as a whole.
fn by_pod(record: &RunRecord) -> NodeGroups {
    let (mut root, top): (NodeGroups, u8) = (alone(record), top(record));
    for link in &record.links {
        let (from, to) = (link.from as usize, link.to as usize);
        if tier(record, from) < top && tier(record, to) < top {
            let (a, b) = (find(&mut root, from), find(&mut root, to));
            root[a.max(b)] = a.min(b);
        }
    }
    let pod = |root: &mut NodeGroups, node: usize| {
        if tier(record, node) == top { usize::MAX } else { find(root, node) }
    };
    first_of(record, |node| pod(&mut root, node))
}

fn by_tier(record: &RunRecord) -> NodeGroups {
    first_of(record, |_| 0)
}

/// Groups nodes by tier and key; each group is named by its first member.
fn first_of(record: &RunRecord, mut key: impl FnMut(usize) -> usize) -> NodeGroups {
    let mut first: BTreeMap<(u8, usize), usize> = BTreeMap::new();
    (0..record.nodes.len())
        .map(|node| *first.entry((tier(record, node), key(node))).or_insert(node))
        .collect()
}

fn find(root: &mut NodeGroups, mut node: usize) -> usize {
    while root[node] != node {
        root[node] = root[root[node]];
        node = root[node];
    }
    node
}

/// Links, by the pair of groups that they connect.
fn pairs<'a>(record: &'a RunRecord, groups: &NodeGroups) -> BTreeMap<(usize, usize), Vec<&'a LinkRecord>> {
    let mut pairs: BTreeMap<(usize, usize), Vec<&LinkRecord>> = BTreeMap::new();
    for link in &record.links {
        pairs.entry((groups[link.from as usize], groups[link.to as usize])).or_default().push(link);
    }
    pairs
}

fn drawn(record: &RunRecord, groups: &NodeGroups) -> NetworkColumns {
    let mut network = NetworkColumns::default();
    let mut place: BTreeMap<usize, u32> = BTreeMap::new();
    for (node, &group) in groups.iter().enumerate() {
        let next = place.len() as u32;
        let at = *place.entry(group).or_insert(next) as usize;
        if at == next as usize {
            network.nodes.name.push(record.nodes[node].name.clone());
            network.nodes.tier.push(tier(record, node));
            network.nodes.members.push(0);
        }
        network.nodes.members[at] += 1;
    }
    name_groups(&mut network.nodes);
    for ((from, to), members) in pairs(record, groups) {
        push_link(&mut network.links, (place[&from], place[&to]), &members, record);
    }
    network
}

/// Names a group by the word of its first member and its size.
fn name_groups(nodes: &mut Nodes) {
    for (name, &members) in nodes.name.iter_mut().zip(&nodes.members) {
        if members > 1 {
            *name = plural(u64::from(members), name.trim_end_matches(|c: char| c.is_ascii_digit()));
        }
    }
}

fn push_link(links: &mut LinkColumns, ends: (u32, u32), members: &[&LinkRecord], record: &RunRecord) {
    let mean = |values: f64| rounded(values / members.len() as f64);
    links.from.push(ends.0);
    links.to.push(ends.1);
    links.members.push(members.len() as u32);
    links.failed.push(members.iter().filter(|link| link.failed).count() as u32);
    links.rate_gbps.push(mean(members.iter().map(|link| link.rate.gbps()).sum()));
    let has = |quantity| record.measured.has(quantity);
    if has(Quantity::Loads) {
        let (load, most) = loads(members, record, record.averaged());
        links.load.push(load);
        links.load_max.push(most);
    }
    let sum = |of: fn(&LinkRecord) -> u64| members.iter().map(|link| of(link)).sum::<u64>();
    links.dropped.extend(has(Quantity::Drops).then(|| sum(|link| link.dropped)));
    links.marked.extend(has(Quantity::Marks).then(|| sum(|link| link.marked)));
    let peak = members.iter().map(|link| link.peak.0).max().unwrap_or(0);
    links.peak_bytes.extend(has(Quantity::Queues).then_some(peak));
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::record::NodeRecord;
    use weft_core::{Bytes, Rate, Span, Time};

    /// A network with the given numbers of hosts per leaf, leaves and spines.
    fn leaf_spine(hosts: usize, leaves: usize, spines: usize) -> RunRecord {
        let named = |word: &str, tier, n: usize| {
            let word = word.to_owned();
            (0..n).map(move |n| NodeRecord { name: format!("{word}{n}"), tier })
        };
        let nodes =
            named("host", 0, hosts * leaves).chain(named("leaf", 1, leaves)).chain(named("spine", 2, spines));
        let leaf = |n: usize| hosts * leaves + n;
        let spine = |n: usize| leaf(leaves) + n;
        let down = (0..hosts * leaves).map(|host| (host, leaf(host / hosts)));
        let up = (0..leaves).flat_map(|l| (0..spines).map(move |s| (l, s))).map(|(l, s)| (leaf(l), spine(s)));
        let link = |(from, to): (usize, usize)| LinkRecord {
            from: from as u32,
            to: to as u32,
            rate: Rate::from_gbps(10),
            sent: Bytes(625_000),
            dropped: 1,
            ..LinkRecord::default()
        };
        let links = down.chain(up).flat_map(|(a, b)| [link((a, b)), link((b, a))]).collect();
        RunRecord {
            nodes: nodes.collect(),
            links,
            ended: Time::ZERO + Span::from_ms(1),
            ..RunRecord::default()
        }
    }

    #[test]
    fn a_small_network_is_drawn_node_by_node() {
        let network = NetworkColumns::new(&leaf_spine(2, 2, 2));
        assert_eq!((network.nodes.name.len(), network.links.from.len()), (8, 16));
        assert!(network.links.load.iter().all(|load| (load - 0.5).abs() < 1e-9));
    }

    #[test]
    fn many_hosts_become_one_symbol_per_leaf() {
        let network = NetworkColumns::new(&leaf_spine(20, 16, 4));
        assert_eq!(network.nodes.name.len(), 16 + 16 + 4);
        assert_eq!(network.nodes.name[0], "20 hosts");
        assert_eq!(network.links.members.iter().sum::<u32>(), 2 * (320 + 64));
    }

    #[test]
    fn a_huge_network_is_grouped_and_loses_no_drop() {
        let record = leaf_spine(4, 64, 64);
        let network = NetworkColumns::new(&record);
        assert!(network.links.from.len() <= MOST_LINKS);
        assert_eq!(network.nodes.name.last().map(String::as_str), Some("64 spines"));
        assert_eq!(network.links.dropped.iter().sum::<u64>(), record.links.len() as u64);
    }
}
