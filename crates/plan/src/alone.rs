//! The time that a flow of a setup takes alone in the empty network: the ideal for every engine.

use weft_core::{Bytes, Span, SwitchId, Time};
use weft_switch::BalancerSettings;
use weft_topology::{Handshake, Ideal, LinkState, Spreading, Train};
use weft_workload::Flow;

use crate::setup::Setup;

/// Completion times without competition, in the states of the network during a flow's life.
pub struct Alone<'a> {
    setup: &'a Setup,
    /// The spreading of flows while routes are unchanged.
    spreading: Spreading,
    /// The states of the cables, each with its first instant; the first is the initial one.
    states: Vec<(Time, LinkState)>,
    /// The ideals of the first states, computed so far.
    ideals: Vec<Ideal<'a>>,
}

impl<'a> Alone<'a> {
    /// The ideals for the flows of a setup.
    #[must_use]
    pub fn new(setup: &'a Setup) -> Alone<'a> {
        let states = states(setup);
        let one_path = setup.balancers().all(BalancerSettings::keeps_paths);
        let spreading = if one_path { Spreading::OnePath } else { Spreading::AllPaths };
        Alone { setup, spreading, states, ideals: Vec::new() }
    }

    /// The minimum completion time of a flow, at full rate or at its constant rate, in any state of the network up to
    /// `until`. Zero if its hosts cannot reach each other in any of them.
    pub fn completion(&mut self, flow: &Flow, until: Time) -> Span {
        let seen = self.states[1..].partition_point(|(from, _)| *from <= until) + 1;
        // After new routes, a flow may take a new path while its packets are still on the old one.
        let spreading = if seen == 1 { self.spreading } else { Spreading::AllRoutes };
        let times = (0..seen).map(|state| self.in_state(state, flow, spreading));
        times.filter(|time| *time > Span::ZERO).min().unwrap_or(Span::ZERO)
    }

    fn in_state(&mut self, state: usize, flow: &Flow, spreading: Spreading) -> Span {
        let transport = self.setup.sender(flow);
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
            handshake: packets
                .handshake
                .filter(|_| flow.open_round_trip().is_none())
                .map(|(syn_wire, synack_wire)| Handshake { syn_wire, synack_wire }),
        };
        let (ideal, hosts) = (self.ideal(state), (flow.source, flow.destination));
        let alone = ideal.fct_spread(hosts, &train, spreading);
        let Some(rate) = constant.filter(|_| alone > Span::ZERO) else { return alone };
        // The last datagram leaves when the application produces it, and travels alone.
        let interval = rate.time_for(Bytes(transport.datagram_mss()));
        let last = Train { count: 1, full_wire: train.last_wire, ..train };
        let after = ideal.fct_spread(hosts, &last, spreading);
        alone.max(interval * packets.count.saturating_sub(1) + after)
    }

    fn ideal(&mut self, state: usize) -> &mut Ideal<'a> {
        let setup = self.setup;
        let latency = |number: usize| setup.switch_at(SwitchId(number as u32)).transit();
        while self.ideals.len() <= state {
            let (_, cables) = &self.states[self.ideals.len()];
            let latencies = (0..setup.graph.switches().len()).map(latency).collect();
            self.ideals.push(Ideal::with_latencies(&setup.graph, cables, latencies));
        }
        &mut self.ideals[state]
    }
}

fn states(setup: &Setup) -> Vec<(Time, LinkState)> {
    let mut states = vec![(Time::ZERO, setup.timeline.initial.clone())];
    for &(at, change) in &setup.timeline.changes {
        let Some((cable, up)) = change.cable() else { continue };
        let (since, now) = states.last_mut().expect("there is a state at the start");
        if now.is_up(cable) == up {
            continue;
        }
        if *since == at {
            now.set(cable, up);
        } else {
            let mut next = now.clone();
            next.set(cable, up);
            states.push((at, next));
        }
    }
    states
}
