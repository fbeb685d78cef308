//! Flows that nothing can finish: the network no longer changes, and their hosts cannot reach each other. A run
//! without a time limit ends when only such flows are open; their senders would retry forever. Must not depend on
//! transports.

use weft_core::{HostId, Span, Time};
use weft_topology::{Graph, LinkState, Timeline};

/// The interval between checks for stranded flows.
pub const EVERY: Span = Span::from_ms(1);

/// The network after its last change, if not all hosts can then reach each other.
#[derive(Debug)]
pub struct Remains {
    since: Time,
    /// Hosts whose cable is down.
    unplugged: Vec<bool>,
}

impl Remains {
    /// `None` if all hosts stay connected.
    #[must_use]
    pub fn new(graph: &Graph, timeline: &Timeline) -> Option<Remains> {
        let since = timeline.changes.last().map_or(Time::ZERO, |(time, _)| *time);
        let up = last_state(timeline);
        let links = &graph.links()[..graph.hosts() as usize];
        let unplugged = links.iter().map(|link| !up.is_up(link.cable)).collect();
        let remains = Remains { since, unplugged };
        let leaves = 0..graph.leaves().len();
        let mut pairs = leaves.clone().flat_map(|from| leaves.clone().map(move |to| (from, to)));
        let apart =
            remains.unplugged.contains(&true) || !pairs.all(|(a, b)| has_route((graph, timeline), a, b));
        apart.then_some(remains)
    }

    /// Whether nothing can reach one host from the other any longer.
    #[must_use]
    pub fn cuts_off(
        &self,
        (graph, timeline): (&Graph, &Timeline),
        now: Time,
        (from, to): (HostId, HostId),
    ) -> bool {
        let [a, b] = [from, to].map(|host| usize::from(graph.leaf_of_host()[host.index()]));
        let unplugged = self.unplugged[from.index()] || self.unplugged[to.index()];
        let routed = || has_route((graph, timeline), a, b) && has_route((graph, timeline), b, a);
        now >= self.since && (unplugged || !routed())
    }
}

fn last_state(timeline: &Timeline) -> LinkState {
    let mut up = timeline.initial.clone();
    for (cable, is_up) in timeline.changes.iter().filter_map(|(_, change)| change.cable()) {
        up.set(cable, is_up);
    }
    up
}

/// Whether a route leads from one leaf to another once all switches have installed their last routes.
fn has_route((graph, timeline): (&Graph, &Timeline), from: usize, to: usize) -> bool {
    let routes = timeline.states.last().expect("the first state is that of the start");
    from == to || routes.has_route(graph.leaves()[from], to)
}
