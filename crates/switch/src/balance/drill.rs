//! DRILL(d, m): the least loaded of d random ports and m remembered ones, per packet, by local queue lengths only.
//!
//! *Paper*: Ghorbani et al., SIGCOMM'17, sections 3.1 and 3.2. *Parameters*: `choices` is d, `memory` is m, per engine
//! and group. *State*: m port names per (engine, group), none per flow. *Limits*: assumes symmetric paths; with many
//! engines large d or m makes engines herd (the synchronisation effect). Memory holds names of ports, never lengths: a
//! decision reads all lengths anew.

use weft_core::{Header, PortId, Random, Time, choice, settings};

use super::{Balancer, Candidates, Site};

/// One sentence for lists.
pub const SUMMARY: &str = "the least loaded of d random and m remembered ports, per packet (SIGCOMM'17)";

choice! {
    /// Who wins among equally loaded ports.
    pub enum Tie {
        /// A fair draw; needed to reproduce the paper's figures 2b and 3.
        Random = "random",
        /// A remembered port before a sampled one, as open implementations do.
        MemoryFirst = "memory-first",
        /// A sampled port before a remembered one.
        SampleFirst = "sample-first",
        /// The first of the group.
        LowestPort = "lowest-port",
    }
}

settings! {
    /// DRILL(d, m).
    pub struct Settings {
        /// Random samples per packet (d).
        choices: u32 [1, 1024] = 2,
        /// Ports remembered per engine and group (m).
        memory: u32 [0, 1024] = 1,
        /// Who wins among equally loaded ports.
        tie: Tie = Tie::Random,
    }
}

/// DRILL(d, m).
#[derive(Clone, Debug)]
pub struct Drill {
    choices: usize,
    memory: usize,
    tie: Tie,
    /// Remembered ports, `memory` cells per group; [`EMPTY`] where there is none.
    cells: Vec<PortId>,
    /// The candidates of the packet at hand: samples first, then memory.
    seen: Vec<Seen>,
    /// For sampling without replacement when d > 2.
    deck: Vec<u16>,
}

/// A candidate that was looked at.
#[derive(Clone, Copy, Debug)]
struct Seen {
    index: u16,
    remembered: bool,
    load: u64,
    draw: u64,
}

const EMPTY: PortId = PortId(u16::MAX);

impl Drill {
    /// From the settings.
    #[must_use]
    pub fn new(settings: &Settings, _site: Site) -> Drill {
        Drill {
            choices: settings.choices as usize,
            memory: settings.memory as usize,
            tie: settings.tie,
            cells: Vec::new(),
            seen: Vec::with_capacity((settings.choices + settings.memory) as usize),
            deck: Vec::new(),
        }
    }

    /// Looks at `choices` distinct random candidates.
    fn sample(&mut self, candidates: &Candidates<'_>, random: &mut Random) {
        let ports = candidates.len() as u32;
        match self.choices.min(candidates.len()) {
            1 => self.look(candidates, random.below(ports) as u16, false),
            2 => {
                let first = random.below(ports);
                let second = random.below(ports - 1);
                self.look(candidates, first as u16, false);
                self.look(candidates, (second + u32::from(second >= first)) as u16, false);
            }
            many => self.sample_many(many, candidates, random),
        }
    }

    /// The first `many` cards of a shuffled deck.
    fn sample_many(&mut self, many: usize, candidates: &Candidates<'_>, random: &mut Random) {
        self.deck.clear();
        self.deck.extend(0..candidates.len() as u16);
        for n in 0..many {
            let other = n + random.below((candidates.len() - n) as u32) as usize;
            self.deck.swap(n, other);
            self.look(candidates, self.deck[n], false);
        }
    }

    /// Adds the remembered ports that are still in the group and were not sampled.
    fn recall(&mut self, candidates: &Candidates<'_>) {
        let first = candidates.group.index() * self.memory;
        if first + self.memory > self.cells.len() {
            self.cells.resize(first + self.memory, EMPTY);
        }
        for cell in first..first + self.memory {
            let port = self.cells[cell];
            let Some(index) = candidates.ports.iter().position(|candidate| *candidate == port) else {
                continue;
            };
            if self.seen.iter().all(|seen| usize::from(seen.index) != index) {
                self.look(candidates, index as u16, true);
            }
        }
    }

    fn look(&mut self, candidates: &Candidates<'_>, index: u16, remembered: bool) {
        let load = candidates.load(usize::from(index));
        self.seen.push(Seen { index, remembered, load, draw: 0 });
    }

    /// The order among equals; smaller wins.
    fn rank(&mut self, random: &mut Random) {
        for seen in &mut self.seen {
            seen.draw = match self.tie {
                Tie::Random => random.bits(),
                Tie::MemoryFirst => u64::from(!seen.remembered) << 32 | u64::from(random.bits() as u32),
                Tie::SampleFirst => u64::from(seen.remembered) << 32 | u64::from(random.bits() as u32),
                Tie::LowestPort => u64::from(seen.index),
            };
        }
    }

    /// The winner, and its place in the memory: the m least loaded of those seen, the winner first.
    fn decide(&mut self, candidates: &Candidates<'_>, random: &mut Random) -> usize {
        let least = self.seen.iter().map(|seen| seen.load).min().expect("at least one sample");
        let tied = self.seen.iter().filter(|seen| seen.load == least).count();
        if tied > 1 || self.memory > 1 {
            self.rank(random);
        }
        if self.memory > 1 {
            self.seen.sort_unstable_by_key(|seen| (seen.load, seen.draw));
        }
        let winner = self.seen.iter().min_by_key(|seen| (seen.load, seen.draw)).expect("at least one sample");
        let chosen = usize::from(winner.index);
        self.remember(candidates, chosen);
        chosen
    }

    fn remember(&mut self, candidates: &Candidates<'_>, chosen: usize) {
        let first = candidates.group.index() * self.memory;
        match self.memory {
            0 => {}
            1 => self.cells[first] = candidates.ports[chosen],
            _ => {
                for n in 0..self.memory {
                    let port = self.seen.get(n).map(|seen| candidates.ports[usize::from(seen.index)]);
                    self.cells[first + n] = port.unwrap_or(EMPTY);
                }
            }
        }
    }
}

impl Balancer for Drill {
    fn choose(
        &mut self,
        _packet: &Header,
        candidates: &Candidates<'_>,
        _now: Time,
        random: &mut Random,
    ) -> usize {
        self.seen.clear();
        self.sample(candidates, random);
        if self.memory > 0 {
            self.recall(candidates);
        }
        self.decide(candidates, random)
    }

    fn groups_changed(&mut self) {
        self.cells.clear();
    }

    fn reads_loads(&self) -> bool {
        true
    }
}
