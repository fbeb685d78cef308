//! How pauses affect flows. Packets carry their *toll*: how long they were held, and whether they passed a congested
//! queue. The domain of a flow's receiver sums it up; the domain of its sender records how long a card held it. Must
//! not depend on why they are held. Unused while no class pauses.

use std::collections::BTreeMap;

use weft_core::record::FlowPauses;
use weft_core::segment::Toll;
use weft_core::stack::Layout;
use weft_core::{FlowId, LinkId, PacketId, PortId, Span, Time};
use weft_switch::Switch;
use weft_topology::Node;

use crate::context::Context;
use crate::devices::Devices;
use crate::ends::{Closed, Last, Met, Seat};
use crate::host::Hosts;
use crate::transmitters::entry;

/// A queue of a port.
type QueueAt = (PortId, usize);

impl Context {
    /// Called when a packet leaves a queue of a switch: adds the toll of that queue.
    #[inline]
    pub(crate) fn pay_toll(&mut self, link: LinkId, (own, at): (&Switch, QueueAt), packet: PacketId) {
        let (now, arrived) = (self.now, self.pool.headers.get(packet).arrived);
        let held = self.transmitter(link).held_during(at.1, arrived, now);
        let congested = own.reading().is_congested(at);
        if congested || held > Span::ZERO {
            self.note_toll(packet, Toll { held, congested });
        }
    }

    /// Adds a toll to a packet; only payload packets record it.
    #[inline(never)]
    fn note_toll(&mut self, packet: PacketId, toll: Toll) {
        if self.pool.headers.get(packet).kind.is_payload() {
            self.pool.body_mut(packet).add_toll(toll);
        }
    }

    /// Records how long a host's card has held a sender.
    pub(crate) fn was_held_at_host(&mut self, Seat(slot): Seat, held: Span) {
        if let Some(pauses) = &mut self.pauses {
            *entry(&mut pauses.tolls.at_host, slot as usize) += held;
        }
    }
}

impl Hosts {
    /// Adds the toll of a packet that has arrived to its flow.
    #[cold]
    pub(crate) fn collect_toll(&mut self, cx: &mut Context, packet: PacketId) {
        let body = cx.pool.body(packet);
        let (flow, toll) = (body.flow(), body.toll());
        if let Some((pauses, slot)) = cx.pauses.as_mut().zip(self.ends.receivers.slot_of(flow)) {
            let sum = entry(&mut pauses.tolls.arrived, slot);
            *sum = sum.and(pauses_of(toll));
        }
    }

    /// The toll of a flow's packets that arrived here. Read once, when its receiver closes.
    pub(crate) fn met(&mut self, cx: &mut Context, flow: FlowId) -> Met {
        Met { pauses: self.tolls_of(cx, flow), waits: self.waits_of(cx, flow) }
    }

    /// The toll of a flow's packets that arrived here.
    fn tolls_of(&mut self, cx: &mut Context, flow: FlowId) -> FlowPauses {
        let found = cx.pauses.as_mut().zip(self.ends.receivers.slot_of(flow));
        let sum = found.and_then(|(pauses, slot)| pauses.tolls.arrived.get_mut(slot));
        sum.map(std::mem::take).unwrap_or_default()
    }

    /// How long a card held the sender of a flow. Read once, when it closes.
    pub(crate) fn held_at_host(&mut self, cx: &mut Context, flow: FlowId) -> Span {
        let found = cx.pauses.as_mut().zip(self.ends.senders.slot_of(flow));
        let sum = found.and_then(|(pauses, slot)| pauses.tolls.at_host.get_mut(slot));
        sum.map(std::mem::take).unwrap_or_default()
    }

    /// The toll of an end still open at the end of the run, including its packets that still wait.
    pub(crate) fn with_tolls(
        &mut self,
        cx: &mut Context,
        closed: Closed,
        waiting: &BTreeMap<FlowId, FlowPauses>,
    ) -> Closed {
        let flow = closed.flow;
        let last = match closed.last {
            Last::Sender { report, .. } => Last::Sender { report, at_host: self.held_at_host(cx, flow) },
            Last::Receiver { spec, report, .. } => {
                let met = self.met(cx, flow);
                let pauses = met.pauses.and(waiting.get(&flow).copied().unwrap_or_default());
                Last::Receiver { spec, report, met: Met { pauses, ..met } }
            }
        };
        Closed { last, ..closed }
    }
}

impl Devices {
    /// The toll of the packets still waiting in switches at the end of the run.
    pub(crate) fn tolls_of_waiting(
        &self,
        cx: &mut Context,
        end: Time,
        sums: &mut BTreeMap<FlowId, FlowPauses>,
    ) {
        let Some(pauses) = &mut cx.pauses else { return };
        for (wire, transmitter) in cx.wires.iter().zip(&mut pauses.links) {
            let Node::Switch(switch) = wire.from else { continue };
            let Some(own) = self.get(switch) else { continue };
            let queues = cx.plan.setup.switch_at(switch).queues as usize;
            for at in (0..queues).map(|queue| (wire.port, queue)) {
                let (headers, congested) = (&cx.pool.headers, own.switch.reading().is_congested(at));
                let payload = |packet: &PacketId| headers.get(*packet).kind.is_payload();
                for packet in own.switch.reading().waiting_in(headers, at).filter(payload) {
                    let held = transmitter.held_during(at.1, headers.get(packet).arrived, end);
                    let body = cx.pool.body(packet);
                    let toll = body.toll().and(Toll { held, congested });
                    let sum = sums.entry(body.flow()).or_default();
                    *sum = sum.and(pauses_of(toll));
                }
            }
        }
    }
}

fn pauses_of(Toll { held, congested }: Toll) -> FlowPauses {
    FlowPauses { held, congested, packets: u32::from(held > Span::ZERO), at_host: Span::ZERO }
}
