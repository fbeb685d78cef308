//! The ends of all flows: which are active, where their state is, and what is left of those that are done. Knows no
//! network.

use std::sync::Arc;

use weft_core::{Bytes, FlowId, Header, HostId, Time};
use weft_transport::{FlowSite, Needs, Outcomes, Receiver, Segment, Sender, Transport};
use weft_workload::Flow;

use crate::labels::Cells;

/// What both ends of a flow have in common for their host.
pub(crate) trait End {
    fn needs(&self) -> Needs;
    fn on_wakeup(&mut self, now: Time);
    /// Payload that will follow the packet just written without a pause.
    fn burst(&self) -> u64;
    /// Writes the packet that it said it has.
    fn send(&mut self, now: Time, header: &mut Header, segment: &mut Segment);
}

macro_rules! end {
    ($type:ty) => {
        impl End for $type {
            #[inline]
            fn needs(&self) -> Needs {
                self.needs()
            }
            fn on_wakeup(&mut self, now: Time) {
                self.on_wakeup(now);
            }
            #[inline]
            fn send(&mut self, now: Time, header: &mut Header, segment: &mut Segment) {
                let written = self.poll_into(now, header, segment);
                debug_assert!(written, "an end that is ready has a packet");
            }
            fn burst(&self) -> u64 {
                self.burst()
            }
        }
    };
}
end!(Sender);
end!(Receiver);

/// An end in use, and how its host keeps track of it.
pub(crate) struct Active<E> {
    pub(crate) end: E,
    /// The host it is at, and the other one.
    pub(crate) host: HostId,
    pub(crate) peer: HostId,
    pub(crate) flow: FlowId,
    /// It waits in its host's ring for the network card.
    pub(crate) in_ring: bool,
    /// Its flow has been counted as complete.
    pub(crate) completed: bool,
    /// The earliest pending timer event; later ones are stale.
    pub(crate) wake_at: Time,
    /// Since when it could send.
    pub(crate) ready_since: Time,
    /// Where it is in its flowcells, if the host labels packets.
    pub(crate) cells: Cells,
}

impl<E> Active<E> {
    fn new(end: E, (host, peer): (HostId, HostId), flow: FlowId) -> Active<E> {
        let (wake_at, ready_since) = (Time::NEVER, Time::ZERO);
        let cells = Cells::default();
        Active { end, host, peer, flow, in_ring: false, completed: false, wake_at, ready_since, cells }
    }
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

    fn insert(&mut self, active: Active<E>) -> &mut Active<E> {
        let place = self.free.pop().unwrap_or(self.places.len() as u32);
        if place as usize == self.places.len() {
            self.places.push(None);
        }
        self.of_flow[active.flow.index()] = place;
        self.places[place as usize].insert(active)
    }

    #[inline]
    #[allow(unsafe_code, reason = "1 % of all instructions")]
    pub(crate) fn get(&mut self, flow: FlowId) -> Option<&mut Active<E>> {
        let place = self.of_flow[flow.index()];
        if place >= GONE {
            return None;
        }
        debug_assert!((place as usize) < self.places.len(), "see `insert`");
        // SAFETY: `insert`, which alone writes a place that is below `GONE`, has made it, and places never get fewer.
        unsafe { self.places.get_unchecked_mut(place as usize) }.as_mut()
    }

    pub(crate) fn is_new(&self, flow: FlowId) -> bool {
        self.of_flow[flow.index()] == NEW
    }

    fn remove(&mut self, flow: FlowId) -> Option<Active<E>> {
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
    /// What is left of those that are done.
    pub(crate) outcomes: Outcomes,
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
            outcomes: Outcomes::default(),
            started: 0,
            completed: 0,
        }
    }

    /// The sender of a flow that starts now.
    pub(crate) fn open_sender(&mut self, flow: (FlowId, &Flow), host: &FlowSite, now: Time) {
        let sender = Sender::new(&self.transport, &site(flow, host), now);
        let (source, destination) = (flow.1.source, flow.1.destination);
        self.senders.insert(Active::new(sender, (source, destination), flow.0));
    }

    /// The receiver of a flow whose first packet arrived.
    pub(crate) fn open_receiver(
        &mut self,
        flow: (FlowId, &Flow),
        host: &FlowSite,
        now: Time,
    ) -> &mut Receiver {
        let receiver = Receiver::new(&self.transport, &site(flow, host), now);
        let (source, destination) = (flow.1.source, flow.1.destination);
        &mut self.receivers.insert(Active::new(receiver, (destination, source), flow.0)).end
    }

    pub(crate) fn close_sender(&mut self, flow: FlowId) {
        if let Some(active) = self.senders.remove(flow) {
            self.outcomes.sender_done(flow, &active.end.report());
        }
    }

    pub(crate) fn close_receiver(&mut self, flow: FlowId, size: Bytes) {
        if let Some(active) = self.receivers.remove(flow) {
            self.outcomes.receiver_done(flow, size, &active.end.report());
        }
    }
}

/// What the ends must know of a flow.
fn site((flow, spec): (FlowId, &Flow), host: &FlowSite) -> FlowSite {
    FlowSite { flow, size: spec.size, rate: spec.constant_rate(), ..host.clone() }
}
