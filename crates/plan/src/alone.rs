//! How long a flow of a setup takes alone in the empty network: the ideal that every engine compares with.

use weft_core::{Bytes, Span, SwitchId};
use weft_topology::{Handshake, Ideal, Train};
use weft_workload::Flow;

use crate::setup::Setup;

/// Completion times without competition, over the routes at the start.
pub struct Alone<'a> {
    setup: &'a Setup,
    ideal: Ideal<'a>,
}

impl<'a> Alone<'a> {
    /// For the flows of a setup.
    #[must_use]
    pub fn new(setup: &'a Setup) -> Alone<'a> {
        let latency = |number: usize| setup.switch_at(SwitchId(number as u32)).latency;
        let latencies = (0..setup.graph.switches().len()).map(latency).collect();
        Alone { setup, ideal: Ideal::with_latencies(&setup.graph, &setup.timeline.initial, latencies) }
    }

    /// Completion time at full rate, or at the constant rate of the flow.
    pub fn completion(&mut self, flow: &Flow) -> Span {
        let transport = self.setup.sender(flow);
        let constant = flow.constant_rate();
        let packets = if constant.is_some() {
            transport.datagrams(flow.size)
        } else {
            transport.packetisation(flow.size)
        };
        let train = Train {
            count: packets.count,
            full_wire: packets.full_wire,
            last_wire: packets.last_wire,
            handshake: packets.handshake.map(|(syn_wire, synack_wire)| Handshake { syn_wire, synack_wire }),
        };
        let alone = self.ideal.fct(flow.source, flow.destination, &train);
        let Some(rate) = constant else { return alone };
        // The last datagram leaves when the application has it, and is alone on its way.
        let interval = rate.time_for(Bytes(transport.datagram_mss()));
        let last = Train { count: 1, full_wire: train.last_wire, ..train };
        let after = self.ideal.fct(flow.source, flow.destination, &last);
        alone.max(interval * packets.count.saturating_sub(1) + after)
    }
}
