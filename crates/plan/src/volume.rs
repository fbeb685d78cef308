//! A rough estimate of what a run will carry: from its first flows, without losses. Runs nothing.

use weft_core::{Span, Time};
use weft_topology::Node;
use weft_workload::Flow;

use crate::setup::Setup;

/// Number of first flows that represent all.
const MOST_FLOWS: usize = 1_000;
/// Reading a port at the end of a bin costs about as much as a tenth of a packet hop: with this many hops per reading, all
/// readings cost well below 1 % of a run.
const HOPS_PER_READING: f64 = 128.0;
/// Minimum (whatever the cost) and maximum number of bins in a run's time series.
const SERIES_BINS: (f64, f64) = (2.0, 256.0);

/// A rough estimate of what a run carries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunVolume {
    /// Link traversals by any packet, on paths through the highest tier.
    pub packet_hops: f64,
    /// Time from the start of the run until the last flow starts, or until the hosts could have sent everything.
    pub lasts: Span,
}

impl Setup {
    /// What the run will carry; `None` if jobs add flows.
    #[must_use]
    pub fn volume(&self) -> Option<RunVolume> {
        if !self.flows.jobs().is_empty() {
            return None;
        }
        let (mut looked, mut payload, mut packets) = (0.0, 0.0, 0.0);
        for flow in self.flows.iter().take(MOST_FLOWS) {
            looked += 1.0;
            payload += flow.size.0 as f64;
            packets += self.packets_of(&flow);
        }
        let scale = self.flows.len() as f64 / f64::max(looked, 1.0);
        let sent = Span((payload * scale * 8e12 / self.host_capacity()) as u64);
        let arrivals = self.flows.arrivals().map_or(Span::ZERO, |(_, last)| last.since(Time::ZERO));
        let tiers = self.graph.switches().iter().map(|switch| switch.tier).max().unwrap_or(1);
        Some(RunVolume {
            packet_hops: packets * scale * 2.0 * f64::from(tiers),
            lasts: arrivals.max(sent).min(self.until.since(Time::ZERO)),
        })
    }

    /// Maximum number of bins of a time series, unless the scenario sets a number.
    #[must_use]
    pub fn affordable_bins(&self) -> usize {
        let readings = self.graph.links().len() as f64 * HOPS_PER_READING;
        let bins = self.volume().map_or(SERIES_BINS.1, |volume| volume.packet_hops / readings);
        bins.clamp(SERIES_BINS.0, SERIES_BINS.1) as usize
    }

    /// Packets of a flow in both directions, without losses: data, an acknowledgement of each, and the handshake.
    #[must_use]
    pub fn packets_of(&self, flow: &Flow) -> f64 {
        if flow.constant_rate().is_some() {
            return self.transport.datagrams(flow.size).count as f64;
        }
        let packets = self.sender(flow).packetisation(flow.size);
        2.0 * (packets.count as f64 + f64::from(u8::from(packets.handshake.is_some())))
    }

    /// The sum of the rates of all hosts, in bit/s; at least 1.
    fn host_capacity(&self) -> f64 {
        let of_hosts = self.graph.links().iter().filter(|link| matches!(link.from, Node::Host(_)));
        of_hosts.map(|link| link.rate.0 as f64).sum::<f64>().max(1.0)
    }
}
