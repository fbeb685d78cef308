//! Minimum-hop routes: for every switch and every leaf the set of ports on shortest paths, and which cables are up.
//!
//! Every cable costs 1 whatever its rate (OSPF with equal-cost multipath in its classical setting), so that links of
//! different rates stay equal-cost. Parallel cables are separate ports. Identical groups of a switch share one
//! [`GroupId`]. Knows no balancer: which port of a group a packet takes is decided elsewhere.

use crate::graph::{Graph, Link, Node};
use crate::quiver::Quiver;
use std::collections::BTreeMap;
use std::sync::Arc;
use weft_core::{Group, GroupId, Grouping, PortId, SwitchId};

/// Which cables are up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkState(Vec<bool>);

impl LinkState {
    /// Nothing has failed.
    #[must_use]
    pub fn all_up(graph: &Graph) -> LinkState {
        LinkState(vec![true; graph.cables().len()])
    }

    /// Whether a cable is up.
    #[must_use]
    pub fn is_up(&self, cable: usize) -> bool {
        self.0[cable]
    }

    /// Takes a cable down or puts it up again.
    pub fn set(&mut self, cable: usize, up: bool) {
        self.0[cable] = up;
    }

    /// The cables that are down, in order.
    pub fn down(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().filter(|(_, up)| !**up).map(|(cable, _)| cable)
    }
}

/// The forwarding tables of all switches for one state of the cables.
#[derive(Clone, Debug, PartialEq)]
pub struct Routes {
    /// Indexed by [`SwitchId`].
    pub switches: Vec<SwitchRoutes>,
    /// For each host the index of its leaf; the same in all states.
    pub leaf_of_host: Arc<[u16]>,
    /// For each host the port of its leaf that leads to it.
    pub port_of_host: Arc<[PortId]>,
}

/// The forwarding table of one switch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SwitchRoutes {
    /// The leaf this switch is, if it has hosts: their packets go out by [`Routes::port_of_host`].
    pub leaf: Option<u16>,
    /// Groups of equal-cost ports; one without components means that there is no route.
    pub groups: Vec<Group>,
    /// For each leaf its group; for the switch's own leaf one without components.
    pub group_of_leaf: Vec<GroupId>,
}

impl Routes {
    /// Shortest paths over the cables that are up, grouped as a balancer wants them.
    #[must_use]
    pub fn new(graph: &Graph, state: &LinkState, grouping: Grouping) -> Routes {
        let mut switches = match grouping {
            Grouping::Together => together(graph, state),
            Grouping::Weighted => crate::weights::weighted(graph, state),
            Grouping::Components(settings) => Quiver::new(graph, state, &settings).tables(),
        };
        for (index, leaf) in graph.leaves().iter().enumerate() {
            switches[leaf.index()].leaf = Some(index as u16);
        }
        let hosts = graph.links()[..graph.hosts() as usize].iter();
        Routes {
            switches,
            leaf_of_host: graph.leaf_of_host().into(),
            port_of_host: hosts.map(|link| link.to_port).collect(),
        }
    }

    /// The equal-cost ports of `switch` towards a leaf.
    #[must_use]
    pub fn ports(&self, switch: SwitchId, leaf: usize) -> Vec<PortId> {
        let table = &self.switches[switch.index()];
        table.groups[table.group_of_leaf[leaf].index()].ports()
    }
}

/// All equal-cost ports as one component.
fn together(graph: &Graph, state: &LinkState) -> Vec<SwitchRoutes> {
    let fabric = Fabric::new(graph, state);
    let mut tables = vec![TableBuilder::default(); graph.switches().len()];
    for leaf in graph.leaves() {
        let distance = fabric.distances_to(*leaf);
        for (switch, table) in tables.iter_mut().enumerate() {
            table.add(Group::together(fabric.towards(switch, &distance)));
        }
    }
    tables.into_iter().map(|table| table.routes).collect()
}

/// Collects the groups of one switch.
#[derive(Clone, Default)]
pub(crate) struct TableBuilder {
    pub(crate) routes: SwitchRoutes,
    known: BTreeMap<Group, GroupId>,
}

impl TableBuilder {
    /// The next leaf's group.
    pub(crate) fn add(&mut self, group: Group) {
        let name = self.name(group);
        self.routes.group_of_leaf.push(name);
    }

    /// The number of a group; equal ones have one.
    pub(crate) fn name(&mut self, group: Group) -> GroupId {
        match self.known.get(&group) {
            Some(name) => *name,
            None => {
                let name = GroupId(self.routes.groups.len() as u32);
                self.routes.groups.push(group.clone());
                self.known.insert(group, name);
                name
            }
        }
    }
}

/// The live links between switches, by transmitting switch.
pub(crate) struct Fabric {
    /// For each switch (port, neighbour), ascending by port.
    neighbours: Vec<Vec<(PortId, u32)>>,
}

/// No way to get there.
pub(crate) const UNREACHABLE: u32 = u32::MAX;

impl Fabric {
    pub(crate) fn new(graph: &Graph, state: &LinkState) -> Fabric {
        let live = |link: &Link| match link.to {
            Node::Switch(to) if state.is_up(link.cable) => Some((link.port, to.0)),
            _ => None,
        };
        let of = |switch| graph.links_of(Node::Switch(SwitchId(switch))).iter().filter_map(live).collect();
        Fabric { neighbours: (0..graph.switches().len() as u32).map(of).collect() }
    }

    /// Hops from every switch to `target`; cables fail in both directions, so the graph is symmetric.
    pub(crate) fn distances_to(&self, target: SwitchId) -> Vec<u32> {
        let mut distance = vec![UNREACHABLE; self.neighbours.len()];
        distance[target.index()] = 0;
        let mut order = vec![target.0];
        let mut next = 0;
        while let Some(&switch) = order.get(next) {
            next += 1;
            for &(_, to) in &self.neighbours[switch as usize] {
                if distance[to as usize] == UNREACHABLE {
                    distance[to as usize] = distance[switch as usize] + 1;
                    order.push(to);
                }
            }
        }
        distance
    }

    /// The ports of a switch that lead one hop nearer.
    pub(crate) fn towards(&self, switch: usize, distance: &[u32]) -> Vec<PortId> {
        let here = distance[switch];
        if here == UNREACHABLE || here == 0 {
            return Vec::new();
        }
        let nearer = |&(port, to): &(PortId, u32)| (distance[to as usize] + 1 == here).then_some(port);
        self.neighbours[switch].iter().filter_map(nearer).collect()
    }
}
