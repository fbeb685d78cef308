//! The quiver: shortest paths grouped into symmetric components, for balancers that must not mix unlike paths.
//!
//! *Paper*: Ghorbani et al., SIGCOMM'17, section 3.4. A link is labelled with the pairs of leaves that use it, each with
//! the ratio of arrival capacity to link capacity. Two paths are symmetric if their links carry equal labels, hop by hop;
//! a component is a set of symmetric paths, and its weight the sum of their capacities. Flows are hashed to a component by
//! weight, packets balanced within it.
//!
//! What the paper leaves open and we decide: labels are multisets by default; parallel links count as one of their common
//! capacity; a switch decomposes the paths that begin at itself and uses the first hop only, so components with equal first
//! hops become one group (their weights add), others stay apart even if they overlap.
//!
//! In reading order: `bundles` (parallel links together), `cells` (switches that cannot be told apart together),
//! `descent` (paths towards a leaf), `labels` (scores of links), `split` and `reach` (components from scores), [`pair`]
//! (one pair in detail), [`listing`] (labels written out, and why two paths differ).
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

pub(crate) mod bundles;
pub(crate) mod cells;
pub(crate) mod descent;
pub(crate) mod labels;
pub mod listing;
pub mod pair;
mod reach;
mod residue;
mod split;

use crate::graph::Graph;
use crate::routes::{LinkState, SwitchRoutes, TableBuilder};
use bundles::Bundles;
use cells::Cells;
use descent::Descent;
use labels::{LabelSums, Scores};
use split::{EdgeGroup, MOST_LISTS, Split, Splitter};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use weft_core::quiver::{QuiverSettings, Score};
use weft_core::{Component, Group, PortId, SwitchId};

pub use labels::Fraction;

/// How the pairs of leaves of a network fall apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Number of ordered pairs of leaves by number of components; `None`: too many to count.
    pub by_components: BTreeMap<Option<usize>, u64>,
    /// Pairs where every component is a single path.
    pub all_single: u64,
    /// Pairs without a path.
    pub unreachable: u64,
}

/// What all switches install, and how the pairs of leaves fall apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Survey {
    /// The forwarding tables, without the numbers of leaves.
    pub tables: Vec<SwitchRoutes>,
    /// The pairs.
    pub census: Census,
}

/// How far a network folds together: what the decomposition costs grows with leaves times edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Bundles of parallel links, each direction by itself.
    pub bundles: usize,
    /// Sets of switches that cannot be told apart.
    pub cells: usize,
    /// Bundles between them, equal ones taken together.
    pub edges: usize,
}

/// The decomposition of a network with given failures.
pub struct Quiver<'g> {
    graph: &'g Graph,
    settings: QuiverSettings,
    bundles: Bundles,
    cells: Cells,
    /// By all pairs; unused when only a pair's own labels decide.
    scores: Scores,
}

/// How the paths from one switch fall apart, for every leaf.
#[derive(Default)]
pub(crate) struct Patterns {
    /// The different ways.
    list: Vec<Split>,
    /// By fingerprint.
    known: HashMap<u128, u32>,
    /// For each leaf its way; `None`: there is no path, or the switch is the leaf.
    of_leaf: Vec<Option<u32>>,
}

impl Patterns {
    fn new(leaves: usize) -> Patterns {
        Patterns { of_leaf: vec![None; leaves], ..Patterns::default() }
    }

    fn set(&mut self, leaf: usize, fingerprint: u128, split: &dyn Fn() -> Split) {
        let next = self.list.len() as u32;
        let number = *self.known.entry(fingerprint).or_insert(next);
        if number == next {
            self.list.push(split());
        }
        self.of_leaf[leaf] = Some(number);
    }

    fn splits(&self) -> impl Iterator<Item = &Split> {
        self.of_leaf.iter().flatten().map(|number| &self.list[*number as usize])
    }
}

impl<'g> Quiver<'g> {
    /// Labels all links.
    #[must_use]
    pub fn new(graph: &'g Graph, state: &LinkState, settings: &QuiverSettings) -> Quiver<'g> {
        let bundles = Bundles::new(graph, state);
        let cells = Cells::new(&bundles, None);
        let mut quiver = Quiver { graph, settings: *settings, bundles, cells, scores: Vec::new() };
        if settings.score == Score::AllPairs {
            quiver.scores = quiver.all_scores();
        }
        quiver
    }

    fn all_scores(&self) -> Scores {
        let mut labels = LabelSums::new(&self.bundles, &self.cells, &self.settings);
        for leaf in 0..self.cells.leaves.len() {
            labels.add_leaf(&self.descent(&self.cells, leaf), leaf);
        }
        labels.scores()
    }

    fn descent(&self, cells: &Cells, leaf: usize) -> Descent {
        Descent::new(cells, cells.leaves[leaf], self.settings.valley_free)
    }

    /// The groups of a switch towards every leaf, their components ascending by ports; empty where there is no path.
    #[must_use]
    pub fn groups(&self, from: SwitchId) -> Vec<Group> {
        match self.settings.score {
            Score::OwnPair => {
                self.own_patterns(from, |cells, patterns| self.projected(from, cells, patterns))
            }
            Score::AllPairs => {
                let cell = self.cells.of[from.index()];
                self.projected(from, &self.cells, &self.patterns(|other| other == cell)[cell as usize])
            }
        }
    }

    /// The patterns of all switches, one after the other.
    pub(crate) fn each_switch(&self, mut visit: impl FnMut(SwitchId, &Cells, &Patterns)) {
        let switches = (0..self.bundles.switches() as u32).map(SwitchId);
        match self.settings.score {
            Score::OwnPair => switches.for_each(|switch| {
                self.own_patterns(switch, |cells, patterns| visit(switch, cells, patterns));
            }),
            Score::AllPairs => {
                let patterns = self.patterns(|_| true);
                switches.for_each(|switch| {
                    visit(switch, &self.cells, &patterns[self.cells.of[switch.index()] as usize]);
                });
            }
        }
    }

    /// By the labels of all pairs: the patterns of the cells asked for.
    fn patterns(&self, asked: impl Fn(u32) -> bool) -> Vec<Patterns> {
        let leaves = self.cells.leaves.len();
        let mut patterns: Vec<Patterns> = (0..self.cells.len()).map(|_| Patterns::new(leaves)).collect();
        let mut splitter = Splitter::new(&self.bundles, &self.cells, MOST_LISTS);
        for leaf in 0..leaves {
            let descent = self.descent(&self.cells, leaf);
            splitter.leaf((&descent, &self.scores), |cell, print, split| {
                if asked(cell) {
                    patterns[cell as usize].set(leaf, print, split);
                }
            });
        }
        patterns
    }

    /// By the labels of each pair alone: the patterns of one switch, which gets a cell of its own.
    fn own_patterns<T>(&self, from: SwitchId, then: impl FnOnce(&Cells, &Patterns) -> T) -> T {
        let cells = self.cells_for(from);
        let cell = cells.of[from.index()];
        let mut patterns = Patterns::new(cells.leaves.len());
        let mut labels = LabelSums::new(&self.bundles, &cells, &self.settings);
        let mut splitter = Splitter::new(&self.bundles, &cells, MOST_LISTS);
        let mut scores = vec![0; cells.number(cells.len() as u32, 0)];
        for leaf in 0..cells.leaves.len() {
            let descent = self.descent(&cells, leaf).from(&cells, cell);
            labels.score_pair(&descent, cell, &mut scores);
            splitter.leaf((&descent, &scores), |other, print, split| {
                if other == cell {
                    patterns.set(leaf, print, split);
                }
            });
        }
        then(&cells, &patterns)
    }

    /// Cells in which this switch is alone.
    fn cells_for(&self, from: SwitchId) -> Cow<'_, Cells> {
        match self.graph.leaves().contains(&from) {
            true => Cow::Borrowed(&self.cells),
            false => Cow::Owned(Cells::new(&self.bundles, Some(from.0))),
        }
    }

    /// From edges of cells to ports of a switch.
    fn projected(&self, from: SwitchId, cells: &Cells, patterns: &Patterns) -> Vec<Group> {
        let known = self.projections(from, cells, patterns);
        let of =
            |number: &Option<u32>| number.map_or(Group::default(), |number| known[number as usize].clone());
        patterns.of_leaf.iter().map(of).collect()
    }

    /// Every pattern once.
    pub(crate) fn projections(&self, from: SwitchId, cells: &Cells, patterns: &Patterns) -> Vec<Group> {
        let ports = self.ports_by_edge(from.0, cells);
        patterns.list.iter().map(|split| projected(&ports, &split.groups)).collect()
    }

    /// For each edge of the switch's cell the ports of the switch.
    fn ports_by_edge(&self, from: u32, cells: &Cells) -> Vec<Vec<PortId>> {
        let edges = cells.edges(cells.of[from as usize]);
        let mut ports = vec![Vec::new(); edges.len()];
        for bundle in self.bundles.of(from) {
            let key = (cells.of[bundle.to as usize], bundle.capacity);
            if let Ok(place) = edges.binary_search_by_key(&key, |edge| (edge.to, edge.capacity)) {
                ports[place].extend_from_slice(self.bundles.ports(bundle));
            }
        }
        ports
    }

    /// The forwarding tables of all switches, without the numbers of leaves.
    #[must_use]
    pub fn tables(&self) -> Vec<SwitchRoutes> {
        let mut tables = Vec::with_capacity(self.bundles.switches());
        self.each_switch(|switch, cells, patterns| tables.push(self.table(switch, cells, patterns)));
        tables
    }

    /// The table of one switch: every pattern is projected once.
    fn table(&self, switch: SwitchId, cells: &Cells, patterns: &Patterns) -> SwitchRoutes {
        let mut groups = self.projections(switch, cells, patterns);
        let mut names = vec![None; groups.len()];
        let mut table = TableBuilder::default();
        for number in &patterns.of_leaf {
            let name = match number.map(|number| number as usize) {
                None => table.name(Group::default()),
                Some(n) => *names[n].get_or_insert_with(|| table.name(std::mem::take(&mut groups[n]))),
            };
            table.routes.group_of_leaf.push(name);
        }
        table.routes
    }

    /// How the paths are compared.
    #[must_use]
    pub fn settings(&self) -> &QuiverSettings {
        &self.settings
    }

    /// How far the network folds together.
    #[must_use]
    pub fn size(&self) -> Size {
        let bundles = (0..self.bundles.switches() as u32).map(|switch| self.bundles.of(switch).len()).sum();
        let cells = self.cells.len();
        Size { bundles, cells, edges: self.cells.number(cells as u32, 0) }
    }

    /// How the pairs of leaves fall apart.
    #[must_use]
    pub fn census(&self) -> Census {
        let mut census = Census::default();
        self.each_switch(|switch, _, patterns| self.count(&mut census, switch, patterns));
        census
    }

    /// Adds the pairs that begin at a switch.
    fn count(&self, census: &mut Census, switch: SwitchId, patterns: &Patterns) {
        if self.graph.leaves().contains(&switch) {
            census.unreachable += patterns.of_leaf.iter().filter(|way| way.is_none()).count() as u64 - 1;
            for split in patterns.splits() {
                *census.by_components.entry(split.components).or_default() += 1;
                census.all_single += u64::from(split.all_single);
            }
        }
    }

    /// Tables and census together, for the work of one.
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

/// The ports behind the edges of each group, ascending by ports.
fn projected(ports: &[Vec<PortId>], groups: &[EdgeGroup]) -> Group {
    let weights = narrow(groups.iter().map(|(weight, _)| *weight));
    let component = |((_, edges), weight): (&EdgeGroup, u64)| {
        let mut ports: Vec<_> = edges.iter().flat_map(|edge| ports[*edge as usize].clone()).collect();
        ports.sort_unstable();
        Component { weight, ..Component::equal(ports) }
    };
    let mut components: Vec<_> = groups.iter().zip(weights).map(component).collect();
    components.sort_unstable_by(|one, other| one.ports.cmp(&other.ports));
    Group { components }
}

/// Weights whose sum fits 63 bits: as they are if they do, otherwise scaled down, none below 1.
pub(crate) fn narrow(weights: impl Iterator<Item = u128> + Clone) -> impl Iterator<Item = u64> {
    let total = weights.clone().fold(0u128, u128::saturating_add);
    let scale = total.div_ceil(1 << 62).max(1);
    weights.map(move |weight| (weight / scale).max(1) as u64)
}
