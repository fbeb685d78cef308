//! The components as seen from the first hop, for cells with too many score lists to distinguish.
//!
//! Lists are followed from the near end. Two prefixes that lead to the same cells by the same first edges have the
//! same continuations, visible in the same first edges; from there they are followed together and their path counts
//! add. The work grows with the number of different *reaches*, not with the number of lists. A prefix with a single
//! first edge is not followed at all: however its paths diverge, only that edge is visible.

use super::labels::Scores;
use crate::folded::{Bundles, Descent, FoldedCells, PathCounts};
use std::collections::BTreeMap;

/// The first edges of a group of components, by index, and its weight.
pub(crate) type EdgeGroup = (u128, Vec<u32>);

/// Numbers of paths by (first edge, cell reached, bottleneck).
type Begun = BTreeMap<(u32, u32, u32), u128>;

/// Prefixes by their reach: (first edge, cell), sorted.
type Front = BTreeMap<Vec<(u32, u32)>, Begun>;

/// For each set of first edges, the capacity of the components that start with exactly these; `rest`: the onward
/// paths of each cell.
pub(crate) fn by_reach(
    (bundles, cells, scores): (&Bundles, &FoldedCells, &Scores),
    (descent, rest): (&Descent, &PathCounts),
    from: u32,
) -> Vec<EdgeGroup> {
    let mut visible: BTreeMap<Vec<u32>, u128> = BTreeMap::new();
    let mut front = begun((cells, scores), descent, from);
    for left in (0..descent.hops(from).unwrap_or(0)).rev() {
        let mut next = Front::new();
        for begun in front.into_values() {
            let edges = first_edges(&begun);
            if left == 0 || edges.len() == 1 {
                let total = visible.entry(edges).or_default();
                *total = total.saturating_add(capacity(bundles, &begun, rest));
                continue;
            }
            for longer in continued((cells, scores), descent, &begun).into_values() {
                join(&mut next, longer);
            }
        }
        front = next;
    }
    visible.into_iter().map(|(edges, capacity)| (capacity, edges)).collect()
}

/// The first hop, by its score.
fn begun((cells, scores): (&FoldedCells, &Scores), descent: &Descent, from: u32) -> Front {
    let mut by_score: BTreeMap<u32, Begun> = BTreeMap::new();
    for edge in descent.onward(cells, from) {
        let to = by_score.entry(scores[edge.number as usize]).or_default();
        to.insert((cells.place(from, edge), edge.to, edge.capacity), u128::from(edge.count));
    }
    let mut front = Front::new();
    by_score.into_values().for_each(|begun| join(&mut front, begun));
    front
}

/// One hop on, by its score.
fn continued(
    (cells, scores): (&FoldedCells, &Scores),
    descent: &Descent,
    begun: &Begun,
) -> BTreeMap<u32, Begun> {
    let mut continued: BTreeMap<u32, Begun> = BTreeMap::new();
    for (&(first, cell, bottleneck), &count) in begun {
        for edge in descent.onward(cells, cell) {
            let to = continued.entry(scores[edge.number as usize]).or_default();
            let total = to.entry((first, edge.to, bottleneck.min(edge.capacity))).or_default();
            *total = total.saturating_add(count.saturating_mul(u128::from(edge.count)));
        }
    }
    continued
}

/// Adds a prefix to those with the same reach.
fn join(front: &mut Front, begun: Begun) {
    let mut reach: Vec<_> = begun.keys().map(|(first, cell, _)| (*first, *cell)).collect();
    reach.dedup();
    let known = front.entry(reach).or_default();
    for (at, count) in begun {
        let total = known.entry(at).or_default();
        *total = total.saturating_add(count);
    }
}

fn first_edges(begun: &Begun) -> Vec<u32> {
    let mut edges: Vec<u32> = begun.keys().map(|(first, ..)| *first).collect();
    edges.dedup();
    edges
}

/// The capacity of all paths with these prefixes.
fn capacity(bundles: &Bundles, begun: &Begun, rest: &PathCounts) -> u128 {
    let path = |narrowest: u32, count: u128| {
        count.saturating_mul(u128::from(bundles.capacities[narrowest as usize]))
    };
    let paths = begun.iter().flat_map(|(&(_, cell, bottleneck), &count)| {
        let rest = rest[cell as usize].iter();
        rest.map(move |(&narrowest, &more)| path(bottleneck.min(narrowest), count.saturating_mul(more)))
    });
    paths.fold(0u128, u128::saturating_add)
}
