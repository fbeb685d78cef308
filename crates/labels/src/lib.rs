//! The sending half of Presto at a host: flows are cut into flowcells, each sent on the next path of the host's list.
//! Lists follow the routes of the host's leaf. Must not depend on switches or transports.
//!
//! *Paper*: He et al., SIGCOMM'15, sections 3.1 to 3.3.

use std::collections::HashMap;

use weft_core::label::PathLabel;
use weft_core::{FlowId, HostId, Purpose, Random, SwitchId, Time};
use weft_plan::Setup;
use weft_switch::BalancerSettings;
use weft_switch::balance::presto::{ListStart, PathOrder, PrestoSettings};
use weft_switch::balance::wcmp::reduce;
use weft_topology::paths::{Path, paths};

/// The relative error allowed in path weights.
const WEIGHT_ERROR: f64 = 1.01;

/// The position of an end in its list and in its flowcell.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowcellPosition {
    /// Payload of the flowcell so far.
    bytes: u64,
    /// Position in the list.
    position: u32,
    /// Number of the list, from 1; 0: the end has sent nothing yet.
    list: u32,
    cell: u16,
    /// Whether the previous packet belongs to a burst that continues.
    in_burst: bool,
}

/// The properties of a packet about to be sent by a host on which its label depends.
#[derive(Clone, Copy, Debug)]
pub struct Parcel {
    /// The host that sends it.
    pub from: HostId,
    /// The destination host.
    pub to: HostId,
    /// Its flow.
    pub flow: FlowId,
    /// Payload of the packet.
    pub length: u64,
    /// Payload that follows it in the same burst.
    pub rest: u64,
}

/// The lists of the hosts of a domain.
pub struct HostLabels {
    settings: PrestoSettings,
    seed: u64,
    lists: Vec<Box<[PathLabel]>>,
    /// By host, destination leaf and state of the routes: the number of the list.
    known: HashMap<(HostId, u16, u32), u32>,
    /// By leaf: the instant from which its hosts use each state of the routes.
    states: Vec<Vec<(Time, u32)>>,
}

impl HostLabels {
    /// Empty lists; `None` unless switches forward by labels.
    #[must_use]
    pub fn new(setup: &Setup) -> Option<Box<HostLabels>> {
        let BalancerSettings::Presto(settings) = &setup.balancer else { return None };
        Some(Box::new(HostLabels {
            settings: settings.clone(),
            seed: setup.seed,
            lists: Vec::new(),
            known: HashMap::new(),
            states: vec![vec![(Time::ZERO, 0)]; setup.graph.leaves().len()],
        }))
    }

    /// Called when a switch has new routes.
    pub fn installed(&mut self, setup: &Setup, switch: SwitchId, state: usize, now: Time) {
        if let Some(leaf) = setup.timeline.states[state].switches[switch.index()].leaf {
            self.states[usize::from(leaf)].push((now + self.settings.controller_delay, state as u32));
        }
    }

    /// The label and flowcell for the header of a packet.
    #[inline]
    pub fn stamp(&mut self, setup: &Setup, cells: &mut FlowcellPosition, parcel: Parcel, now: Time) -> u32 {
        let begins = !std::mem::replace(&mut cells.in_burst, parcel.rest > 0);
        let whole = cells.bytes + parcel.length + parcel.rest;
        if cells.list == 0 {
            self.begin(setup, cells, parcel, now);
        } else if begins && cells.bytes > 0 && whole > self.settings.cell.0 {
            self.next_cell(setup, cells, parcel, now);
        }
        cells.bytes += parcel.length;
        let list = &self.lists[cells.list as usize - 1];
        list.get(cells.position as usize).copied().unwrap_or_default().note(cells.cell)
    }

    /// Positions an end in its list before its first packet.
    #[cold]
    fn begin(&mut self, setup: &Setup, cells: &mut FlowcellPosition, parcel: Parcel, now: Time) {
        cells.list = self.list(setup, parcel, now);
        let paths = self.lists[cells.list as usize - 1].len() as u32;
        if self.settings.start == ListStart::Random && paths > 1 {
            // The two ends of a flow are at different hosts.
            let end = 1 << 63 | u64::from(parcel.from.0) << 32 | u64::from(parcel.flow.0);
            cells.position = Random::new(self.seed, Purpose::Labels, end).below(paths);
        }
    }

    /// Starts a flowcell on the next path of the newest list.
    fn next_cell(&mut self, setup: &Setup, cells: &mut FlowcellPosition, parcel: Parcel, now: Time) {
        cells.list = self.list(setup, parcel, now);
        let paths = self.lists[cells.list as usize - 1].len() as u32;
        cells.position = if paths == 0 { 0 } else { (cells.position + 1) % paths };
        cells.cell = cells.cell.wrapping_add(1);
        cells.bytes = 0;
    }

    /// The current list from a host to the leaf of another.
    fn list(&mut self, setup: &Setup, parcel: Parcel, now: Time) -> u32 {
        let leaf_of = |host: HostId| setup.graph.leaf_of_host()[host.index()];
        let (from, to) = (leaf_of(parcel.from), leaf_of(parcel.to));
        let states = &self.states[usize::from(from)];
        let state = states.iter().rev().find(|(since, _)| *since <= now).map_or(0, |(_, state)| *state);
        let key = (parcel.from, to, state);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let routes = &setup.timeline.states[state as usize];
        let paths = paths(&setup.graph, routes, usize::from(from), usize::from(to)).unwrap_or_default();
        let entity = u64::from(parcel.from.0) << 16 | u64::from(to);
        let mut random = Random::new(self.seed, Purpose::Labels, entity);
        self.lists.push(list_of(&paths, self.settings.order, &mut random).into());
        let number = self.lists.len() as u32;
        self.known.insert(key, number);
        number
    }
}

/// The list of paths: each is repeated in proportion to its capacity, its copies as far apart as possible. Parallel cables
/// share the capacity of their bundle, as under WCMP.
fn list_of(paths: &[Path], order: PathOrder, random: &mut Random) -> Vec<PathLabel> {
    let mut paths = paths.to_vec();
    match order {
        PathOrder::Shuffled => random.shuffle(&mut paths),
        PathOrder::BitReversed => {
            let mut numbered: Vec<(u32, Path)> = (0..).zip(paths).collect();
            numbered.sort_by_key(|(number, _)| number.reverse_bits());
            paths = numbered.into_iter().map(|(_, path)| path).collect();
        }
    }
    let rates: Vec<u64> = paths.iter().map(|path| path.capacity.0).collect();
    let weights = reduce(&rates, WEIGHT_ERROR);
    let mut copies: Vec<(u64, u64, usize)> = Vec::new();
    for (position, weight) in weights.iter().enumerate() {
        copies.extend((0..*weight).map(|copy| (copy, *weight, position)));
    }
    // Copy j of w is at j / w of the list.
    copies.sort_by(|a, b| (a.0 * b.1).cmp(&(b.0 * a.1)).then(a.2.cmp(&b.2)));
    copies.into_iter().map(|(_, _, position)| paths[position].label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::{PortId, Rate};

    fn path(port: u16, gbps: u64) -> Path {
        let label = PathLabel::default().and(1, PortId(port)).expect("there is room");
        Path { label, capacity: Rate::from_gbps(gbps) }
    }

    fn ports(list: &[PathLabel]) -> Vec<u16> {
        list.iter().map(|label| label.port(1).expect("it says").0).collect()
    }

    #[test]
    fn weights_are_copies_apart_from_each_other() {
        let mut random = Random::new(1, Purpose::Test, 0);
        // The example of the paper: 0.25, 0.5, 0.25 gives p1, p2, p3, p2. With reversed bits the order is 0, 2, 1.
        let paths = [path(1, 10), path(3, 10), path(2, 20)];
        assert_eq!(ports(&list_of(&paths, PathOrder::BitReversed, &mut random)), [1, 2, 3, 2]);
        let equal: Vec<_> = (0..8).map(|port| path(port, 40)).collect();
        assert_eq!(ports(&list_of(&equal, PathOrder::BitReversed, &mut random)), [0, 4, 2, 6, 1, 5, 3, 7]);
        assert!(list_of(&[], PathOrder::Shuffled, &mut random).is_empty());
    }

    #[test]
    fn shuffled_lists_begin_anywhere() {
        let equal: Vec<_> = (0..4).map(|port| path(port, 40)).collect();
        let mut starts = [0u32; 4];
        for host in 0..4_000 {
            let mut random = Random::new(1, Purpose::Test, host);
            let list = ports(&list_of(&equal, PathOrder::Shuffled, &mut random));
            starts[usize::from(list[0])] += 1;
        }
        assert!(starts.iter().all(|count| (870..1_130).contains(count)), "{starts:?}");
    }
}
