//! All equal-cost ports as one component, whatever their rates, for ECMP and most balancers.

use crate::folded::first_edges::{Begun, by_first_edge};
use crate::folded::tables::{SwitchRoutes, ports_by_edge};
use crate::folded::{Bundles, Edge, FoldedCells};
use crate::graph::Graph;
use crate::live::LinkState;
use weft_core::{Group, PortId, SwitchId};

/// The tables of all switches, without the numbers of leaves.
pub(crate) fn together(graph: &Graph, state: &LinkState) -> Vec<SwitchRoutes> {
    let bundles = Bundles::new(graph, state);
    let cells = FoldedCells::new(&bundles, None);
    let ways = by_first_edge(&cells, |_| |_: &Edge| 1);
    let table = |switch: SwitchId| {
        let ports = ports_by_edge(&bundles, &cells, switch);
        ways[cells.of[switch.index()] as usize].table(|begun| group(&ports, begun))
    };
    (0..bundles.switches() as u32).map(SwitchId).map(table).collect()
}

fn group(ports: &[Vec<PortId>], begun: &[Begun]) -> Group {
    let mut ports: Vec<_> = begun.iter().flat_map(|(edge, _)| ports[*edge as usize].clone()).collect();
    ports.sort_unstable();
    Group::together(ports)
}
