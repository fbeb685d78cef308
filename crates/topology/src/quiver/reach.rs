//! What is visible of the components in the first hop, for cells with too many lists of scores to tell them apart.
//!
//! Lists are followed from the near end. Two beginnings that lead to the same cells by the same first edges have the
//! same continuations, visible in the same first edges; from there on they are followed together and their numbers of
//! paths add. The work grows with the number of different *reaches*, not with the number of lists.

use super::bundles::Bundles;
use super::cells::Cells;
use super::descent::Descent;
use super::labels::Scores;
use super::split::EdgeGroup;
use std::collections::BTreeMap;

/// Numbers of paths by (first edge, cell reached, bottleneck).
type Paths = BTreeMap<(u32, u32, u32), u128>;

/// Beginnings by what they reach: (first edge, cell), sorted.
type Front = BTreeMap<Vec<(u32, u32)>, Paths>;

/// For each set of first edges the capacity of the components that begin with just these.
pub(crate) fn by_reach(
    (bundles, cells, scores): (&Bundles, &Cells, &Scores),
    descent: &Descent,
    from: u32,
) -> Vec<EdgeGroup> {
    let mut begun: BTreeMap<u32, Paths> = BTreeMap::new();
    for (place, edge) in descent.onward(cells, from) {
        let to = begun.entry(scores[cells.number(from, place)]).or_default();
        to.insert((place as u32, edge.to, edge.capacity), u128::from(edge.count));
    }
    let mut front = Front::new();
    begun.into_values().for_each(|paths| join(&mut front, paths));
    for _ in 1..descent.hops(from).unwrap_or(0) {
        let mut next = Front::new();
        for paths in front.values() {
            for paths in continued((cells, scores), descent, paths).into_values() {
                join(&mut next, paths);
            }
        }
        front = next;
    }
    front.into_iter().map(|(reach, paths)| (capacity(bundles, &paths), edges(&reach))).collect()
}

/// One hop on, by its score.
fn continued((cells, scores): (&Cells, &Scores), descent: &Descent, paths: &Paths) -> BTreeMap<u32, Paths> {
    let mut continued: BTreeMap<u32, Paths> = BTreeMap::new();
    for (&(first, cell, bottleneck), &count) in paths {
        for (place, edge) in descent.onward(cells, cell) {
            let to = continued.entry(scores[cells.number(cell, place)]).or_default();
            let total = to.entry((first, edge.to, bottleneck.min(edge.capacity))).or_default();
            *total = total.saturating_add(count.saturating_mul(u128::from(edge.count)));
        }
    }
    continued
}

/// Adds beginnings to those with the same reach.
fn join(front: &mut Front, paths: Paths) {
    let mut reach: Vec<_> = paths.keys().map(|(first, cell, _)| (*first, *cell)).collect();
    reach.dedup();
    let known = front.entry(reach).or_default();
    for (at, count) in paths {
        let total = known.entry(at).or_default();
        *total = total.saturating_add(count);
    }
}

/// At the end all cells are the leaf's: a reach is a set of first edges.
fn edges(reach: &[(u32, u32)]) -> Vec<u32> {
    reach.iter().map(|(first, _)| *first).collect()
}

fn capacity(bundles: &Bundles, paths: &Paths) -> u128 {
    let one = |(&(_, _, bottleneck), &count): (&(u32, u32, u32), &u128)| {
        count.saturating_mul(u128::from(bundles.capacities[bottleneck as usize]))
    };
    paths.iter().map(one).fold(0u128, u128::saturating_add)
}
