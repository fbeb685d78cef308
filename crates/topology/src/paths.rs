//! The shortest paths between two leaves, each with the label that identifies it to switches, and its capacity. Must
//! not depend on hosts or the order in which paths are used.

use crate::graph::{Graph, Node};
use crate::routes::Routes;
use weft_core::label::PathLabel;
use weft_core::{PortId, Rate, SwitchId};

/// A path from one leaf to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// The ports at which it diverges from others. Paths that diverge only after the third switch share a label.
    pub label: PathLabel,
    /// The rate of its slowest link.
    pub capacity: Rate,
}

/// The shortest paths from one leaf to another in this state of the routes, in the order of their ports; empty if
/// there is none. `None`: some switch has more ports than a label can name.
#[must_use]
pub fn paths(graph: &Graph, routes: &Routes, from: usize, to: usize) -> Option<Vec<Path>> {
    let walk = Walk { graph, routes, to };
    let mut found = Vec::new();
    let start = Path { label: PathLabel::default(), capacity: Rate(u64::MAX) };
    walk.from(graph.leaves()[from], 1, start, &mut found)?;
    Some(found)
}

struct Walk<'a> {
    graph: &'a Graph,
    routes: &'a Routes,
    to: usize,
}

impl Walk<'_> {
    /// Adds all continuations from the `hop`-th switch of a path.
    fn from(&self, switch: SwitchId, hop: u8, path: Path, found: &mut Vec<Path>) -> Option<()> {
        if switch == self.graph.leaves()[self.to] {
            found.push(path);
            return Some(());
        }
        let ports = self.routes.ports(switch, self.to);
        if ports.len() > 1 && !PathLabel::reaches(hop) {
            return self.step((switch, hop), ports[0], self.through(switch, &ports, path), found);
        }
        for port in &ports {
            let label = if ports.len() > 1 { path.label.and(hop, *port)? } else { path.label };
            let path = Path { label, ..self.through(switch, &[*port], path) };
            self.step((switch, hop), *port, path, found)?;
        }
        Some(())
    }

    fn step(
        &self,
        (switch, hop): (SwitchId, u8),
        port: PortId,
        path: Path,
        found: &mut Vec<Path>,
    ) -> Option<()> {
        let link = self.graph.links()[self.graph.link_at(Node::Switch(switch), port).index()];
        match link.to {
            Node::Switch(next) => self.from(next, hop.saturating_add(1), path, found),
            Node::Host(_) => Some(()),
        }
    }

    /// The path extended by these links, which it may use together.
    fn through(&self, switch: SwitchId, ports: &[PortId], path: Path) -> Path {
        let links = self.graph.links_of(Node::Switch(switch));
        let rate = ports.iter().map(|port| links[port.index()].rate.0).fold(0, u64::saturating_add);
        Path { capacity: path.capacity.min(Rate(rate)), ..path }
    }
}
