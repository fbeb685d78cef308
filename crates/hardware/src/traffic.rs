//! The traffic and disturbances of the hardware under test: requests, back pressure, departures, failures, rewritten
//! rows, resets. Must not depend on how decisions are made.

use std::collections::VecDeque;

use weft_core::{Purpose, Random};

use crate::pipeline::{ClockInputs, EngineOutputs};
use crate::reference::{ComponentRow, PacketRequest};
use crate::set::{PacketSizes, Set};

/// Clocks of reset at the start.
const RESET: u64 = 2;

/// Draws the inputs of each clock.
pub struct VectorTraffic {
    set: Set,
    random: Random,
    clock: u64,
    /// Rows still to be written, the next one last.
    writes: Vec<(usize, ComponentRow)>,
    /// By engine: the offered request.
    pending: Vec<Option<PacketRequest>>,
    /// By port: sizes of queued packets.
    queues: Vec<VecDeque<u16>>,
    held: Vec<u64>,
}

impl VectorTraffic {
    /// The traffic of a parameter set.
    #[must_use]
    pub fn new(set: Set, seed: u64) -> VectorTraffic {
        let mut traffic = VectorTraffic {
            random: Random::new(seed, Purpose::Test, set.name.len() as u64),
            clock: 0,
            writes: Vec::new(),
            pending: vec![None; set.engines],
            queues: vec![VecDeque::new(); set.ports],
            held: vec![0; set.ports],
            set,
        };
        traffic.rewrite();
        traffic
    }

    /// The inputs of the next clock.
    pub fn draw(&mut self) -> ClockInputs {
        self.clock += 1;
        if self.clock <= RESET {
            return self.reset();
        }
        if self.writes.is_empty() {
            if self.rarely(self.set.resets) {
                return self.reset();
            }
            if self.rarely(self.set.rewrites) {
                self.rewrite();
            }
        }
        let flips = self.often(self.set.flips);
        let flip = flips.then(|| self.random.below(self.set.ports as u32) as u16);
        self.offer();
        let engines = self.pending.clone();
        ClockInputs {
            reset: false,
            write: self.writes.pop(),
            flip,
            leaves: self.leaves(),
            engines: engines.into_iter().map(|request| (request, self.often(self.set.taken))).collect(),
        }
    }

    /// Takes the outputs of a clock: accepted requests, and decided packets.
    pub fn saw(&mut self, outputs: &[EngineOutputs], decided: &[(u16, u16)]) {
        for (pending, _) in self.pending.iter_mut().zip(outputs).filter(|(_, output)| output.ready) {
            *pending = None;
        }
        for (port, size) in decided {
            self.queues[usize::from(*port)].push_back(*size);
            self.held[usize::from(*port)] += u64::from(*size);
        }
    }

    fn often(&mut self, of_1024: u32) -> bool {
        self.random.below(1024) < of_1024
    }

    fn rarely(&mut self, of_65536: u32) -> bool {
        self.random.below(65536) < of_65536
    }

    fn reset(&mut self) -> ClockInputs {
        self.pending.fill(None);
        self.held.fill(0);
        self.queues.iter_mut().for_each(VecDeque::clear);
        ClockInputs { reset: true, engines: vec![(None, true); self.set.engines], ..ClockInputs::default() }
    }

    /// Draws rows for all groups. A component may be empty.
    fn rewrite(&mut self) {
        let Set { ports, groups, components, members, weight_bits, .. } = self.set;
        let most = if members == 0 { ports } else { members.min(ports) };
        for number in (0..groups * components).rev() {
            let count = self.random.below(most as u32 + 1);
            // The first row of a group has as many ports as allowed, so that large groups are also tested.
            let count = if number % components == 0 { most as u32 } else { count };
            let mut members: Vec<u16> =
                self.random.distinct(count, ports as u32).into_iter().map(|port| port as u16).collect();
            members.sort_unstable();
            let drawn = 1 + u64::from(self.random.below((1 << weight_bits) - 1));
            let row = match self.set.weight(number) {
                Some(0) => ComponentRow { members: Vec::new(), weight: 1 },
                given => ComponentRow { members, weight: given.unwrap_or(drawn) },
            };
            self.writes.push((number, row));
        }
    }

    /// Offers new requests to engines without one while counters have room.
    fn offer(&mut self) {
        let largest = 1u64 << self.set.size_bits;
        let room = (1 << self.set.queue_bits) - 16 * self.set.engines as u64 * largest;
        let full = self.held.iter().any(|held| *held > room);
        for engine in 0..self.set.engines {
            if self.pending[engine].is_none() && !full && self.often(self.set.offered) {
                self.pending[engine] = Some(self.request());
            }
        }
    }

    fn request(&mut self) -> PacketRequest {
        let size = match self.set.sizes {
            PacketSizes::Zero => 0,
            PacketSizes::One => 1,
            PacketSizes::Any => 1 + self.random.below((1 << self.set.size_bits) - 1) as u16,
        };
        let group = self.random.below(self.set.groups as u32) as u16;
        PacketRequest { group, flow: self.random.bits() as u32, size }
    }

    /// Draws departures: at most one packet per port, and in total one more than engines decide. Every third port is
    /// slow.
    fn leaves(&mut self) -> Vec<(u16, u16)> {
        let mut leaves: Vec<(u16, u16)> = Vec::new();
        for _ in 0..=self.set.engines {
            let port = self.random.below(self.set.ports as u32) as u16;
            let slow = port.is_multiple_of(3) && self.random.chance(0.5);
            if slow || leaves.iter().any(|(other, _)| *other == port) {
                continue;
            }
            if let Some(size) = self.queues[usize::from(port)].pop_front() {
                self.held[usize::from(port)] -= u64::from(size);
                leaves.push((port, size));
            }
        }
        leaves
    }
}
