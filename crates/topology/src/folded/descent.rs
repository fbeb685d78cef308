//! The paths towards one leaf: for every cell its distance, and the edges that lead onwards. Must not depend on
//! labels.
//!
//! Ordinary paths are shortest paths. Valley-free ones go up, then at most once sideways, then down; a switch with a
//! path down takes the shortest of these, any other the shortest path up to such a switch.

use super::cells::{Edge, FoldedCells};
use std::collections::BTreeMap;

/// For each cell, numbers of paths by bottleneck.
pub(crate) type PathCounts = Vec<BTreeMap<u32, u128>>;

const NEVER: u32 = u32::MAX;

/// The paths towards one leaf.
pub(crate) struct Descent {
    /// For each cell the hops to the leaf.
    distance: Vec<u32>,
    /// Valley-free paths only: whether a path leads down.
    falls: Option<Vec<bool>>,
    /// The cells that reach the leaf, the nearest first.
    order: Vec<u32>,
}

impl Descent {
    pub(crate) fn new(cells: &FoldedCells, leaf: u32, valley_free: bool) -> Descent {
        let mut descent = Descent {
            distance: vec![NEVER; cells.len()],
            falls: None,
            order: Vec::with_capacity(cells.len()),
        };
        let rises = |from: u32, to: u32| cells.tier[to as usize] > cells.tier[from as usize];
        descent.spread(cells, leaf, |from, to| !valley_free || rises(from, to));
        if valley_free {
            descent.climb(cells);
        }
        descent
    }

    /// The paths from one cell only, without cells that lie on none of them.
    pub(crate) fn from(mut self, cells: &FoldedCells, start: u32) -> Descent {
        let mut passed = vec![false; cells.len()];
        passed[start as usize] = true;
        for &cell in self.order.iter().rev().filter(|_| self.hops(start).is_some()) {
            if passed[cell as usize] {
                self.onward(cells, cell).for_each(|edge| passed[edge.to as usize] = true);
            }
        }
        self.order.retain(|cell| passed[*cell as usize]);
        let outside = |(distance, passed): (&mut u32, bool)| {
            if !passed {
                *distance = NEVER;
            }
        };
        self.distance.iter_mut().zip(passed).for_each(outside);
        self
    }

    /// Breadth first from the leaf, against the direction of travel.
    fn spread(&mut self, cells: &FoldedCells, leaf: u32, may: impl Fn(u32, u32) -> bool) {
        self.distance[leaf as usize] = 0;
        self.order.push(leaf);
        let mut next = 0;
        while let Some(&cell) = self.order.get(next) {
            next += 1;
            for edge in cells.edges(cell) {
                if self.distance[edge.to as usize] == NEVER && may(cell, edge.to) {
                    self.distance[edge.to as usize] = self.distance[cell as usize] + 1;
                    self.order.push(edge.to);
                }
            }
        }
    }

    /// Cells without a path down, which go up (the highest first) or once sideways.
    fn climb(&mut self, cells: &FoldedCells) {
        let falls: Vec<bool> = self.distance.iter().map(|distance| *distance != NEVER).collect();
        let mut rest: Vec<u32> = (0..cells.len() as u32).filter(|cell| !falls[*cell as usize]).collect();
        rest.sort_by_key(|cell| std::cmp::Reverse(cells.tier[*cell as usize]));
        self.falls = Some(falls);
        for cell in rest {
            let open = |edge: &&Edge| self.is_open(cells, cell, edge.to);
            let least =
                cells.edges(cell).iter().filter(open).map(|edge| self.distance[edge.to as usize]).min();
            if let Some(least) = least.filter(|least| *least != NEVER) {
                self.distance[cell as usize] = least + 1;
                self.order.push(cell);
            }
        }
        self.order.sort_by_key(|cell| self.distance[*cell as usize]);
    }

    /// Whether a packet may take this edge.
    fn is_open(&self, cells: &FoldedCells, from: u32, to: u32) -> bool {
        let Some(falls) = &self.falls else { return true };
        let (here, there) = (cells.tier[from as usize], cells.tier[to as usize]);
        match falls[from as usize] {
            true => there < here && falls[to as usize],
            false => there > here || (there == here && falls[to as usize]),
        }
    }

    /// Whether the edge from one cell to another lies on a path.
    #[inline]
    pub(crate) fn leads(&self, cells: &FoldedCells, from: u32, to: u32) -> bool {
        let (here, there) = (self.distance[from as usize], self.distance[to as usize]);
        here != NEVER && there != NEVER && there + 1 == here && self.is_open(cells, from, to)
    }

    /// The edges of a cell that lead onwards.
    pub(crate) fn onward<'a>(&'a self, cells: &'a FoldedCells, cell: u32) -> impl Iterator<Item = &'a Edge> {
        cells.edges(cell).iter().filter(move |edge| self.leads(cells, cell, edge.to))
    }

    /// For each cell, the number of its paths by bottleneck, an index of capacities.
    pub(crate) fn paths(&self, cells: &FoldedCells) -> PathCounts {
        let mut paths: PathCounts = vec![BTreeMap::new(); cells.len()];
        paths[self.order[0] as usize].insert(u32::MAX, 1);
        for &cell in &self.order {
            let mut own = std::mem::take(&mut paths[cell as usize]);
            for edge in self.onward(cells, cell) {
                for (bottleneck, count) in &paths[edge.to as usize] {
                    let total = own.entry(edge.capacity.min(*bottleneck)).or_default();
                    *total = total.saturating_add(count.saturating_mul(edge.count.into()));
                }
            }
            paths[cell as usize] = own;
        }
        paths
    }

    /// The edges by which packets reach a cell, seen from the cell.
    pub(crate) fn upstream<'a>(
        &'a self,
        cells: &'a FoldedCells,
        cell: u32,
    ) -> impl Iterator<Item = &'a Edge> {
        cells.edges(cell).iter().filter(move |edge| self.leads(cells, edge.to, cell))
    }

    /// The cells that reach the leaf, the nearest first.
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    /// Hops to the leaf, if it can be reached.
    pub(crate) fn hops(&self, cell: u32) -> Option<u32> {
        Some(self.distance[cell as usize]).filter(|hops| *hops != NEVER)
    }
}
