//! Flows that wait for their turn: for some traffic entries a host sends one flow at a time. Must not depend on the
//! network.

use std::collections::{BTreeMap, VecDeque};

use weft_core::{FlowId, HostId, Time};
use weft_workload::{Flow, Flows};

/// The flows of the hosts of one domain that may not start yet.
pub(crate) struct Turns {
    flows: Flows,
    /// By sender and traffic entry, in order; an entry exists while one of its flows is open.
    waiting: BTreeMap<(HostId, u16), VecDeque<(FlowId, Flow)>>,
    /// Flows whose turn has come, but whose start event has not.
    called: Vec<(FlowId, Flow)>,
}

impl Turns {
    /// `None` if no flow waits for its turn.
    pub(crate) fn new(flows: &Flows) -> Option<Box<Turns>> {
        let turns = || Turns { flows: flows.clone(), waiting: BTreeMap::new(), called: Vec::new() };
        flows.take_turns().then(|| Box::new(turns()))
    }

    /// Whether a starting flow must wait. If not, it takes the turn.
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

    /// Called when a flow is done after the last turn of its traffic entry. Returns the number of flows that will
    /// never start.
    pub(crate) fn end(&mut self, done: &Flow, now: Time) -> Option<usize> {
        self.flows.last_turn(done.tag).filter(|last| *last <= now)?;
        self.waiting.remove(&(done.source, done.tag)).map(|queue| queue.len())
    }

    /// Called when a flow is done; returns the next one that may start.
    pub(crate) fn call_next(&mut self, done: &Flow, now: Time) -> Option<FlowId> {
        let key = (done.source, done.tag);
        let Some((flow, spec)) = self.waiting.get_mut(&key)?.pop_front() else {
            self.waiting.remove(&key);
            return None;
        };
        self.called.push((flow, Flow { start: now, ..spec }));
        Some(flow)
    }

    /// Takes a flow whose turn has come.
    pub(crate) fn take(&mut self, flow: FlowId) -> Option<Flow> {
        let place = self.called.iter().position(|(called, _)| *called == flow)?;
        Some(self.called.swap_remove(place).1)
    }

    /// Takes a flow whose turn has come. Those that wait have not started.
    pub(crate) fn next_called(&mut self) -> Option<(FlowId, Flow)> {
        self.called.pop()
    }
}
