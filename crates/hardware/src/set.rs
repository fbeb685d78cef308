//! The parameter sets of the co-simulation: how the engine is built, and its traffic.

use weft_core::units::did_you_mean;
use weft_switch::balance::drill::Tie;

/// Parameters of the hardware, and the traffic it is tested with. Probabilities are per clock, in units of 1/1024.
#[derive(Clone, Copy, Debug)]
pub struct Set {
    /// Its name.
    pub name: &'static str,
    /// Its purpose.
    pub purpose: &'static str,
    /// Output ports.
    pub ports: usize,
    /// Forwarding engines.
    pub engines: usize,
    /// Bits of a queue length.
    pub queue_bits: usize,
    /// Bits of a packet's size.
    pub size_bits: usize,
    /// Random samples per packet (d).
    pub samples: usize,
    /// Ports remembered (m).
    pub memory: usize,
    /// Number of groups.
    pub groups: usize,
    /// Components per group.
    pub components: usize,
    /// Bits of a component's weight.
    pub weight_bits: usize,
    /// Who wins among equally loaded ports.
    pub tie: Tie,
    /// Clock cycles during which other engines do not see a decision.
    pub hidden: usize,
    /// Whether an engine sees its own decisions at once.
    pub own: bool,
    /// Sizes of packets: 0, 1, or any.
    pub sizes: PacketSizes,
    /// Maximum number of ports of a component; 0: all ports.
    pub members: usize,
    /// Weights of the components of group after group, over and over, 0 for an empty row; none: they are drawn.
    pub weights: &'static [&'static [u64]],
    /// How often a request arrives.
    pub offered: u32,
    /// How often an answer is accepted.
    pub taken: u32,
    /// How often a link fails or returns.
    pub flips: u32,
    /// How often all rows are rewritten, in units of 1/65536.
    pub rewrites: u32,
    /// How often there is a reset, in units of 1/65536.
    pub resets: u32,
}

/// Sizes of packets, in the unit of queue lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketSizes {
    /// Zero: all queues stay equal, every decision is a tie.
    Zero,
    /// One: ties are frequent.
    One,
    /// Any size from 1 up to the maximum of the width.
    Any,
}

/// The engine that the paper recommends, in a switch of 48 ports, under all disturbances at once.
const USUAL: Set = Set {
    name: "",
    purpose: "",
    ports: 48,
    engines: 1,
    queue_bits: 16,
    size_bits: 8,
    samples: 2,
    memory: 1,
    groups: 4,
    components: 4,
    weight_bits: 4,
    tie: Tie::Random,
    hidden: 0,
    own: true,
    sizes: PacketSizes::Any,
    members: 0,
    weights: &[],
    offered: 900,
    taken: 900,
    flips: 5,
    rewrites: 20,
    resets: 5,
};

/// No disturbances: links stay up, rows stay unchanged, and nothing waits.
const CALM: Set = Set { offered: 1024, taken: 1024, flips: 0, rewrites: 0, resets: 0, ..USUAL };

/// All sets.
#[rustfmt::skip]
pub const SETS: &[Set] = &[
    Set { name: "paper", purpose: "DRILL(2,1), 48 ports, one engine, a decision in every clock", ..CALM },
    Set { name: "faults", purpose: "like `paper`, with failures, rewritten tables, resets and back pressure", ..USUAL },
    Set { name: "random", purpose: "d = 1, m = 0: per-packet random", ports: 8, samples: 1, memory: 0, ..USUAL },
    Set { name: "shortest-queue", purpose: "d = k, m = 0: join the shortest of all queues", ports: 8, samples: 8, memory: 0, sizes: PacketSizes::One, ..USUAL },
    Set { name: "one-one", purpose: "d = 1, m = 1: the smallest stable engine", ports: 64, samples: 1, groups: 2, components: 2, ..USUAL },
    Set { name: "no-memory", purpose: "d = 2, m = 0", ports: 64, memory: 0, groups: 2, components: 2, ..USUAL },
    Set { name: "four-samples", purpose: "d = 4: a shuffle instead of a skip", ports: 48, samples: 4, groups: 2, components: 2, ..USUAL },
    Set { name: "two-cells", purpose: "d = 2, m = 2: candidates are sorted by rank", ports: 64, memory: 2, groups: 2, components: 2, ..USUAL },
    Set { name: "two-ports", purpose: "the smallest switch with a choice; half of the time there is none", ports: 2, flips: 40, ..USUAL },
    Set { name: "three-ports", purpose: "a port count that is not a power of two, groups of one to three", ports: 3, components: 1, flips: 40, ..USUAL },
    Set { name: "all-equal", purpose: "packets of size 0: every queue is equal, every decision a draw", sizes: PacketSizes::Zero, ..CALM },
    Set { name: "all-equal-ranked", purpose: "the same with d = 6, m = 5, by ranks, above groups of one to three ports", ports: 8, samples: 6, memory: 5, members: 3, sizes: PacketSizes::Zero, ..USUAL },
    Set { name: "four-engines", purpose: "engines that see each other's decisions two clocks later, and their own at once", engines: 4, hidden: 2, groups: 2, components: 2, sizes: PacketSizes::One, ..USUAL },
    Set { name: "sixteen-engines", purpose: "an engine per port: each sees the decisions of fifteen others a clock later", ports: 16, engines: 16, hidden: 1, groups: 1, components: 1, sizes: PacketSizes::One, ..USUAL },
    Set { name: "store", purpose: "nobody sees a decision for eight clocks: queues that run below zero", ports: 8, engines: 2, hidden: 8, own: false, sizes: PacketSizes::One, ..USUAL },
    Set { name: "snapshot", purpose: "two engines, two ports, ties to the lowest: both take port 0 of equal queues", ports: 2, engines: 2, hidden: 1, groups: 1, components: 1, tie: Tie::LowestPort, sizes: PacketSizes::One, ..USUAL },
    Set { name: "memory-first", purpose: "ties to a remembered port", ports: 16, memory: 2, tie: Tie::MemoryFirst, sizes: PacketSizes::One, ..USUAL },
    Set { name: "sample-first", purpose: "ties to a sampled port; weights 1:2, 4:1:1 and 1:3", ports: 16, groups: 3, components: 3, weights: &[&[1, 2, 0], &[4, 1, 1], &[1, 3, 0]], members: 5, tie: Tie::SampleFirst, sizes: PacketSizes::One, ..USUAL },
    Set { name: "large", purpose: "128 ports, sixteen components of uneven weight, long queues", ports: 128, queue_bits: 20, size_bits: 12, samples: 3, groups: 2, components: 16, weight_bits: 8, members: 40, ..USUAL },
    Set { name: "twenty", purpose: "d = 20, m = 20 on two ports: the same as the shorter of two queues", ports: 2, queue_bits: 12, samples: 20, memory: 20, groups: 2, components: 2, sizes: PacketSizes::One, ..USUAL },
];

/// The sets with these names; all sets if no name is given.
///
/// # Errors
/// Every unknown name, with the nearest one.
pub fn named(names: &[String]) -> Result<Vec<Set>, String> {
    let known = || SETS.iter().map(|set| set.name);
    let wrong = names.iter().filter(|name| !known().any(|set| set == *name));
    let complaint = |name: &String| format!("no parameter set `{name}`{}", did_you_mean(name, known()));
    let complaints: Vec<String> = wrong.map(complaint).collect();
    if !complaints.is_empty() {
        return Err(format!("{}; `weft vectors drill --list` has all of them", complaints.join("\n")));
    }
    let wanted = |set: &&Set| names.is_empty() || names.iter().any(|name| name == set.name);
    Ok(SETS.iter().filter(wanted).copied().collect())
}

/// All sets, one per line.
#[must_use]
pub fn list() -> String {
    SETS.iter().map(|set| format!("{:<18}{}\n", set.name, set.purpose)).collect()
}

impl Set {
    /// The number of the tie rule in `drill.sv`.
    #[must_use]
    pub fn tie_number(&self) -> u32 {
        match self.tie {
            Tie::Random => 0,
            Tie::MemoryFirst => 1,
            Tie::SampleFirst => 2,
            Tie::LowestPort => 3,
        }
    }

    /// The weight that the set gives to a row of the table, if it gives any.
    #[must_use]
    pub fn weight(&self, row: usize) -> Option<u64> {
        let of_group = self.weights.get(row / self.components % self.weights.len().max(1))?;
        Some(of_group[row % self.components])
    }

    /// Random bits per packet.
    #[must_use]
    pub fn random_bits(&self) -> usize {
        let ties = match self.tie {
            Tie::Random if self.memory <= 1 => 16,
            Tie::LowestPort => 0,
            _ => 8 * (self.samples + self.memory),
        };
        16 * self.samples + ties
    }
}
