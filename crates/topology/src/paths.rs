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
    /// The rate of its narrowest step. Parallel cables between two switches are one step; if a path is one of several
    /// over the parallel cables of the same steps, this is its share of that rate, in proportion to its cables'
    /// rates.
    pub capacity: Rate,
}

/// The shortest paths from one leaf to another in this state of the routes, in the order of their ports; empty if
/// there is none. `None`: some switch has more ports than a label can name.
#[must_use]
pub fn paths(graph: &Graph, routes: &Routes, from: usize, to: usize) -> Option<Vec<Path>> {
    let walk = Walk { graph, routes, to };
    let mut found = Vec::new();
    let start = Begun { label: PathLabel::default(), narrowest: u64::MAX, share: 1.0 };
    walk.from(graph.leaves()[from], 1, start, &mut found)?;
    Some(found)
}

/// The beginning of a path.
#[derive(Clone, Copy)]
struct Begun {
    label: PathLabel,
    /// The rate of the narrowest step so far, in bits per second.
    narrowest: u64,
    /// The share of the steps so far that these cables have.
    share: f64,
}

impl Begun {
    /// The finished path.
    fn path(self) -> Path {
        let whole = self.share == 1.0;
        let capacity =
            if whole { self.narrowest } else { (self.narrowest as f64 * self.share).round() as u64 };
        Path { label: self.label, capacity: Rate(capacity) }
    }
}

struct Walk<'a> {
    graph: &'a Graph,
    routes: &'a Routes,
    to: usize,
}

impl Walk<'_> {
    /// Adds all continuations from the `hop`-th switch of a path.
    fn from(&self, switch: SwitchId, hop: u8, begun: Begun, found: &mut Vec<Path>) -> Option<()> {
        if switch == self.graph.leaves()[self.to] {
            found.push(begun.path());
            return Some(());
        }
        let ports = self.routes.ports(switch, self.to);
        if ports.len() > 1 && !PathLabel::reaches(hop) {
            let rate = self.rate(switch, ports.iter().copied());
            let begun = Begun { narrowest: begun.narrowest.min(rate), ..begun };
            return self.step((switch, hop), ports[0], begun, found);
        }
        for port in &ports {
            let label = if ports.len() > 1 { begun.label.and(hop, *port)? } else { begun.label };
            let begun = Begun { label, ..self.through(switch, (*port, &ports), begun) };
            self.step((switch, hop), *port, begun, found)?;
        }
        Some(())
    }

    fn step(
        &self,
        (switch, hop): (SwitchId, u8),
        port: PortId,
        begun: Begun,
        found: &mut Vec<Path>,
    ) -> Option<()> {
        match self.next(switch, port) {
            Node::Switch(next) => self.from(next, hop.saturating_add(1), begun, found),
            Node::Host(_) => Some(()),
        }
    }

    /// The node that a port leads to.
    fn next(&self, switch: SwitchId, port: PortId) -> Node {
        self.graph.links()[self.graph.link_at(Node::Switch(switch), port).index()].to
    }

    /// The path extended by a cable, one of those of `ports` that lead to the same switch.
    fn through(&self, switch: SwitchId, (port, ports): (PortId, &[PortId]), begun: Begun) -> Begun {
        let next = self.next(switch, port);
        let parallel = ports.iter().copied().filter(|other| self.next(switch, *other) == next);
        let (own, whole) = (self.rate(switch, [port]), self.rate(switch, parallel));
        let share = if own == whole { 1.0 } else { own as f64 / whole as f64 };
        Begun { narrowest: begun.narrowest.min(whole), share: begun.share * share, ..begun }
    }

    /// The total rate of these ports, in bits per second.
    fn rate(&self, switch: SwitchId, ports: impl IntoIterator<Item = PortId>) -> u64 {
        let links = self.graph.links_of(Node::Switch(switch));
        ports.into_iter().map(|port| links[port.index()].rate.0).fold(0, u64::saturating_add)
    }
}
