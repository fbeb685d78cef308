//! The onward paths of every cell by their first edges alone, whatever follows, for ECMP and WCMP.

use super::cells::{Edge, FoldedCells};
use super::tables::{Ways, fingerprint};
use super::twins::{Fold, Towards};

/// An edge by its index, and its weight.
pub(crate) type Begun = (u32, u128);

/// For each cell, its onward edges; `weigh` gives the weight of an edge towards a leaf.
pub(crate) fn by_first_edge<W: Fn(&Edge) -> u128>(
    cells: &FoldedCells,
    weigh: impl Fn(&Towards<'_>) -> W,
) -> Vec<Ways<Vec<Begun>>> {
    let mut ways = vec![Ways::new(cells.leaves.len()); cells.len()];
    let fold = Fold::new(cells);
    for leaf in 0..cells.leaves.len() {
        let towards = fold.towards(leaf, false);
        let weight = weigh(&towards);
        for &cell in &towards.descent.order()[1..] {
            let onward = towards.descent.onward(&towards.cells, cell);
            let mut begun: Vec<Begun> = onward.map(|edge| (cells.place(cell, edge), weight(edge))).collect();
            begun.sort_unstable();
            let numbers =
                begun.iter().flat_map(|(edge, sum)| [u64::from(*edge), *sum as u64, (*sum >> 64) as u64]);
            let print = fingerprint(numbers);
            for alike in towards.alike(cell) {
                ways[alike as usize].set(leaf, print, || begun.clone());
            }
        }
    }
    ways
}
