//! Components of the paths from every cell to one leaf, and their appearance at the first hop.
//!
//! Two paths are symmetric if their lists of scores are equal. Lists are numbered from their ends: the number of a
//! list is that of (first score, number of the rest). So the lists of a cell follow from those of the next cells,
//! with their path counts by bottleneck, and paths are never listed. Where a cell has too many different lists, they
//! are followed from the near end instead, and lists that reach the same cells from the same first edges are followed
//! together: the first hop shows the same for them.

use super::labels::Scores;
use super::reach::{EdgeGroup, by_reach};
use crate::folded::tables::{fingerprint, gcd, narrow};
use crate::folded::{Bundles, Descent, FoldedCells};
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasherDefault;
use weft_core::random::MixHasher;
use weft_core::{Component, Group, PortId};

/// Maximum number of different lists of one cell that are distinguished individually.
pub(crate) const MOST_LISTS: usize = 10_000;

/// Paths that share a list of scores and a bottleneck.
#[derive(Clone, Copy, Debug)]
struct PathCounts<List> {
    /// The list: its number or, for the current cell, its name, see [`name`].
    list: List,
    /// Index of the capacity of their bottleneck.
    bottleneck: u32,
    /// Their number.
    count: u128,
    /// Their first edge; meaningless beyond the cell itself.
    edge: u32,
}

/// The name of a list: its first score and the number of the rest.
fn name(score: u32, rest: u32) -> u64 {
    u64::from(score) << 32 | u64::from(rest)
}

/// How the paths from one cell to the leaf decompose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Split {
    /// Number of components; `None`: more than [`MOST_LISTS`].
    pub(crate) components: Option<usize>,
    /// Whether every component is a single path.
    pub(crate) all_single: bool,
    /// Components with equal first edges merged; weights without a common divisor.
    pub(crate) groups: Vec<EdgeGroup>,
}

impl Split {
    /// Never the fingerprint of a split by lists, which is a sum.
    fn fingerprint(&self) -> u128 {
        let numbers = self.groups.iter().flat_map(|(weight, edges)| {
            let weight = [*weight as u64, (*weight >> 64) as u64, edges.len() as u64];
            weight.into_iter().chain(edges.iter().map(|edge| u64::from(*edge)))
        });
        fingerprint(numbers)
    }

    /// From edges to the ports behind them, ascending by ports.
    pub(crate) fn group(&self, ports: &[Vec<PortId>]) -> Group {
        let weights = narrow(self.groups.iter().map(|(weight, _)| *weight));
        let component = |((_, edges), weight): (&EdgeGroup, u64)| {
            let behind = edges.iter().map(|edge| &ports[*edge as usize][..]);
            let mut ports: Vec<PortId> = Vec::with_capacity(behind.clone().map(<[_]>::len).sum());
            behind.for_each(|some| ports.extend_from_slice(some));
            ports.sort_unstable();
            Component { weight, ..Component::equal(ports) }
        };
        let mut components: Vec<_> = self.groups.iter().zip(weights).map(component).collect();
        components.sort_unstable_by(|one, other| one.ports.cmp(&other.ports));
        Group { components }
    }
}

/// Splits the paths of all cells, leaf by leaf.
pub(crate) struct Splitter<'a> {
    bundles: &'a Bundles,
    /// The number of a list, by its name.
    lists: HashMap<u64, u32, BuildHasherDefault<MixHasher>>,
    /// The paths from each cell, in `paths`: first, and one past the last. `None`: too many lists.
    from: Vec<Option<(u32, u32)>>,
    paths: Vec<PathCounts<u32>>,
    /// The paths of the current cell.
    own: Vec<PathCounts<u64>>,
    most_lists: usize,
}

impl<'a> Splitter<'a> {
    pub(crate) fn new(bundles: &'a Bundles, most_lists: usize) -> Splitter<'a> {
        Splitter {
            most_lists,
            bundles,
            lists: HashMap::default(),
            from: Vec::new(),
            paths: Vec::new(),
            own: Vec::new(),
        }
    }

    /// Calls `visit` for every cell that reaches the leaf, except the leaf's own: with a fingerprint of the split,
    /// equal for equal splits, and a closure that computes it.
    pub(crate) fn leaf(
        &mut self,
        (cells, descent, scores): (&FoldedCells, &Descent, &Scores),
        mut visit: impl FnMut(u32, u128, &dyn Fn() -> Split),
    ) {
        let mut rest = None;
        self.lists.clear();
        self.paths.clear();
        self.from = vec![None; cells.len()];
        for (n, &cell) in descent.order().iter().enumerate() {
            if n == 0 {
                self.paths.push(PathCounts { list: 0, bottleneck: u32::MAX, count: 1, edge: 0 });
                self.from[cell as usize] = Some((0, 1));
                continue;
            }
            if self.gather((cells, descent, scores), cell) {
                visit(cell, self.fingerprint(), &|| self.by_lists());
                if descent.upstream(cells, cell).next().is_some() {
                    self.keep(cell);
                }
            } else {
                let rest = rest.get_or_insert_with(|| descent.paths(cells));
                let groups = by_reach((self.bundles, cells, scores), (descent, rest), cell);
                let split = Split { components: None, all_single: false, groups: reduced(groups) };
                visit(cell, split.fingerprint(), &|| split.clone());
            }
        }
    }

    /// Collects the paths of a cell from those of the next cells; `false` if there are too many lists.
    fn gather(&mut self, (cells, descent, scores): (&FoldedCells, &Descent, &Scores), cell: u32) -> bool {
        self.own.clear();
        for edge in descent.onward(cells, cell) {
            let Some((first, end)) = self.from[edge.to as usize] else { return false };
            if self.own.len() + (end - first) as usize > self.most_lists {
                return false;
            }
            let score = scores[edge.number as usize];
            for at in first..end {
                let PathCounts { list, bottleneck, count, .. } = self.paths[at as usize];
                self.own.push(PathCounts {
                    list: name(score, list),
                    bottleneck: bottleneck.min(edge.capacity),
                    count: count.saturating_mul(u128::from(edge.count)),
                    edge: cells.place(cell, edge),
                });
            }
        }
        self.own.sort_unstable_by_key(|paths| (paths.list, paths.edge, paths.bottleneck));
        true
    }

    /// Stores the paths of a cell for the cells before it, and gives their lists numbers. Most cells have none before
    /// them, so their names suffice, and no table is searched.
    fn keep(&mut self, cell: u32) {
        let first = self.paths.len() as u32;
        self.own.sort_unstable_by_key(|paths| (paths.list, paths.bottleneck));
        for paths in self.own.chunk_by(|a, b| a.list == b.list) {
            let next = self.lists.len() as u32 + 1;
            let list = *self.lists.entry(paths[0].list).or_insert(next);
            for same in paths.chunk_by(|a, b| a.bottleneck == b.bottleneck) {
                let count = same.iter().fold(0u128, |sum, paths| sum.saturating_add(paths.count));
                self.paths.push(PathCounts { list, bottleneck: same[0].bottleneck, count, edge: 0 });
            }
        }
        self.from[cell as usize] = Some((first, self.paths.len() as u32));
    }

    /// A fingerprint that is the same for any order of the lists. Most cells split identically towards many leaves;
    /// then only this is computed.
    fn fingerprint(&self) -> u128 {
        let one = |paths: &PathCounts<u64>| {
            let place = u64::from(paths.edge) << 32 | u64::from(paths.bottleneck);
            [place, paths.count as u64, (paths.count >> 64) as u64]
        };
        let components = self
            .own
            .chunk_by(|a, b| a.list == b.list)
            .map(|component| fingerprint(component.iter().flat_map(one)));
        components.fold(0u128, u128::wrapping_add)
    }

    fn by_lists(&self) -> Split {
        let components = self.own.chunk_by(|a, b| a.list == b.list);
        let mut weights = EdgeSetWeights::up_to(self.own.iter().map(|paths| paths.edge).max());
        let mut edges: Vec<u32> = Vec::new();
        let (mut count, mut all_single) = (0, true);
        for component in components {
            count += 1;
            all_single &= component.len() == 1 && component[0].count == 1;
            edges.clear();
            edges.extend(component.iter().map(|paths| paths.edge));
            edges.dedup();
            weights.add(
                &edges,
                component.iter().fold(0u128, |sum, paths| sum.saturating_add(self.weight(paths))),
            );
        }
        Split { components: Some(count), all_single, groups: reduced(weights.groups()) }
    }

    fn weight(&self, paths: &PathCounts<u64>) -> u128 {
        let capacity = self.bundles.capacities[paths.bottleneck as usize];
        paths.count.saturating_mul(u128::from(capacity))
    }
}

/// The weight of every set of first edges: there are far more components than sets, and most sets are a single edge.
struct EdgeSetWeights {
    /// By edge: the weight of the set of that edge alone; 0 if there is none.
    alone: Vec<u128>,
    several: BTreeMap<Vec<u32>, u128>,
}

impl EdgeSetWeights {
    /// Room for sets of edges up to this one.
    fn up_to(highest: Option<u32>) -> EdgeSetWeights {
        EdgeSetWeights {
            alone: vec![0; highest.map_or(0, |edge| edge as usize + 1)],
            several: BTreeMap::new(),
        }
    }

    /// Adds to the weight of a set, which is ascending; the weight is not 0.
    fn add(&mut self, edges: &[u32], weight: u128) {
        let sum = match edges {
            [edge] => &mut self.alone[*edge as usize],
            _ if self.several.contains_key(edges) => self.several.get_mut(edges).expect("it was just found"),
            _ => self.several.entry(edges.to_vec()).or_default(),
        };
        *sum = sum.saturating_add(weight);
    }

    /// Ascending by sets.
    fn groups(self) -> Vec<EdgeGroup> {
        let alone = self.alone.into_iter().enumerate().filter(|(_, weight)| *weight > 0);
        let mut groups: Vec<EdgeGroup> = alone.map(|(edge, weight)| (weight, vec![edge as u32])).collect();
        groups.extend(self.several.into_iter().map(|(edges, weight)| (weight, edges)));
        groups.sort_unstable_by(|(_, one), (_, other)| one.cmp(other));
        groups
    }
}

/// Weights without a common divisor.
fn reduced(mut groups: Vec<EdgeGroup>) -> Vec<EdgeGroup> {
    let divisor = groups.iter().fold(0, |divisor, (weight, _)| gcd(divisor, *weight)).max(1);
    groups.iter_mut().for_each(|(weight, _)| *weight /= divisor);
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quiver::Quiver;
    use crate::{LinkSettings, LinkState, Wiring};
    use weft_core::{Purpose, Random, Rate};

    /// `stages` times two unequal ways one after the other, with a leaf at either end: 2^stages lists of scores.
    fn chain(stages: usize) -> Wiring {
        let mut wiring = Wiring::default();
        let nodes = wiring.switches("s", 3 * stages as u32 + 1);
        for stage in 0..stages {
            let [from, to] = [nodes[3 * stage], nodes[3 * stage + 3]];
            for (way, gbps) in [(1, 10 + stage as u64), (2, 100)] {
                let link = LinkSettings::of(Rate::from_gbps(gbps));
                wiring.cable(from, nodes[3 * stage + way], &link);
                wiring.cable(nodes[3 * stage + way], to, &link);
            }
        }
        for end in [nodes[0], nodes[3 * stages]] {
            wiring.hosts_on(end, 1, &LinkSettings::of(Rate::from_gbps(10)));
        }
        wiring
    }

    fn splits(quiver: &Quiver<'_>, most_lists: usize) -> Vec<Vec<EdgeGroup>> {
        let mut all = Vec::new();
        let mut splitter = Splitter::new(&quiver.bundles, most_lists);
        for leaf in 0..quiver.cells.leaves.len() {
            let descent = quiver.descent(&quiver.cells, leaf);
            splitter.leaf((&quiver.cells, &descent, &quiver.scores), |_, _, split| all.push(split().groups));
        }
        all
    }

    #[test]
    fn lists_followed_from_either_end_give_the_same_groups() {
        let mut groups = 0;
        for seed in 0..40 {
            let mut dice = Random::new(seed, Purpose::Test, 0);
            let mut wiring = Wiring::default();
            let tiers = [3, 3, 4, 3].map(|count| wiring.switches("s", count));
            for (lower, upper) in tiers.iter().zip(&tiers[1..]) {
                for a in lower {
                    for b in upper {
                        let gbps = if dice.below(4) == 0 { 40 } else { 10 };
                        wiring.cable(*a, *b, &LinkSettings::of(Rate::from_gbps(gbps)));
                    }
                }
            }
            tiers[0]
                .iter()
                .for_each(|leaf| wiring.hosts_on(*leaf, 1, &LinkSettings::of(Rate::from_gbps(10))));
            let graph = wiring.finish().unwrap();
            let quiver = Quiver::new(&graph, &LinkState::all_up(&graph), &Default::default());
            assert_eq!(splits(&quiver, 0), splits(&quiver, MOST_LISTS), "{seed}");
            groups += splits(&quiver, 0).iter().map(Vec::len).sum::<usize>();
        }
        assert!(groups > 2_000, "{groups}");
    }

    /// 2^40 paths, each its own component; the capacity of a path is that of its slowest link.
    #[test]
    fn paths_beyond_counting_are_not_listed() {
        let graph = chain(40).finish().unwrap();
        let quiver = Quiver::new(&graph, &LinkState::all_up(&graph), &Default::default());
        assert_eq!(quiver.census().by_components, [(None, 2)].into());
        assert!(quiver.pair(graph.leaves()[0], 1, 1).components.is_none());
        let group = &quiver.groups(graph.leaves()[0])[1];
        // By the first way every path is as slow as that; by the second the others decide: half of the paths pass the
        // slowest of the next stages, a quarter the second slowest, and so on; one path is never slowed down.
        let ways = |n: u32| 1u128 << n;
        let second = (1..40).map(|stage| u128::from(10 + stage) * ways(39 - stage)).sum::<u128>() + 100;
        let expected = [10 * ways(39), second];
        let found: Vec<u128> = group.components.iter().map(|part| u128::from(part.weight)).collect();
        assert_eq!(found[0] * expected[1], found[1] * expected[0]);
    }
}
