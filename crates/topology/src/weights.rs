//! Weighted ports: the capacity of the shortest paths that begin with each port. Knows no balancer.
//!
//! *Paper*: Zhou et al., EuroSys'14 (WCMP). The weight is the sum over the shortest paths of their capacity, as for the
//! weights of symmetric components, so that both can be compared. Parallel links are one step of a path; its weight is
//! divided among them by rate.

use crate::graph::{Graph, Node};
use crate::quiver::bundles::Bundles;
use crate::quiver::cells::Cells;
use crate::quiver::descent::Descent;
use crate::quiver::labels::gcd;
use crate::quiver::narrow;
use crate::routes::{LinkState, SwitchRoutes, TableBuilder};
use std::collections::BTreeMap;
use weft_core::{Component, Group, PortId, SwitchId};

/// One component per group; the shares are the weights of its ports, without a common divisor.
pub(crate) fn weighted(graph: &Graph, state: &LinkState) -> Vec<SwitchRoutes> {
    let bundles = Bundles::new(graph, state);
    let cells = Cells::new(&bundles, None);
    let mut tables = vec![TableBuilder::default(); bundles.switches()];
    for leaf in &cells.leaves {
        let descent = Descent::new(&cells, *leaf, false);
        let paths = paths(&cells, &descent);
        for (switch, table) in tables.iter_mut().enumerate() {
            table.add(group(graph, (&bundles, &cells), (&descent, &paths), switch as u32));
        }
    }
    tables.into_iter().map(|table| table.routes).collect()
}

/// For each cell the number of its paths by bottleneck, an index of capacities.
type Paths = Vec<BTreeMap<u32, u128>>;

fn paths(cells: &Cells, descent: &Descent) -> Paths {
    let mut paths: Paths = vec![BTreeMap::new(); cells.len()];
    paths[descent.order()[0] as usize].insert(u32::MAX, 1);
    for &cell in descent.order() {
        for (_, edge) in descent.onward(cells, cell) {
            for (bottleneck, count) in paths[edge.to as usize].clone() {
                let total = paths[cell as usize].entry(bottleneck.min(edge.capacity)).or_default();
                *total = total.saturating_add(count.saturating_mul(edge.count.into()));
            }
        }
    }
    paths
}

/// The ports of a switch towards the leaf.
fn group(
    graph: &Graph,
    (bundles, cells): (&Bundles, &Cells),
    (descent, paths): (&Descent, &Paths),
    switch: u32,
) -> Group {
    let cell = |switch: u32| cells.of[switch as usize];
    let onward = bundles.of(switch).iter().filter(|b| descent.leads(cells, cell(switch), cell(b.to)));
    let mut weights: Vec<(PortId, Ratio)> = Vec::new();
    for bundle in onward {
        let capacity =
            |bottleneck: &u32| u128::from(bundles.capacities[*bottleneck.min(&bundle.capacity) as usize]);
        let ways = paths[cell(bundle.to) as usize].iter();
        let sum = ways.map(|(bottleneck, count)| count.saturating_mul(capacity(bottleneck)));
        let sum = sum.fold(0u128, u128::saturating_add);
        let whole = u128::from(bundles.capacities[bundle.capacity as usize]);
        for port in bundles.ports(bundle) {
            let link = graph.link_at(Node::Switch(SwitchId(switch)), *port);
            let rate = u128::from(graph.links()[link.index()].rate.0);
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
