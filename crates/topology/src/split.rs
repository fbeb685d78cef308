//! The load of each link if every switch splits traffic equally over its shortest paths: the equal split fluid of the
//! DRILL paper (SIGCOMM 2017). Depends on amounts between leaves, not on flows or packets.

use crate::graph::{Graph, Node};
use crate::live::{Fabric, LinkState, UNREACHABLE};
use std::collections::BTreeMap;
use weft_core::SwitchId;

/// Amounts by (index of the destination leaf, index of the source leaf).
pub type Demand = BTreeMap<(u16, u16), f64>;

/// The amount that passes each link, indexed by [`LinkId`](weft_core::LinkId), in the unit of the demand. At every
/// switch, each port that leads one hop closer gets the same amount, whatever its rate. Unreachable traffic is
/// ignored.
#[must_use]
pub fn equal_split(graph: &Graph, state: &LinkState, demand: &Demand) -> Vec<f64> {
    let fabric = Fabric::new(graph, state);
    let mut passed = vec![0.0; graph.links().len()];
    let mut rest = demand.iter().peekable();
    while let Some(((to, _), _)) = rest.peek() {
        let to = *to;
        let mut at = vec![0.0; graph.switches().len()];
        while let Some(((_, from), amount)) = rest.next_if(|((leaf, _), _)| *leaf == to) {
            at[graph.leaves()[usize::from(*from)].index()] += amount;
        }
        pour(graph, (&fabric, graph.leaves()[usize::from(to)]), at, &mut passed);
    }
    passed
}

/// Propagates the amounts `at` the switches to a leaf, the farthest first.
fn pour(graph: &Graph, (fabric, leaf): (&Fabric, SwitchId), mut at: Vec<f64>, passed: &mut [f64]) {
    let distance = fabric.distances_to(leaf);
    let mut order: Vec<usize> = (0..at.len()).filter(|n| !matches!(distance[*n], 0 | UNREACHABLE)).collect();
    order.sort_by_key(|n| std::cmp::Reverse(distance[*n]));
    for switch in order {
        if at[switch] == 0.0 {
            continue;
        }
        let ports = fabric.towards(switch, &distance);
        let each = at[switch] / ports.len() as f64;
        for port in ports {
            let link = graph.link_at(Node::Switch(SwitchId(switch as u32)), port);
            passed[link.index()] += each;
            if let Node::Switch(next) = graph.links()[link.index()].to {
                at[next.index()] += each;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::fat_tree::FatTreeSettings;
    use crate::{TopologySettings, build};
    use weft_core::LinkId;

    /// 16 leaves and 4 spines; every leaf sends 15 to the others together.
    fn uniform(graph: &Graph) -> Demand {
        let leaves = graph.leaves().len() as u16;
        let pairs = (0..leaves).flat_map(|to| (0..leaves).map(move |from| (to, from)));
        pairs.filter(|(to, from)| to != from).map(|pair| (pair, 1.0)).collect()
    }

    fn network() -> Graph {
        build(&TopologySettings::default()).expect("the network of the settings can be built")
    }

    fn close(found: f64, told: f64) {
        assert!((found - told).abs() < 1e-9, "{found} is not {told}");
    }

    #[test]
    fn uniform_traffic_loads_all_links_alike() {
        let graph = network();
        let passed = equal_split(&graph, &LinkState::all_up(&graph), &uniform(&graph));
        for (link, passed) in graph.links().iter().zip(&passed) {
            let between = matches!((link.from, link.to), (Node::Switch(_), Node::Switch(_)));
            close(*passed, if between { 15.0 / 4.0 } else { 0.0 });
        }
    }

    #[test]
    fn a_leaf_that_lost_one_of_four_uplinks_loads_the_others_a_third_more() {
        let graph = network();
        let leaf = graph.leaves()[3];
        let lost: LinkId = graph.uplinks(leaf).next().expect("a leaf has uplinks");
        let mut state = LinkState::all_up(&graph);
        state.set(graph.links()[lost.index()].cable, false);
        let passed = equal_split(&graph, &state, &uniform(&graph));
        for (n, link) in graph.uplinks(leaf).enumerate() {
            let told = if n == 0 { 0.0 } else { 15.0 / 3.0 };
            close(passed[link.index()], told);
            close(passed[graph.reverse(link).index()], told);
        }
        // Others send traffic for this leaf over three spines: 14 / 4 + 1 / 3 on each of these, 14 / 4 on the fourth.
        let others: Vec<LinkId> = graph.uplinks(graph.leaves()[0]).collect();
        close(passed[others[0].index()], 14.0 / 4.0);
        close(passed[others[1].index()], 14.0 / 4.0 + 1.0 / 3.0);
    }

    #[test]
    fn nothing_is_lost_on_the_way_down_a_network_of_three_tiers() {
        let tree = FatTreeSettings { k: 4, ..Default::default() };
        let graph = build(&TopologySettings::FatTree(tree)).expect("it can be built");
        let demand = uniform(&graph);
        let passed = equal_split(&graph, &LinkState::all_up(&graph), &demand);
        for leaf in graph.leaves() {
            let sum = |links: Vec<LinkId>| links.iter().map(|link| passed[link.index()]).sum::<f64>();
            let up: Vec<LinkId> = graph.uplinks(*leaf).collect();
            let down = up.iter().map(|link| graph.reverse(*link)).collect();
            let each = graph.leaves().len() as f64 - 1.0;
            close(sum(up), each);
            close(sum(down), each);
        }
    }
}
