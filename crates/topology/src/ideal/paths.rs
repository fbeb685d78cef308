//! The shortest paths between two leaves, those of equal rates and delays only once. Must not depend on hosts.

use std::collections::HashMap;

use weft_core::{Bytes, Rate, Span, SwitchId};

use super::pipelined;
use super::spread::{Between, Hop};
use crate::graph::{Graph, Node};
use crate::live::{LinkState, UNREACHABLE};

/// Maximum number of different paths of equal length kept between two leaves; the slowest are dropped.
const MOST_PATHS: usize = 512;
/// A switch that no path has reached at this distance.
const NOWHERE: u32 = u32::MAX;

/// Finds the paths between two leaves. Its buffers are kept, so the search for another pair allocates only if it is
/// larger.
pub(super) struct PathFinder {
    trails: Trails,
    /// The switches at one distance from the first leaf, and those at the next.
    fronts: [Front; 2],
    /// By switch: its place among the next ones.
    place_of: Vec<u32>,
    found: Found,
}

/// Switches at one distance from the first leaf, each with the paths that lead to it.
#[derive(Default)]
struct Front {
    switches: Vec<SwitchId>,
    /// By place; those behind the switches are empty buffers.
    paths: Vec<Vec<u32>>,
}

/// Paths from one leaf, each known by a number: its last hop, and the number of the rest. Equal paths have one number.
struct Trails {
    /// The rest of each path, and its last hop; the first is the empty path.
    trails: Vec<(u32, Hop)>,
    known: HashMap<(u32, Hop), u32>,
    /// The last one requested, because many consecutive links are equal.
    recent: ((u32, Hop), u32),
}

/// Paths of equal length as lists of hops, one behind the other, each with its time for a full-size packet.
#[derive(Default)]
struct Found {
    hops: Vec<Hop>,
    order: Vec<(Span, u32)>,
}

impl Front {
    fn clear(&mut self) {
        self.paths[..self.switches.len()].iter_mut().for_each(Vec::clear);
        self.switches.clear();
    }

    /// Adds a switch; returns its place.
    fn add(&mut self, switch: SwitchId) -> usize {
        let place = self.switches.len();
        self.switches.push(switch);
        if self.paths.len() == place {
            self.paths.push(Vec::new());
        }
        place
    }
}

impl Trails {
    const NONE: (u32, Hop) = (u32::MAX, (Rate(0), Span::ZERO));

    fn clear(&mut self) {
        self.known.clear();
        self.trails.clear();
        self.trails.push(Trails::NONE);
        self.recent = (Trails::NONE, 0);
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

    /// Appends the hops of a path to a list, in order.
    fn append(&self, mut trail: u32, hops: &mut Vec<Hop>) {
        let start = hops.len();
        while trail != 0 {
            let (rest, hop) = self.trails[trail as usize];
            hops.push(hop);
            trail = rest;
        }
        hops[start..].reverse();
    }

    /// Keeps each path once and, if there are too many, the fastest for a full-size packet.
    fn prune(&self, trails: &mut Vec<u32>, (length, found): (usize, &mut Found)) {
        trails.sort_unstable();
        trails.dedup();
        if trails.len() > MOST_PATHS {
            found.sort(self, trails, length);
            let kept = found.order.iter().take(MOST_PATHS).map(|&(_, number)| trails[number as usize]);
            *trails = kept.collect();
        }
    }
}

impl Found {
    /// Lists different paths of this length, the fastest for a full-size packet first.
    fn sort(&mut self, trails: &Trails, paths: &[u32], length: usize) {
        let Found { hops, order } = self;
        hops.clear();
        paths.iter().for_each(|path| trails.append(*path, hops));
        let path = |number: u32| &hops[number as usize * length..][..length];
        let full = (1, Bytes(1538), Bytes(1538));
        order.clear();
        order.extend((0..paths.len() as u32).map(|number| (pipelined(path(number).iter(), full), number)));
        order.sort_unstable_by_key(|&(time, number)| (time, path(number)));
    }
}

impl PathFinder {
    /// For networks of this many switches.
    pub(super) fn new(switches: usize) -> PathFinder {
        let mut trails = Trails { trails: Vec::new(), known: HashMap::new(), recent: (Trails::NONE, 0) };
        trails.clear();
        let fronts = [Front::default(), Front::default()];
        PathFinder { trails, fronts, place_of: vec![NOWHERE; switches], found: Found::default() }
    }

    /// Writes the paths between two leaves, given the hops from every switch to the second.
    pub(super) fn find(
        &mut self,
        network: (&Graph, &LinkState, &[Span]),
        (from, distance): (SwitchId, &[u32]),
        between: &mut Between,
    ) {
        between.clear();
        let length = distance[from.index()];
        if length == UNREACHABLE {
            return;
        }
        self.trails.clear();
        self.fronts.iter_mut().for_each(Front::clear);
        let start = self.fronts[0].add(from);
        self.fronts[0].paths[start].push(0);
        for left in (0..length).rev() {
            let (links, rate) = self.step(network, (left, distance));
            between.add_stage(links, rate);
            let [_, next] = &mut self.fronts;
            let covered = (length - left) as usize;
            for own in &mut next.paths[..next.switches.len()] {
                self.trails.prune(own, (covered, &mut self.found));
            }
            self.fronts.swap(0, 1);
            self.fronts[1].clear();
        }
        // The last front is the second leaf alone.
        if let Some(paths) = self.fronts[0].paths.first() {
            self.found.sort(&self.trails, paths, length as usize);
            let Found { hops, order } = &self.found;
            let path = |number: u32| &hops[number as usize * length as usize..][..length as usize];
            order.iter().for_each(|&(_, number)| between.add_path(path(number)));
        }
    }

    /// Extends the paths of the first front to the second, whose switches are `left` hops from the end. Returns the
    /// number of links and the sum of their rates.
    fn step(
        &mut self,
        (graph, state, latencies): (&Graph, &LinkState, &[Span]),
        (left, distance): (u32, &[u32]),
    ) -> (usize, Rate) {
        let PathFinder { trails, fronts: [front, next], place_of, .. } = self;
        let (mut links, mut rate) = (0, Rate(0));
        for (switch, paths) in front.switches.iter().zip(&front.paths) {
            for link in graph.links_of(Node::Switch(*switch)) {
                let Node::Switch(to) = link.to else { continue };
                if distance[to.index()] != left || !state.is_up(link.cable) {
                    continue;
                }
                links += 1;
                rate = Rate(rate.0.saturating_add(link.rate.0));
                let hop = (link.rate, link.delay + latencies[to.index()]);
                let place = &mut place_of[to.index()];
                if *place == NOWHERE {
                    *place = next.add(to) as u32;
                }
                let own = &mut next.paths[*place as usize];
                for path in paths {
                    let longer = trails.longer(*path, hop);
                    if own.last() != Some(&longer) {
                        own.push(longer);
                    }
                }
            }
        }
        next.switches.iter().for_each(|switch| place_of[switch.index()] = NOWHERE);
        (links, rate)
    }
}
