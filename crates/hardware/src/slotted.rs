//! A leaf in slots: 48 inputs that send bursts of unit packets, 48 uplinks, and DRILL's engines with the random
//! numbers of the hardware. It shows how evenly the hardware spreads packets (the paper's figures 2 and 3 in
//! miniature). Must not decide anything itself: the reference decides, like the hardware.

use weft_core::{Purpose, Random};

use crate::lfsr::Registers;
use crate::reference::{ComponentRow, PacketRequest, ReferenceSwitch};
use crate::set::{PacketSizes, SETS, Set};

/// Inputs, and uplinks.
const PORTS: usize = 48;
/// Packets of a burst, on average; their number is geometric.
const BURST: f64 = 20.0;
/// Slots between samples: about 10 us at 10 Gbps and 1500 bytes.
const SAMPLED: u64 = 8;
/// Slots before the first sample.
const WARM_UP: u64 = 1000;

/// A measurement: DRILL(`samples`, `memory`) with a number of engines, at a load below 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlottedLeaf {
    /// d.
    pub samples: usize,
    /// m.
    pub memory: usize,
    /// Forwarding engines. Input i belongs to engine i modulo this.
    pub engines: usize,
    /// Share of the slots in which an input sends.
    pub load: f64,
    /// The source of random numbers.
    pub chance: SlottedChance,
    /// Seed of the sources and the shift registers.
    pub seed: u64,
}

/// Where the random numbers of the engines come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlottedChance {
    /// The shift registers of the hardware.
    Registers,
    /// The random streams of the simulator.
    Streams,
}

/// An engine's source of random numbers.
enum EngineChance {
    Registers(Registers),
    Stream(Random),
}

/// Queues, sources and engines of a run.
struct SlottedRun {
    engines: usize,
    reference: ReferenceSwitch,
    chance: Vec<EngineChance>,
    random: Random,
    load: f64,
    sends: Vec<bool>,
    queues: Vec<u32>,
    clock: u64,
}

impl SlottedLeaf {
    /// The mean, over samples, of the population standard deviation of the queue lengths, in packets.
    #[must_use]
    pub fn deviation(&self, slots: u64) -> f64 {
        let mut run = self.start();
        let (mut sum, mut samples) = (0.0, 0.0);
        for slot in 0..WARM_UP + slots {
            run.slot();
            if slot >= WARM_UP && slot % SAMPLED == 0 {
                sum += run.deviation();
                samples += 1.0;
            }
        }
        sum / samples
    }

    fn start(&self) -> SlottedRun {
        let set = Set {
            ports: PORTS,
            engines: self.engines,
            samples: self.samples,
            memory: self.memory,
            groups: 1,
            components: 1,
            sizes: PacketSizes::One,
            ..SETS[0]
        };
        let mut reference = ReferenceSwitch::new(set);
        reference.install(&[ComponentRow { members: (0..PORTS as u16).collect(), weight: 1 }]);
        let chance = |engine| match self.chance {
            SlottedChance::Registers => {
                EngineChance::Registers(Registers::new(self.seed, engine, set.samples, set.random_bits()))
            }
            SlottedChance::Streams => {
                EngineChance::Stream(Random::new(self.seed, Purpose::Test, 1 + engine as u64))
            }
        };
        let mut random = Random::new(self.seed, Purpose::Test, 0);
        SlottedRun {
            engines: self.engines,
            reference,
            chance: (0..self.engines).map(chance).collect(),
            load: self.load,
            sends: (0..PORTS).map(|_| random.chance(self.load)).collect(),
            random,
            queues: vec![0; PORTS],
            clock: 0,
        }
    }
}

impl SlottedRun {
    /// Packets of a slot are decided in rounds, one packet per engine and round. The engines of a round see the queues as one; the
    /// next round sees its packets. Then every uplink sends a packet.
    fn slot(&mut self) {
        for round in 0..PORTS / self.engines {
            self.clock += 1;
            let inputs = round * self.engines..(round + 1) * self.engines;
            let sending: Vec<usize> = inputs.filter(|input| self.sends[*input]).collect();
            let chosen: Vec<u16> = sending.iter().map(|input| self.decide(input % self.engines)).collect();
            for (input, port) in sending.iter().zip(&chosen) {
                self.reference.joins(input % self.engines, self.clock, *port, 1);
                self.queues[usize::from(*port)] += 1;
            }
        }
        for (port, queue) in self.queues.iter_mut().enumerate().filter(|(_, queue)| **queue > 0) {
            *queue -= 1;
            self.reference.leaves(port as u16, 1);
        }
        self.next_bursts();
    }

    fn decide(&mut self, engine: usize) -> u16 {
        let request = PacketRequest { group: 0, flow: 0, size: 1 };
        let chosen = match &mut self.chance[engine] {
            EngineChance::Registers(registers) => {
                self.reference.choose(engine, request, self.clock, &mut registers.draw())
            }
            EngineChance::Stream(stream) => self.reference.choose(engine, request, self.clock, stream),
        };
        chosen.expect("all links are up")
    }

    /// Bursts and pauses are geometric, so that an input sends in `load` of all slots.
    fn next_bursts(&mut self) {
        let pause = BURST * (1.0 - self.load) / self.load;
        for sends in &mut self.sends {
            // A burst may follow another immediately, so short pauses are possible at high load.
            let ends = *sends && self.random.chance(1.0 / BURST);
            *sends = if *sends && !ends { true } else { self.random.chance(1.0 / (1.0 + pause)) };
        }
    }

    fn deviation(&self) -> f64 {
        let mean = self.queues.iter().map(|queue| f64::from(*queue)).sum::<f64>() / PORTS as f64;
        let squares = self.queues.iter().map(|queue| (f64::from(*queue) - mean).powi(2));
        (squares.sum::<f64>() / PORTS as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_send_at_the_load_that_is_asked_for() {
        for load in [0.3, 0.8] {
            let chance = SlottedChance::Streams;
            let leaf = SlottedLeaf { samples: 1, memory: 0, engines: 1, load, chance, seed: 1 };
            let mut run = leaf.start();
            let mut sent = 0;
            for _ in 0..20_000 {
                run.next_bursts();
                sent += run.sends.iter().filter(|sends| **sends).count();
            }
            let measured = sent as f64 / (20_000 * PORTS) as f64;
            assert!((measured - load).abs() < 0.01, "{measured} of {load}");
        }
    }
}
