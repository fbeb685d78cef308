//! From the state at the end of a run to its record.

use std::sync::Arc;

use weft_core::record::{FlowRecord, LinkRecord, NodeRecord, PacketBalance, RunRecord, Stop};
use weft_core::{Bytes, FlowId, PortId, Span};
use weft_topology::{Handshake, Ideal, Node, Train};
use weft_transport::{ReceiverReport, SenderReport};

use crate::ends::Slab;
use crate::network::Network;

impl Network {
    /// What the run has to say.
    pub(crate) fn record(mut self, stop: Stop) -> RunRecord {
        let links = self.link_records();
        let (queues, imbalance) = match &self.sampler {
            Some(sampler) => {
                let (series, imbalance) = sampler.results();
                (Some(series), imbalance)
            }
            None => (None, Vec::new()),
        };
        RunRecord {
            tags: self.setup.tags.clone(),
            nodes: self.node_records(),
            links,
            flows: self.flow_records(),
            hops: self.tally.hops(),
            drops: self.tally.drops(),
            queues,
            imbalance,
            flow_series: self.flow_watch.take().map(|watch| watch.series),
            events: self.tally.events,
            packet_hops: self.tally.packet_hops,
            packets: PacketBalance { left: self.pool.alive() as u64, ..self.tally.packets },
            ended: self.now,
            warm_up: self.setup.warm_up,
            stop,
        }
    }

    fn node_records(&self) -> Vec<NodeRecord> {
        let graph = &self.setup.graph;
        let tier = |node: Node| match node {
            Node::Host(_) => 0,
            Node::Switch(switch) => graph.switches()[switch.index()].tier,
        };
        let nodes = (0..graph.nodes()).map(|number| graph.node_at(number));
        nodes.map(|node| NodeRecord { name: graph.name(node), tier: tier(node) }).collect()
    }

    fn link_records(&mut self) -> Vec<LinkRecord> {
        (0..self.wires.len()).map(|number| self.link_record(number)).collect()
    }

    fn link_record(&mut self, number: usize) -> LinkRecord {
        let link = self.setup.graph.links()[number];
        let wire = &self.wires[number];
        let mut record = LinkRecord {
            from: self.setup.graph.node_index(link.from) as u32,
            to: self.setup.graph.node_index(link.to) as u32,
            port: link.port.0,
            rate: link.rate,
            delay: link.delay,
            failed: wire.failed,
            sent: wire.sent,
            packets: wire.packets,
            dropped: wire.lost,
            ..LinkRecord::default()
        };
        if let Node::Switch(switch) = link.from {
            let counters = self.switches[switch.index()].counters(self.now, PortId(link.port.0));
            record.dropped += counters.dropped;
            record.marked = counters.marked;
            record.peak = counters.peak;
            record.mean_queue = counters.byte_time as f64 / (self.now.0.max(1)) as f64;
        }
        record
    }

    /// One record per flow that was to start before the end.
    fn flow_records(&self) -> Vec<FlowRecord> {
        let due = self.ends.flows.iter().take_while(|flow| flow.start <= self.now).count();
        let sent = gather(&self.ends.senders, &self.ends.sent, due, |end| end.report());
        let received = gather(&self.ends.receivers, &self.ends.received, due, |end| end.report());
        let timeline = Arc::clone(&self.setup.timeline);
        let mut ideal = Ideal::new(&self.setup.graph, &timeline.initial, self.setup.switch.latency);
        (0..due)
            .map(|number| self.flow_record(number, (&sent[number], &received[number]), &mut ideal))
            .collect()
    }

    fn flow_record(
        &self,
        number: usize,
        (sent, received): (&Option<SenderReport>, &Option<ReceiverReport>),
        ideal: &mut Ideal<'_>,
    ) -> FlowRecord {
        let flow = &self.ends.flows[number];
        let sent = sent.unwrap_or_default();
        let received = received.unwrap_or_default();
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
            retransmitted: sent.retransmitted,
            timeouts: sent.timeouts,
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
        let flow = &self.ends.flows[number];
        let transport = &self.setup.transport;
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

/// The reports of all ends, done or active, by flow.
fn gather<E, R: Clone>(
    active: &Slab<E>,
    done: &[(FlowId, R)],
    flows: usize,
    report: impl Fn(&E) -> R,
) -> Vec<Option<R>> {
    let mut reports = vec![None; flows];
    for (flow, report) in done {
        reports[flow.index()] = Some(report.clone());
    }
    for active in active.active() {
        reports[active.flow.index()] = Some(report(&active.end));
    }
    reports
}
