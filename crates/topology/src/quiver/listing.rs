//! Labels in full: which pairs of leaves a link carries, and in which hop two paths differ. Slow, for explanations.

use super::Quiver;
use super::labels::{Fraction, NarrowestBundle, factor, narrowed};
use super::pair::{SwitchPath, View};
use crate::folded::{Descent, FoldedCells};
use std::collections::BTreeMap;
use weft_core::SwitchId;
use weft_core::quiver::{Labels, Score};

/// A pair of leaves on a link, and the rate at which its packets can arrive there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Label {
    /// The leaf its packets come from.
    pub source: SwitchId,
    /// The leaf they go to.
    pub destination: SwitchId,
    /// Arrival capacity over the capacity of the link.
    pub factor: Fraction,
}

/// All labels of a link with their multiplicities (1 with set labels).
pub type LabelList = BTreeMap<Label, u128>;

/// The first hop in which two paths differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Counted from 0.
    pub hop: usize,
    /// The links of the two paths.
    pub links: [(SwitchId, SwitchId); 2],
    /// Labels whose multiplicities differ between the two links.
    pub labels: BTreeMap<Label, [u128; 2]>,
}

impl Quiver<'_> {
    /// The labels of the links from one switch to another, a neighbour: those of all pairs, or with `score = own-pair`
    /// those of this pair (a switch, the index of a leaf).
    #[must_use]
    pub fn labels(&self, (a, b): (SwitchId, SwitchId), pair: (SwitchId, usize)) -> LabelList {
        let mut list = LabelList::new();
        if self.settings.score == Score::OwnPair {
            self.add_labels((a, b), &self.view(pair.0, pair.1), (&[pair.0], pair.1), &mut list);
            return list;
        }
        for leaf in 0..self.graph.leaves().len() {
            self.add_labels((a, b), &self.view(pair.0, leaf), (self.graph.leaves(), leaf), &mut list);
        }
        list
    }

    /// In which hop two paths of a pair (a switch, the index of a leaf) differ; `None`: they are symmetric.
    #[must_use]
    pub fn difference(&self, paths: [&SwitchPath; 2], pair: (SwitchId, usize)) -> Option<Difference> {
        let links = |path: &SwitchPath| path.windows(2).map(|link| (link[0], link[1])).collect::<Vec<_>>();
        let [first, second] = paths.map(links);
        for (hop, links) in first.into_iter().zip(second).enumerate() {
            let [one, other] = [links.0, links.1].map(|link| self.labels(link, pair));
            if one != other {
                let count = |list: &LabelList, label: &Label| list.get(label).copied().unwrap_or(0);
                let both = |label: &Label| (*label, [count(&one, label), count(&other, label)]);
                let labels = one.keys().chain(other.keys()).map(both);
                let labels = labels.filter(|(_, [one, other])| one != other).collect();
                return Some(Difference { hop, links: [links.0, links.1], labels });
            }
        }
        None
    }

    /// Adds the labels of the paths from the sources to one leaf.
    fn add_labels(
        &self,
        (a, b): (SwitchId, SwitchId),
        view: &View<'_>,
        (sources, leaf): (&[SwitchId], usize),
        list: &mut LabelList,
    ) {
        let View { cells, descent, .. } = view;
        let [from, to] = [a, b].map(|switch| cells.of[switch.index()]);
        let Some(bundle) = self.bundles.between(a.0, b.0).filter(|_| descent.leads(cells, from, to)) else {
            return;
        };
        let onward = ways_to_leaf(cells, descent)[to as usize];
        let arriving = ways_from_sources(cells, descent, from);
        let destination = self.graph.leaves()[leaf];
        for &source in sources.iter().filter(|source| **source != destination) {
            for (&bottleneck, ways) in &arriving[cells.of[source.index()] as usize] {
                let factor = factor(&self.bundles, &self.settings, bottleneck, bundle.capacity);
                let label = Label { source, destination, factor };
                match self.settings.labels {
                    Labels::Set => *list.entry(label).or_default() = 1,
                    Labels::Multiset => *list.entry(label).or_default() += ways.saturating_mul(onward),
                }
            }
        }
    }
}

/// For each cell, the number of onward paths.
fn ways_to_leaf(cells: &FoldedCells, descent: &Descent) -> Vec<u128> {
    let mut ways = vec![0u128; cells.len()];
    for (n, &cell) in descent.order().iter().enumerate() {
        let next = descent.onward(cells, cell).map(|edge| (edge.count, ways[edge.to as usize]));
        let sum =
            next.fold(0u128, |sum, (count, ways)| sum.saturating_add(ways.saturating_mul(count.into())));
        ways[cell as usize] = if n == 0 { 1 } else { sum };
    }
    ways
}

/// For each cell the number of paths from one of its switches to a switch of cell `to`, by bottleneck, walked backwards.
fn ways_from_sources(
    cells: &FoldedCells,
    descent: &Descent,
    to: u32,
) -> Vec<BTreeMap<NarrowestBundle, u128>> {
    let mut ways = vec![BTreeMap::new(); cells.len()];
    ways[to as usize].insert(0, 1u128);
    for &cell in descent.order() {
        for (bottleneck, count) in ways[cell as usize].clone() {
            for edge in descent.upstream(cells, cell) {
                let before = ways[edge.to as usize].entry(narrowed(bottleneck, edge.capacity)).or_default();
                *before += count.saturating_mul(edge.count.into());
            }
        }
    }
    ways
}
