//! The score of every edge: equal numbers for equal labels. Must not depend on paths.
//!
//! A link carries the label (s, t, cf) as often as there are paths from leaf s to leaf t through it with capacity
//! factor cf. Paths are never listed: for each destination, the sources that reach a cell, by bottleneck so far, are
//! propagated along the paths, either as a fingerprint of their numbers of paths (multiset labels) or as a bit per
//! source (set labels).

use super::residue::Residue;
use crate::folded::tables::gcd;
use crate::folded::{Bundles, Descent, Fold, FoldedCells, Towards};
use std::collections::HashMap;
use weft_core::quiver::{Labels, QuiverSettings, SourceFactor};

/// One gigabit per second, the unit of a source's capacity factor (quiver of the DRILL paper, section 3.4.3).
const GIGABIT: u64 = 1_000_000_000;

/// A capacity factor: arrival capacity over own capacity, in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fraction {
    /// Numerator.
    pub over: u64,
    /// Denominator, above zero.
    pub under: u64,
}

impl Fraction {
    /// `over` / `under` in lowest terms.
    #[must_use]
    pub fn new(over: u64, under: u64) -> Fraction {
        let divisor = gcd(u128::from(over), u128::from(under)).max(1) as u64;
        Fraction { over: over / divisor, under: under / divisor }
    }
}

impl std::fmt::Display for Fraction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.under {
            1 => write!(f, "{}", self.over),
            under => write!(f, "{}/{under}", self.over),
        }
    }
}

/// The narrowest bundle of a path so far: 0 for none, otherwise one more than the index of its capacity.
pub(crate) type NarrowestBundle = u32;

/// The bottleneck after one more bundle.
pub(crate) fn narrowed(so_far: NarrowestBundle, capacity: u32) -> NarrowestBundle {
    if so_far == 0 { capacity + 1 } else { so_far.min(capacity + 1) }
}

/// The capacity factor of a bundle for paths that arrive with this bottleneck.
pub(crate) fn factor(
    bundles: &Bundles,
    settings: &QuiverSettings,
    bottleneck: NarrowestBundle,
    capacity: u32,
) -> Fraction {
    let own = bundles.capacities[capacity as usize];
    match (bottleneck.checked_sub(1), settings.source_cf) {
        (Some(before), _) => Fraction::new(bundles.capacities[before as usize], own),
        (None, SourceFactor::Inverse) => Fraction::new(GIGABIT, own),
        (None, SourceFactor::Constant) => Fraction::new(1, 1),
    }
}

/// For every edge, by number, a score; equal labels give equal scores.
pub(crate) type Scores = Vec<u32>;

/// Sums labels edge by edge.
pub(crate) struct LabelSums<'a> {
    cells: &'a FoldedCells,
    labels: Labels,
    /// Coordinates of capacity factors, by bottleneck and capacity.
    factors: Vec<Vec<Residue>>,
    /// For each edge the fingerprint of its labels.
    sums: Vec<Residue>,
    /// For each edge of the first of a set of twins, the contribution of each of them, apart from its name.
    of_twins: Vec<Residue>,
    /// For each cell, the number of paths to the destination.
    onward: Vec<Residue>,
    sources: Sources,
}

impl<'a> LabelSums<'a> {
    pub(crate) fn new(bundles: &Bundles, cells: &'a FoldedCells, settings: &QuiverSettings) -> LabelSums<'a> {
        let capacities = bundles.capacities.len() as u32;
        let coordinate = |bottleneck, capacity| {
            let Fraction { over, under } = factor(bundles, settings, bottleneck, capacity);
            Residue::of(2, [over, under])
        };
        let row = |bottleneck| (0..capacities).map(|capacity| coordinate(bottleneck, capacity)).collect();
        LabelSums {
            cells,
            labels: settings.labels,
            factors: (0..=capacities).map(row).collect(),
            sums: vec![Residue::ZERO; cells.edge_count()],
            of_twins: Vec::new(),
            onward: vec![Residue::ZERO; cells.len()],
            sources: Sources::new(settings.labels, cells, capacities as usize + 1),
        }
    }

    /// The labels of all pairs of leaves, as scores.
    pub(crate) fn all_pairs(mut self, fold: &Fold<'_>, valley_free: bool) -> Scores {
        self.add_pairs(fold, valley_free);
        let mut numbers = Numbers::default();
        self.sums.iter().map(|sum| numbers.of(*sum)).collect()
    }

    fn add_pairs(&mut self, fold: &Fold<'_>, valley_free: bool) {
        self.of_twins = vec![Residue::ZERO; self.sums.len()];
        for leaf in 0..self.cells.leaves.len() {
            self.add_leaf(&fold.towards(leaf, valley_free));
        }
        self.name_twins(fold);
    }

    /// Adds the labels of all paths from other leaves to one.
    fn add_leaf(&mut self, towards: &Towards<'_>) {
        let Towards { cells, descent, leaf, .. } = towards;
        self.clear(descent);
        for &cell in descent.order() {
            towards.sources(cell).for_each(|source| self.sources.start(cell, source));
        }
        self.count_onward((cells, descent), Residue::of(1, [u64::from(*leaf), 1]));
        for &cell in descent.order().iter().rev() {
            self.arrive((cells, descent), cell);
            match towards.twins(cell) {
                Some(twins) => self.leave_twins(towards, cell, twins),
                None => self.leave((cells, descent), cell),
            }
        }
    }

    /// Paths start at twins but never pass through them: a label is the name of the twin times what it gets from its
    /// edge. A twin that is itself the destination sends nothing; that is subtracted beforehand.
    fn leave_twins(&mut self, towards: &Towards<'_>, cell: u32, twins: &[u32]) {
        let (cells, own) = (self.cells, self.cells.leaves[towards.leaf as usize]);
        let first = cells.leaves[twins[0] as usize];
        for edge in towards.descent.onward(&towards.cells, cell) {
            let place = cells.place(cell, edge);
            let factor = self.factors[0][edge.capacity as usize];
            let label = factor * self.onward[edge.to as usize];
            self.of_twins[cells.number(first, place)] += label;
            if towards.leads_to_one_of(twins) {
                self.sums[cells.number(own, place)] += -(label * self.sources.name(towards.leaf));
            }
        }
    }

    /// Adds the contribution that all twins have in common to the edges of each.
    fn name_twins(&mut self, fold: &Fold<'_>) {
        let cells = self.cells;
        for twins in fold.twins() {
            let of = |twin: u32| cells.leaves[twin as usize];
            for &twin in twins {
                let name = self.sources.name(twin);
                for (one, common) in cells.numbers(of(twin)).zip(cells.numbers(of(twins[0]))) {
                    self.sums[one] += name * self.of_twins[common];
                }
            }
        }
    }

    /// Scores by the labels of the paths from one cell; edges without such a path are unchanged.
    pub(crate) fn score_pair(&mut self, descent: &Descent, from: u32, scores: &mut Scores) {
        let cells = self.cells;
        let edges = || descent.order().iter().flat_map(|cell| cells.numbers(*cell));
        edges().for_each(|edge| self.sums[edge] = Residue::ZERO);
        self.clear(descent);
        self.sources.start(from, 0);
        self.count_onward((cells, descent), Residue::ONE);
        for &cell in descent.order().iter().rev() {
            self.arrive((cells, descent), cell);
            self.leave((cells, descent), cell);
        }
        let mut numbers = Numbers::default();
        edges().for_each(|edge| scores[edge] = numbers.of(self.sums[edge]));
    }

    fn clear(&mut self, descent: &Descent) {
        descent.order().iter().for_each(|cell| self.sources.clear(*cell));
    }

    /// The sources that reach a cell from the cells before it.
    fn arrive(&mut self, (cells, descent): (&FoldedCells, &Descent), cell: u32) {
        for edge in descent.upstream(cells, cell) {
            self.sources.carry(edge.to, cell, edge.capacity, edge.count);
        }
    }

    /// Turns the sources that leave a cell into labels on its edges.
    fn leave(&mut self, (cells, descent): (&FoldedCells, &Descent), cell: u32) {
        let known = self.sources.at(cell);
        for edge in descent.onward(cells, cell) {
            let arriving = known.iter().zip(&self.factors);
            let weighed = arriving.map(|(sources, factors)| *sources * factors[edge.capacity as usize]);
            let labels = weighed.fold(Residue::ZERO, |sum, label| sum + label);
            self.sums[edge.number as usize] += labels * self.onward[edge.to as usize];
        }
    }

    /// Paths onwards from every cell, times the coordinate of the destination.
    fn count_onward(&mut self, (cells, descent): (&FoldedCells, &Descent), destination: Residue) {
        for (n, &cell) in descent.order().iter().enumerate() {
            self.onward[cell as usize] = match (n, self.labels) {
                (0, _) | (_, Labels::Set) => destination,
                (_, Labels::Multiset) => {
                    let ways = descent.onward(cells, cell);
                    let ways = ways.map(|edge| {
                        Residue::from_count(u64::from(edge.count)) * self.onward[edge.to as usize]
                    });
                    ways.fold(Residue::ZERO, |sum, ways| sum + ways)
                }
            };
        }
    }
}

/// Equal fingerprints, equal numbers.
#[derive(Default)]
struct Numbers(HashMap<Residue, u32>);

impl Numbers {
    fn of(&mut self, sum: Residue) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(sum).or_insert(next)
    }
}

/// The sources that reach each cell on the way to one destination, by bottleneck.
enum Sources {
    /// Fingerprints of the numbers of paths.
    Counted { slots: usize, sums: Vec<Residue> },
    /// One bit per source.
    Seen { slots: usize, words: usize, bits: Vec<u64>, sums: Vec<Residue> },
}

impl Sources {
    fn new(labels: Labels, cells: &FoldedCells, slots: usize) -> Sources {
        let words = cells.leaves.len().max(1).div_ceil(64);
        let sums = vec![Residue::ZERO; cells.len() * slots];
        match labels {
            Labels::Multiset => Sources::Counted { slots, sums },
            Labels::Set => Sources::Seen { slots, words, bits: vec![0; cells.len() * slots * words], sums },
        }
    }

    fn clear(&mut self, cell: u32) {
        let cell = cell as usize;
        match self {
            Sources::Counted { slots, sums } => sums[cell * *slots..][..*slots].fill(Residue::ZERO),
            Sources::Seen { slots, words, bits, .. } => {
                bits[cell * *slots * *words..][..*slots * *words].fill(0);
            }
        }
    }

    /// A source at its own cell.
    fn start(&mut self, cell: u32, source: u32) {
        let name = self.name(source);
        match self {
            Sources::Counted { slots, sums } => sums[cell as usize * *slots] += name,
            Sources::Seen { slots, words, bits, .. } => {
                bits[cell as usize * *slots * *words + source as usize / 64] |= 1 << (source % 64);
            }
        }
    }

    /// The fingerprint of a source alone.
    fn name(&self, source: u32) -> Residue {
        match self {
            Sources::Counted { .. } => Residue::of(0, [u64::from(source), 1]),
            Sources::Seen { .. } => {
                let name = Residue::of(3, [u64::from(source / 64), u64::from(source % 64 / 32)]);
                Residue::from_count(1 << (source % 32)) * name
            }
        }
    }

    /// Propagates the sources that reach one cell to the next, over `count` bundles of a capacity.
    fn carry(&mut self, from: u32, to: u32, capacity: u32, count: u32) {
        match self {
            Sources::Counted { slots, sums } => {
                let count = Residue::from_count(u64::from(count));
                for bottleneck in 0..*slots {
                    let sources = sums[from as usize * *slots + bottleneck];
                    if sources != Residue::ZERO {
                        let next = narrowed(bottleneck as u32, capacity) as usize;
                        sums[to as usize * *slots + next] += count * sources;
                    }
                }
            }
            Sources::Seen { slots, words, bits, .. } => {
                for bottleneck in 0..*slots {
                    let next = narrowed(bottleneck as u32, capacity) as usize;
                    let source = (from as usize * *slots + bottleneck) * *words;
                    let target = (to as usize * *slots + next) * *words;
                    (0..*words).for_each(|word| bits[target + word] |= bits[source + word]);
                }
            }
        }
    }

    /// The fingerprints of a cell, by bottleneck.
    fn at(&mut self, cell: u32) -> &[Residue] {
        match self {
            Sources::Counted { slots, sums } => &sums[cell as usize * *slots..][..*slots],
            Sources::Seen { slots, words, bits, sums } => {
                let first = cell as usize * *slots;
                for slot in first..first + *slots {
                    sums[slot] = fingerprint(&bits[slot * *words..][..*words]);
                }
                &sums[first..][..*slots]
            }
        }
    }
}

/// For a set: a coordinate per 32 bits of it.
fn fingerprint(words: &[u64]) -> Residue {
    let mut sum = Residue::ZERO;
    for (n, word) in words.iter().enumerate().filter(|(_, word)| **word != 0) {
        sum += Residue::from_count(word & 0xffff_ffff) * Residue::of(3, [n as u64, 0]);
        sum += Residue::from_count(word >> 32) * Residue::of(3, [n as u64, 1]);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::{fat_tree::FatTreeSettings, leaf_spine::LeafSpineSettings};
    use crate::{LinkState, TopologySettings, build};
    use weft_core::{Purpose, Random};

    /// Labels of twins taken together are the sum of their individual labels, whatever has failed.
    #[test]
    fn labels_of_twins_are_those_of_leaves_one_by_one() {
        let spines = TopologySettings::LeafSpine(LeafSpineSettings {
            leaves: 9,
            spines: 3,
            hosts_per_leaf: 1,
            ..Default::default()
        });
        let tree = TopologySettings::FatTree(FatTreeSettings { k: 6, ..Default::default() });
        let mut folded = 0;
        for (seed, failures) in (0..40).flat_map(|seed| (0..6).map(move |failures| (seed, failures))) {
            let graph = build(if seed % 2 == 0 { &spines } else { &tree }).unwrap();
            let mut cables = graph.fabric_cables();
            Random::new(seed, Purpose::Test, 0).shuffle(&mut cables);
            let mut state = LinkState::all_up(&graph);
            cables[..failures].iter().for_each(|cable| state.set(*cable, false));
            let bundles = Bundles::new(&graph, &state);
            let cells = FoldedCells::new(&bundles, None);
            let labels = [Labels::Multiset, Labels::Set][seed as usize / 2 % 2];
            let settings = QuiverSettings { labels, valley_free: seed % 3 == 0, ..Default::default() };
            let sums = |fold: Fold<'_>| {
                let mut sums = LabelSums::new(&bundles, &cells, &settings);
                sums.add_pairs(&fold, settings.valley_free);
                sums.sums
            };
            folded += Fold::new(&cells).twins().count();
            assert!(sums(Fold::new(&cells)) == sums(Fold::apart(&cells)), "{seed} {failures} {settings:?}");
        }
        assert!(folded > 300, "{folded} sets of twins");
    }
}
