//! The score of every edge: equal numbers for equal labels. Knows no path.
//!
//! The label (s, t, cf) stands on a link as often as there are paths from leaf s to leaf t through the link with
//! capacity factor cf. Paths are never listed: for each destination the sources that reach a cell, by the bottleneck
//! on their way, are carried from the far end of the paths to the near one, either as a fingerprint of their numbers
//! of paths (multiset labels) or as a bit per source (set labels).

use super::bundles::Bundles;
use super::cells::Cells;
use super::descent::Descent;
use super::residue::Residue;
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

/// Greatest common divisor.
pub(crate) fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The narrowest bundle on a way so far: 0 for none, otherwise one more than the index of its capacity.
pub(crate) type Bottleneck = u32;

/// The bottleneck after one more bundle.
pub(crate) fn narrowed(so_far: Bottleneck, capacity: u32) -> Bottleneck {
    if so_far == 0 { capacity + 1 } else { so_far.min(capacity + 1) }
}

/// The capacity factor of a bundle for paths that come with this bottleneck.
pub(crate) fn factor(
    bundles: &Bundles,
    settings: &QuiverSettings,
    bottleneck: Bottleneck,
    capacity: u32,
) -> Fraction {
    let own = bundles.capacities[capacity as usize];
    match (bottleneck.checked_sub(1), settings.source_cf) {
        (Some(before), _) => Fraction::new(bundles.capacities[before as usize], own),
        (None, SourceFactor::Inverse) => Fraction::new(GIGABIT, own),
        (None, SourceFactor::Constant) => Fraction::new(1, 1),
    }
}

/// For every edge, by its number, a score; equal labels, equal scores.
pub(crate) type Scores = Vec<u32>;

/// Adds labels up, edge by edge.
pub(crate) struct LabelSums<'a> {
    cells: &'a Cells,
    labels: Labels,
    /// Coordinates of capacity factors, by bottleneck and capacity.
    factors: Vec<Vec<Residue>>,
    /// For each edge the fingerprint of its labels.
    sums: Vec<Residue>,
    /// For each cell the number of ways on to the destination.
    onward: Vec<Residue>,
    sources: Sources,
}

impl<'a> LabelSums<'a> {
    pub(crate) fn new(bundles: &Bundles, cells: &'a Cells, settings: &QuiverSettings) -> LabelSums<'a> {
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
            sums: vec![Residue::ZERO; cells.number(cells.len() as u32, 0)],
            onward: vec![Residue::ZERO; cells.len()],
            sources: Sources::new(settings.labels, cells, capacities as usize + 1),
        }
    }

    /// Adds the labels of all paths from the leaves to this one.
    pub(crate) fn add_leaf(&mut self, descent: &Descent, leaf: usize) {
        let cells = self.cells;
        let others = cells.leaves.iter().enumerate().filter(|(source, _)| *source != leaf);
        let sources =
            others.map(|(source, cell)| (*cell, source)).filter(|(cell, _)| descent.hops(*cell).is_some());
        self.add(descent, sources, Residue::of(1, [leaf as u64, 1]));
    }

    /// Scores by the labels of the paths from one cell; edges without such a path keep what they have.
    pub(crate) fn score_pair(&mut self, descent: &Descent, from: u32, scores: &mut Scores) {
        let cells = self.cells;
        let edges = || descent.order().iter().flat_map(|cell| cells.numbers(*cell));
        edges().for_each(|edge| self.sums[edge] = Residue::ZERO);
        self.add(descent, std::iter::once((from, 0)), Residue::ONE);
        let mut numbers = Numbers::default();
        edges().for_each(|edge| scores[edge] = numbers.of(self.sums[edge]));
    }

    fn add(&mut self, descent: &Descent, sources: impl Iterator<Item = (u32, usize)>, destination: Residue) {
        descent.order().iter().for_each(|cell| self.sources.clear(*cell));
        sources.for_each(|(cell, source)| self.sources.start(cell, source));
        self.count_onward(descent, destination);
        for &cell in descent.order().iter().rev() {
            for edge in descent.upstream(self.cells, cell) {
                self.sources.carry(edge.to, cell, edge.capacity, edge.count);
            }
            let known = self.sources.at(cell);
            for (place, edge) in descent.onward(self.cells, cell) {
                let arriving = known.iter().zip(&self.factors);
                let weighed = arriving.map(|(sources, factors)| *sources * factors[edge.capacity as usize]);
                let labels = weighed.fold(Residue::ZERO, |sum, label| sum + label);
                self.sums[self.cells.number(cell, place)] += labels * self.onward[edge.to as usize];
            }
        }
    }

    /// Ways on from every cell, times the coordinate of the destination.
    fn count_onward(&mut self, descent: &Descent, destination: Residue) {
        for (n, &cell) in descent.order().iter().enumerate() {
            self.onward[cell as usize] = match (n, self.labels) {
                (0, _) | (_, Labels::Set) => destination,
                (_, Labels::Multiset) => {
                    let ways = descent.onward(self.cells, cell);
                    let ways = ways.map(|(_, edge)| {
                        Residue::from_count(u64::from(edge.count)) * self.onward[edge.to as usize]
                    });
                    ways.fold(Residue::ZERO, |sum, ways| sum + ways)
                }
            };
        }
    }

    /// Numbers the fingerprints.
    pub(crate) fn scores(&self) -> Scores {
        let mut numbers = Numbers::default();
        self.sums.iter().map(|sum| numbers.of(*sum)).collect()
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

/// The sources that reach each cell on their way to one destination, by bottleneck.
enum Sources {
    /// Fingerprints of the numbers of paths.
    Counted { slots: usize, sums: Vec<Residue> },
    /// A bit for each source.
    Seen { slots: usize, words: usize, bits: Vec<u64>, sums: Vec<Residue> },
}

impl Sources {
    fn new(labels: Labels, cells: &Cells, slots: usize) -> Sources {
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
    fn start(&mut self, cell: u32, source: usize) {
        match self {
            Sources::Counted { slots, sums } => {
                sums[cell as usize * *slots] += Residue::of(0, [source as u64, 1]);
            }
            Sources::Seen { slots, words, bits, .. } => {
                bits[cell as usize * *slots * *words + source / 64] |= 1 << (source % 64);
            }
        }
    }

    /// What reaches one cell reaches the next, over `count` bundles of a capacity.
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

/// Of a set: a coordinate for each 32 bits of it.
fn fingerprint(words: &[u64]) -> Residue {
    let mut sum = Residue::ZERO;
    for (n, word) in words.iter().enumerate().filter(|(_, word)| **word != 0) {
        sum += Residue::from_count(word & 0xffff_ffff) * Residue::of(3, [n as u64, 0]);
        sum += Residue::from_count(word >> 32) * Residue::of(3, [n as u64, 1]);
    }
    sum
}
