//! All equal-cost ports as one component, whatever their rates: what ECMP and most balancers choose from.

use crate::folded::tables::{SwitchRoutes, Ways, fingerprint, ports_by_edge};
use crate::folded::{Bundles, Cells, Fold, Towards};
use crate::graph::Graph;
use crate::live::LinkState;
use weft_core::{Group, PortId, SwitchId};

/// The tables of all switches, without the numbers of leaves.
pub(crate) fn together(graph: &Graph, state: &LinkState) -> Vec<SwitchRoutes> {
    let bundles = Bundles::new(graph, state);
    let cells = Cells::new(&bundles, None);
    let mut ways = vec![Ways::new(cells.leaves.len()); cells.len()];
    let fold = Fold::new(&cells);
    for leaf in 0..cells.leaves.len() {
        add(&mut ways, &cells, &fold.towards(leaf, false));
    }
    let table = |switch: SwitchId| {
        let ports = ports_by_edge(&bundles, &cells, switch);
        ways[cells.of[switch.index()] as usize].table(|edges| group(&ports, edges))
    };
    (0..bundles.switches() as u32).map(SwitchId).map(table).collect()
}

/// The edges that lead on from every cell towards one leaf, by their places.
fn add(ways: &mut [Ways<Vec<u32>>], cells: &Cells, towards: &Towards<'_>) {
    for &cell in &towards.descent.order()[1..] {
        let onward = towards.descent.onward(&towards.cells, cell);
        let mut edges: Vec<u32> = onward.map(|edge| cells.place(cell, edge)).collect();
        edges.sort_unstable();
        let print = fingerprint(edges.iter().map(|edge| u64::from(*edge)));
        for alike in towards.alike(cell) {
            ways[alike as usize].set(towards.leaf as usize, print, || edges.clone());
        }
    }
}

fn group(ports: &[Vec<PortId>], edges: &[u32]) -> Group {
    let mut ports: Vec<_> = edges.iter().flat_map(|edge| ports[*edge as usize].clone()).collect();
    ports.sort_unstable();
    Group::together(ports)
}
