//! Flows that wait for their turn: of some traffic entries a host sends one flow at a time. Knows no network.

use std::collections::{BTreeMap, VecDeque};

use weft_core::{FlowId, HostId, Time};
use weft_workload::{Flow, Flows};

use crate::domain::Domain;
use crate::event::Event;

/// The flows of the hosts of one domain that may not start yet.
pub(crate) struct Turns {
    flows: Flows,
    /// By sender and traffic entry, in their order; an entry is there as long as a flow of it is open.
    waiting: BTreeMap<(HostId, u16), VecDeque<(FlowId, Flow)>>,
    /// Those whose turn has come, until the event of their start.
    called: Vec<(FlowId, Flow)>,
}

impl Turns {
    /// Nothing if no flow waits for its turn.
    pub(crate) fn new(flows: &Flows) -> Option<Box<Turns>> {
        let turns = || Turns { flows: flows.clone(), waiting: BTreeMap::new(), called: Vec::new() };
        flows.take_turns().then(|| Box::new(turns()))
    }

    /// Whether a flow that is handed over has to wait. If not, it is its turn.
    pub(crate) fn has_to_wait(&mut self, flow: FlowId, spec: Flow) -> bool {
        if !self.flows.is_in_turn(spec.tag) {
            return false;
        }
        let key = (spec.source, spec.tag);
        if let Some(queue) = self.waiting.get_mut(&key) {
            queue.push_back((flow, spec));
            return true;
        }
        self.waiting.insert(key, VecDeque::new());
        false
    }

    /// A flow is done; calls the one that starts now in its place.
    pub(crate) fn call_next(&mut self, done: &Flow, now: Time) -> Option<FlowId> {
        let key = (done.source, done.tag);
        let Some((flow, spec)) = self.waiting.get_mut(&key)?.pop_front() else {
            self.waiting.remove(&key);
            return None;
        };
        self.called.push((flow, Flow { start: now, ..spec }));
        Some(flow)
    }

    /// The flow that was called.
    pub(crate) fn take(&mut self, flow: FlowId) -> Option<Flow> {
        let place = self.called.iter().position(|(called, _)| *called == flow)?;
        Some(self.called.swap_remove(place).1)
    }

    /// Those whose turn has not come.
    pub(crate) fn left(self) -> impl Iterator<Item = (FlowId, Flow)> {
        self.waiting.into_values().flatten().chain(self.called)
    }
}

impl Domain {
    /// The application hands over a flow, or the turn of one has come.
    pub(crate) fn flow_start(&mut self, flow: FlowId) {
        match self.upcoming.take_if(|(upcoming, _)| *upcoming == flow) {
            Some((_, spec)) => {
                let waits = self.turns.as_mut().is_some_and(|turns| turns.has_to_wait(flow, spec));
                self.schedule_next_flow();
                if !waits {
                    self.begin(flow, spec);
                }
            }
            None => {
                let called = self.turns.as_mut().and_then(|turns| turns.take(flow));
                self.begin(flow, called.expect("a flow starts once"));
            }
        }
    }

    /// Closes a sender; it may be the turn of another now.
    pub(crate) fn sender_done(&mut self, flow: FlowId) {
        let at_host = self.held_at_host(flow);
        let spec = self.ends.close_sender(flow, self.now, at_host);
        let Some((turns, spec)) = self.turns.as_mut().zip(spec) else { return };
        if let Some(next) = turns.call_next(&spec, self.now) {
            self.schedule(self.now, Event::FlowStart(next));
        }
    }
}
