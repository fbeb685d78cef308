//! The time a flow takes alone in the empty network, in closed form: pipelined store and forward over shortest paths.
//!
//! A flow that stays on one path gets its exact time, to the picosecond: every link rounds every packet's time up as
//! [`weft_core::Rate::time_for`] does, and of shortest paths that differ in rate or delay the fastest for this flow
//! counts, separately for each direction. A flow whose packets may take different paths gets a lower bound. Must not
//! depend on windows or cross traffic.

mod paths;
mod spread;
mod twins;

use std::collections::HashMap;

use crate::graph::Graph;
use crate::live::{Fabric, LinkState};
use paths::PathFinder;
use spread::{Between, Ends, Opening, Packets};
use twins::Twins;
use weft_core::{Bytes, HostId, Rate, Span, SwitchId};

/// The packets of a flow, sizes as on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Train {
    /// Number of data packets, at least 1.
    pub count: u64,
    /// Every packet but the last.
    pub full_wire: Bytes,
    /// The last packet, not larger than the others.
    pub last_wire: Bytes,
    /// Packets that open the connection before the first data packet, if any.
    pub handshake: Option<Handshake>,
}

/// The first round trip of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handshake {
    /// Wire size of the opening packet.
    pub syn_wire: Bytes,
    /// Wire size of its reply.
    pub synack_wire: Bytes,
}

/// The number of paths that the packets of one flow may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spreading {
    /// One, the fastest for the flow.
    OnePath,
    /// All shortest paths at once.
    AllPaths,
    /// All shortest paths in any of several states of the network; only the links of the two hosts are certain to carry
    /// the whole flow.
    AllRoutes,
}

/// Ideal flow completion times, caching the paths between leaves: once for all pairs of interchangeable leaves.
pub struct Ideal<'a> {
    graph: &'a Graph,
    state: LinkState,
    fabric: Fabric,
    latencies: Vec<Span>,
    twins: Twins,
    /// By class of the destination's leaf: hops from every switch to the leaf that represents the class.
    distances: Vec<Option<Vec<u32>>>,
    /// By class of the source's leaf, then of the destination's: a position in `between`, or [`UNKNOWN`].
    places: Vec<Vec<u32>>,
    /// The first for hosts at one leaf. Pairs of classes whose paths take equally long share one.
    between: Vec<Between>,
    /// By fingerprint: the last one that has it.
    known: HashMap<u64, u32>,
    finder: PathFinder,
    found: Between,
}

/// A pair of classes about which nothing is known yet.
const UNKNOWN: u32 = u32::MAX;

impl<'a> Ideal<'a> {
    /// Ideals for the cables of `graph` that are up in `state`; a packet spends `switch_latency` in every switch.
    #[must_use]
    pub fn new(graph: &'a Graph, state: &LinkState, switch_latency: Span) -> Ideal<'a> {
        Ideal::with_latencies(graph, state, vec![switch_latency; graph.switches().len()])
    }

    /// [`Ideal::new`] with individual switch latencies.
    #[must_use]
    pub fn with_latencies(graph: &'a Graph, state: &LinkState, latencies: Vec<Span>) -> Ideal<'a> {
        let twins = Twins::new(graph, state, &latencies);
        Ideal {
            graph,
            fabric: Fabric::new(graph, state),
            state: state.clone(),
            latencies,
            distances: vec![None; twins.classes()],
            places: vec![Vec::new(); twins.classes()],
            twins,
            between: vec![Between::at_one_leaf()],
            known: HashMap::new(),
            finder: PathFinder::new(graph.switches().len()),
            found: Between::default(),
        }
    }

    /// Time from the start of a flow that stays on one path to the arrival of its last data bit; zero if there is no
    /// path.
    pub fn fct(&mut self, source: HostId, destination: HostId, train: &Train) -> Span {
        self.fct_spread((source, destination), train, Spreading::OnePath)
    }

    /// [`Ideal::fct`] for a flow that spreads over paths in this way.
    pub fn fct_spread(&mut self, hosts: (HostId, HostId), train: &Train, spreading: Spreading) -> Span {
        let (source, destination) = hosts;
        let opening = match train.handshake {
            None => Span::ZERO,
            Some(Handshake { syn_wire, synack_wire }) => {
                self.alone(hosts, (syn_wire, Opening::Syn))
                    + self.alone((destination, source), (synack_wire, Opening::SynAck))
            }
        };
        let Train { count, full_wire, last_wire, .. } = *train;
        opening + self.fastest(hosts, (count, full_wire, last_wire), spreading)
    }

    fn fastest(&mut self, hosts: (HostId, HostId), train: Packets, spreading: Spreading) -> Span {
        let (ends, between) = self.course(hosts);
        let least = match spreading {
            Spreading::OnePath => between.on_one_path(ends, train),
            Spreading::AllPaths => between.on_all_paths(ends, train),
            Spreading::AllRoutes => between.between_hosts(ends, train),
        };
        least.unwrap_or(Span::ZERO)
    }

    /// The time of a packet that opens a connection.
    fn alone(&mut self, hosts: (HostId, HostId), packet: (Bytes, Opening)) -> Span {
        let (ends, between) = self.course(hosts);
        between.opening(ends, packet)
    }

    /// The links of the two hosts, the first with the latency of its switch, and the paths between their leaves.
    fn course(&mut self, (source, destination): (HostId, HostId)) -> (Ends, &mut Between) {
        let leaves = [source, destination].map(|host| self.graph.switch_of_host(host));
        let latency = self.latencies[leaves[0].index()];
        let [up, down] = [source, destination].map(|host| {
            let link = &self.graph.links()[host.index()];
            (link.rate, link.delay)
        });
        let ends = [(up.0, up.1 + latency), down];
        (ends, self.between(leaves[0], leaves[1]))
    }

    /// The paths between two leaves.
    #[inline]
    fn between(&mut self, from: SwitchId, to: SwitchId) -> &mut Between {
        if from == to {
            return &mut self.between[0];
        }
        let classes = (self.twins.class_of(from), self.twins.class_of(to));
        let place = match self.places[classes.0].get(classes.1) {
            Some(&place) if place != UNKNOWN => place as usize,
            _ => self.find_between(classes),
        };
        &mut self.between[place]
    }

    /// Finds the paths between the leaves that represent two classes; returns their index.
    #[cold]
    fn find_between(&mut self, classes: (usize, usize)) -> usize {
        let (from, to) = self.twins.pair(classes);
        let Ideal { graph, state, fabric, latencies, .. } = self;
        let distance = self.distances[classes.1].get_or_insert_with(|| fabric.distances_to(to));
        self.finder.find((graph, state, latencies), (from, distance), &mut self.found);
        let place = self.place_of_found();
        let row = &mut self.places[classes.0];
        row.resize(self.twins.classes(), UNKNOWN);
        row[classes.1] = place;
        place as usize
    }

    /// The place of the paths just found: that of equal ones, if there are any.
    fn place_of_found(&mut self) -> u32 {
        let place = self.known.entry(self.found.fingerprint()).or_insert(UNKNOWN);
        let alike = self.between.get(*place as usize).is_some_and(|known| known.is_like(&self.found));
        if !alike {
            *place = self.between.len() as u32;
            self.between.push(self.found.clone());
        }
        *place
    }
}

/// Ideal flow completion time of one flow with all cables up; [`Ideal`] is faster for many.
#[must_use]
pub fn ideal_fct(
    graph: &Graph,
    source: HostId,
    destination: HostId,
    train: &Train,
    switch_latency: Span,
) -> Span {
    Ideal::new(graph, &LinkState::all_up(graph), switch_latency).fct(source, destination, train)
}

/// When the last bit of a train (packet count, packet size, size of the last) has crossed all links.
///
/// Packet j leaves link i when both packet j-1 has left it and packet j has arrived: a longest path through the grid
/// of (link, packet). All but the last packet are equal, so the longest path goes down the links to some link k, is
/// held there or at the slowest link before for the whole train, and continues with the last packet from k: max over
/// k of Σ(i≤k) t_i + (n-2) max(i≤k) t_i + Σ(i≥k) u_i.
fn pipelined<'p>(path: impl Iterator<Item = &'p (Rate, Span)> + Clone, (count, full, last): Packets) -> Span {
    let delays: Span = path.clone().map(|&(_, delay)| delay).sum();
    let alone = |size: Bytes| path.clone().map(move |&(rate, _)| rate.time_for(size));
    let mut rest: Span = alone(last).sum();
    if count <= 1 {
        return delays + rest;
    }
    let (mut down, mut slowest, mut longest) = (Span::ZERO, Span::ZERO, Span::ZERO);
    for (full, last) in alone(full).zip(alone(last)) {
        down += full;
        slowest = slowest.max(full);
        longest = longest.max(down + slowest * (count - 2) + rest);
        rest -= last;
    }
    delays + longest
}

#[cfg(test)]
mod tests;
