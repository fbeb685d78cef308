//! The outcome of a simulated cluster.

use std::collections::BTreeMap;

use weft_core::units::PS_PER_S;
use weft_core::{Rate, Span};

use crate::director::{Director, DirectorCounters};
use crate::shape::ClusterShape;

/// Packets lost, by place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClusterLosses {
    /// At a card that is saturated.
    pub card: u64,
    /// At cores that are saturated.
    pub core: u64,
    /// At a link that is full.
    pub link: u64,
    /// In a node that failed, or on the way to it.
    pub failure: u64,
    /// Because the output node was known to be down.
    pub no_path: u64,
}

impl ClusterLosses {
    /// All of them.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.overload() + self.failure + self.no_path
    }

    /// Those without a failure.
    #[must_use]
    pub fn overload(&self) -> u64 {
        self.card + self.core + self.link
    }
}

/// Times that packets spent in the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencySummary {
    /// Packets.
    pub packets: u64,
    /// The shortest.
    pub least: Span,
    /// The longest.
    pub most: Span,
    sum: u128,
}

impl LatencySummary {
    /// The mean, microseconds.
    #[must_use]
    pub fn mean_us(&self) -> f64 {
        self.sum as f64 / self.packets.max(1) as f64 / 1e6
    }
}

/// The outcome of a simulation. Counts cover the whole run, bytes the measured part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterOutcome {
    /// The measured part.
    pub measured: Span,
    /// Packets that entered.
    pub entered: u64,
    /// Packets that did not enter, because the node was down.
    pub refused: u64,
    /// Packets that left.
    pub delivered: u64,
    /// Packets lost.
    pub losses: ClusterLosses,
    /// Packets still inside when nothing more could happen: always 0.
    pub inside: u64,
    /// How often headers were parsed.
    pub parsed: u64,
    /// How often a node that was neither input nor output moved a packet.
    pub relayed: u64,
    /// Maximum number of nodes that a packet visited.
    pub most_nodes: u8,
    /// Bytes that entered.
    pub offered: u64,
    /// Bytes processed by each node: a packet counts once in every node that it visits.
    pub processed: Vec<u64>,
    /// Bytes sent by each internal link.
    pub links: BTreeMap<(u16, u16), u64>,
    /// Bytes that left by each external port.
    pub outputs: Vec<u64>,
    /// Bytes delivered, by input and output.
    pub pairs: BTreeMap<(u16, u16), u64>,
    /// Latency, by nodes visited.
    pub latencies: BTreeMap<u8, LatencySummary>,
    /// Reordered sequences in the measured part.
    pub reordered: u64,
    /// Packets that left in the measured part.
    pub left: u64,
    /// Decisions of each node.
    pub decided: Vec<DirectorCounters>,
    /// Flows forgotten by flowlet tables.
    pub evictions: u64,
}

impl ClusterOutcome {
    pub(super) fn new(shape: ClusterShape, measured: Span) -> ClusterOutcome {
        ClusterOutcome {
            measured,
            processed: vec![0; shape.nodes().into()],
            outputs: vec![0; shape.ports().into()],
            decided: vec![DirectorCounters::default(); shape.nodes().into()],
            ..ClusterOutcome::default()
        }
    }

    /// Counts what the director of a node has decided, when the node or the run ends.
    pub(super) fn count(&mut self, node: usize, director: &Director) {
        self.decided[node] += director.counters();
        self.evictions += director.evictions();
    }

    pub(super) fn latency(&mut self, visited: u8, span: Span) {
        let fresh = LatencySummary { packets: 0, least: span, most: span, sum: 0 };
        let known = self.latencies.entry(visited).or_insert(fresh);
        known.packets += 1;
        known.least = known.least.min(span);
        known.most = known.most.max(span);
        known.sum += u128::from(span.0);
    }

    /// The rate at which `bytes` bytes are carried in the measured part.
    #[must_use]
    pub fn rate(&self, bytes: u64) -> Rate {
        Rate((u128::from(bytes) * 8 * u128::from(PS_PER_S) / u128::from(self.measured.0.max(1))) as u64)
    }

    /// The rate processed by the busiest node.
    #[must_use]
    pub fn busiest(&self) -> Rate {
        self.rate(self.processed.iter().copied().max().unwrap_or_default())
    }

    /// The rate carried by the busiest internal link.
    #[must_use]
    pub fn busiest_link(&self) -> Rate {
        self.rate(self.links.values().copied().max().unwrap_or_default())
    }

    /// The rate sent by all external ports.
    #[must_use]
    pub fn throughput(&self) -> Rate {
        self.rate(self.outputs.iter().sum())
    }

    /// Jain's index of fairness over the external ports.
    #[must_use]
    pub fn fairness(&self) -> f64 {
        let sum: f64 = self.outputs.iter().map(|bytes| *bytes as f64).sum();
        let squares: f64 = self.outputs.iter().map(|bytes| (*bytes as f64).powi(2)).sum();
        sum * sum / (squares * self.outputs.len() as f64)
    }

    /// Reordered sequences per packet that left.
    #[must_use]
    pub fn reordering(&self) -> f64 {
        self.reordered as f64 / self.left.max(1) as f64
    }

    /// Shortest and longest latency of all packets.
    #[must_use]
    pub fn latency_range(&self) -> Option<(Span, Span)> {
        let least = self.latencies.values().map(|one| one.least).min()?;
        Some((least, self.latencies.values().map(|one| one.most).max()?))
    }
}
