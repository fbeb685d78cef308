//! Weighted ports: the capacity of the shortest paths that start at each port. Must not depend on balancers.
//!
//! *Paper*: Zhou et al., EuroSys'14 (WCMP). The weight is the sum over the shortest paths of their capacity, as for the
//! weights of symmetric components, so that both can be compared. Parallel links are one step of a path; its weight is
//! divided among them by rate.

use crate::folded::first_edges::{Begun, by_first_edge};
use crate::folded::tables::{SwitchRoutes, gcd, narrow, ports_by_edge};
use crate::folded::{Bundles, Edge, FoldedCells, PathCounts};
use crate::graph::{Graph, Node};
use crate::live::LinkState;
use weft_core::{Component, Group, PortId, SwitchId};

/// One component per group; the shares are the weights of its ports, without a common divisor.
pub(crate) fn weighted(graph: &Graph, state: &LinkState) -> Vec<SwitchRoutes> {
    let bundles = Bundles::new(graph, state);
    let cells = FoldedCells::new(&bundles, None);
    let ways = by_first_edge(&cells, |towards| capacities(&bundles, towards.descent.paths(&towards.cells)));
    let table = |switch: SwitchId| {
        let ports = ports_by_edge(&bundles, &cells, switch);
        let cell = cells.of[switch.index()];
        let whole: Vec<u64> =
            cells.edges(cell).iter().map(|edge| bundles.capacities[edge.capacity as usize]).collect();
        ways[cell as usize].table(|begun| group(graph, switch, (&ports, &whole), begun))
    };
    (0..bundles.switches() as u32).map(SwitchId).map(table).collect()
}

/// For an edge, the capacity of the paths that start with one of its bundles.
fn capacities(bundles: &Bundles, paths: PathCounts) -> impl Fn(&Edge) -> u128 {
    move |edge| {
        let capacity =
            |bottleneck: &u32| u128::from(bundles.capacities[*bottleneck.min(&edge.capacity) as usize]);
        let paths = paths[edge.to as usize].iter();
        let paths = paths.map(|(bottleneck, count)| count.saturating_mul(capacity(bottleneck)));
        paths.fold(0u128, u128::saturating_add)
    }
}

/// The ports of a switch with their weights.
fn group(
    graph: &Graph,
    switch: SwitchId,
    (ports, whole): (&[Vec<PortId>], &[u64]),
    begun: &[Begun],
) -> Group {
    let mut weights: Vec<(PortId, Ratio)> = Vec::new();
    for (edge, sum) in begun {
        for port in &ports[*edge as usize] {
            let link = graph.link_at(Node::Switch(switch), *port);
            let rate = u128::from(graph.links()[link.index()].rate.0);
            let whole = u128::from(whole[*edge as usize]);
            weights.push((*port, Ratio::new(sum.saturating_mul(rate), whole)));
        }
    }
    weights.sort_unstable_by_key(|(port, _)| *port);
    shared(&weights)
}

/// A weight in lowest terms.
#[derive(Clone, Copy)]
struct Ratio {
    over: u128,
    under: u128,
}

impl Ratio {
    fn new(over: u128, under: u128) -> Ratio {
        let divisor = gcd(over, under).max(1);
        Ratio { over: over / divisor, under: under / divisor }
    }
}

/// One component of these ports with whole shares.
fn shared(weights: &[(PortId, Ratio)]) -> Group {
    if weights.is_empty() {
        return Group::default();
    }
    let common = weights
        .iter()
        .fold(1u128, |common, (_, weight)| (common / gcd(common, weight.under)).saturating_mul(weight.under));
    let whole: Vec<u128> =
        weights.iter().map(|(_, weight)| weight.over.saturating_mul(common / weight.under)).collect();
    let divisor = whole.iter().fold(0, |divisor, weight| gcd(divisor, *weight)).max(1);
    let shares = narrow(whole.iter().map(|weight| weight / divisor)).collect();
    let ports = weights.iter().map(|(port, _)| *port).collect();
    Group { components: vec![Component { weight: 1, ports, shares }] }
}
