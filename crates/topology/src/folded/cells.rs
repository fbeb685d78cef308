//! Equivalent switches merged: the network folded to one switch per *cell*. Must not depend on labels.
//!
//! The partition is the coarsest one in which every leaf is alone and any two switches of a cell have equally many
//! bundles of each capacity to each cell (an equitable partition, found by refinement). The number of walks from a
//! leaf to a switch, with their bottlenecks, then depends only on the switch's cell. So do distances and labels, and
//! everything is computed once per cell: a fat tree of 2000 switches has 841 cells, a leaf-spine network one more
//! than leaves.

use super::bundles::Bundles;
use std::collections::HashMap;

/// Equal bundles from a switch of one cell to the switches of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    /// The other cell.
    pub(crate) to: u32,
    /// Index in [`Bundles::capacities`].
    pub(crate) capacity: u32,
    /// The number of them at each switch.
    pub(crate) count: u32,
    /// Its index among the edges of all cells.
    pub(crate) number: u32,
}

/// The folded network.
#[derive(Clone)]
pub(crate) struct FoldedCells {
    /// For each switch its cell.
    pub(crate) of: Vec<u32>,
    /// For each cell its edges, ascending by (cell, capacity).
    edges: Vec<Vec<Edge>>,
    /// For each cell, the number of edges of the cells before it; at the end, of all.
    offset: Vec<u32>,
    /// For each leaf its cell.
    pub(crate) leaves: Vec<u32>,
    /// For each cell the tier of its switches.
    pub(crate) tier: Vec<u8>,
}

impl FoldedCells {
    /// Folds the network; the switch `alone` gets its own cell, like leaves.
    pub(crate) fn new(bundles: &Bundles, alone: Option<u32>) -> FoldedCells {
        let of = refined(bundles, initial(bundles, alone));
        let cells = of.iter().max().map_or(0, |last| *last as usize + 1);
        let mut first = vec![u32::MAX; cells];
        (0..of.len()).rev().for_each(|switch| first[of[switch] as usize] = switch as u32);
        let mut offset = vec![0];
        let numbered = |switch: &u32| {
            let own = edges(bundles, &of, *switch, offset[offset.len() - 1]);
            offset.push(offset[offset.len() - 1] + own.len() as u32);
            own
        };
        let edges: Vec<Vec<Edge>> = first.iter().map(numbered).collect();
        FoldedCells {
            edges,
            offset,
            leaves: bundles.leaves.iter().map(|leaf| of[*leaf as usize]).collect(),
            tier: first.iter().map(|switch| bundles.tier[*switch as usize]).collect(),
            of,
        }
    }

    /// Number of cells.
    pub(crate) fn len(&self) -> usize {
        self.edges.len()
    }

    /// Number of edges of all cells.
    pub(crate) fn edge_count(&self) -> usize {
        self.offset[self.edges.len()] as usize
    }

    /// The number of an edge: its index among the edges of all cells.
    pub(crate) fn number(&self, cell: u32, place: u32) -> usize {
        (self.offset[cell as usize] + place) as usize
    }

    /// The index of an edge among those of its cell.
    #[inline]
    pub(crate) fn place(&self, cell: u32, edge: &Edge) -> u32 {
        edge.number - self.offset[cell as usize]
    }

    /// The edge from one cell to another with this capacity, which exists.
    pub(crate) fn edge(&self, from: u32, to: u32, capacity: u32) -> &Edge {
        let edges = self.edges(from);
        &edges[edges.partition_point(|edge| (edge.to, edge.capacity) < (to, capacity))]
    }

    /// The numbers of the edges of a cell.
    pub(crate) fn numbers(&self, cell: u32) -> std::ops::Range<usize> {
        self.offset[cell as usize] as usize..self.offset[cell as usize + 1] as usize
    }

    /// The edges that leave a cell.
    pub(crate) fn edges(&self, cell: u32) -> &[Edge] {
        &self.edges[cell as usize]
    }

    /// The edges from one cell to another.
    pub(crate) fn between(&self, from: u32, to: u32) -> &[Edge] {
        let edges = self.edges(from);
        let first = edges.partition_point(|edge| edge.to < to);
        let count = edges[first..].partition_point(|edge| edge.to == to);
        &edges[first..first + count]
    }

    /// These cells with only some of the edges.
    pub(crate) fn with_edges(&self, edges: Vec<Vec<Edge>>) -> FoldedCells {
        let FoldedCells { of, offset, leaves, tier, .. } = self;
        let (of, offset, leaves, tier) = (of.clone(), offset.clone(), leaves.clone(), tier.clone());
        FoldedCells { of, edges, offset, leaves, tier }
    }
}

/// Leaves separately, other switches by tier.
fn initial(bundles: &Bundles, alone: Option<u32>) -> Vec<u32> {
    let mut colours: Vec<u32> = bundles.tier.iter().map(|tier| u32::from(*tier)).collect();
    for (n, switch) in bundles.leaves.iter().chain(&alone).enumerate() {
        colours[*switch as usize] = 256 + n as u32;
    }
    renumbered(colours.iter())
}

/// Splits cells until all switches of a cell have the same neighbours.
fn refined(bundles: &Bundles, mut colours: Vec<u32>) -> Vec<u32> {
    loop {
        let mut sizes = vec![0u32; colours.len()];
        colours.iter().for_each(|colour| sizes[*colour as usize] += 1);
        let seen = |switch: usize| match sizes[colours[switch] as usize] {
            1 => Vec::new(),
            _ => neighbours(bundles, &colours, switch as u32),
        };
        let views: Vec<_> = (0..colours.len()).map(|switch| (colours[switch], seen(switch))).collect();
        let finer = renumbered(views.iter());
        if finer.iter().max() == colours.iter().max() {
            return colours;
        }
        colours = finer;
    }
}

/// The same partition, numbered in the order of first appearance.
fn renumbered<T: std::hash::Hash + Eq>(colours: impl Iterator<Item = T>) -> Vec<u32> {
    let mut known = HashMap::new();
    let number = |colour| {
        let next = known.len() as u32;
        *known.entry(colour).or_insert(next)
    };
    colours.map(number).collect()
}

/// (cell, capacity) of each bundle, sorted.
fn neighbours(bundles: &Bundles, colours: &[u32], switch: u32) -> Vec<(u32, u32)> {
    let of = |bundle: &super::bundles::Bundle| (colours[bundle.to as usize], bundle.capacity);
    let mut seen: Vec<_> = bundles.of(switch).iter().map(of).collect();
    seen.sort_unstable();
    seen
}

fn edges(bundles: &Bundles, of: &[u32], switch: u32, first: u32) -> Vec<Edge> {
    let seen = neighbours(bundles, of, switch);
    let equal = seen.chunk_by(|a, b| a == b).zip(first..);
    let edge = |(run, number): (&[(u32, u32)], u32)| {
        let (to, capacity) = run[0];
        Edge { to, capacity, count: run.len() as u32, number }
    };
    equal.map(edge).collect()
}
