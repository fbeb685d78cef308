//! A server of the model: its queues.

use weft_core::{Span, Time};

use super::ClusterModel;
use crate::director::{Director, DirectorSettings};
use crate::shape::ClusterShape;

/// Something that serves packets in order of arrival.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ServingStage {
    free_at: Time,
}

impl ServingStage {
    /// When a packet that arrives now will have been served; `None` if it would wait longer than `most`.
    pub(super) fn enter(&mut self, now: Time, service: Span, most: Span) -> Option<Time> {
        if self.free_at.since(now) > most {
            return None;
        }
        self.free_at = self.free_at.max(now) + service;
        Some(self.free_at)
    }
}

/// The packets that leave by a port.
#[derive(Clone, Debug, Default)]
pub(super) struct PortQueue {
    /// The batch in preparation: packets, and the nodes to which they go.
    pub(super) waiting: Vec<(u32, u16)>,
    /// Its number.
    pub(super) batch: u32,
    pub(super) line: ServingStage,
}

impl PortQueue {
    /// Takes the batch.
    pub(super) fn take_batch(&mut self) -> Vec<(u32, u16)> {
        self.batch = self.batch.wrapping_add(1);
        std::mem::take(&mut self.waiting)
    }
}

/// A node.
#[derive(Clone, Debug)]
pub(super) struct ModelNode {
    pub(super) up: bool,
    /// Grows when the node fails and when it comes back.
    pub(super) life: u32,
    pub(super) director: Director,
    pub(super) cards_in: Vec<ServingStage>,
    pub(super) cards_out: Vec<ServingStage>,
    pub(super) cores: Vec<ServingStage>,
    pub(super) ports: Vec<PortQueue>,
    /// The nodes of an n-fly that it knows to be down. In a mesh the director knows.
    pub(super) down: Vec<u16>,
    outward: Vec<u16>,
    inward: Vec<u16>,
}

impl ModelNode {
    pub(super) fn new(model: &ClusterModel, node: u16) -> ModelNode {
        let outward = model.shape.neighbours(node);
        let inward: Vec<u16> = match model.shape {
            ClusterShape::Mesh { .. } => outward.clone(),
            ClusterShape::Fly { .. } => (0..model.shape.nodes())
                .filter(|other| model.shape.neighbours(*other).contains(&node))
                .collect(),
        };
        let ports = 1 + outward.len().max(inward.len());
        let cards = ports.div_ceil(usize::from(model.server.ports_per_card));
        ModelNode {
            up: true,
            life: 0,
            director: director(model, node),
            cards_in: vec![ServingStage::default(); cards],
            cards_out: vec![ServingStage::default(); cards],
            cores: vec![ServingStage::default(); usize::from(model.server.cores)],
            ports: vec![PortQueue::default(); ports],
            down: Vec::new(),
            outward,
            inward,
        }
    }

    /// It learns that another node is down or back.
    pub(super) fn learn(&mut self, shape: ClusterShape, node: u16, up: bool) {
        match shape {
            ClusterShape::Mesh { .. } => self.director.set_node(node, up),
            ClusterShape::Fly { .. } if up => self.down.retain(|one| *one != node),
            ClusterShape::Fly { .. } => self.down.push(node),
        }
    }

    /// Queues, buckets and flowlets are empty after a failure. A node that comes back assumes that all others are up until it learns
    /// otherwise.
    pub(super) fn restart(&mut self, model: &ClusterModel, node: u16) {
        let life = self.life;
        let fresh = ModelNode::new(model, node);
        *self = ModelNode { life, ..fresh };
    }

    /// The port that leads to a node; 0 leads out of the cluster.
    pub(super) fn port_to(&self, own: u16, to: u16) -> u16 {
        port(&self.outward, own, to)
    }

    /// The port at which packets from a node arrive.
    pub(super) fn port_from(&self, own: u16, from: u16) -> u16 {
        port(&self.inward, own, from)
    }
}

fn port(neighbours: &[u16], own: u16, other: u16) -> u16 {
    if own == other {
        return 0;
    }
    let place = neighbours.iter().position(|one| *one == other);
    1 + place.expect("nodes send to neighbours only") as u16
}

fn director(model: &ClusterModel, node: u16) -> Director {
    let nodes = model.shape.spread();
    // In an n-fly, a node of rank 0 is not among those over which it spreads.
    Director::new(DirectorSettings { nodes, ..model.director }, node)
}
