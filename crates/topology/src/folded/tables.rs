//! Forwarding tables: the onward paths of a cell, mapped to the ports of its switches. Must not depend on labels or
//! weights.
//!
//! Most cells reach many leaves by the same onward paths. Each set of paths is kept once per cell and mapped to ports
//! once per switch.

use super::bundles::Bundles;
use super::cells::FoldedCells;
use std::collections::HashMap;
use std::sync::Arc;
use weft_core::random::mix;
use weft_core::{Group, GroupId, PortId, SwitchId};

/// The forwarding table of one switch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SwitchRoutes {
    /// This switch's leaf number, if it has hosts: their packets leave by
    /// [`Routes::port_of_host`](crate::Routes::port_of_host).
    pub leaf: Option<u16>,
    /// Groups of equal-cost ports; one without components means that there is no route.
    pub groups: Arc<[Group]>,
    /// For each leaf, its group; for the switch's own leaf, one without components.
    pub group_of_leaf: Arc<[GroupId]>,
}

/// A fingerprint of some numbers: equal for equal ones, for others equal with a probability of about 10^-38.
pub(crate) fn fingerprint(numbers: impl Iterator<Item = u64>) -> u128 {
    let absorbed =
        |[one, other]: [u64; 2], number: u64| [mix(one ^ number), mix(other.rotate_left(17) ^ number)];
    let [one, other] = numbers.fold([1, 2].map(mix), absorbed).map(mix);
    u128::from(one) << 64 | u128::from(other)
}

/// The onward paths of a cell to every leaf; equal sets once.
#[derive(Clone)]
pub(crate) struct Ways<W> {
    /// The different ways.
    list: Vec<W>,
    /// By fingerprint.
    known: HashMap<u128, u32>,
    /// For each leaf, its set of paths; `None`: there is no path, or the cell is the leaf.
    of_leaf: Vec<Option<u32>>,
}

impl<W> Ways<W> {
    pub(crate) fn new(leaves: usize) -> Ways<W> {
        Ways { list: Vec::new(), known: HashMap::new(), of_leaf: vec![None; leaves] }
    }

    /// The paths to a leaf; equal sets have equal fingerprints.
    pub(crate) fn set(&mut self, leaf: usize, fingerprint: u128, way: impl Fn() -> W) {
        let next = self.list.len() as u32;
        let number = *self.known.entry(fingerprint).or_insert(next);
        if number == next {
            self.list.push(way());
        }
        self.of_leaf[leaf] = Some(number);
    }

    /// For each leaf, its set of paths.
    pub(crate) fn of_leaves(&self) -> impl Iterator<Item = Option<&W>> {
        self.of_leaf.iter().map(|number| number.map(|number| &self.list[number as usize]))
    }

    /// The table of a switch, with groups made from sets of paths by this function; each set is converted once.
    pub(crate) fn table(&self, group: impl Fn(&W) -> Group) -> SwitchRoutes {
        let mut groups: Vec<Group> = self.list.iter().map(group).collect();
        let mut names = vec![None; groups.len()];
        let mut table = TableBuilder::default();
        for number in &self.of_leaf {
            let name = match number.map(|number| number as usize) {
                None => table.name(Group::default()),
                Some(n) => *names[n].get_or_insert_with(|| table.name(std::mem::take(&mut groups[n]))),
            };
            table.group_of_leaf.push(name);
        }
        table.routes()
    }
}

/// For each edge of the switch's cell, the ports of the switch.
pub(crate) fn ports_by_edge(bundles: &Bundles, cells: &FoldedCells, switch: SwitchId) -> Vec<Vec<PortId>> {
    let edges = cells.edges(cells.of[switch.index()]);
    let mut ports = vec![Vec::new(); edges.len()];
    for bundle in bundles.of(switch.0) {
        let key = (cells.of[bundle.to as usize], bundle.capacity);
        if let Ok(place) = edges.binary_search_by_key(&key, |edge| (edge.to, edge.capacity)) {
            ports[place].extend_from_slice(bundles.ports(bundle));
        }
    }
    ports
}

/// Weights whose sum fits 63 bits: unchanged if they do, otherwise scaled down, none below 1.
pub(crate) fn narrow(weights: impl Iterator<Item = u128> + Clone) -> impl Iterator<Item = u64> {
    let total = weights.clone().fold(0u128, u128::saturating_add);
    let scale = total.div_ceil(1 << 62).max(1);
    weights.map(move |weight| (weight / scale).max(1) as u64)
}

/// Collects the groups of one switch.
#[derive(Clone, Default)]
struct TableBuilder {
    groups: Vec<Group>,
    group_of_leaf: Vec<GroupId>,
    /// By fingerprint.
    known: HashMap<u128, GroupId>,
}

impl TableBuilder {
    /// The number of a group; equal groups share one.
    fn name(&mut self, group: Group) -> GroupId {
        let next = GroupId(self.groups.len() as u32);
        let name = *self.known.entry(group_fingerprint(&group)).or_insert(next);
        if name == next {
            self.groups.push(group);
        }
        name
    }

    fn routes(self) -> SwitchRoutes {
        SwitchRoutes { leaf: None, groups: self.groups.into(), group_of_leaf: self.group_of_leaf.into() }
    }
}

fn group_fingerprint(group: &Group) -> u128 {
    fingerprint(group.components.iter().flat_map(|component| {
        let ports = component.ports.iter().map(|port| u64::from(port.0));
        [component.weight, component.ports.len() as u64]
            .into_iter()
            .chain(ports)
            .chain(component.shares.iter().copied())
    }))
}

/// Greatest common divisor.
pub(crate) fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
