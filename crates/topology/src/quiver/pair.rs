//! One switch and one leaf in detail: every component with its weight, its first hop and its paths.
//!
//! Only as many paths are listed as requested; counts and weights are exact however many there are.

use super::Quiver;
use super::labels::{LabelSums, Scores};
use super::split::MOST_LISTS;
use crate::folded::tables::gcd;
use crate::folded::{Descent, FoldedCells};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use weft_core::quiver::Score;
use weft_core::{Group, PortId, SwitchId};

/// The switches of a path, including both ends.
pub type SwitchPath = Vec<SwitchId>;

/// Symmetric paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathComponent {
    /// Sum of the capacities of its paths, relative to the other components.
    pub weight: u128,
    /// Number of its paths; a path over parallel links is one.
    pub count: u128,
    /// The ports its paths start with, ascending.
    pub ports: Vec<PortId>,
    /// Its first paths in the order of switch numbers.
    pub paths: Vec<SwitchPath>,
    /// For each hop, a number; equal for links with equal labels.
    pub scores: Vec<u32>,
}

/// Everything about one switch and one leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// In the order of their first paths; `None`: more than ten thousand.
    pub components: Option<Vec<PathComponent>>,
    /// The components that the switch installs: those with equal first ports merged, ascending by ports.
    pub group: Group,
}

/// Cells and scores for one switch and one leaf.
pub(super) struct View<'a> {
    pub(super) cells: Cow<'a, FoldedCells>,
    scores: Cow<'a, Scores>,
    pub(super) descent: Descent,
}

impl Quiver<'_> {
    /// One switch and one leaf, by the index of the leaf; at most `most_paths` paths of each component are listed.
    #[must_use]
    pub fn pair(&self, from: SwitchId, leaf: usize, most_paths: usize) -> Pair {
        let group = self.groups_to(from, leaf..leaf + 1).swap_remove(leaf);
        let mut walk = Walk::new(self, self.view(from, leaf));
        let ways = walk.ways(from.0);
        let components = ways.map(|ways| walk.components(from.0, &ways, most_paths));
        Pair { components, group }
    }

    pub(super) fn view(&self, from: SwitchId, leaf: usize) -> View<'_> {
        match self.settings.score {
            Score::AllPairs => View {
                cells: Cow::Borrowed(&self.cells),
                scores: Cow::Borrowed(&self.scores),
                descent: self.descent(&self.cells, leaf),
            },
            Score::OwnPair => {
                let cells = self.cells_for(from);
                let cell = cells.of[from.index()];
                let descent = self.descent(&cells, leaf).from(&cells, cell);
                let mut scores = vec![0; cells.edge_count()];
                LabelSums::new(&self.bundles, &cells, &self.settings).score_pair(&descent, cell, &mut scores);
                View { cells, scores: Cow::Owned(scores), descent }
            }
        }
    }
}

/// Paths that share a list of scores.
#[derive(Clone, Debug)]
struct Ways {
    list: u32,
    /// Their number by bottleneck, an index of capacities.
    by_bottleneck: BTreeMap<u32, u128>,
}

/// Follows paths switch by switch, caching results per switch.
struct Walk<'a> {
    quiver: &'a Quiver<'a>,
    view: View<'a>,
    numbers: HashMap<(u32, u32), u32>,
    /// (first score, rest) of each list; list 0 is empty.
    lists: Vec<(u32, u32)>,
    known: HashMap<u32, Option<Rc<Vec<Ways>>>>,
}

impl<'a> Walk<'a> {
    fn new(quiver: &'a Quiver<'a>, view: View<'a>) -> Walk<'a> {
        Walk { quiver, view, numbers: HashMap::new(), lists: vec![(0, 0)], known: HashMap::new() }
    }

    /// The onward paths of a switch in the order of their first paths; `None`: too many.
    fn ways(&mut self, switch: u32) -> Option<Rc<Vec<Ways>>> {
        if let Some(known) = self.known.get(&switch) {
            return known.clone();
        }
        let found = match self.view.descent.hops(self.view.cells.of[switch as usize]) {
            Some(0) => Some(vec![Ways { list: 0, by_bottleneck: [(u32::MAX, 1)].into() }]),
            _ => self.collected(switch),
        };
        let found = found.map(Rc::new);
        self.known.insert(switch, found.clone());
        found
    }

    fn collected(&mut self, switch: u32) -> Option<Vec<Ways>> {
        let (mut found, mut place): (Vec<Ways>, HashMap<u32, usize>) = Default::default();
        for (to, capacity, score) in self.onward(switch) {
            for ways in self.ways(to)?.iter() {
                let list = self.number(score, ways.list);
                let at = *place.entry(list).or_insert(found.len());
                if at == found.len() {
                    found.push(Ways { list, by_bottleneck: BTreeMap::new() });
                }
                for (bottleneck, count) in &ways.by_bottleneck {
                    let total = found[at].by_bottleneck.entry((*bottleneck).min(capacity)).or_default();
                    *total = total.saturating_add(*count);
                }
            }
        }
        Some(found).filter(|found| found.len() <= MOST_LISTS)
    }

    /// The next switches with capacity and score of the bundles to them.
    fn onward(&self, switch: u32) -> Vec<(u32, u32, u32)> {
        let View { cells, scores, descent } = &self.view;
        let cell = cells.of[switch as usize];
        let leads = |to: u32| descent.leads(cells, cell, cells.of[to as usize]);
        let bundles = self.quiver.bundles.of(switch).iter().filter(|bundle| leads(bundle.to));
        let score =
            |to: u32, capacity| scores[cells.edge(cell, cells.of[to as usize], capacity).number as usize];
        bundles.map(|bundle| (bundle.to, bundle.capacity, score(bundle.to, bundle.capacity))).collect()
    }

    fn number(&mut self, score: u32, rest: u32) -> u32 {
        let next = self.lists.len() as u32;
        let number = *self.numbers.entry((score, rest)).or_insert(next);
        if number == next {
            self.lists.push((score, rest));
        }
        number
    }

    fn components(&mut self, from: u32, ways: &[Ways], most_paths: usize) -> Vec<PathComponent> {
        let mut found: Vec<_> = ways.iter().map(|ways| self.component(from, ways, most_paths)).collect();
        let divisor = found.iter().fold(0, |divisor, component| gcd(divisor, component.weight)).max(1);
        found.iter_mut().for_each(|component| component.weight /= divisor);
        found
    }

    fn component(&mut self, from: u32, ways: &Ways, most_paths: usize) -> PathComponent {
        let capacities = &self.quiver.bundles.capacities;
        let capacity = |(bottleneck, count): (&u32, &u128)| {
            count.saturating_mul(u128::from(capacities[*bottleneck as usize]))
        };
        let weight = ways.by_bottleneck.iter().map(capacity).fold(0u128, u128::saturating_add);
        let count = ways.by_bottleneck.values().fold(0u128, |sum, count| sum.saturating_add(*count));
        let mut paths = Vec::new();
        self.list_paths(&mut vec![SwitchId(from)], ways.list, (&mut paths, most_paths));
        PathComponent {
            weight,
            count,
            ports: self.ports(from, ways.list),
            paths,
            scores: self.scores(ways.list),
        }
    }

    fn ports(&mut self, from: u32, list: u32) -> Vec<PortId> {
        let next = self.continuing(from, list);
        let bundles = next.iter().filter_map(|to| self.quiver.bundles.between(from, *to));
        let ports: BTreeSet<_> = bundles.flat_map(|bundle| self.quiver.bundles.ports(bundle)).collect();
        ports.into_iter().copied().collect()
    }

    fn scores(&self, list: u32) -> Vec<u32> {
        let next = |list: &u32| Some(self.lists[*list as usize].1).filter(|_| *list != 0);
        let lists = std::iter::successors(Some(list), next).filter(|list| *list != 0);
        lists.map(|list| self.lists[list as usize].0).collect()
    }

    /// The next switches of the paths from a switch with this list.
    fn continuing(&mut self, switch: u32, list: u32) -> Vec<u32> {
        let (first, rest) = self.lists[list as usize];
        let fitting = self.onward(switch).into_iter().filter(|(_, _, score)| *score == first);
        let has = |to: &u32| self.ways(*to).is_some_and(|ways| ways.iter().any(|ways| ways.list == rest));
        fitting.map(|(to, _, _)| to).filter(has).collect()
    }

    fn list_paths(
        &mut self,
        begun: &mut SwitchPath,
        list: u32,
        (found, most): (&mut Vec<SwitchPath>, usize),
    ) {
        if found.len() >= most {
            return;
        }
        if list == 0 {
            found.push(begun.clone());
            return;
        }
        let rest = self.lists[list as usize].1;
        let here = begun[begun.len() - 1].0;
        for next in self.continuing(here, list) {
            begun.push(SwitchId(next));
            self.list_paths(begun, rest, (found, most));
            begun.pop();
        }
    }
}
