//! Traffic for a simulated cluster: traffic matrices, sizes of packets, arrivals.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weft_core::units::PS_PER_S;
use weft_core::{Bytes, Purpose, Random, Rate, Span, Time};

/// A packet that enters the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterArrival {
    /// The instant.
    pub time: Time,
    /// The node it enters.
    pub from: u16,
    /// The node it leaves by.
    pub to: u16,
    /// Its flow.
    pub flow: u64,
    /// Its place in the flow, from 0.
    pub sequence: u32,
    /// Its size, without preamble and gap, as all rates of the cluster count.
    pub size: Bytes,
}

/// Shares of the external rate from each node to each other.
#[derive(Clone, Debug, PartialEq)]
pub struct TrafficMatrix {
    nodes: u16,
    shares: Vec<f64>,
}

/// Permutations that are mixed into a random matrix.
const MIXED: usize = 4;

impl TrafficMatrix {
    /// From every node to every other equally.
    #[must_use]
    pub fn uniform(nodes: u16) -> TrafficMatrix {
        let share = 1.0 / f64::from(nodes.max(2) - 1);
        TrafficMatrix::of(nodes, |from, to| if from == to { 0.0 } else { share })
    }

    /// All traffic of a node to the next one.
    #[must_use]
    pub fn permutation(nodes: u16) -> TrafficMatrix {
        TrafficMatrix::of(nodes, |from, to| f64::from(u8::from((from + 1) % nodes == to)))
    }

    /// All traffic to node 0, equally from all others, as much as its port carries.
    #[must_use]
    pub fn hot_spot(nodes: u16) -> TrafficMatrix {
        let share = 1.0 / f64::from(nodes.max(2) - 1);
        TrafficMatrix::of(nodes, |from, to| if to == 0 && from != 0 { share } else { 0.0 })
    }

    /// Node 0 sends all its traffic to node 1; no other node sends.
    #[must_use]
    pub fn one_to_one(nodes: u16) -> TrafficMatrix {
        TrafficMatrix::of(nodes, |from, to| f64::from(u8::from(from == 0 && to == 1)))
    }

    /// A random doubly stochastic matrix with an empty diagonal: a mixture of permutations without fixed points. Every
    /// row and column sums to 1.
    #[must_use]
    pub fn doubly_stochastic(nodes: u16, seed: u64) -> TrafficMatrix {
        let mut random = Random::new(seed, Purpose::Pairs, 0);
        let weights: Vec<f64> = (0..MIXED).map(|_| random.exponential(1.0)).collect();
        let sum: f64 = weights.iter().sum();
        let mut matrix = TrafficMatrix::of(nodes, |_, _| 0.0);
        for weight in weights {
            let to = derangement(nodes, &mut random);
            for (from, to) in to.into_iter().enumerate() {
                matrix.shares[from * usize::from(nodes) + usize::from(to)] += weight / sum;
            }
        }
        matrix
    }

    /// Given by a function of input and output.
    #[must_use]
    pub fn of(nodes: u16, share: impl Fn(u16, u16) -> f64) -> TrafficMatrix {
        let shares = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
        TrafficMatrix { nodes, shares: shares.map(|(from, to)| share(from, to)).collect() }
    }

    /// Nodes.
    #[must_use]
    pub fn nodes(&self) -> u16 {
        self.nodes
    }

    /// The share from one node to another.
    #[must_use]
    pub fn share(&self, from: u16, to: u16) -> f64 {
        self.shares[usize::from(from) * usize::from(self.nodes) + usize::from(to)]
    }

    /// The sum of all shares.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.shares.iter().sum()
    }

    /// Sums up to and including each pair.
    fn cumulated(&self) -> Vec<f64> {
        let mut sum = 0.0;
        self.shares
            .iter()
            .map(|share| {
                sum += share;
                sum
            })
            .collect()
    }
}

/// A random permutation without fixed points.
fn derangement(nodes: u16, random: &mut Random) -> Vec<u16> {
    let mut to: Vec<u16> = (0..nodes).collect();
    while nodes > 1 && to.iter().zip(0..).any(|(to, from)| *to == from) {
        random.shuffle(&mut to);
    }
    to
}

/// Sizes of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeMix {
    /// All of one size.
    Fixed(Bytes),
    /// Small, middle and full packets, 741 bytes on average: in place of the trace from Abilene, of which only an
    /// approximate mean is known.
    Mixed,
}

/// The mixture: size, and share of all packets.
const MIXTURE: [(u64, f64); 3] = [(64, 0.4), (576, 0.2), (1500, 0.4)];

impl SizeMix {
    /// The mean, bytes.
    #[must_use]
    pub fn mean(self) -> f64 {
        match self {
            SizeMix::Fixed(size) => size.0 as f64,
            SizeMix::Mixed => MIXTURE.iter().map(|(size, share)| *size as f64 * share).sum(),
        }
    }

    fn draw(self, random: &mut Random) -> Bytes {
        let SizeMix::Fixed(size) = self else {
            let mut drawn = random.unit();
            let within = |(_, share): &&(u64, f64)| {
                drawn -= share;
                drawn < 0.0
            };
            return Bytes(MIXTURE.iter().find(within).unwrap_or(&MIXTURE[2]).0);
        };
        size
    }
}

/// Independent packets: arrivals of all pairs are Poisson processes.
#[derive(Clone, Debug)]
pub struct PoissonArrivals {
    cumulated: Vec<f64>,
    nodes: u16,
    sizes: SizeMix,
    /// Mean time between packets, seconds.
    gap: f64,
    /// Number of flows among which the packets of a pair are divided.
    flows: u32,
    now: f64,
    random: Random,
    sequences: Vec<u32>,
}

impl PoissonArrivals {
    /// Packets according to a matrix of shares of this rate.
    #[must_use]
    pub fn new(matrix: &TrafficMatrix, rate: Rate, sizes: SizeMix, seed: u64) -> PoissonArrivals {
        // Enough to load the cores of a server equally, which divide the flows among them.
        let flows = (16_384 / u32::from(matrix.nodes().max(1))).max(64);
        let pairs = usize::from(matrix.nodes()).pow(2);
        PoissonArrivals {
            cumulated: matrix.cumulated(),
            nodes: matrix.nodes(),
            sizes,
            gap: sizes.mean() * 8.0 / (rate.0 as f64 * matrix.sum()),
            flows,
            now: 0.0,
            random: Random::new(seed, Purpose::Arrivals, 0),
            sequences: vec![0; pairs * flows as usize],
        }
    }
}

impl Iterator for PoissonArrivals {
    type Item = ClusterArrival;

    fn next(&mut self) -> Option<ClusterArrival> {
        self.now += self.random.exponential(self.gap);
        let drawn = self.random.unit() * self.cumulated.last()?;
        let pair = self.cumulated.partition_point(|sum| *sum <= drawn).min(self.cumulated.len() - 1);
        let flow = pair * self.flows as usize + self.random.below(self.flows) as usize;
        let sequence = self.sequences[flow];
        self.sequences[flow] += 1;
        let [from, to] =
            [pair / usize::from(self.nodes), pair % usize::from(self.nodes)].map(|node| node as u16);
        let time = Time((self.now * PS_PER_S as f64) as u64);
        Some(ClusterArrival {
            time,
            from,
            to,
            flow: flow as u64,
            sequence,
            size: self.sizes.draw(&mut self.random),
        })
    }
}

/// Traffic like that of many TCP flows between two nodes: flows of heavy-tailed length, whose packets come in short
/// bursts at the rate of the sender's access link, one burst per round trip.
#[derive(Clone, Debug)]
pub struct TraceArrivals {
    /// Next packets of flows, earliest first; ties by flow.
    due: BinaryHeap<Reverse<(Time, u64)>>,
    flows: Vec<TraceFlow>,
    /// Mean time between flows, seconds.
    gap: f64,
    next_flow: f64,
    random: Random,
}

#[derive(Clone, Copy, Debug)]
struct TraceFlow {
    left: u32,
    sequence: u32,
    access: Rate,
    /// Remaining packets of the current burst.
    burst: u32,
}

/// Packets of the shortest and the longest flow, and the shape of the Pareto distribution between them.
const LENGTHS: (f64, f64, f64) = (3.0, 1000.0, 1.2);
/// Round trip of the flows.
const ROUND_TRIP: Span = Span::from_ms(10);
/// Packets of a burst: 1 to this many, all equally likely.
const BURST: u32 = 4;
/// Seconds that practically no flow lasts: one of 1000 packets takes 4.0 +- 0.3.
const LONGEST: f64 = 8.0;

impl TraceArrivals {
    /// Traffic from node 0 to node 1 at this rate, as if it had begun long ago.
    #[must_use]
    pub fn new(rate: Rate, seed: u64) -> TraceArrivals {
        let mut random = Random::new(seed, Purpose::Arrivals, 1);
        let packets = rate.0 as f64 / (SizeMix::Mixed.mean() * 8.0);
        let gap = mean_length() / packets;
        let next_flow = random.exponential(gap);
        let mut arrivals =
            TraceArrivals { due: BinaryHeap::new(), flows: Vec::new(), gap, next_flow, random };
        arrivals.resume();
        arrivals
    }

    /// Adds the flows that began before the start and have packets left; their numbers begin anew. The time within bursts,
    /// a thousandth of the pauses between them, is neglected.
    fn resume(&mut self) {
        let mut age = self.random.exponential(self.gap);
        while age < LONGEST {
            let mut flow = self.flow();
            let mut at = -age;
            while at < 0.0 && flow.left > flow.burst {
                flow.left -= flow.burst;
                flow.burst = 1 + self.random.below(BURST);
                at += self.random.exponential(ROUND_TRIP.seconds());
            }
            if at >= 0.0 {
                self.add(at, flow);
            }
            age += self.random.exponential(self.gap);
        }
    }

    fn begin(&mut self) {
        let flow = self.flow();
        self.add(self.next_flow, flow);
        self.next_flow += self.random.exponential(self.gap);
    }

    fn flow(&mut self) -> TraceFlow {
        let (least, most, shape) = LENGTHS;
        let drawn = least / (1.0 - self.random.unit()).powf(1.0 / shape);
        let access = if self.random.chance(0.5) { Rate::from_mbps(100) } else { Rate::from_gbps(1) };
        let burst = 1 + self.random.below(BURST);
        TraceFlow { left: drawn.min(most).round() as u32, sequence: 0, access, burst }
    }

    fn add(&mut self, seconds: f64, flow: TraceFlow) {
        self.due.push(Reverse((Time((seconds * PS_PER_S as f64) as u64), self.flows.len() as u64)));
        self.flows.push(flow);
    }
}

/// Mean number of packets: of the Pareto distribution, bounded and rounded, the sum over k of the probability of k or more.
fn mean_length() -> f64 {
    let (least, most, shape) = LENGTHS;
    (1..=most as u32).map(|count| (least / (f64::from(count) - 0.5)).powf(shape).min(1.0)).sum()
}

impl Iterator for TraceArrivals {
    type Item = ClusterArrival;

    fn next(&mut self) -> Option<ClusterArrival> {
        while self.due.peek().is_none_or(|next| next.0.0.seconds() >= self.next_flow) {
            self.begin();
        }
        let Reverse((time, number)) = self.due.pop()?;
        let size = SizeMix::Mixed.draw(&mut self.random);
        let flow = &mut self.flows[number as usize];
        let arrival = ClusterArrival { time, from: 0, to: 1, flow: number, sequence: flow.sequence, size };
        (flow.sequence, flow.left, flow.burst) = (flow.sequence + 1, flow.left - 1, flow.burst - 1);
        if flow.left > 0 {
            let pause = if flow.burst > 0 {
                flow.access.time_for(size)
            } else {
                flow.burst = 1 + self.random.below(BURST);
                Span::from_seconds_rounded(self.random.exponential(ROUND_TRIP.seconds()))
            };
            self.due.push(Reverse((time + pause, number)));
        }
        Some(arrival)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_matrices_fill_every_port_both_ways() {
        for seed in 0..20 {
            let matrix = TrafficMatrix::doubly_stochastic(8, seed);
            for node in 0..8 {
                let row: f64 = (0..8).map(|to| matrix.share(node, to)).sum();
                let column: f64 = (0..8).map(|from| matrix.share(from, node)).sum();
                assert!(
                    (row - 1.0).abs() < 1e-12
                        && (column - 1.0).abs() < 1e-12
                        && matrix.share(node, node) == 0.0
                );
            }
        }
    }

    #[test]
    fn arrivals_have_the_rate_and_the_sizes_asked_for() {
        let (rate, seconds) = (Rate::from_gbps(10), 0.05);
        let matrix = TrafficMatrix::one_to_one(4);
        let poisson = PoissonArrivals::new(&matrix, rate, SizeMix::Mixed, 1);
        let bits: u64 =
            poisson.take_while(|one| one.time.seconds() < seconds).map(|one| one.size.bits()).sum();
        assert!((bits as f64 / seconds / 1e10 - 1.0).abs() < 0.02);
        // A trace has its rate from the start.
        let sent = |from: f64| {
            let within = |one: &ClusterArrival| one.time.seconds() < from + seconds;
            let trace = TraceArrivals::new(rate, 1).take_while(within);
            let bits: u64 = trace.filter(|one| one.time.seconds() >= from).map(|one| one.size.bits()).sum();
            bits as f64 / seconds / 1e10
        };
        for from in [0.0, 0.5] {
            assert!((sent(from) - 1.0).abs() < 0.03, "{from} s: {}", sent(from));
        }
    }

    #[test]
    fn a_trace_numbers_the_packets_of_each_flow() {
        let mut seen = std::collections::BTreeMap::new();
        let mut before = Time::ZERO;
        for one in TraceArrivals::new(Rate::from_gbps(1), 3).take(50_000) {
            assert!(one.time >= before);
            before = one.time;
            let next = seen.entry(one.flow).or_insert(0);
            assert_eq!(one.sequence, *next);
            *next += 1;
        }
        assert!(seen.len() > 1000);
    }
}
