//! The shortest paths between two leaves, those of equal rates and delays only once. Must not depend on hosts.

use std::collections::BTreeMap;

use weft_core::{Bytes, Rate, Span, SwitchId};

use super::spread::Between;
use super::{Path, pipelined};
use crate::graph::{Graph, Node};
use crate::live::{LinkState, UNREACHABLE};

/// Maximum number of different paths of equal length kept between two leaves; the slowest are dropped.
const MOST_PATHS: usize = 512;

/// The rate of a link, and its delay with the latency of the switch it leads to.
type Hop = (Rate, Span);

/// Paths from one leaf, each known by a number: its last hop, and the number of the rest. Equal paths have one number.
struct Trails {
    /// The rest of each path, and its last hop; the first is the empty path.
    trails: Vec<(u32, Hop)>,
    known: BTreeMap<(u32, Hop), u32>,
    /// The last one requested, because many consecutive links are equal.
    recent: ((u32, Hop), u32),
}

impl Trails {
    fn new() -> Trails {
        let none = (u32::MAX, (Rate(0), Span::ZERO));
        Trails { trails: vec![none], known: BTreeMap::new(), recent: (none, 0) }
    }

    /// A path with another hop.
    fn longer(&mut self, trail: u32, hop: Hop) -> u32 {
        let key = (trail, hop);
        if self.recent.0 != key {
            let next = self.trails.len() as u32;
            let number = *self.known.entry(key).or_insert(next);
            if number == next {
                self.trails.push(key);
            }
            self.recent = (key, number);
        }
        self.recent.1
    }

    fn path(&self, mut trail: u32) -> Path {
        let mut path = Path::new();
        while trail != 0 {
            let (rest, hop) = self.trails[trail as usize];
            path.push(hop);
            trail = rest;
        }
        path.reverse();
        path
    }

    /// Keeps each path once and, if there are too many, the fastest for a full-size packet.
    fn prune(&self, trails: &mut Vec<u32>) {
        trails.sort_unstable();
        trails.dedup();
        if trails.len() > MOST_PATHS {
            trails.sort_by_cached_key(|trail| speed(&self.path(*trail)));
            trails.truncate(MOST_PATHS);
        }
    }
}

/// The sort key of paths: the fastest for a full-size packet first.
fn speed(path: &Path) -> (Span, Path) {
    (pipelined(path.iter(), (1, Bytes(1538), Bytes(1538))), path.clone())
}

/// The paths between two leaves, given the hops from every switch to the second.
pub(super) fn shortest(
    (graph, state): (&Graph, &LinkState),
    from: SwitchId,
    distance: &[u32],
    latencies: &[Span],
) -> Between {
    let mut between = Between::default();
    if distance[from.index()] == UNREACHABLE {
        return between;
    }
    let mut trails = Trails::new();
    // The switches at one distance from the first leaf, each with the paths that lead to it.
    let mut fronts = vec![(from, vec![0])];
    for left in (0..distance[from.index()]).rev() {
        let mut next: Vec<(SwitchId, Vec<u32>)> = Vec::new();
        let mut place_of: BTreeMap<SwitchId, usize> = BTreeMap::new();
        let (mut links, mut stage) = (0, Rate(0));
        for (switch, paths) in &fronts {
            for link in graph.links_of(Node::Switch(*switch)) {
                let Node::Switch(to) = link.to else { continue };
                if distance[to.index()] != left || !state.is_up(link.cable) {
                    continue;
                }
                links += 1;
                stage = Rate(stage.0.saturating_add(link.rate.0));
                let hop = (link.rate, link.delay + latencies[to.index()]);
                let place = *place_of.entry(to).or_insert(next.len());
                if place == next.len() {
                    next.push((to, Vec::new()));
                }
                let own = &mut next[place].1;
                for path in paths {
                    let longer = trails.longer(*path, hop);
                    if own.last() != Some(&longer) {
                        own.push(longer);
                    }
                }
            }
        }
        next.iter_mut().for_each(|(_, own)| trails.prune(own));
        between.add_stage(links, stage);
        fronts = next;
    }
    let paths = fronts.pop().map_or_else(Vec::new, |(_, paths)| paths);
    between.paths = paths.into_iter().map(|path| trails.path(path)).collect();
    between.paths.sort_by_cached_key(speed);
    between
}
