//! Which cables fail, and when: named ones, or random ones by a fixed rule. Must not depend on routing.
//!
//! Rule: the cables between switches, sorted by (lower switch, upper switch, parallel number), are shuffled by the
//! stream of (seed, failures, number of the entry); the first n fail. A draw that separates two leaves is rejected
//! and the same stream shuffles again. Draws that only lengthen a path between leaves are kept, unless `valley_free`
//! is set. Cables named by any entry are excluded from the draw. With a given seed every balancer and transport
//! therefore sees the same failures.

use crate::graph::Graph;
use crate::live::{Fabric, LinkState, UNREACHABLE};
use std::collections::BTreeMap;
use weft_core::Problem;
use weft_core::units::did_you_mean;
use weft_core::{Purpose, Random, Span, Time};

weft_core::settings! {
    /// Cables that fail together. A cable may fail several times, each in its own entry, if it was repaired in
    /// between; where one outage ends at the instant the next starts, the cable stays down.
    pub struct FailureSettings {
        /// Names of the cables, such as `leaf0-spine1`; for parallel ones `leaf0-spine1.2`, or `leaf0-spine1.*` for
        /// all.
        cables: Vec<String> = Vec::new(),
        /// Number of random cables between switches, drawn with the seed of the run (DRILL uses 1, 5 and 10).
        random: u32 = 0,
        /// Random failures must leave every shortest path between leaves as short as before.
        valley_free: bool = false,
        /// When they fail; absent: before the run, with the routes already recomputed.
        at: Option<Span> = None,
        /// When they come back; absent: never.
        repair_at: Option<Span> = None,
    }
}

/// The failures of a run, cables resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailurePlan {
    /// In the order of the scenario.
    pub outages: Vec<Outage>,
}

/// Cables that are down together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Indices of the cables.
    pub cables: Vec<usize>,
    /// When they fail; `None`: before the run, routes already recomputed.
    pub at: Option<Time>,
    /// When they come back; `None`: never.
    pub repair: Option<Time>,
}

impl FailurePlan {
    /// The condition of the cables at the start of the run.
    #[must_use]
    pub fn initial(&self, graph: &Graph) -> LinkState {
        let mut state = LinkState::all_up(graph);
        let before = self.outages.iter().filter(|outage| outage.at.is_none());
        before.flat_map(|outage| &outage.cables).for_each(|&cable| state.set(cable, false));
        state
    }

    /// The cables that are down from the start to the end.
    #[must_use]
    pub fn for_good(&self, graph: &Graph) -> LinkState {
        let mut state = LinkState::all_up(graph);
        let lasting = self.outages.iter().filter(|outage| outage.at.is_none() && outage.repair.is_none());
        lasting.flat_map(|outage| &outage.cables).for_each(|&cable| state.set(cable, false));
        state
    }

    /// Leaves that never have a path to the first leaf, because of cables that are permanently down from the start;
    /// by index.
    #[must_use]
    pub fn parted(&self, graph: &Graph) -> Vec<usize> {
        let state = self.for_good(graph);
        let distance = Fabric::new(graph, &state).distances_to(graph.leaves()[0]);
        let apart = |leaf: &usize| distance[graph.leaves()[*leaf].index()] == UNREACHABLE;
        (0..graph.leaves().len()).filter(apart).collect()
    }

    /// Every cable that is down at some time, in order.
    #[must_use]
    pub fn cables(&self) -> Vec<usize> {
        let mut cables: Vec<usize> = self.outages.iter().flat_map(|outage| outage.cables.clone()).collect();
        cables.sort_unstable();
        cables.dedup();
        cables
    }
}

/// Up to this many names of cables are listed in full.
const MOST_LISTED: usize = 16;
/// How often a random draw is repeated before giving up.
const MOST_DRAWS: u32 = 10_000;

/// Resolves names and draws the random failures of a run. Cables named by any entry are not drawn, whatever the order
/// of entries; what one entry draws, no later one draws again.
///
/// # Errors
/// Unknown cables, a cable that fails again before it is repaired, more cables than remain, a repair before
/// the failure, and a draw that cannot keep all leaves connected; paths are `failure[i].…`.
pub fn plan(graph: &Graph, failures: &[FailureSettings], seed: u64) -> Result<FailurePlan, Vec<Problem>> {
    let mut planner = Planner { graph, taken: LinkState::all_up(graph), problems: Vec::new() };
    let mut outages = planner.all_named(failures);
    for (index, (entry, outage)) in failures.iter().zip(&mut outages).enumerate() {
        planner.rest(index, entry, outage, seed);
    }
    match planner.problems.is_empty() {
        true => Ok(FailurePlan { outages }),
        false => Err(planner.problems),
    }
}

impl Outage {
    /// Whether both are in force at some instant. An outage lasts from its failure up to, but not including, its
    /// repair.
    fn overlaps(&self, other: &Outage) -> bool {
        let start = |outage: &Outage| outage.at.unwrap_or(Time::ZERO);
        let begins_within = |one: &Outage, other: &Outage| other.repair.is_none_or(|end| start(one) < end);
        begins_within(self, other) && begins_within(other, self)
    }

    /// When it is in force, for messages.
    fn when(&self) -> String {
        let span = |time: Time| Span(time.0);
        let start = self.at.map_or("the start".to_owned(), |at| span(at).to_string());
        self.repair.map_or(format!("from {start}"), |end| format!("from {start} to {}", span(end)))
    }
}

struct Planner<'a> {
    graph: &'a Graph,
    /// Cables named, or drawn for earlier entries, count as down here, whatever their times.
    taken: LinkState,
    problems: Vec<Problem>,
}

impl Planner<'_> {
    /// The outages with the cables named by entries; none of these are drawn.
    fn all_named(&mut self, failures: &[FailureSettings]) -> Vec<Outage> {
        let time = |span: Option<Span>| span.map(|span| Time(span.0));
        let outage = |entry: &FailureSettings| Outage {
            cables: Vec::new(),
            at: time(entry.at),
            repair: time(entry.repair_at),
        };
        let mut outages: Vec<Outage> = failures.iter().map(outage).collect();
        let mut entries_of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (index, entry) in failures.iter().enumerate() {
            for (n, name) in entry.cables.iter().enumerate() {
                let found = self.named(name).and_then(|cables| {
                    let known = cables.iter().filter_map(|cable| entries_of.get(cable)).flatten();
                    match known.copied().find(|&earlier| outages[earlier].overlaps(&outages[index])) {
                        Some(earlier) => Err(again(name, (earlier, index), &outages)),
                        None => Ok(cables),
                    }
                });
                match found {
                    Ok(cables) => {
                        cables.iter().for_each(|cable| entries_of.entry(*cable).or_default().push(index));
                        outages[index].cables.extend(cables);
                    }
                    Err(message) => {
                        self.problems.push(Problem::new(format!("failure[{index}].cables[{n}]"), message));
                    }
                }
            }
        }
        entries_of.keys().for_each(|cable| self.taken.set(*cable, false));
        outages
    }

    /// What an entry draws, and what is wrong with it as a whole.
    fn rest(&mut self, index: usize, entry: &FailureSettings, outage: &mut Outage, seed: u64) {
        let path = |field: &str| format!("failure[{index}].{field}");
        if entry.random > 0 {
            let stream = Random::new(seed, Purpose::Failures, index as u64);
            match self.drawn(entry, stream) {
                Ok(found) => outage.cables.extend(found),
                Err(message) => self.problems.push(Problem::new(path("random"), message)),
            }
        }
        if entry.cables.is_empty() && entry.random == 0 {
            self.problems
                .push(Problem::new(path("cables"), "nothing fails here; name cables or set `random`"));
        }
        if entry.repair_at.is_some_and(|repair| repair <= entry.at.unwrap_or(Span::ZERO)) {
            self.problems.push(Problem::new(path("repair_at"), "the repair must come after the failure"));
        }
    }

    fn named(&self, name: &str) -> Result<Vec<usize>, String> {
        let Some(cables) = self.graph.cables_named(name) else {
            return Err(format!("there is no cable called `{name}`{}; {}", self.hint(name), self.allowed()));
        };
        if cables.len() > 1 && !name.ends_with(".*") {
            let last = cables.len() - 1;
            let message = format!(
                "`{name}` is {} cables; name `{name}.0` to `{name}.{last}`, or all with `{name}.*`",
                last + 1
            );
            return Err(message);
        }
        Ok(cables)
    }

    fn hint(&self, name: &str) -> String {
        let names: Vec<String> =
            (0..self.graph.cables().len().min(10_000)).map(|c| self.graph.cable_name(c)).collect();
        did_you_mean(name, names.iter().map(String::as_str))
    }

    /// The cables there are: all of a small network, the first and the last of a large one.
    fn allowed(&self) -> String {
        let count = self.graph.cables().len();
        let names = |range: std::ops::Range<usize>| {
            range.map(|cable| self.graph.cable_name(cable)).collect::<Vec<_>>().join(", ")
        };
        match count {
            0..=MOST_LISTED => format!("allowed: {}", names(0..count)),
            _ => format!("allowed: {}, … {} ({count} cables)", names(0..8), names(count - 2..count)),
        }
    }

    fn drawn(&mut self, entry: &FailureSettings, mut stream: Random) -> Result<Vec<usize>, String> {
        let cables: Vec<usize> =
            self.graph.fabric_cables().into_iter().filter(|&cable| self.taken.is_up(cable)).collect();
        let count = entry.random as usize;
        if count > cables.len() {
            return Err(self.too_few(cables.len()));
        }
        let lengths = self.lengths(&LinkState::all_up(self.graph), entry.valley_free);
        if self.lengths(&self.taken, false).contains(&UNREACHABLE) {
            return Err(
                "no choice of cables keeps all leaves connected: those of other entries already separate \
                       leaves"
                    .to_owned(),
            );
        }
        for _ in 0..MOST_DRAWS {
            let mut order = cables.clone();
            stream.shuffle(&mut order);
            order.truncate(count);
            let mut state = self.taken.clone();
            order.iter().for_each(|&cable| state.set(cable, false));
            let after = self.lengths(&state, entry.valley_free);
            let kept = |(before, after): (&u32, &u32)| {
                after == before || (!entry.valley_free && *after != UNREACHABLE)
            };
            if lengths.iter().zip(&after).all(kept) {
                self.taken = state;
                return Ok(order);
            }
        }
        Err(format!("none of {MOST_DRAWS} random choices of {count} cables keeps all leaves connected"))
    }

    fn too_few(&self, left: usize) -> String {
        match self.graph.fabric_cables().len() - left {
            0 => format!("there are only {left} cables between switches to choose from"),
            others => format!(
                "only {left} cables between switches are left to choose from: other entries take {others} of \
                 {}",
                left + others
            ),
        }
    }

    /// Hops between leaves: from every leaf if lengths matter, from the first if only connectivity does.
    fn lengths(&self, state: &LinkState, valley_free: bool) -> Vec<u32> {
        let fabric = Fabric::new(self.graph, state);
        let leaves = self.graph.leaves();
        let sources = if valley_free { leaves } else { &leaves[..1] };
        let from = |&leaf: &_| {
            let distance = fabric.distances_to(leaf);
            leaves.iter().map(move |leaf| distance[leaf.index()]).collect::<Vec<_>>()
        };
        sources.iter().flat_map(from).collect()
    }
}

/// A cable that would fail while already down; `entries` are the earlier and the later one.
fn again(name: &str, entries: (usize, usize), outages: &[Outage]) -> String {
    let (earlier, later) = entries;
    if earlier == later {
        return format!("`{name}` is listed twice; list it once");
    }
    format!(
        "`{name}` is down {} by this entry (failure[{later}]) and {} by failure[{earlier}]; a cable can fail again only \
         after its repair: make `repair_at` of one no later than `at` of the other, or list it in only one of them",
        outages[later].when(),
        outages[earlier].when()
    )
}
