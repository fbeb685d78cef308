//! Departures that switches foresee in lulls, until they revoke them: see [`weft_switch::Switch::foresee_in_lulls`].
//! Such a departure counts as an event, like the end of a transmission at any other port, so the number of events
//! does not depend on which ports foresee.

use weft_core::{Header, LinkId, PacketId, PortId, Span, SwitchId, Time};
use weft_switch::{Departure, Turn};

use super::{Devices, PlacedSwitch};
use crate::context::Context;

impl Devices {
    /// Passes a packet to a switch after that has revoked departures.
    #[cold]
    pub(super) fn receive_revoking(
        &mut self,
        cx: &mut Context,
        switch: SwitchId,
        from: PortId,
        packet: PacketId,
    ) {
        self.revoke(cx, switch, cx.now);
        self.receive(cx, switch, from, packet);
    }

    /// Lets a switch revoke all departures, after all events before `before`: packets that have not left are queued.
    #[cold]
    pub(crate) fn revoke(&mut self, cx: &mut Context, switch: SwitchId, before: Time) {
        let Some(own) = self.switches[switch.index()].as_mut().filter(|own| own.switch.is_in_lull()) else {
            return;
        };
        let ports = own.switch.reading().ports();
        (0..ports).for_each(|port| self.revoke_at(cx, (switch, PortId(port as u16)), before));
        self.switches[switch.index()].iter_mut().for_each(|own| own.switch.end_lull());
    }

    /// [`Devices::revoke`] for one port, while the lull lasts.
    #[cold]
    pub(crate) fn revoke_at(&mut self, cx: &mut Context, (switch, port): (SwitchId, PortId), before: Time) {
        let Some(own) = &mut self.switches[switch.index()] else { return };
        let Some((packets, leaves)) = own.switch.revocable(before, port) else { return };
        let link = own.link(port);
        cx.take_off(link, packets, &mut self.revoked);
        let Context { pool, tally, now, .. } = cx;
        let mut turn = Turn { now: *now, headers: &mut pool.headers, effects: &mut self.effects };
        own.switch.revoke(&mut turn, port, &self.revoked, |headers, packet, wait| {
            let Header { kind, hops, arrived, .. } = *headers.get(packet);
            if kind.is_payload() {
                tally.revoke_wait(hops, wait, arrived + wait);
                headers.waits_mut(packet).into_iter().for_each(|waits| waits.take_back(hops, wait));
            }
        });
        cx.calendar.push_transmitted(leaves, link);
        cx.tally.events -= packets as u64;
    }

    /// [`Devices::revoke`] for all switches.
    pub(crate) fn revoke_all(&mut self, cx: &mut Context, before: Time) {
        (0..self.switches.len()).for_each(|switch| self.revoke(cx, SwitchId(switch as u32), before));
    }
}

impl PlacedSwitch {
    /// Called when the departure of a packet is known, unless it is revoked later, and the last packets of its port
    /// leave later.
    #[inline(never)]
    pub(super) fn overtake(
        &self,
        cx: &mut Context,
        packet: PacketId,
        departure: Departure,
        (overtaken, taken): (usize, &mut Vec<PacketId>),
    ) {
        let link = self.link(departure.port);
        let later = departure.end.since(departure.start);
        cx.take_off(link, overtaken + 1, taken);
        leave_unless_held(cx, link, packet, departure);
        let foreseen = self.switch.overtaken(departure.port, overtaken);
        for (packet, (arrived, end, wait)) in taken[1..].iter().zip(foreseen) {
            let Header { kind, hops, wire, .. } = *cx.pool.headers.get(*packet);
            if kind.is_payload() {
                let (before, start) = (wait - later, arrived + wait);
                cx.tally.revoke_wait(hops, before, arrived + before);
                cx.tally.expect_wait(hops, wait, (cx.now, start));
                if let Some(waits) = cx.pool.headers.waits_mut(*packet) {
                    waits.take_back(hops, before);
                    waits.add(hops, wait);
                }
            }
            cx.launch(link, *packet, wire, end);
        }
    }
}

/// Called when the departure of a packet from a switch by a link is known, unless it is revoked later.
#[inline(always)]
pub(super) fn leave_unless_held(cx: &mut Context, link: LinkId, packet: PacketId, departure: Departure) {
    let Departure { start, end, wire, hops, kind, .. } = departure;
    cx.tally.events += 1;
    if kind.is_payload() {
        let wait = start.since(cx.now);
        if wait == Span::ZERO {
            cx.tally.waited(hops, wait);
        } else {
            cx.tally.expect_wait(hops, wait, (cx.now, start));
            cx.add_wait(packet, hops, wait);
        }
    }
    cx.launch(link, packet, wire, end);
}

impl Context {
    /// Takes the last `packets` packets that have been put on a link off it again, except the first of these. All of
    /// them are left in `taken`, in order.
    fn take_off(&mut self, link: LinkId, packets: usize, taken: &mut Vec<PacketId>) {
        let wire = self.wires.of(link);
        taken.clear();
        let mut packet = self.calendar.arriving(link);
        taken.push(packet);
        while packet != wire.last {
            (packet, _) = self.pool.headers.follower(packet);
            taken.push(packet);
        }
        taken.drain(..taken.len() - packets);
        wire.last = taken[0];
        for packet in &taken[1..] {
            wire.take_back(self.pool.headers.get(*packet).wire);
        }
    }
}
