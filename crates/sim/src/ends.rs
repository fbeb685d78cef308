//! The ends of all flows: which are active, where their state is, and what is left of those that are done. Knows no
//! network.

use std::sync::Arc;

use weft_core::{FlowId, Time};
use weft_transport::{FlowSite, Receiver, ReceiverReport, Sender, SenderReport, Transport};
use weft_workload::Flow;

/// What both ends of a flow have in common for their host.
pub(crate) trait End {
    fn ready(&self, now: Time) -> bool;
    fn next_wakeup(&self) -> Time;
    fn on_wakeup(&mut self, now: Time);
    /// The state may be dropped.
    fn done(&self) -> bool;
}

macro_rules! end {
    ($type:ty, $done:ident) => {
        impl End for $type {
            fn ready(&self, now: Time) -> bool {
                self.ready(now)
            }
            fn next_wakeup(&self) -> Time {
                self.next_wakeup()
            }
            fn on_wakeup(&mut self, now: Time) {
                self.on_wakeup(now);
            }
            fn done(&self) -> bool {
                self.$done()
            }
        }
    };
}
end!(Sender, finished);
end!(Receiver, closed);

/// An end in use, and how its host keeps track of it.
pub(crate) struct Active<E> {
    pub(crate) end: E,
    pub(crate) flow: FlowId,
    /// It waits in its host's ring for the network card.
    pub(crate) in_ring: bool,
    /// The earliest pending timer event; later ones are stale.
    pub(crate) wake_at: Time,
    /// Since when it could send.
    pub(crate) ready_since: Time,
    /// Its flow has been counted as complete.
    pub(crate) completed: bool,
}

/// Ends of one side, in reused places.
pub(crate) struct Slab<E> {
    places: Vec<Option<Active<E>>>,
    free: Vec<u32>,
    /// Where the end of each flow is.
    of_flow: Vec<u32>,
}

/// No state yet.
const NEW: u32 = u32::MAX;
/// State has been dropped.
const GONE: u32 = u32::MAX - 1;

impl<E> Slab<E> {
    fn new(flows: usize) -> Slab<E> {
        Slab { places: Vec::new(), free: Vec::new(), of_flow: vec![NEW; flows] }
    }

    pub(crate) fn insert(&mut self, flow: FlowId, end: E, now: Time) {
        let active =
            Active { end, flow, in_ring: false, wake_at: Time::NEVER, ready_since: now, completed: false };
        let place = self.free.pop().unwrap_or(self.places.len() as u32);
        if place as usize == self.places.len() {
            self.places.push(None);
        }
        self.places[place as usize] = Some(active);
        self.of_flow[flow.index()] = place;
    }

    pub(crate) fn get(&mut self, flow: FlowId) -> Option<&mut Active<E>> {
        let place = self.of_flow[flow.index()];
        if place >= GONE { None } else { self.places[place as usize].as_mut() }
    }

    pub(crate) fn is_new(&self, flow: FlowId) -> bool {
        self.of_flow[flow.index()] == NEW
    }

    pub(crate) fn remove(&mut self, flow: FlowId) -> Option<Active<E>> {
        let place = self.of_flow[flow.index()];
        if place >= GONE {
            return None;
        }
        self.of_flow[flow.index()] = GONE;
        self.free.push(place);
        self.places[place as usize].take()
    }

    pub(crate) fn active(&self) -> impl Iterator<Item = &Active<E>> {
        self.places.iter().flatten()
    }
}

/// The ends of all flows that are in one domain.
pub(crate) struct Ends {
    transport: Arc<Transport>,
    pub(crate) senders: Slab<Sender>,
    pub(crate) receivers: Slab<Receiver>,
    pub(crate) sent: Vec<(FlowId, SenderReport)>,
    pub(crate) received: Vec<(FlowId, ReceiverReport)>,
    /// Flows before this one have been handed over, or are another domain's.
    pub(crate) started: usize,
    /// Flows whose last byte has arrived.
    pub(crate) completed: usize,
}

impl Ends {
    /// For a run of so many flows.
    pub(crate) fn new(transport: Arc<Transport>, flows: usize) -> Ends {
        Ends {
            transport,
            senders: Slab::new(flows),
            receivers: Slab::new(flows),
            sent: Vec::new(),
            received: Vec::new(),
            started: 0,
            completed: 0,
        }
    }

    /// The sender of a flow that starts now.
    pub(crate) fn open_sender(&mut self, flow: (FlowId, &Flow), host: &FlowSite, now: Time) {
        let sender = Sender::new(&self.transport, &site(flow, host), now);
        self.senders.insert(flow.0, sender, now);
    }

    /// The receiver of a flow whose first packet arrived.
    pub(crate) fn open_receiver(&mut self, flow: (FlowId, &Flow), host: &FlowSite, now: Time) {
        let receiver = Receiver::new(&self.transport, &site(flow, host), now);
        self.receivers.insert(flow.0, receiver, now);
    }

    /// Counts a flow whose last byte has arrived; true when it is counted.
    pub(crate) fn note_completion(&mut self, flow: FlowId) -> bool {
        let Some(active) = self.receivers.get(flow) else { return false };
        let news = !active.completed && active.end.completed().is_some();
        if news {
            active.completed = true;
            self.completed += 1;
        }
        news
    }

    pub(crate) fn close_sender(&mut self, flow: FlowId) {
        if let Some(active) = self.senders.remove(flow) {
            self.sent.push((flow, active.end.report()));
        }
    }

    pub(crate) fn close_receiver(&mut self, flow: FlowId) {
        if let Some(active) = self.receivers.remove(flow) {
            self.received.push((flow, active.end.report()));
        }
    }
}

/// What the ends must know of a flow.
fn site((flow, spec): (FlowId, &Flow), host: &FlowSite) -> FlowSite {
    FlowSite { flow, size: spec.size, rate: spec.constant_rate(), ..host.clone() }
}
