//! The part of a record that is independent of the engine: names and shape of the network, before anything is
//! measured.

use weft_core::record::{LinkRecord, NodeRecord, RunRecord};
use weft_topology::{Link, Node};

use crate::setup::Setup;

impl Setup {
    /// The record of a run in which nothing has happened yet: tags, nodes, links, warm-up.
    #[must_use]
    pub fn record(&self) -> RunRecord {
        RunRecord {
            tags: self.tags.clone(),
            nodes: self.nodes(),
            links: self.graph.links().iter().map(|link| self.link(link)).collect(),
            warm_up: self.warm_up,
            ..RunRecord::default()
        }
    }

    fn nodes(&self) -> Vec<NodeRecord> {
        let tier = |node: Node| match node {
            Node::Host(_) => 0,
            Node::Switch(switch) => self.graph.switches()[switch.index()].tier,
        };
        let nodes = (0..self.graph.nodes()).map(|number| self.graph.node_at(number));
        nodes.map(|node| NodeRecord { name: self.graph.name(node), tier: tier(node) }).collect()
    }

    fn link(&self, link: &Link) -> LinkRecord {
        LinkRecord {
            from: self.graph.node_index(link.from) as u32,
            to: self.graph.node_index(link.to) as u32,
            port: link.port.0,
            rate: link.rate,
            delay: link.delay,
            ..LinkRecord::default()
        }
    }
}
