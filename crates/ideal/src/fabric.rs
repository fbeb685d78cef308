//! The ideal fabric of the pFabric paper (SIGCOMM 2013, section 4.1): the whole network is one big switch whose only
//! limits are the links of the hosts. At each arrival and completion flows are taken in the order of their remaining
//! sizes, and each gets the full rate if both its ports are idle.

use std::collections::BTreeSet;

use weft_core::{Span, Time};

use crate::{FlowCompletion, LinkDemand};

/// A flow through the big switch. Its work is the time it takes at the slower of its two ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortDemand {
    /// Its demand.
    pub demand: LinkDemand,
    /// The port it enters by.
    pub ingress: u32,
    /// The port it leaves by.
    pub egress: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Open {
    left: Span,
    /// Equal remaining sizes are served in order of arrival.
    turn: u64,
    flow: u64,
    ingress: u32,
    egress: u32,
}

/// One switch that connects all hosts, with a greedy maximal matching by remaining size.
#[derive(Clone, Debug)]
pub struct BigSwitch {
    now: Time,
    arrived: u64,
    open: BTreeSet<Open>,
    /// The flows in service, by remaining size.
    served: Vec<Open>,
    busy_ingress: Vec<bool>,
    busy_egress: Vec<bool>,
}

impl BigSwitch {
    /// An idle switch for ports 0 to `ports` - 1.
    #[must_use]
    pub fn new(ports: usize) -> BigSwitch {
        let idle = vec![false; ports];
        BigSwitch {
            now: Time::ZERO,
            arrived: 0,
            open: BTreeSet::new(),
            served: Vec::new(),
            busy_ingress: idle.clone(),
            busy_egress: idle,
        }
    }

    /// Adds a flow, which arrives no earlier than all before it, and appends completions up to its arrival to `done`.
    ///
    /// # Panics
    /// If a port does not exist.
    pub fn arrive(&mut self, flow: PortDemand, done: &mut Vec<FlowCompletion>) {
        self.serve(flow.demand.arrival, done);
        let (ingress, egress) = (flow.ingress, flow.egress);
        let open =
            Open { left: flow.demand.work, turn: self.arrived, flow: flow.demand.flow, ingress, egress };
        self.arrived += 1;
        self.open.insert(open);
        self.match_ports();
    }

    /// Called when no more flows arrive: appends all other completions.
    pub fn finish(&mut self, done: &mut Vec<FlowCompletion>) {
        self.serve(Time::NEVER, done);
    }

    fn serve(&mut self, until: Time, done: &mut Vec<FlowCompletion>) {
        while let Some(first) = self.served.first().copied() {
            let span = first.left.min(until.since(self.now));
            self.advance(span, done);
            if first.left > span {
                break;
            }
            self.match_ports();
        }
        if until < Time::NEVER {
            self.now = self.now.max(until);
        }
    }

    /// Serves the matched flows for a time that none of them outlasts.
    fn advance(&mut self, span: Span, done: &mut Vec<FlowCompletion>) {
        self.now += span;
        for flow in &mut self.served {
            self.open.remove(flow);
            flow.left -= span;
            if flow.left == Span::ZERO {
                done.push((flow.flow, self.now));
            } else {
                self.open.insert(*flow);
            }
        }
        self.served.retain(|flow| flow.left > Span::ZERO);
    }

    /// Chooses the flows to serve from now on.
    fn match_ports(&mut self) {
        self.served.clear();
        self.busy_ingress.fill(false);
        self.busy_egress.fill(false);
        for flow in &self.open {
            let [ingress, egress] = [flow.ingress as usize, flow.egress as usize];
            if !self.busy_ingress[ingress] && !self.busy_egress[egress] {
                (self.busy_ingress[ingress], self.busy_egress[egress]) = (true, true);
                self.served.push(*flow);
            }
        }
    }
}
