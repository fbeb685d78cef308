//! Leaves that differ only in name, merged for the paths towards one leaf. Must not depend on labels.
//!
//! *Twins* are leaves with equal edges (and equal ones back, because links lead both ways): exchanging two of them
//! changes only their names. The paths from them to any other leaf are equivalent, so one represents all, unless a
//! path leads through one of them: then links to different twins carry labels of different names, and the network is
//! used as it is. A leaf-spine network of 1900 leaves with 100 failed cables becomes one of a hundred leaves.

use super::cells::{Edge, FoldedCells};
use super::descent::Descent;
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::Hash;

/// A network, and its leaves that are twins.
pub(crate) struct Fold<'a> {
    cells: &'a FoldedCells,
    /// Every leaf is in one set, ascending.
    sets: Vec<Vec<u32>>,
    /// For each leaf its set.
    set_of: Vec<u32>,
    /// For each cell, the leaf it is.
    leaf_of: Vec<Option<u32>>,
    /// The edges among the first leaves of the sets and the other cells.
    edges: Vec<Vec<Edge>>,
}

/// The network as seen by the paths towards one leaf.
pub(crate) struct Towards<'a> {
    pub(crate) cells: Cow<'a, FoldedCells>,
    pub(crate) descent: Descent,
    /// The leaf the paths lead to.
    pub(crate) leaf: u32,
    fold: &'a Fold<'a>,
}

impl<'a> Fold<'a> {
    pub(crate) fn new(cells: &'a FoldedCells) -> Fold<'a> {
        let edge = |edge: &Edge| (edge.to, edge.capacity, edge.count);
        Fold::by(cells, |_, cell| cells.edges(cell).iter().map(edge).collect::<Vec<_>>())
    }

    /// A fold without twins.
    #[cfg(test)]
    pub(crate) fn apart(cells: &'a FoldedCells) -> Fold<'a> {
        Fold::by(cells, |leaf, _| leaf)
    }

    /// Leaves with equal keys are twins.
    fn by<K: Hash + Eq>(cells: &'a FoldedCells, key: impl Fn(u32, u32) -> K) -> Fold<'a> {
        let mut leaf_of = vec![None; cells.len()];
        (0..).zip(&cells.leaves).for_each(|(leaf, cell)| leaf_of[*cell as usize] = Some(leaf));
        let (mut sets, mut known): (Vec<Vec<u32>>, HashMap<_, u32>) = Default::default();
        let mut set_of = Vec::with_capacity(cells.leaves.len());
        for (leaf, cell) in (0..).zip(&cells.leaves) {
            let set = *known.entry(key(leaf, *cell)).or_insert(sets.len() as u32);
            if set as usize == sets.len() {
                sets.push(Vec::new());
            }
            sets[set as usize].push(leaf);
            set_of.push(set);
        }
        let mut fold = Fold { cells, sets, set_of, leaf_of, edges: Vec::new() };
        let edges = |cell| match fold.is_first(cell) {
            true => cells.edges(cell).iter().filter(|edge| fold.is_first(edge.to)).copied().collect(),
            false => Vec::new(),
        };
        fold.edges = (0..cells.len() as u32).map(edges).collect();
        fold
    }

    /// The sets of two or more twins.
    pub(crate) fn twins(&self) -> impl Iterator<Item = &Vec<u32>> {
        self.sets.iter().filter(|set| set.len() > 1)
    }

    /// Whether a cell is the first of its set, or not a leaf.
    fn is_first(&self, cell: u32) -> bool {
        self.leaf_of[cell as usize].is_none_or(|leaf| self.set(leaf)[0] == leaf)
    }

    fn set(&self, leaf: u32) -> &[u32] {
        &self.sets[self.set_of[leaf as usize] as usize]
    }

    /// The paths towards a leaf, by its index.
    pub(crate) fn towards(&'a self, leaf: usize, valley_free: bool) -> Towards<'a> {
        let view = |cells: Cow<'a, FoldedCells>| {
            let descent = Descent::new(&cells, cells.leaves[leaf], valley_free);
            Towards { cells, descent, leaf: leaf as u32, fold: self }
        };
        if self.sets.len() + 1 < self.cells.leaves.len() {
            let folded = view(Cow::Owned(self.folded(leaf as u32)));
            if !folded.passes_twins() {
                return folded;
            }
        }
        view(Cow::Borrowed(self.cells))
    }

    /// One leaf per set, and the destination leaf.
    fn folded(&self, leaf: u32) -> FoldedCells {
        let mut edges = self.edges.clone();
        let added = match self.set(leaf) {
            [first, second, ..] if leaf == *first => Some(*second),
            [_, _, ..] => Some(leaf),
            _ => None,
        };
        if let Some(cell) = added.map(|leaf| self.cells.leaves[leaf as usize]) {
            let kept = self.cells.edges(cell).iter().filter(|edge| self.is_first(edge.to));
            edges[cell as usize] = kept.copied().collect();
            for (to, back) in back(self.cells, cell).filter(|(to, _)| self.is_first(*to)) {
                edges[to as usize].push(back);
            }
        }
        self.cells.with_edges(edges)
    }
}

impl Towards<'_> {
    /// The two or more twins that a cell represents, possibly including the destination leaf.
    pub(crate) fn twins(&self, cell: u32) -> Option<&[u32]> {
        let folded = matches!(self.cells, Cow::Owned(_)) && cell != self.cells.leaves[self.leaf as usize];
        let set = self.fold.leaf_of[cell as usize].filter(|_| folded).map(|leaf| self.fold.set(leaf))?;
        let others = set.len() - usize::from(self.leads_to_one_of(set));
        Some(set).filter(|_| others > 1)
    }

    /// Whether the destination leaf is one of these.
    pub(crate) fn leads_to_one_of(&self, twins: &[u32]) -> bool {
        twins.binary_search(&self.leaf).is_ok()
    }

    /// The leaves that a cell represents; empty if it is not a leaf, or is the destination leaf.
    pub(crate) fn sources(&self, cell: u32) -> impl Iterator<Item = u32> {
        let alone = self.fold.leaf_of[cell as usize].filter(|_| self.twins(cell).is_none());
        let twins = self.twins(cell).unwrap_or_default().iter().copied();
        twins.chain(alone).filter(|leaf| *leaf != self.leaf)
    }

    /// The cells that a cell represents.
    pub(crate) fn alike(&self, cell: u32) -> impl Iterator<Item = u32> {
        let alone = Some(cell).filter(|_| self.twins(cell).is_none());
        let twins = self.sources(cell).filter(move |_| alone.is_none());
        twins.map(|leaf| self.cells.leaves[leaf as usize]).chain(alone)
    }

    /// Whether a path leads through a leaf that represents others.
    fn passes_twins(&self) -> bool {
        let is_passed = |cell: &u32| self.descent.upstream(&self.cells, *cell).next().is_some();
        self.descent.order().iter().filter(|cell| self.twins(**cell).is_some()).any(is_passed)
    }
}

/// The edges to a cell, with the cells they come from: links lead both ways.
fn back(cells: &FoldedCells, cell: u32) -> impl Iterator<Item = (u32, Edge)> {
    let neighbours = cells.edges(cell).chunk_by(|a, b| a.to == b.to).map(|edges| edges[0].to);
    neighbours.flat_map(move |to| cells.between(to, cell).iter().map(move |edge| (to, *edge)))
}
