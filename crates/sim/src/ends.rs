//! The ends of open flows: which are active, where their state is, and the reports of those that are done. Must not
//! depend on the network.

use std::sync::Arc;

use weft_core::stack::Side;
use weft_core::{Bytes, FlowId, Header, HostId, InBand, PacketKind, Span, Time, prefetch, push_sparingly};
use weft_transport::{AnyHost, Body, FlowSite, Needs, Receiver, ReceiverReport, Sender, Transport};
use weft_workload::Flow;

use crate::event::Event;
use crate::slots::{FlowSlots, NOWHERE};
use weft_labels::FlowcellPosition;

mod closing;

pub(crate) use closing::{Closed, Last, Met};

/// Either end of a flow, as its host uses it.
pub(crate) trait FlowEnd: Sized {
    const SIDE: Side;
    /// The open ends of this side.
    fn slab(ends: &mut Ends) -> &mut Slab<Self>;
    /// The event of the end's timer.
    fn wake_of(flow: FlowId) -> Event;
    fn receive(&mut self, now: Time, header: &Header, body: &Body);
    fn needs(&self) -> Needs;
    /// What it needs, unless the card is free for it and it has a packet, which must then be sent.
    fn needs_unless_sending(&self, card_is_free: bool) -> Option<Needs>;
    /// Whether it has a packet for the card.
    fn is_ready(&self) -> bool;
    fn on_wakeup(&mut self, now: Time);
    /// Payload that will follow the packet just written back to back.
    fn burst(&self) -> u64;
    /// Writes the packet it has announced; returns what it needs now.
    fn send(&mut self, now: Time, header: &mut Header, body: &mut Body) -> Needs;
    /// What the packet it has just written carries for switches.
    fn in_band(&self) -> InBand;
    /// What the packet it is about to receive carries.
    fn on_in_band(&mut self, now: Time, carried: &InBand);
    /// The end registers its need with the host part.
    fn ask(&mut self, part: &mut AnyHost);
    /// Whether the host part may withhold a packet that the end has written: in the control packets of a receiver that
    /// is still open.
    #[inline(always)]
    fn may_be_withheld(kind: PacketKind, needs: Needs) -> bool {
        Self::SIDE == Side::Receiver && kind == PacketKind::Control && (needs.ready || !needs.done)
    }
    /// The host part gives the end a turn; returns whether it used it.
    fn on_turn(&mut self, now: Time) -> bool;
}

macro_rules! end {
    ($type:ident, $slab:ident, $wake:ident) => {
        impl FlowEnd for $type {
            const SIDE: Side = Side::$type;
            #[inline]
            fn slab(ends: &mut Ends) -> &mut Slab<Self> {
                &mut ends.$slab
            }
            fn wake_of(flow: FlowId) -> Event {
                Event::$wake(flow)
            }
            #[inline]
            fn receive(&mut self, now: Time, header: &Header, body: &Body) {
                self.receive(now, header, body);
            }
            #[inline]
            fn needs(&self) -> Needs {
                self.needs()
            }
            #[inline]
            fn needs_unless_sending(&self, card_is_free: bool) -> Option<Needs> {
                self.needs_unless_sending(card_is_free)
            }
            #[inline]
            fn is_ready(&self) -> bool {
                self.is_ready()
            }
            fn on_wakeup(&mut self, now: Time) {
                self.on_wakeup(now);
            }
            #[inline(always)]
            fn send(&mut self, now: Time, header: &mut Header, body: &mut Body) -> Needs {
                self.send(now, header, body)
            }
            fn in_band(&self) -> InBand {
                self.in_band()
            }
            fn on_in_band(&mut self, now: Time, carried: &InBand) {
                self.on_in_band(now, carried);
            }
            fn ask(&mut self, part: &mut AnyHost) {
                self.ask(part);
            }
            fn on_turn(&mut self, now: Time) -> bool {
                self.on_turn(now)
            }
            fn burst(&self) -> u64 {
                self.burst()
            }
        }
    };
}
end!(Sender, senders, SenderWake);
end!(Receiver, receivers, ReceiverWake);

/// An end in use, and how its host keeps track of it.
pub(crate) struct Active<E> {
    pub(crate) end: E,
    /// Its own host, and the other one.
    pub(crate) host: HostId,
    pub(crate) peer: HostId,
    pub(crate) flow: FlowId,
    /// Whether it waits in its host's ring for the network card.
    pub(crate) in_ring: bool,
    /// Bit q: it has packets for queue q of its host; while all of these are paused, it writes none.
    pub(crate) queues: u8,
    /// Its flow has been counted as complete.
    pub(crate) completed: bool,
    /// The earliest pending timer event; later ones are stale.
    pub(crate) wake_at: Time,
    /// Since when it could have sent.
    pub(crate) ready_since: Time,
    /// Its position in its flowcells, if the host labels packets.
    pub(crate) cells: FlowcellPosition,
    /// The flow it belongs to.
    spec: Flow,
}

impl<E> Active<E> {
    #[inline(always)]
    fn new(end: E, (host, peer): (HostId, HostId), (flow, spec): (FlowId, Flow), queues: u8) -> Active<E> {
        let (wake_at, ready_since) = (Time::NEVER, Time::ZERO);
        let cells = FlowcellPosition::default();
        let (in_ring, completed) = (false, false);
        Active { end, host, peer, flow, in_ring, queues, completed, wake_at, ready_since, cells, spec }
    }
}

/// A slot for the state of an end.
enum Slot<E> {
    Free,
    /// The flow has started, but nothing has arrived here.
    Expected(FlowId, Flow),
    Open(Active<E>),
}

/// The slot of an open end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seat(pub(crate) u32);

/// Ends of one side, in reused slots.
pub(crate) struct Slab<E> {
    ends: Vec<Slot<E>>,
    free: Vec<u32>,
    /// The slot of each flow.
    slots: FlowSlots,
}

impl<E> Slab<E> {
    fn new() -> Slab<E> {
        Slab { ends: Vec::new(), free: Vec::new(), slots: FlowSlots::new() }
    }

    /// The slot of a flow; allocates one if it has none.
    fn slot_for(&mut self, flow: FlowId) -> &mut Slot<E> {
        let mut slot = self.slots.get(flow);
        if slot == NOWHERE {
            slot = self.free.pop().unwrap_or(self.ends.len() as u32);
            self.slots.set(flow, slot);
            if slot as usize == self.ends.len() {
                push_sparingly(&mut self.ends, Slot::Free);
            }
        }
        &mut self.ends[slot as usize]
    }

    /// Prefetches what the next packet of a flow will need.
    pub(crate) fn prefetch(&self, flow: FlowId) {
        if let Some(slot) = self.ends.get(self.slots.get(flow) as usize) {
            prefetch(slot);
        }
    }

    /// The slot of a flow that is open or expected.
    pub(crate) fn slot_of(&self, flow: FlowId) -> Option<usize> {
        let slot = self.slots.get(flow);
        (slot != NOWHERE).then_some(slot as usize)
    }

    /// The end of a flow and its slot, if it is open.
    #[inline]
    pub(crate) fn seated(&mut self, flow: FlowId) -> Option<(Seat, &mut Active<E>)> {
        let slot = self.slots.get(flow);
        match self.ends.get_mut(slot as usize) {
            Some(Slot::Open(active)) => Some((Seat(slot), active)),
            _ => None,
        }
    }

    /// The end in a slot, while it is open.
    #[inline]
    pub(crate) fn at(&mut self, seat: Seat) -> Option<&mut Active<E>> {
        match self.ends.get_mut(seat.0 as usize) {
            Some(Slot::Open(active)) => Some(active),
            _ => None,
        }
    }

    /// The end of a flow, if it is open.
    #[inline]
    pub(crate) fn get(&mut self, flow: FlowId) -> Option<&mut Active<E>> {
        self.seated(flow).map(|(_, active)| active)
    }

    /// The hosts of open ends: each end's own host, and the other end's.
    pub(crate) fn between(&self) -> impl Iterator<Item = (HostId, HostId)> + '_ {
        self.ends.iter().filter_map(|slot| match slot {
            Slot::Open(active) => Some((active.host, active.peer)),
            Slot::Free | Slot::Expected(..) => None,
        })
    }

    /// The flow, if it has started but none of its packets has arrived here.
    pub(crate) fn expected(&self, flow: FlowId) -> Option<Flow> {
        match self.ends.get(self.slots.get(flow) as usize) {
            Some(Slot::Expected(_, spec)) => Some(*spec),
            _ => None,
        }
    }

    /// Frees the slot of a flow. Returns what `last` reads from its end, which stays in place: it is large.
    fn close<R>(&mut self, flow: FlowId, last: impl FnOnce(&Active<E>) -> R) -> Option<R> {
        let slot = self.slots.get(flow);
        let end = self.ends.get_mut(slot as usize)?;
        let read = if let Slot::Open(active) = end { Some(last(active)) } else { None };
        *end = Slot::Free;
        self.slots.clear(flow);
        self.free.push(slot);
        read
    }
}

/// The ends of open flows in one domain.
pub(crate) struct Ends {
    pub(crate) senders: Slab<Sender>,
    pub(crate) receivers: Slab<Receiver>,
    /// Ends closed since they were last taken from here.
    pub(crate) closed: Vec<Closed>,
    /// Flows whose last byte has arrived, or that will never get a turn.
    pub(crate) completed: usize,
    /// Flows that start at or after this are measured.
    measured_from: Time,
    /// Payload delivered to closed receivers of measured flows.
    delivered: Bytes,
    /// Payload delivered to closed receivers of all flows.
    received: Bytes,
    /// With several transports, the traffic entry of each flow that has had a receiver here: it determines the reply to
    /// late packets.
    entries: Vec<u16>,
}

impl Ends {
    pub(crate) fn new(measured_from: Time) -> Ends {
        Ends {
            measured_from,
            delivered: Bytes::ZERO,
            received: Bytes::ZERO,
            senders: Slab::new(),
            receivers: Slab::new(),
            closed: Vec::new(),
            completed: 0,
            entries: Vec::new(),
        }
    }

    /// Records the traffic entry of a flow that is received here.
    pub(crate) fn note_entry(&mut self, flow: FlowId, tag: u16) {
        let number = flow.0 as usize;
        if number >= self.entries.len() {
            self.entries.resize(number + 1, 0);
        }
        self.entries[number] = tag;
    }

    /// What is still known of a flow between two hosts after its receiver has closed.
    pub(crate) fn closed_flow(&self, flow: FlowId, hosts: (HostId, HostId)) -> Flow {
        let tag = self.entries.get(flow.0 as usize).copied().unwrap_or(0);
        Flow::new(tag, Time::ZERO, hosts, Bytes::ZERO)
    }

    /// Opens the sender of a flow that starts now.
    pub(crate) fn open_sender(
        &mut self,
        (flow, spec): (FlowId, Flow),
        (transport, host, queues): (&Arc<Transport>, &FlowSite, u8),
        now: Time,
    ) {
        let sender = Sender::new(transport, &site((flow, &spec), host), now);
        *self.senders.slot_for(flow) =
            Slot::Open(Active::new(sender, (spec.source, spec.destination), (flow, spec), queues));
    }

    /// Announces a flow whose receiver will be here.
    pub(crate) fn expect(&mut self, flow: FlowId, spec: Flow) {
        *self.receivers.slot_for(flow) = Slot::Expected(flow, spec);
    }

    /// Opens the receiver of a flow whose first packet has arrived.
    pub(crate) fn open_receiver(
        &mut self,
        (flow, spec): (FlowId, Flow),
        (transport, host, queues): (&Arc<Transport>, &FlowSite, u8),
        now: Time,
    ) {
        let receiver = Receiver::new(transport, &site((flow, &spec), host), now);
        *self.receivers.slot_for(flow) =
            Slot::Open(Active::new(receiver, (spec.destination, spec.source), (flow, spec), queues));
    }

    /// Closes a sender and returns its flow.
    pub(crate) fn close_sender(&mut self, flow: FlowId, at: Time, at_host: Span) -> Option<Flow> {
        let (report, spec) = self.senders.close(flow, |active| (active.end.report(), active.spec))?;
        self.closed.push(Closed { flow, at, last: Last::Sender { report, at_host } });
        Some(spec)
    }

    pub(crate) fn close_receiver(&mut self, flow: FlowId, at: Time, met: Met) {
        let read = self.receivers.close(flow, |active| (active.end.report(), active.spec));
        if let Some((report, spec)) = read {
            if spec.start >= self.measured_from {
                self.delivered += report.delivered;
            }
            self.received += report.delivered;
            let last = Last::Receiver { spec, report, met };
            self.closed.push(Closed { flow, at, last });
        }
    }

    /// Payload of measured flows that has been delivered here so far.
    pub(crate) fn delivered(&self) -> Bytes {
        let open = self.receivers.ends.iter().filter_map(|slot| match slot {
            Slot::Open(active) if active.spec.start >= self.measured_from => {
                Some(active.end.report().delivered)
            }
            _ => None,
        });
        self.delivered + open.sum()
    }

    /// Payload of all flows that has been delivered here so far.
    pub(crate) fn received(&self) -> Bytes {
        let open = self.receivers.ends.iter().filter_map(|place| match place {
            Slot::Open(active) => Some(active.end.report().delivered),
            _ => None,
        });
        self.received + open.sum()
    }

    /// The reports of ends still open at the end of the run, without what their packets met.
    pub(crate) fn open(&self, at: Time) -> impl Iterator<Item = Closed> + '_ {
        let senders = self.senders.ends.iter().filter_map(move |slot| match slot {
            Slot::Open(Active { end, flow, .. }) => Some(Closed {
                flow: *flow,
                at,
                last: Last::Sender { report: end.report(), at_host: Span::ZERO },
            }),
            _ => None,
        });
        let receivers = self.receivers.ends.iter().filter_map(move |slot| {
            let (flow, spec, report) = match slot {
                Slot::Free => return None,
                Slot::Expected(flow, spec) => (*flow, *spec, ReceiverReport::default()),
                Slot::Open(Active { end, flow, spec, .. }) => (*flow, *spec, end.report()),
            };
            Some(Closed { flow, at, last: Last::Receiver { spec, report, met: Met::default() } })
        });
        senders.chain(receivers)
    }
}

/// What the ends need to know about a flow.
fn site((flow, spec): (FlowId, &Flow), host: &FlowSite) -> FlowSite {
    let deadline = spec.own_deadline().map(|deadline| spec.start + deadline);
    let (rate, round_trip) = (spec.constant_rate(), spec.open_round_trip());
    FlowSite { flow, size: spec.size, rate, deadline, round_trip, ..host.clone() }
}
