//! Minimum-hop routes: for every switch and every leaf, the set of ports on shortest paths.
//!
//! Every cable costs 1 whatever its rate (OSPF with equal-cost multipath in its classical setting), so that links of
//! different rates have equal cost. Parallel cables are separate ports. Identical groups of a switch share one
//! [`GroupId`](weft_core::GroupId). Must not depend on balancers: the choice of a port within a group is made
//! elsewhere.

use crate::folded::tables::SwitchRoutes;
use crate::graph::Graph;
use crate::live::LinkState;
use crate::quiver::Quiver;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use weft_core::{Grouping, PortId, SwitchId};

/// The forwarding tables of all switches for one state of the cables.
#[derive(Clone, Debug, PartialEq)]
pub struct Routes {
    /// Indexed by [`SwitchId`].
    pub switches: Vec<SwitchRoutes>,
    /// For each host, the index of its leaf; the same in all states.
    pub leaf_of_host: Arc<[u16]>,
    /// For each host, the port of its leaf that leads to it.
    pub port_of_host: Arc<[PortId]>,
}

impl Routes {
    /// Shortest paths over the cables that are up, grouped as the balancer requires.
    #[must_use]
    pub fn new(graph: &Graph, state: &LinkState, grouping: Grouping) -> Routes {
        let mut switches = match grouping {
            Grouping::Together => crate::equal_cost::together(graph, state),
            Grouping::Weighted => crate::weights::weighted(graph, state),
            Grouping::Components(settings) => Quiver::new(graph, state, &settings).tables(),
        };
        share_tables(&mut switches);
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

    /// Whether `switch` has a path to another leaf.
    #[must_use]
    pub fn has_route(&self, switch: SwitchId, leaf: usize) -> bool {
        let table = &self.switches[switch.index()];
        !table.groups[table.group_of_leaf[leaf].index()].components.is_empty()
    }

    /// The equal-cost ports of `switch` towards a leaf.
    #[must_use]
    pub fn ports(&self, switch: SwitchId, leaf: usize) -> Vec<PortId> {
        let table = &self.switches[switch.index()];
        table.groups[table.group_of_leaf[leaf].index()].ports()
    }
}

/// Equal tables of different switches are kept once.
fn share_tables(switches: &mut [SwitchRoutes]) {
    let (mut groups, mut numbers) = (BTreeSet::new(), HashSet::new());
    for SwitchRoutes { groups: own, group_of_leaf, .. } in switches {
        match groups.get(own) {
            Some(known) => *own = Arc::clone(known),
            None => _ = groups.insert(Arc::clone(own)),
        }
        match numbers.get(group_of_leaf) {
            Some(known) => *group_of_leaf = Arc::clone(known),
            None => _ = numbers.insert(Arc::clone(group_of_leaf)),
        }
    }
}
