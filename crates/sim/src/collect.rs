//! From the state at the end of a run to its record.

use weft_core::record::{FlowRecord, LinkRecord, NodeRecord, PacketBalance, RunRecord, Stop};
use weft_core::{Bytes, FlowId, LinkId, PortId, Span, Time};
use weft_switch::PortCounters;
use weft_topology::{Handshake, Ideal, Link, Node, Train};
use weft_transport::ReceiverReport;

use crate::domain::{Domain, Placed};
use crate::flow_series::gathered;
use crate::run::{Finish, Simulation};
use crate::setup::Plan;
use crate::tally::Tally;

/// What the run has to say, from all its domains.
pub(crate) fn collect(simulation: Simulation, finish: Finish) -> RunRecord {
    let Simulation { plan, mut domains, sampler } = simulation;
    // A run that reached its limit includes that instant; one that ended on the grid does not.
    let end = if finish.stop == Stop::Finished { finish.at } else { finish.at + Span(1) };
    let mut tally = Tally::new();
    for domain in &mut domains {
        domain.take_back(end);
        tally.merge(&domain.tally);
    }
    let (queues, imbalance) = match &sampler {
        Some(sampler) => {
            let (series, imbalance) = sampler.results();
            (Some(series), imbalance)
        }
        None => (None, Vec::new()),
    };
    let left = domains.iter().map(|domain| domain.pool.alive() as u64).sum();
    let collector = Collector { plan: &plan, ended: finish.at, end };
    let links = collector.links(&mut domains);
    RunRecord {
        tags: plan.setup.tags.clone(),
        nodes: collector.nodes(),
        packet_hops: links.iter().map(|link| link.packets).sum(),
        links,
        flows: collector.flows(&domains),
        hops: tally.hops(),
        drops: tally.drops(),
        queues,
        imbalance,
        flow_series: gathered(&mut domains),
        events: tally.events,
        packets: PacketBalance { left, ..tally.packets },
        ended: finish.at,
        warm_up: plan.setup.warm_up,
        stop: finish.stop,
    }
}

impl Domain {
    /// What was counted in advance and did not happen before `end`: transmissions of foreseen ports.
    fn take_back(&mut self, end: Time) {
        for switch in &mut self.switches {
            let Some(Placed { switch, first_link }) = switch else { continue };
            switch.settle(end);
            for port in 0..switch.ports() {
                let (packets, bytes) = switch.waiting(end, PortId(port as u16));
                let wire = &mut self.wires[*first_link as usize + port];
                wire.packets -= packets;
                wire.sent -= bytes;
            }
        }
    }
}

/// Makes records.
struct Collector<'a> {
    plan: &'a Plan,
    ended: Time,
    /// Before this instant everything has happened.
    end: Time,
}

impl Collector<'_> {
    fn nodes(&self) -> Vec<NodeRecord> {
        let graph = &self.plan.setup.graph;
        let tier = |node: Node| match node {
            Node::Host(_) => 0,
            Node::Switch(switch) => graph.switches()[switch.index()].tier,
        };
        let nodes = (0..graph.nodes()).map(|number| graph.node_at(number));
        nodes.map(|node| NodeRecord { name: graph.name(node), tier: tier(node) }).collect()
    }

    fn links(&self, domains: &mut [Domain]) -> Vec<LinkRecord> {
        let links = self.plan.setup.graph.links().iter().enumerate();
        links.map(|(number, link)| self.link(LinkId(number as u32), link, domains)).collect()
    }

    fn link(&self, id: LinkId, link: &Link, domains: &mut [Domain]) -> LinkRecord {
        let graph = &self.plan.setup.graph;
        // Packets are lost at both ends of a link; everything else is counted by the transmitter.
        let lost = domains.iter().map(|domain| domain.wires[id.index()].lost).sum::<u64>();
        let domain = &mut domains[self.plan.partition.of(link.from)];
        let wire = &domain.wires[id.index()];
        let (sent, packets, failed) = (wire.sent, wire.packets, wire.failed);
        let counters = self.counters(domain, link);
        LinkRecord {
            from: graph.node_index(link.from) as u32,
            to: graph.node_index(link.to) as u32,
            port: link.port.0,
            rate: link.rate,
            delay: link.delay,
            failed,
            sent,
            packets,
            dropped: lost + counters.dropped,
            marked: counters.marked,
            peak: counters.peak,
            mean_queue: counters.byte_time as f64 / (self.ended.0.max(1)) as f64,
        }
    }

    fn counters(&self, domain: &mut Domain, link: &Link) -> PortCounters {
        let Node::Switch(switch) = link.from else { return PortCounters::default() };
        let own = domain.switches[switch.index()].as_mut().expect("a domain has its switches");
        own.switch.counters(self.ended, PortId(link.port.0))
    }

    /// One record per flow that was to start before the end.
    fn flows(&self, domains: &[Domain]) -> Vec<FlowRecord> {
        let setup = &self.plan.setup;
        let due = setup.flows.partition_point(|flow| flow.start < self.end);
        let (mut sent, mut received) = (vec![(Bytes::ZERO, 0); due], vec![ReceiverReport::default(); due]);
        for Domain { ends, .. } in domains {
            for active in ends.senders.active() {
                let report = active.end.report();
                sent[active.flow.index()] = (report.retransmitted, report.timeouts);
            }
            for active in ends.receivers.active() {
                received[active.flow.index()] = active.end.report();
            }
            for (flow, retransmitted, timeouts) in ends.outcomes.senders() {
                sent[flow.index()] = (retransmitted, timeouts);
            }
            for (flow, report) in ends.outcomes.receivers(|flow| setup.flows[flow.index()].size) {
                received[flow.index()] = report;
            }
        }
        let mut ideal = Ideal::new(&setup.graph, &setup.timeline.initial, setup.switch.latency);
        (0..due)
            .map(|number| self.flow_record(number, (sent[number], received[number]), &mut ideal))
            .collect()
    }

    fn flow_record(
        &self,
        number: usize,
        ((retransmitted, timeouts), received): ((Bytes, u32), ReceiverReport),
        ideal: &mut Ideal<'_>,
    ) -> FlowRecord {
        let flow = &self.plan.setup.flows[number];
        FlowRecord {
            flow: FlowId(number as u32),
            tag: flow.tag,
            source: flow.source,
            destination: flow.destination,
            size: flow.size,
            start: flow.start,
            end: received.completed,
            ideal: self.ideal(number, ideal),
            delivered: received.delivered,
            retransmitted,
            timeouts,
            dupacks: received.dupacks,
            dupacks_reorder: received.dupacks_reorder,
            out_of_order: received.out_of_order,
            displacement: received.displacement,
            gro_batches: received.gro_batches,
            ecn_marks: received.ecn_marks,
        }
    }

    /// The time the flow would take alone at full rate.
    fn ideal(&self, number: usize, ideal: &mut Ideal<'_>) -> Span {
        let flow = &self.plan.setup.flows[number];
        let transport = &self.plan.setup.transport;
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
        let alone = ideal.fct(flow.source, flow.destination, &train);
        match constant {
            None => alone,
            Some(rate) => {
                let pause = rate.time_for(Bytes(packets.full_wire.0));
                alone.max(pause * packets.count.saturating_sub(1) + alone / packets.count.max(1))
            }
        }
    }
}
