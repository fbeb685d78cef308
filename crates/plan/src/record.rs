//! The part of a record that is independent of the engine: names and shape of the network, before anything is
//! measured.

use std::collections::BTreeMap;

use weft_core::Time;
use weft_core::record::{Incident, IncidentRecord, LinkRecord, NodeRecord, RunRecord};
use weft_topology::{Change, Link, Node};

use crate::setup::Setup;

impl Setup {
    /// The record of a run in which nothing has happened yet: tags, nodes, links, warm-up and beginning of the traffic.
    #[must_use]
    pub fn record(&self) -> RunRecord {
        let down = self.timeline.downtimes(self.graph.cables().len());
        RunRecord {
            tags: self.tags.clone(),
            nodes: self.nodes(),
            links: self.graph.links().iter().map(|link| self.link(link, &down[link.cable])).collect(),
            warm_up: self.warm_up,
            begins: self.flows.begins(),
            may_pause: self.pauses(),
            incidents: self.incidents(),
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

    /// Changes of the network, in order of time: everything of one kind at one instant together.
    #[must_use]
    pub fn incidents(&self) -> Vec<IncidentRecord> {
        let cables = self.timeline.changes.iter().filter_map(|(at, change)| match change {
            Change::CableDown(cable) => Some((*at, Incident::Failure, self.cable(*cable))),
            Change::CableUp(cable) => Some((*at, Incident::Repair, self.cable(*cable))),
            _ => None,
        });
        let storms = self.storms.iter().flat_map(|storm| {
            let host = self.graph.name(Node::Host(storm.host));
            let ends = (storm.until < Time::NEVER).then(|| (storm.until, Incident::StormEnds, host.clone()));
            std::iter::once((storm.from, Incident::StormBegins, host)).chain(ends)
        });
        let mut found: BTreeMap<(Time, Incident), Vec<String>> = BTreeMap::new();
        cables.chain(storms).for_each(|(at, kind, place)| found.entry((at, kind)).or_default().push(place));
        found.into_iter().map(|((at, kind), places)| IncidentRecord { at, kind, places, lost: 0 }).collect()
    }

    /// The name of a cable: `leaf0-spine1`.
    fn cable(&self, cable: usize) -> String {
        let cable = &self.graph.cables()[cable];
        format!("{}-{}", self.graph.name(cable.a.node), self.graph.name(cable.b.node))
    }

    fn link(&self, link: &Link, down: &[(Time, Time)]) -> LinkRecord {
        LinkRecord {
            from: self.graph.node_index(link.from) as u32,
            to: self.graph.node_index(link.to) as u32,
            port: link.port.0,
            rate: link.rate,
            delay: link.delay,
            down: down.to_vec(),
            ..LinkRecord::default()
        }
    }
}
