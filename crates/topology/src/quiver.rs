//! The quiver: shortest paths grouped into symmetric components, for balancers that must not mix asymmetric paths.
//!
//! *Paper*: Ghorbani et al., SIGCOMM'17, section 3.4. A link is labelled with the pairs of leaves that use it, each with
//! the ratio of arrival capacity to link capacity. Two paths are symmetric if their links carry equal labels, hop by hop;
//! a component is a set of symmetric paths, and its weight the sum of their capacities. Flows are hashed to a component by
//! weight, packets balanced within it.
//!
//! Our choices where the paper is silent: labels are multisets by default; parallel links count as one with their
//! common capacity; a switch decomposes the paths that start at itself and uses only the first hop, so components
//! with equal first hops become one group (their weights add), others stay separate even if they overlap.
//!
//! In reading order, on the folded network (`folded`): `labels` (scores of links), `split` and `reach` (components
//! from scores), [`pair`] (one pair in detail), [`listing`] (labels written out, and why two paths differ).
//!
//! ```
//! use weft_topology::{LinkState, Quiver, TopologySettings, build};
//! let graph = build(&TopologySettings::default())?;
//! let mut state = LinkState::all_up(&graph);
//! state.set(graph.cable_named("leaf0-spine0").unwrap(), false);
//! let quiver = Quiver::new(&graph, &state, &Default::default());
//! // leaf1 to leaf2: spine 0 alone, which carries nothing from or to leaf 0, and the other three.
//! let groups = quiver.groups(graph.leaves()[1]);
//! assert_eq!(groups[2].components.iter().map(|part| (part.weight, part.ports.len())).collect::<Vec<_>>(), [(1, 1), (3, 3)]);
//! # Ok::<(), Vec<weft_topology::Problem>>(())
//! ```

mod labels;
pub mod listing;
pub mod pair;
mod reach;
mod residue;
mod split;

use crate::folded::tables::{SwitchRoutes, Ways, ports_by_edge};
use crate::folded::{Bundles, Descent, Fold, FoldedCells};
use crate::graph::Graph;
use crate::live::LinkState;
use labels::{LabelSums, Scores};
use split::{MOST_LISTS, Split, Splitter};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use weft_core::quiver::{QuiverSettings, Score};
use weft_core::{Group, SwitchId};

pub use labels::Fraction;

/// How the pairs of leaves of a network decompose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Number of ordered pairs of leaves by number of components; `None`: too many to count.
    pub by_components: BTreeMap<Option<usize>, u64>,
    /// Pairs where every component is a single path.
    pub all_single: u64,
    /// Pairs without a path.
    pub unreachable: u64,
}

/// The first two leaves without a path that goes up, then down.
#[must_use]
pub fn without_valley_free_path(graph: &Graph, state: &LinkState) -> Option<(SwitchId, SwitchId)> {
    let cells = FoldedCells::new(&Bundles::new(graph, state), None);
    let leaves = || graph.leaves().iter().zip(&cells.leaves);
    leaves().find_map(|(to, cell)| {
        let descent = Descent::new(&cells, *cell, true);
        leaves().find(|(_, cell)| descent.hops(**cell).is_none()).map(|(from, _)| (*from, *to))
    })
}

/// The forwarding tables of all switches, and how the pairs of leaves decompose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Survey {
    /// The forwarding tables, without the numbers of leaves.
    pub tables: Vec<SwitchRoutes>,
    /// The pairs.
    pub census: Census,
}

/// The size of the folded network: the cost of the decomposition grows with leaves times edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldingSize {
    /// Bundles of parallel links, each direction separately.
    pub bundles: usize,
    /// Sets of equivalent switches.
    pub cells: usize,
    /// Bundles between them, equal ones merged.
    pub edges: usize,
}

/// The decomposition of a network with given failures.
pub struct Quiver<'g> {
    graph: &'g Graph,
    settings: QuiverSettings,
    bundles: Bundles,
    cells: FoldedCells,
    /// Scores by all pairs; unused if only a pair's own labels decide.
    scores: Scores,
}

/// How the paths from one cell decompose, for every leaf.
type Patterns = Ways<Split>;

impl<'g> Quiver<'g> {
    /// Labels all links.
    #[must_use]
    pub fn new(graph: &'g Graph, state: &LinkState, settings: &QuiverSettings) -> Quiver<'g> {
        let bundles = Bundles::new(graph, state);
        let cells = FoldedCells::new(&bundles, None);
        let mut quiver = Quiver { graph, settings: *settings, bundles, cells, scores: Vec::new() };
        if settings.score == Score::AllPairs {
            let labels = LabelSums::new(&quiver.bundles, &quiver.cells, settings);
            quiver.scores = labels.all_pairs(&Fold::new(&quiver.cells), settings.valley_free);
        }
        quiver
    }

    fn descent(&self, cells: &FoldedCells, leaf: usize) -> Descent {
        Descent::new(cells, cells.leaves[leaf], self.settings.valley_free)
    }

    /// The groups of a switch towards every leaf, components ascending by ports; empty where there is no path.
    #[must_use]
    pub fn groups(&self, from: SwitchId) -> Vec<Group> {
        self.groups_to(from, 0..self.cells.leaves.len())
    }

    /// The groups of a switch towards some of the leaves; the others have empty ones.
    fn groups_to(&self, from: SwitchId, leaves: Range<usize>) -> Vec<Group> {
        match self.settings.score {
            Score::OwnPair => {
                self.own_patterns(from, leaves, |cells, patterns| self.projected(from, cells, patterns))
            }
            Score::AllPairs => {
                let cell = self.cells.of[from.index()];
                let patterns = &self.patterns(leaves, |other| other == cell)[cell as usize];
                self.projected(from, &self.cells, patterns)
            }
        }
    }

    /// The patterns of all switches in turn.
    pub(crate) fn each_switch(&self, mut visit: impl FnMut(SwitchId, &FoldedCells, &Patterns)) {
        let switches = (0..self.bundles.switches() as u32).map(SwitchId);
        let leaves = 0..self.cells.leaves.len();
        match self.settings.score {
            Score::OwnPair => switches.for_each(|switch| {
                self.own_patterns(switch, leaves.clone(), |cells, patterns| visit(switch, cells, patterns));
            }),
            Score::AllPairs => {
                let patterns = self.patterns(leaves, |_| true);
                switches.for_each(|switch| {
                    visit(switch, &self.cells, &patterns[self.cells.of[switch.index()] as usize]);
                });
            }
        }
    }

    /// By the labels of all pairs: the patterns of the requested cells.
    fn patterns(&self, leaves: Range<usize>, asked: impl Fn(u32) -> bool) -> Vec<Patterns> {
        let all = self.cells.leaves.len();
        let mut patterns = vec![Patterns::new(all); self.cells.len()];
        let mut splitter = Splitter::new(&self.bundles, MOST_LISTS);
        let fold = Fold::new(&self.cells);
        for leaf in leaves {
            let towards = fold.towards(leaf, self.settings.valley_free);
            splitter.leaf((&towards.cells, &towards.descent, &self.scores), |cell, print, split| {
                for cell in towards.alike(cell).filter(|cell| asked(*cell)) {
                    patterns[cell as usize].set(leaf, print, split);
                }
            });
        }
        patterns
    }

    /// By the labels of each pair alone: the patterns of one switch, which gets its own cell.
    fn own_patterns<T>(
        &self,
        from: SwitchId,
        leaves: Range<usize>,
        then: impl FnOnce(&FoldedCells, &Patterns) -> T,
    ) -> T {
        let cells = self.cells_for(from);
        let cell = cells.of[from.index()];
        let mut patterns = Patterns::new(cells.leaves.len());
        let mut labels = LabelSums::new(&self.bundles, &cells, &self.settings);
        let mut splitter = Splitter::new(&self.bundles, MOST_LISTS);
        let mut scores = vec![0; cells.edge_count()];
        for leaf in leaves {
            let descent = self.descent(&cells, leaf).from(&cells, cell);
            labels.score_pair(&descent, cell, &mut scores);
            splitter.leaf((&cells, &descent, &scores), |other, print, split| {
                if other == cell {
                    patterns.set(leaf, print, split);
                }
            });
        }
        then(&cells, &patterns)
    }

    /// Cells in which this switch is alone.
    fn cells_for(&self, from: SwitchId) -> Cow<'_, FoldedCells> {
        match self.graph.leaves().contains(&from) {
            true => Cow::Borrowed(&self.cells),
            false => Cow::Owned(FoldedCells::new(&self.bundles, Some(from.0))),
        }
    }

    /// From edges of cells to ports of a switch.
    fn projected(&self, from: SwitchId, cells: &FoldedCells, patterns: &Patterns) -> Vec<Group> {
        let ports = ports_by_edge(&self.bundles, cells, from);
        patterns
            .of_leaves()
            .map(|split| split.map_or(Group::default(), |split| split.group(&ports)))
            .collect()
    }

    fn table(&self, switch: SwitchId, cells: &FoldedCells, patterns: &Patterns) -> SwitchRoutes {
        let ports = ports_by_edge(&self.bundles, cells, switch);
        patterns.table(|split| split.group(&ports))
    }

    /// The forwarding tables of all switches, without the numbers of leaves.
    #[must_use]
    pub fn tables(&self) -> Vec<SwitchRoutes> {
        let mut tables = Vec::with_capacity(self.bundles.switches());
        self.each_switch(|switch, cells, patterns| tables.push(self.table(switch, cells, patterns)));
        tables
    }

    /// How the paths are compared.
    #[must_use]
    pub fn settings(&self) -> &QuiverSettings {
        &self.settings
    }

    /// The size of the folded network.
    #[must_use]
    pub fn size(&self) -> FoldingSize {
        let bundles = (0..self.bundles.switches() as u32).map(|switch| self.bundles.of(switch).len()).sum();
        let cells = self.cells.len();
        FoldingSize { bundles, cells, edges: self.cells.edge_count() }
    }

    /// How the pairs of leaves decompose.
    #[must_use]
    pub fn census(&self) -> Census {
        let mut census = Census::default();
        self.each_switch(|switch, _, patterns| self.count(&mut census, switch, patterns));
        census
    }

    /// Adds the pairs that start at a switch.
    fn count(&self, census: &mut Census, switch: SwitchId, patterns: &Patterns) {
        if self.graph.leaves().contains(&switch) {
            census.unreachable += patterns.of_leaves().filter(Option::is_none).count() as u64 - 1;
            for split in patterns.of_leaves().flatten() {
                *census.by_components.entry(split.components).or_default() += 1;
                census.all_single += u64::from(split.all_single);
            }
        }
    }

    /// Tables and census together, for the cost of one.
    #[must_use]
    pub fn survey(&self) -> Survey {
        let mut survey = Survey::default();
        self.each_switch(|switch, cells, patterns| {
            survey.tables.push(self.table(switch, cells, patterns));
            self.count(&mut survey.census, switch, patterns);
        });
        survey
    }
}
