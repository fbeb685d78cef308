//! The links that wait for each other when nothing may be dropped, and whether they form a cycle.
//!
//! With priority flow control the buffer behind a link drains only as fast as the links after it. A link depends on
//! another if some route enters a switch by the first and leaves it by the second. A deadlock needs a cycle of such
//! dependencies (Dally and Seitz, IEEE Transactions on Computers 1987); routes that only go up, then down have none.
//! Hosts accept everything and depend on nothing. Must not depend on traffic: every leaf with hosts may send to every
//! other.

use crate::graph::{Graph, Node};
use crate::routes::Routes;
use std::collections::{BTreeSet, VecDeque};
use weft_core::{LinkId, SwitchId};

/// A cycle of links between switches, each waiting for the next and the last for the first; `None`: these routes cannot
/// deadlock.
#[must_use]
pub fn circle(graph: &Graph, routes: &Routes) -> Option<Vec<LinkId>> {
    let towards = |leaf: usize| Used::towards(graph, routes, leaf);
    let leaves = 0..graph.leaves().len();
    if !leaves.clone().any(|leaf| towards(leaf).turns(graph)) {
        return None;
    }
    let mut after = vec![BTreeSet::new(); graph.links().len()];
    leaves.for_each(|leaf| towards(leaf).add(&mut after));
    shortest(&after, on_a_circle(&after)?)
}

/// The links that packets to one leaf use.
struct Used {
    /// By switch, the links between switches by which such packets arrive.
    inwards: Vec<Vec<LinkId>>,
    /// By switch, the links between switches by which such packets leave.
    outwards: Vec<Vec<LinkId>>,
}

impl Used {
    fn towards(graph: &Graph, routes: &Routes, leaf: usize) -> Used {
        let switches = graph.switches().len();
        let mut used = Used { inwards: vec![Vec::new(); switches], outwards: vec![Vec::new(); switches] };
        let mut seen = vec![false; switches];
        let sources = graph.leaves().iter().enumerate().filter(|(number, _)| *number != leaf);
        let mut open: Vec<SwitchId> = sources.map(|(_, switch)| *switch).collect();
        while let Some(switch) = open.pop() {
            if std::mem::replace(&mut seen[switch.index()], true) {
                continue;
            }
            for port in routes.ports(switch, leaf) {
                let link = graph.link_at(Node::Switch(switch), port);
                let Node::Switch(next) = graph.links()[link.index()].to else { continue };
                used.outwards[switch.index()].push(link);
                used.inwards[next.index()].push(link);
                open.push(next);
            }
        }
        used
    }

    /// Whether any packet arrives from above or sideways and does not go down. Without one there is no cycle.
    fn turns(&self, graph: &Graph) -> bool {
        let rise = |link: &LinkId| {
            let link = &graph.links()[link.index()];
            i32::from(tier(graph, link.to)) - i32::from(tier(graph, link.from))
        };
        let turns = |inwards: &[LinkId], outwards: &[LinkId]| {
            inwards.iter().any(|link| rise(link) <= 0) && outwards.iter().any(|link| rise(link) >= 0)
        };
        self.inwards.iter().zip(&self.outwards).any(|(inwards, outwards)| turns(inwards, outwards))
    }

    fn add(&self, after: &mut [BTreeSet<usize>]) {
        for (inwards, outwards) in self.inwards.iter().zip(&self.outwards) {
            for link in inwards {
                after[link.index()].extend(outwards.iter().map(|next| next.index()));
            }
        }
    }
}

fn tier(graph: &Graph, node: Node) -> u8 {
    match node {
        Node::Switch(switch) => graph.switches()[switch.index()].tier,
        Node::Host(_) => 0,
    }
}

/// A link that ultimately waits for itself: links that wait for nothing are removed until none remain, and following
/// the rest leads into a cycle.
fn on_a_circle(after: &[BTreeSet<usize>]) -> Option<usize> {
    let mut waits: Vec<usize> = after.iter().map(BTreeSet::len).collect();
    let mut before = vec![Vec::new(); after.len()];
    for (link, nexts) in after.iter().enumerate() {
        nexts.iter().for_each(|&next| before[next].push(link));
    }
    let mut free: Vec<usize> = (0..waits.len()).filter(|&link| waits[link] == 0).collect();
    while let Some(link) = free.pop() {
        for &earlier in &before[link] {
            waits[earlier] -= 1;
            if waits[earlier] == 0 {
                free.push(earlier);
            }
        }
    }
    let first = waits.iter().position(|&waits| waits > 0)?;
    (0..after.len()).try_fold(first, |link, _| after[link].iter().copied().find(|&next| waits[next] > 0))
}

/// The shortest cycle through a link that is on one.
fn shortest(after: &[BTreeSet<usize>], first: usize) -> Option<Vec<LinkId>> {
    let mut before: Vec<Option<usize>> = vec![None; after.len()];
    let mut open = VecDeque::from([first]);
    while let Some(link) = open.pop_front() {
        for &next in &after[link] {
            if next == first {
                let mut circle: Vec<LinkId> = std::iter::successors(Some(link), |&link| before[link])
                    .map(|link| LinkId(link as u32))
                    .collect();
                circle.reverse();
                return Some(circle);
            }
            if before[next].is_none() {
                before[next] = Some(link);
                open.push_back(next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::{FailureSettings, plan};
    use crate::live::LinkState;
    use crate::shapes::{TopologySettings, build, leaf_spine::LeafSpineSettings};
    use crate::wiring::{LinkSettings, Wiring};
    use weft_core::Grouping;

    fn found(graph: &Graph, state: &LinkState) -> Option<Vec<String>> {
        let circle = circle(graph, &Routes::new(graph, state, Grouping::Together))?;
        Some(circle.iter().map(|link| graph.name(graph.links()[link.index()].from)).collect())
    }

    fn failed(cables: &[&str]) -> Option<Vec<String>> {
        let shape = LeafSpineSettings { leaves: 4, spines: 2, hosts_per_leaf: 1, ..Default::default() };
        let graph = build(&TopologySettings::LeafSpine(shape)).unwrap();
        let cables = cables.iter().map(|name| (*name).to_owned()).collect();
        let plan = plan(&graph, &[FailureSettings { cables, ..Default::default() }], 1).unwrap();
        found(&graph, &plan.initial(&graph))
    }

    /// After one failure every detour goes round the same way. After two, leaf0 reaches leaf1 through other leaves
    /// and spines, and leaf1 reaches leaf0 in the other direction: two leaves in between are enough for a cycle.
    #[test]
    fn detours_through_leaves_close_a_circle() {
        let shape = TopologySettings::default();
        let graph = build(&shape).unwrap();
        assert_eq!(found(&graph, &LinkState::all_up(&graph)), None);
        assert_eq!(failed(&["leaf0-spine1"]), None);
        let circle = failed(&["leaf0-spine1", "leaf1-spine0"]).unwrap();
        assert_eq!(circle.len(), 4, "{circle:?}");
        assert_eq!(circle.iter().filter(|name| name.starts_with("spine")).count(), 2);
    }

    /// Switches in a ring with a host each: three reach each other directly, four through one in between, in a cycle.
    #[test]
    fn a_ring_of_four_can_deadlock_and_one_of_three_cannot() {
        for (size, length) in [(3, None), (4, Some(4)), (5, Some(5))] {
            let mut wiring = Wiring::default();
            let link = LinkSettings::of(weft_core::Rate::from_gbps(10));
            let switches: Vec<Node> = (0..size).map(|n| wiring.switch(format!("s{n}"))).collect();
            for n in 0..size {
                let host = wiring.host();
                wiring.cable(host, switches[n], &link);
                wiring.cable(switches[n], switches[(n + 1) % size], &link);
            }
            let graph = wiring.finish().unwrap();
            assert_eq!(
                found(&graph, &LinkState::all_up(&graph)).map(|circle| circle.len()),
                length,
                "{size}"
            );
        }
    }
}
