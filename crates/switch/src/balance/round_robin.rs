//! Per-packet round robin: each engine walks the ports of a group in turn.
//!
//! *Paper*: baseline of DRILL (SIGCOMM'17 section 4). *State*: one pointer and the port order per (engine, group),
//! random start; none per flow. *Option*: a new random port order after some full rounds, against lockstep between
//! switches. *Limits*: blind to packet sizes and to other engines.

use weft_core::{Bytes, Header, Random, Time, settings};

use super::{Balancer, BalancerSite, Candidates, Choices, State};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "each packet on the next port in turn";

settings! {
    /// Per-packet round robin.
    pub struct RoundRobinSettings {
        /// Draw a new port order after this many full rounds; 0: never.
        permute_after: u32 [0, 1000000] = 0,
    }
}

/// Per-packet round robin.
#[derive(Clone, Debug)]
pub struct RoundRobin {
    permute_after: u32,
    walks: Vec<Walk>,
}

/// The state of one group.
#[derive(Clone, Debug, Default)]
struct Walk {
    order: Vec<u16>,
    next: usize,
    rounds: u32,
}

impl RoundRobin {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &RoundRobinSettings, _site: BalancerSite) -> RoundRobin {
        RoundRobin { permute_after: settings.permute_after, walks: Vec::new() }
    }
}

impl Walk {
    fn start(&mut self, ports: usize, random: &mut Random) {
        self.order = (0..ports as u16).collect();
        self.next = random.below(ports as u32) as usize;
    }

    fn step(&mut self, permute_after: u32, random: &mut Random) -> usize {
        let chosen = usize::from(self.order[self.next]);
        self.next += 1;
        if self.next == self.order.len() {
            self.next = 0;
            self.rounds += 1;
            if self.rounds == permute_after {
                self.rounds = 0;
                random.shuffle(&mut self.order);
            }
        }
        chosen
    }
}

impl Balancer for RoundRobin {
    fn choose(
        &mut self,
        _packet: &Header,
        candidates: &mut Candidates<'_>,
        _now: Time,
        random: &mut Random,
    ) -> usize {
        let group = candidates.group.index();
        if group >= self.walks.len() {
            self.walks.resize(group + 1, Walk::default());
        }
        let walk = &mut self.walks[group];
        if walk.order.len() != candidates.len() {
            walk.start(candidates.len(), random);
        }
        walk.step(self.permute_after, random)
    }

    fn groups_changed(&mut self) {
        self.walks.clear();
    }

    fn state(&self, choices: Choices) -> State {
        let orders = choices.ports * size_of::<u16>() as u64;
        State { fixed: Bytes(choices.components * size_of::<Walk>() as u64 + orders), ..State::default() }
    }
}
