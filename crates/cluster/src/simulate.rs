//! A cluster over time: packets through cards, cores, batches and links of its servers.
//!
//! ```text
//! card in -> transfers -> core -> batch -> card out -> link -> transfers -> next node, or out
//! ```
//!
//! Each stage serves in order of arrival and has a bounded queue. Events of one instant are handled in the order in
//! which they were scheduled.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weft_core::{Span, Time};

use crate::director::DirectorSettings;
use crate::server::ServerModel;
use crate::shape::ClusterShape;
use crate::station::{ClusterPhase, ClusterStation};
use crate::traffic::ClusterArrival;

mod failures;
mod node;
mod order;
mod outcome;
mod path;

pub use outcome::{ClusterLosses, ClusterOutcome, LatencySummary};

use node::ModelNode;
use order::FlowOrder;

/// A cluster to simulate.
#[derive(Clone, Copy, Debug)]
pub struct ClusterModel {
    /// How nodes are linked.
    pub shape: ClusterShape,
    /// Each of its servers.
    pub server: ServerModel,
    /// How paths are chosen; `nodes` is taken from the shape.
    pub director: DirectorSettings,
    /// Time until all nodes know that one is down or back, and until one that is back knows which others are down.
    pub notice: Span,
}

/// A node goes down or comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeChange {
    /// The instant.
    pub time: Time,
    /// The node.
    pub node: u16,
    /// Whether it comes back.
    pub up: bool,
}

/// The span of a simulation.
#[derive(Clone, Debug, Default)]
pub struct ClusterSpan {
    /// Loads and rates are measured from here.
    pub from: Time,
    /// The last instant at which packets enter; those inside are followed until they leave.
    pub to: Time,
    /// Failures and returns of nodes, in order of time.
    pub changes: Vec<NodeChange>,
}

/// A packet inside the cluster.
#[derive(Clone, Copy, Debug)]
struct ModelPacket {
    arrival: ClusterArrival,
    /// How it is addressed inside a mesh.
    station: ClusterStation,
    /// The node it came from last.
    from: u16,
    /// Nodes it has visited.
    visited: u8,
    /// The incarnation of the node that holds it: the packet does not survive the node.
    life: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    Change(u32),
    Notice(u32),
    /// A packet reaches a port of a node.
    Arrive {
        node: u16,
        port: u16,
        packet: u32,
    },
    /// It waits for a core to process it.
    Work {
        node: u16,
        packet: u32,
    },
    /// A core has processed it.
    Done {
        node: u16,
        packet: u32,
    },
    /// An incomplete batch has waited long enough.
    Flush {
        node: u16,
        port: u16,
        batch: u32,
    },
    /// It has left the cluster.
    Leave {
        node: u16,
        packet: u32,
    },
}

/// Simulates a cluster under these arrivals, which come in order of time.
pub fn simulate(
    model: &ClusterModel,
    arrivals: impl IntoIterator<Item = ClusterArrival>,
    span: &ClusterSpan,
) -> ClusterOutcome {
    let mut running = Running::new(model, span);
    for arrival in arrivals.into_iter().take_while(|one| one.time <= span.to) {
        running.until(arrival.time);
        running.enter(arrival);
    }
    running.until(Time::NEVER);
    running.conclude()
}

struct Running<'a> {
    model: &'a ClusterModel,
    span: &'a ClusterSpan,
    nodes: Vec<ModelNode>,
    /// The nodes that are known to be down.
    down: Vec<u16>,
    packets: Vec<ModelPacket>,
    free: Vec<u32>,
    due: BinaryHeap<Reverse<(Time, u64, Happening)>>,
    scheduled: u64,
    now: Time,
    order: FlowOrder,
    outcome: ClusterOutcome,
}

impl<'a> Running<'a> {
    fn new(model: &'a ClusterModel, span: &'a ClusterSpan) -> Running<'a> {
        let nodes = (0..model.shape.nodes()).map(|node| ModelNode::new(model, node)).collect();
        let mut running = Running {
            model,
            span,
            nodes,
            down: Vec::new(),
            packets: Vec::new(),
            free: Vec::new(),
            due: BinaryHeap::new(),
            scheduled: 0,
            now: Time::ZERO,
            order: FlowOrder::default(),
            outcome: ClusterOutcome::new(model.shape, span.to.since(span.from)),
        };
        for (number, change) in (0..).zip(&span.changes) {
            running.at(change.time, Happening::Change(number));
            running.at(change.time + model.notice, Happening::Notice(number));
        }
        running
    }

    fn at(&mut self, time: Time, what: Happening) {
        self.due.push(Reverse((time, self.scheduled, what)));
        self.scheduled += 1;
    }

    fn is_measured(&self) -> bool {
        self.span.from <= self.now && self.now <= self.span.to
    }

    /// Handles everything due before `time`, and at it if it was scheduled already.
    fn until(&mut self, time: Time) {
        while self.due.peek().is_some_and(|next| next.0.0 <= time) {
            let Some(Reverse((now, _, what))) = self.due.pop() else { return };
            self.now = now;
            self.handle(what);
        }
    }

    fn enter(&mut self, arrival: ClusterArrival) {
        self.now = self.now.max(arrival.time);
        if !self.nodes[usize::from(arrival.from)].up {
            self.outcome.refused += 1;
            return;
        }
        self.outcome.entered += 1;
        if self.is_measured() {
            self.outcome.offered += arrival.size.0;
        }
        let station = ClusterStation { node: arrival.to as u8, phase: ClusterPhase::Second };
        let life = self.nodes[usize::from(arrival.from)].life;
        let packet = ModelPacket { arrival, station, from: arrival.from, visited: 0, life };
        let number = self.free.pop().unwrap_or_else(|| {
            self.packets.push(packet);
            self.packets.len() as u32 - 1
        });
        self.packets[number as usize] = packet;
        self.arrive(arrival.from, 0, number);
    }

    fn handle(&mut self, what: Happening) {
        match what {
            Happening::Change(number) => {
                let change = self.span.changes[number as usize];
                self.fail_or_return(change.node, change.up);
            }
            Happening::Notice(number) => {
                let change = self.span.changes[number as usize];
                self.tell(change.node, change.up);
            }
            Happening::Flush { node, port, batch } => {
                if self.nodes[usize::from(node)].ports[usize::from(port)].batch == batch {
                    self.flush(node, port);
                }
            }
            Happening::Arrive { node, port, packet } => self.arrive(node, port, packet),
            Happening::Work { node, packet } => self.work(node, packet),
            Happening::Done { node, packet } => self.done(node, packet),
            Happening::Leave { node, packet } => self.leave(node, packet),
        }
    }

    fn lose(&mut self, packet: u32, cause: impl FnOnce(&mut ClusterLosses) -> &mut u64) {
        *cause(&mut self.outcome.losses) += 1;
        self.free.push(packet);
    }

    /// Whether the node in which a packet is has failed since it came.
    fn is_gone(&mut self, node: u16, packet: u32) -> bool {
        let here = &self.nodes[usize::from(node)];
        let gone = !here.up || here.life != self.packets[packet as usize].life;
        if gone {
            self.lose(packet, |losses| &mut losses.failure);
        }
        gone
    }

    fn arrive(&mut self, node: u16, port: u16, packet: u32) {
        let ModelPacket { from, arrival, .. } = self.packets[packet as usize];
        if from != node && self.is_measured() {
            *self.outcome.links.entry((from, node)).or_default() += arrival.size.0;
        }
        if self.is_gone(node, packet) {
            return;
        }
        let held = &mut self.packets[packet as usize];
        held.visited += 1;
        let (size, visited) = (held.arrival.size, held.visited);
        self.outcome.most_nodes = self.outcome.most_nodes.max(visited);
        let (server, now) = (&self.model.server, self.now);
        let card = usize::from(port / server.ports_per_card);
        let stage = &mut self.nodes[usize::from(node)].cards_in[card];
        match stage.enter(now, server.card.time_for(size), server.longest_queue(server.card)) {
            Some(time) => {
                self.at(time + Span(2 * server.transfer.0), Happening::Work { node, packet });
            }
            None => self.lose(packet, |losses| &mut losses.card),
        }
    }

    fn work(&mut self, node: u16, packet: u32) {
        if self.is_gone(node, packet) {
            return;
        }
        let ModelPacket { arrival, visited, .. } = self.packets[packet as usize];
        let server = &self.model.server;
        let time = server.time(visited == 1, arrival.size);
        // A flow stays on one core, so that cores do not change its order.
        let core = weft_core::random::mix(arrival.flow) as usize % usize::from(server.cores);
        let now = self.now;
        match self.nodes[usize::from(node)].cores[core].enter(now, time, server.longest_wait()) {
            Some(done) => self.at(done, Happening::Done { node, packet }),
            None => self.lose(packet, |losses| &mut losses.core),
        }
    }

    fn done(&mut self, node: u16, packet: u32) {
        if self.is_gone(node, packet) {
            return;
        }
        let held = self.packets[packet as usize];
        let size = held.arrival.size;
        if self.is_measured() {
            self.outcome.processed[usize::from(node)] += size.0;
        }
        if held.visited == 1 {
            self.outcome.parsed += 1;
        }
        let next = match self.model.shape {
            ClusterShape::Mesh { .. } => self.next_in_mesh(node, packet, held),
            ClusterShape::Fly { .. } => self.next_in_fly(node, held),
        };
        match next {
            Some(to) => self.queue(node, to, packet),
            None => self.lose(packet, |losses| &mut losses.no_path),
        }
    }

    /// Puts a packet into the batch of a port.
    fn queue(&mut self, node: u16, to: u16, packet: u32) {
        let server = &self.model.server;
        let own = &mut self.nodes[usize::from(node)];
        let port = own.port_to(node, to);
        let queue = &mut own.ports[usize::from(port)];
        queue.waiting.push((packet, to));
        if queue.waiting.len() >= server.batch as usize {
            self.flush(node, port);
        } else if queue.waiting.len() == 1 {
            let flush = Happening::Flush { node, port, batch: queue.batch };
            self.at(self.now + server.batch_wait, flush);
        }
    }

    /// Hands the batch of a port to its card, which sends it by the link.
    fn flush(&mut self, node: u16, port: u16) {
        let (server, now) = (&self.model.server, self.now);
        let card = usize::from(port / server.ports_per_card);
        let rate = if port == 0 { self.model.director.external } else { self.model.director.link };
        for (packet, to) in self.nodes[usize::from(node)].ports[usize::from(port)].take_batch() {
            let size = self.packets[packet as usize].arrival.size;
            let own = &mut self.nodes[usize::from(node)];
            let at_link =
                own.cards_out[card].enter(now, server.card.time_for(size), server.longest_queue(server.card));
            let Some(at_link) = at_link else {
                self.lose(packet, |losses| &mut losses.card);
                continue;
            };
            let line = &mut own.ports[usize::from(port)].line;
            match line.enter(at_link, rate.time_for(size), server.longest_queue(rate)) {
                Some(time) => self.send((node, to), packet, time + Span(2 * server.transfer.0)),
                None => self.lose(packet, |losses| &mut losses.link),
            }
        }
    }

    fn send(&mut self, (node, to): (u16, u16), packet: u32, time: Time) {
        if node == to {
            return self.at(time, Happening::Leave { node, packet });
        }
        let life = self.nodes[usize::from(to)].life;
        let held = &mut self.packets[packet as usize];
        (held.from, held.life) = (node, life);
        // A port of an n-fly leads only onwards; inbound links share the cards of the outbound links with the same
        // number.
        let port = self.nodes[usize::from(to)].port_from(to, node);
        self.at(time, Happening::Arrive { node: to, port, packet });
    }

    fn leave(&mut self, node: u16, packet: u32) {
        let ModelPacket { arrival, visited, .. } = self.packets[packet as usize];
        self.outcome.delivered += 1;
        self.outcome.latency(visited, self.now.since(arrival.time));
        let measured = self.is_measured();
        self.order.leaves(arrival.flow, arrival.sequence, measured);
        if measured {
            self.outcome.left += 1;
            self.outcome.outputs[usize::from(node)] += arrival.size.0;
            *self.outcome.pairs.entry((arrival.from, arrival.to)).or_default() += arrival.size.0;
        }
        self.free.push(packet);
    }

    fn conclude(mut self) -> ClusterOutcome {
        let held = self.packets.len() - self.free.len();
        self.outcome.inside = held as u64;
        self.outcome.reordered = self.order.reordered();
        self.nodes.iter().enumerate().for_each(|(number, node)| self.outcome.count(number, &node.director));
        self.outcome
    }
}
