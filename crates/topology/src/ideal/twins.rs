//! Interchangeable leaves. Two leaves with cables of equal rates and delays to the same switches, and with equal
//! latencies, can be exchanged without changing the network; so the paths between two leaves depend only on their
//! classes. All leaves of a leaf-spine, and all of a pod of a fat tree, are such twins unless a cable has failed.
//! Must not depend on how they are used.

use std::collections::BTreeMap;

use weft_core::{Rate, Span, SwitchId};

use crate::graph::{Graph, Node};
use crate::live::LinkState;

/// A leaf's own latency, and its working cables to other switches, sorted.
type Surroundings = (Span, Vec<(SwitchId, Rate, Span)>);

/// The class of every leaf.
pub(super) struct Twins {
    /// By switch; meaningless for a switch without hosts.
    classes: Vec<u32>,
    /// The first two leaves of each class; a single leaf appears twice.
    members: Vec<[SwitchId; 2]>,
}

impl Twins {
    pub(super) fn new(graph: &Graph, state: &LinkState, latencies: &[Span]) -> Twins {
        let mut known: BTreeMap<Surroundings, u32> = BTreeMap::new();
        let mut twins = Twins { classes: vec![0; graph.switches().len()], members: Vec::new() };
        for &leaf in graph.leaves() {
            let class = *known
                .entry(surroundings(graph, state, (leaf, latencies)))
                .or_insert(twins.members.len() as u32);
            twins.classes[leaf.index()] = class;
            match twins.members.get_mut(class as usize) {
                None => twins.members.push([leaf, leaf]),
                Some([first, second]) if first == second => *second = leaf,
                Some(_) => {}
            }
        }
        twins
    }

    /// Every leaf in a class of its own.
    #[cfg(test)]
    pub(super) fn separate(graph: &Graph) -> Twins {
        let mut twins = Twins { classes: vec![0; graph.switches().len()], members: Vec::new() };
        for &leaf in graph.leaves() {
            twins.classes[leaf.index()] = twins.members.len() as u32;
            twins.members.push([leaf, leaf]);
        }
        twins
    }

    /// Number of classes.
    pub(super) fn classes(&self) -> usize {
        self.members.len()
    }

    /// The class of a leaf.
    #[inline]
    pub(super) fn class_of(&self, leaf: SwitchId) -> usize {
        self.classes[leaf.index()] as usize
    }

    /// Two different leaves of these classes. The second depends on its class alone.
    pub(super) fn pair(&self, (from, to): (usize, usize)) -> (SwitchId, SwitchId) {
        let [first, second] = self.members[from];
        let to = self.members[to][0];
        (if first == to { second } else { first }, to)
    }
}

fn surroundings(graph: &Graph, state: &LinkState, (leaf, latencies): (SwitchId, &[Span])) -> Surroundings {
    let links = graph.links_of(Node::Switch(leaf)).iter().filter(|link| state.is_up(link.cable));
    let mut cables: Vec<_> = links
        .filter_map(|link| match link.to {
            Node::Switch(to) => Some((to, link.rate, link.delay)),
            Node::Host(_) => None,
        })
        .collect();
    cables.sort_unstable();
    (latencies[leaf.index()], cables)
}
