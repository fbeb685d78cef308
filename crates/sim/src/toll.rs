//! What pauses do to flows: packets carry how long they were held and whether they went through a congested queue; the
//! domain of a flow's receiver adds it up, that of its sender how long a card held it. Knows who is held and when, not why.
//! Nothing here is reached while no class pauses.

use std::collections::BTreeMap;

use weft_core::record::FlowPauses;
use weft_core::segment::Toll;
use weft_core::stack::Layout;
use weft_core::{FlowId, LinkId, PacketId, PortId, Span, SwitchId, Time};
use weft_topology::Node;

use crate::domain::Domain;
use crate::ends::{Closed, Last, Seat};

/// What open flows have met.
#[derive(Default)]
pub(crate) struct Tolls {
    /// Packets that arrived here, by the place of the receiver.
    arrived: Vec<FlowPauses>,
    /// Senders that are here, by their place.
    at_host: Vec<Span>,
}

/// An entry of a list that grows when it is first asked for.
fn entry<T: Copy + Default>(list: &mut Vec<T>, place: usize) -> &mut T {
    if place >= list.len() {
        list.resize(place + 1, T::default());
    }
    &mut list[place]
}

impl Domain {
    /// A packet leaves a queue of a switch.
    #[inline]
    pub(crate) fn pay_toll(&mut self, link: LinkId, (switch, port): (SwitchId, PortId), packet: PacketId) {
        let header = self.pool.headers.get(packet);
        let (queue, arrived) =
            (usize::from(self.plan.setup.queue(Node::Switch(switch), header.class)), header.arrived);
        let now = self.now;
        let held = self.transmitter(link).held_during(queue, arrived, now);
        let own = self.switches[switch.index()].as_ref().expect("a packet leaves a switch of its domain");
        let congested = own.switch.is_congested((port, queue));
        if congested || held > Span::ZERO {
            self.note_toll(packet, Toll { held, congested });
        }
    }

    /// A packet has met something; only payload keeps it.
    #[inline(never)]
    fn note_toll(&mut self, packet: PacketId, toll: Toll) {
        if self.pool.headers.get(packet).kind.is_payload() {
            self.pool.body_mut(packet).add_toll(toll);
        }
    }

    /// A packet has arrived that met something on its way.
    #[cold]
    pub(crate) fn collect_toll(&mut self, packet: PacketId) {
        let body = self.pool.body(packet);
        let (flow, toll) = (body.flow(), body.toll());
        if let Some((pauses, place)) = self.pauses.as_mut().zip(self.ends.receivers.place_of(flow)) {
            let sum = entry(&mut pauses.tolls.arrived, place);
            *sum = sum.and(pauses_of(toll));
        }
    }

    /// The card of a host has held a sender for so long.
    pub(crate) fn was_held_at_host(&mut self, Seat(place): Seat, held: Span) {
        if let Some(pauses) = &mut self.pauses {
            *entry(&mut pauses.tolls.at_host, place as usize) += held;
        }
    }

    /// What the packets of a flow have met that arrived here. Asked once, when its receiver is closed.
    pub(crate) fn tolls_of(&mut self, flow: FlowId) -> FlowPauses {
        let found = self.pauses.as_mut().zip(self.ends.receivers.place_of(flow));
        let sum = found.and_then(|(pauses, place)| pauses.tolls.arrived.get_mut(place));
        sum.map(std::mem::take).unwrap_or_default()
    }

    /// How long a card held the sender of a flow. Asked once, when it is closed.
    pub(crate) fn held_at_host(&mut self, flow: FlowId) -> Span {
        let found = self.pauses.as_mut().zip(self.ends.senders.place_of(flow));
        let sum = found.and_then(|(pauses, place)| pauses.tolls.at_host.get_mut(place));
        sum.map(std::mem::take).unwrap_or_default()
    }

    /// What the packets have met that still wait in switches at the end of the run.
    pub(crate) fn tolls_of_waiting(&mut self, end: Time, sums: &mut BTreeMap<FlowId, FlowPauses>) {
        let Some(pauses) = &mut self.pauses else { return };
        for (wire, transmitter) in self.wires.iter().zip(&mut pauses.links) {
            let Node::Switch(switch) = wire.from else { continue };
            let Some(own) = &self.switches[switch.index()] else { continue };
            let queues = self.plan.setup.switch_at(switch).queues as usize;
            for at in (0..queues).map(|queue| (wire.port, queue)) {
                let (headers, congested) = (&self.pool.headers, own.switch.is_congested(at));
                let payload = |packet: &PacketId| headers.get(*packet).kind.is_payload();
                for packet in own.switch.waiting_in(headers, at).filter(payload) {
                    let held = transmitter.held_during(at.1, headers.get(packet).arrived, end);
                    let body = self.pool.body(packet);
                    let toll = body.toll().and(Toll { held, congested });
                    let sum = sums.entry(body.flow()).or_default();
                    *sum = sum.and(pauses_of(toll));
                }
            }
        }
    }

    /// What is known of an end that is open at the end of the run, with what its packets have met that still wait.
    pub(crate) fn with_tolls(&mut self, closed: Closed, waiting: &BTreeMap<FlowId, FlowPauses>) -> Closed {
        let flow = closed.flow;
        let last = match closed.last {
            Last::Sender { report, .. } => Last::Sender { report, at_host: self.held_at_host(flow) },
            Last::Receiver { spec, report, .. } => {
                let pauses = self.tolls_of(flow).and(waiting.get(&flow).copied().unwrap_or_default());
                Last::Receiver { spec, report, pauses }
            }
        };
        Closed { last, ..closed }
    }
}

fn pauses_of(Toll { held, congested }: Toll) -> FlowPauses {
    FlowPauses { held, congested, packets: u32::from(held > Span::ZERO), at_host: Span::ZERO }
}
