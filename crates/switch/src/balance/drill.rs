//! DRILL(d, m): each packet takes the least loaded of d random and m remembered ports, by local queue lengths only.
//!
//! *Paper*: Ghorbani et al., SIGCOMM'17, sections 3.1 and 3.2. *Parameters*: `choices` is d, `memory` is m, per
//! engine and group. *State*: m port names per (engine, component), none per flow. Ports whose paths are not
//! symmetric are kept separate (section 3.4): where no two paths are symmetric, this is WCMP. *Limits*: with many
//! engines, a large d or m makes engines herd (the synchronisation effect). The memory holds port names, never
//! lengths: a decision reads all lengths afresh.

use weft_core::{
    Bytes, GroupId, Grouping, Header, PortId, Purpose, QuiverSettings, Random, Time, choice, settings,
};

use super::{Balancer, BalancerSite, Candidates, Choices, State};
use chance::Chance;
use weft_forwarding::hash::{FlowHash, HashFunction};

pub mod chance;

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "each packet on the least loaded of d random and m remembered ports (SIGCOMM'17)";

choice! {
    /// Which of several equally loaded ports wins.
    pub enum Tie {
        /// A fair draw; needed to reproduce the paper's figures 2b and 3.
        Random = "random",
        /// A remembered port before others; of several, the one that entered the memory as the better; as in open
        /// implementations.
        MemoryFirst = "memory-first",
        /// A sampled port before one only remembered.
        SampleFirst = "sample-first",
        /// The first port of the group.
        LowestPort = "lowest-port",
    }
}

choice! {
    /// Which of the shortest paths may share the packets of a flow.
    pub enum Components {
        /// Symmetric ones: a flow is hashed to one component by weight and balanced within it.
        Quiver = "quiver",
        /// All of them, symmetric or not.
        None = "none",
    }
}

settings! {
    /// DRILL(d, m).
    pub struct DrillSettings {
        /// Random samples per packet (d).
        choices: u32 [1, 1024] = 2,
        /// Ports remembered per engine and group (m).
        memory: u32 [0, 1024] = 1,
        /// Which of several equally loaded ports wins.
        tie: Tie = Tie::Random,
        /// Which of the shortest paths may share the packets of a flow (section 3.4). In a symmetric network it makes no difference.
        components: Components = Components::Quiver,
        /// Acknowledgements and packets that open a connection follow a hash of the flow, as in some simulators.
        control_by_hash: bool = false,
        /// Exclude ports on which the packet's class is paused (priority flow control), provided that another
        /// remains. Otherwise their queues grow and they lose comparisons.
        exclude_paused: bool = false,
        /// How paths are compared.
        quiver: QuiverSettings [flatten],
    }
}

impl DrillSettings {
    fn grouping(&self) -> Grouping {
        match self.components {
            Components::Quiver => Grouping::Components(self.quiver),
            Components::None => Grouping::Together,
        }
    }
}

/// DRILL(d, m).
#[derive(Clone, Debug)]
pub struct Drill {
    /// DRILL(2, 1) with fair ties for all packets.
    usual: bool,
    /// The hash for packets without payload, if they follow a different rule.
    hash: Option<FlowHash>,
    grouping: Grouping,
    exclude_paused: bool,
    choices: usize,
    memory: usize,
    tie: Tie,
    /// Remembered ports, `memory` cells per group, filled from the first; [`EMPTY`] where unused.
    cells: Vec<Cell>,
    /// The candidates of the current packet: samples first, then memory.
    seen: Vec<Seen>,
    /// For sampling without replacement when d > 2: a permutation of the candidates, shuffled further with each
    /// packet.
    deck: Vec<u16>,
}

/// A remembered port.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cell {
    port: PortId,
    /// Its position in the group when it was remembered; usually unchanged.
    index: u16,
}

/// An examined candidate.
#[derive(Clone, Copy, Debug)]
struct Seen {
    index: u16,
    sampled: bool,
    /// Its position in the memory, or [`NOWHERE`].
    cell: u16,
    load: u64,
    draw: u64,
}

const NOWHERE: u16 = u16::MAX;

const EMPTY: Cell = Cell { port: PortId(u16::MAX), index: u16::MAX };

impl Drill {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &DrillSettings, site: BalancerSite) -> Drill {
        let DrillSettings { choices, memory, tie, control_by_hash, .. } = *settings;
        Drill {
            usual: (choices, memory, tie, control_by_hash) == (2, 1, Tie::Random, false),
            hash: control_by_hash.then(|| control_hash(site)),
            grouping: settings.grouping(),
            exclude_paused: settings.exclude_paused,
            choices: settings.choices as usize,
            memory: settings.memory as usize,
            tie: settings.tie,
            cells: Vec::new(),
            seen: Vec::with_capacity((settings.choices + settings.memory) as usize),
            deck: Vec::new(),
        }
    }

    /// The ports remembered for a group, the least loaded of the last packet's first.
    #[must_use]
    pub fn remembered(&self, group: GroupId) -> Vec<PortId> {
        let cells = self.cells.iter().skip(group.index() * self.memory).take(self.memory);
        cells.filter(|cell| **cell != EMPTY).map(|cell| cell.port).collect()
    }

    /// The index of the chosen candidate among at least two: the decision of [`Balancer::choose`] for a packet that
    /// is not hashed, with any source of randomness.
    #[inline]
    pub fn decide_by(&mut self, candidates: &mut Candidates<'_>, chance: &mut impl Chance) -> usize {
        if self.usual {
            return self.choose_two_one(candidates, chance);
        }
        self.choose_among_many(candidates, chance)
    }

    /// DRILL(2, 1) with fair ties, by far the most common configuration: draws and chooses like the general code, in
    /// a fifth of the instructions.
    #[inline]
    fn choose_two_one(&mut self, candidates: &mut Candidates<'_>, chance: &mut impl Chance) -> usize {
        let ports = candidates.len() as u32;
        let first = chance.sample(0, ports);
        let second = chance.sample(1, ports - 1);
        let mut seen = [first as u16, (second + u32::from(second >= first)) as u16, 0];
        let mut loads =
            [candidates.load(usize::from(seen[0])), candidates.load(usize::from(seen[1])), u64::MAX];
        let group = candidates.group.index();
        if group >= self.cells.len() {
            self.cells.resize(group + 1, EMPTY);
        }
        let cell = self.cells[group];
        if cell != EMPTY
            && let Some(index) = cell.index_in(candidates.ports())
            && index != seen[0]
            && index != seen[1]
        {
            seen[2] = index;
            loads[2] = candidates.load(usize::from(index));
        }
        let index = seen[fair_least(&loads, chance)];
        self.cells[group] = Cell { port: candidates.ports()[usize::from(index)], index };
        usize::from(index)
    }

    fn choose_among_many(&mut self, candidates: &mut Candidates<'_>, chance: &mut impl Chance) -> usize {
        self.seen.clear();
        self.sample(candidates, chance);
        if self.memory > 0 {
            self.recall(candidates);
        }
        self.decide(candidates, chance)
    }

    /// Examines `choices` distinct random candidates.
    fn sample(&mut self, candidates: &mut Candidates<'_>, chance: &mut impl Chance) {
        let ports = candidates.len() as u32;
        match self.choices.min(candidates.len()) {
            1 => {
                let only = chance.sample(0, ports);
                self.look(candidates, only as u16);
            }
            2 => {
                let first = chance.sample(0, ports);
                let second = chance.sample(1, ports - 1);
                self.look(candidates, first as u16);
                self.look(candidates, (second + u32::from(second >= first)) as u16);
            }
            many => self.sample_many(many, candidates, chance),
        }
    }

    /// Draws `many` cards of a shuffled deck. The initial order does not matter.
    fn sample_many<C: Chance>(&mut self, many: usize, candidates: &mut Candidates<'_>, chance: &mut C) {
        if C::ORDERED_DECK || self.deck.len() != candidates.len() {
            self.deck.clear();
            self.deck.extend(0..candidates.len() as u16);
        }
        for n in 0..many {
            let other = n + chance.sample(n, (candidates.len() - n) as u32) as usize;
            self.deck.swap(n, other);
            self.look(candidates, self.deck[n]);
        }
    }

    /// Adds the remembered ports still in the group; one that was also sampled appears once.
    fn recall(&mut self, candidates: &mut Candidates<'_>) {
        let first = candidates.group.index() * self.memory;
        if first + self.memory > self.cells.len() {
            self.cells.resize(first + self.memory, EMPTY);
        }
        let sampled = self.seen.len();
        for position in 0..self.memory {
            let cell = self.cells[first + position];
            if cell == EMPTY {
                return;
            }
            let Some(index) = cell.index_in(candidates.ports()) else { continue };
            if let Some(seen) = self.seen[..sampled].iter_mut().find(|seen| seen.index == index) {
                seen.cell = position as u16;
                continue;
            }
            let load = candidates.load(usize::from(index));
            self.seen.push(Seen { index, sampled: false, cell: position as u16, load, draw: 0 });
        }
    }

    /// Examines a sampled candidate.
    fn look(&mut self, candidates: &mut Candidates<'_>, index: u16) {
        let load = candidates.load(usize::from(index));
        self.seen.push(Seen { index, sampled: true, cell: NOWHERE, load, draw: 0 });
    }

    /// The order among equals, including memory; smaller wins.
    fn rank(&mut self, chance: &mut impl Chance) {
        for (nth, seen) in self.seen.iter_mut().enumerate() {
            let position = if seen.sampled { nth } else { self.choices + usize::from(seen.cell) };
            seen.draw = match self.tie {
                Tie::Random => chance.rank(position),
                Tie::MemoryFirst if seen.cell != NOWHERE => u64::from(seen.cell),
                Tie::MemoryFirst => 1 << 32 | u64::from(chance.rank(position) as u32),
                Tie::SampleFirst => u64::from(!seen.sampled) << 32 | u64::from(chance.rank(position) as u32),
                Tie::LowestPort => u64::from(seen.index),
            };
        }
    }

    /// Decides on the winner and updates the memory: the m least loaded of the examined candidates, the winner first.
    fn decide(&mut self, candidates: &Candidates<'_>, chance: &mut impl Chance) -> usize {
        if self.memory > 1 {
            self.rank(chance);
            self.seen.sort_unstable_by_key(|seen| (seen.load, seen.draw));
        } else {
            let winner = self.least(chance);
            self.seen.swap(0, winner);
        }
        self.remember(candidates);
        usize::from(self.seen[0].index)
    }

    /// The position of the winner among the examined candidates.
    fn least(&mut self, chance: &mut impl Chance) -> usize {
        let least = self.seen.iter().map(|seen| seen.load).min().expect("at least one sample");
        let tied = self.seen.iter().filter(|seen| seen.load == least).count();
        let nth = match self.tie {
            Tie::Random if tied > 1 => chance.tie(tied as u32) as usize,
            Tie::Random => 0,
            _ => return self.least_by_rank(tied, chance),
        };
        let mut positions = (0..self.seen.len()).filter(|position| self.seen[*position].load == least);
        positions.nth(nth).expect("fewer than were counted")
    }

    fn least_by_rank(&mut self, tied: usize, chance: &mut impl Chance) -> usize {
        if tied > 1 {
            self.rank(chance);
        }
        let key = |position: &usize| (self.seen[*position].load, self.seen[*position].draw);
        (0..self.seen.len()).min_by_key(key).expect("at least one sample")
    }

    /// Fills the memory of the group with the first of the examined candidates.
    fn remember(&mut self, candidates: &Candidates<'_>) {
        let first = candidates.group.index() * self.memory;
        for n in 0..self.memory {
            let cell =
                |seen: &Seen| Cell { port: candidates.ports()[usize::from(seen.index)], index: seen.index };
            self.cells[first + n] = self.seen.get(n).map_or(EMPTY, cell);
        }
    }
}

/// The position of the least load; among equals a fair draw.
#[inline]
fn fair_least(loads: &[u64; 3], chance: &mut impl Chance) -> usize {
    let least = loads[0].min(loads[1]).min(loads[2]);
    let tied = loads.map(|load| u32::from(load == least));
    let count = tied[0] + tied[1] + tied[2];
    let mut nth = if count > 1 { chance.tie(count) } else { 0 };
    for (position, is) in tied.iter().enumerate().take(2) {
        if *is == 1 {
            if nth == 0 {
                return position;
            }
            nth -= 1;
        }
    }
    2
}

impl Cell {
    /// The current position of the port in the group, if it is in it.
    #[inline]
    fn index_in(self, ports: &[PortId]) -> Option<u16> {
        if ports.get(usize::from(self.index)) == Some(&self.port) {
            return Some(self.index);
        }
        ports.iter().position(|port| *port == self.port).map(|index| index as u16)
    }
}

/// The hash for packets without payload. It must differ from the hash that chooses a component, or each component would
/// see only part of the hash values.
fn control_hash(site: BalancerSite) -> FlowHash {
    let seed = Random::new(site.seed, Purpose::Flowlets, u64::from(site.switch.0)).bits();
    FlowHash::new(HashFunction::Mix, seed)
}

impl Balancer for Drill {
    fn choose(
        &mut self,
        packet: &Header,
        candidates: &mut Candidates<'_>,
        _now: Time,
        random: &mut Random,
    ) -> usize {
        if self.usual {
            return self.choose_two_one(candidates, random);
        }
        match &self.hash {
            Some(hash) if !packet.kind.is_payload() => hash.spread(packet, candidates.len()),
            _ => self.choose_among_many(candidates, random),
        }
    }

    fn groups_changed(&mut self) {
        self.cells.clear();
    }

    fn reads_loads(&self) -> bool {
        true
    }

    fn excludes_paused(&self) -> bool {
        self.exclude_paused
    }

    fn grouping(&self) -> Grouping {
        self.grouping
    }

    fn state(&self, choices: Choices) -> State {
        let cells = choices.components * self.memory as u64;
        State { fixed: Bytes(cells * size_of::<Cell>() as u64), ..State::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::{Component, Purpose, SwitchId};

    #[test]
    fn two_choices_and_one_memory_decide_as_the_general_way_does() {
        let site = BalancerSite { seed: 1, switch: SwitchId(0), engine: 0 };
        let mut dice = Random::new(1, Purpose::Test, 0);
        let (mut short, mut general) =
            (Drill::new(&DrillSettings::default(), site), Drill::new(&DrillSettings::default(), site));
        let (mut first, mut second) = (Random::new(2, Purpose::Test, 0), Random::new(2, Purpose::Test, 0));
        for _ in 0..20_000 {
            let component = Component::equal((0..2 + dice.below(7) as u16).map(PortId).collect());
            let loads: Vec<_> = component.ports.iter().map(|_| u64::from(dice.below(3))).collect();
            let group = GroupId(dice.below(2));
            let mut candidates = Candidates::with_loads(group, &component, &loads);
            let chosen = short.choose_two_one(&mut candidates, &mut first);
            assert_eq!(chosen, general.choose_among_many(&mut candidates, &mut second));
            assert_eq!(short.remembered(group), general.remembered(group));
        }
        assert_eq!(first.bits(), second.bits(), "they have drawn equally often");
    }
}
