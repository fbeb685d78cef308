//! A switch whose links have arbiters, which read and write the scheduling headers of packets that pass. Must not depend on
//! what an arbiter decides.

use weft_arbiter::Starting;
use weft_arbiter::ports::{ArbitersSite, Arrival, SwitchArbiters};
use weft_core::{Bytes, PacketId, PortId};

use super::fabric::InputSide;
use super::{Switch, arrive};
use crate::join::Joined;
use crate::outputs::Outputs;
use crate::settings::SwitchSettings;
use crate::site::SwitchSite;
use crate::turn::{Effect, Turn, Verdict};

/// The arbiters of a switch, if there are any.
pub(super) fn of(settings: &SwitchSettings, site: &SwitchSite) -> Option<SwitchArbiters> {
    let SwitchSite { switch, rates, full_packet, tree, .. } = site;
    let site = ArbitersSite { switch: *switch, rates, full_packet: *full_packet, tree: tree.as_ref() };
    SwitchArbiters::new(&settings.arbiter, &site)
}

/// Asks the driver for the next wake-up of a port.
fn set_timer(arbiters: &mut SwitchArbiters, turn: &mut Turn<'_>, port: PortId) {
    turn.effects.extend(arbiters.earlier(port).map(|due| Effect::WakeAt(due, port)));
}

/// Called when a packet arrives; returns the port by which it goes back, if it is an answer.
fn arrives(
    arbiters: &mut SwitchArbiters,
    turn: &mut Turn<'_>,
    from: PortId,
    packet: PacketId,
) -> Option<PortId> {
    let header = *turn.headers.get(packet);
    let scheduling = turn.headers.scheduling_mut(packet)?;
    match arbiters.arrives(turn.now, from, &header, scheduling) {
        Arrival::Onward => None,
        Arrival::FromHost => {
            set_timer(arbiters, turn, from);
            None
        }
        Arrival::Back(port) => Some(port),
    }
}

/// Called when a packet waits at a port.
fn departs(arbiters: &mut SwitchArbiters, turn: &mut Turn<'_>, port: PortId, packet: PacketId) {
    let header = *turn.headers.get(packet);
    let Some(scheduling) = turn.headers.scheduling_mut(packet) else { return };
    if arbiters.departs(turn.now, port, &header, scheduling) {
        set_timer(arbiters, turn, port);
    }
}

/// What waits for a link, not counting the packet in service.
fn waiting(outputs: &Outputs, fabric: Option<&InputSide>, port: PortId) -> Bytes {
    let held = &outputs.port(port).port;
    let in_service = held.in_service.map_or(0, |packet| u64::from(packet.wire));
    let in_front = fabric.map_or(0, |side| side.held[port.index()].bytes);
    Bytes(in_front + held.bytes.saturating_sub(in_service))
}

impl Switch {
    /// [`Switch::receive`] with arbiters. A request passes the arbiter of its output once it waits there; a dropped
    /// one never does. An answer returns along its trail, regardless of routes and balancer.
    #[inline(never)]
    pub(super) fn receive_arbitrated(
        &mut self,
        turn: &mut Turn<'_>,
        from: PortId,
        packet: PacketId,
    ) -> Verdict {
        let Some(arbiters) = &mut self.arbiters else { unreachable!("called only with arbiters") };
        if let Some(back) = arrives(arbiters, turn, from, packet) {
            return self.send_back(turn, (from, back), packet);
        }
        let verdict = self.receive_watched(turn, from, packet);
        if let (Some(arbiters), Verdict::Ready(port) | Verdict::Queued(port)) = (&mut self.arbiters, verdict)
        {
            departs(arbiters, turn, port, packet);
        }
        verdict
    }

    /// Adds an answer to the port by which its request entered.
    fn send_back(&mut self, turn: &mut Turn<'_>, (from, to): (PortId, PortId), packet: PacketId) -> Verdict {
        let now = turn.now;
        self.assert_port(to);
        self.tell_received(turn, from, packet);
        let joined = match (arrive(now, turn.headers.get_mut(packet), from), &self.fabric) {
            (Err(reason), _) => Joined::Dropped(reason),
            (Ok(()), None) => self.outputs.join(turn, to, packet),
            (Ok(()), Some(_)) => self.enter_fabric(turn, to, packet).0,
        };
        let verdict = joined.verdict(turn.headers.get(packet), to);
        if let (Some(observer), Verdict::Dropped(reason)) = (&mut self.observer, verdict) {
            observer.dropped(now, packet, reason);
        }
        verdict
    }

    /// Called when the timer of a port's arbiters may have expired.
    pub(super) fn arbitrate_again(&mut self, turn: &mut Turn<'_>, port: PortId) {
        let Some(arbiters) = &mut self.arbiters else { return };
        if arbiters.is_due(turn.now, port) {
            let waiting = waiting(&self.outputs, self.fabric.as_deref(), port);
            arbiters.tick(turn.now, port, waiting);
            set_timer(arbiters, turn, port);
        }
    }

    /// Called when a port begins to send a packet.
    pub(super) fn tell_arbiter(&mut self, turn: &mut Turn<'_>, port: PortId, packet: PacketId) {
        let Some(arbiters) = &mut self.arbiters else { return };
        let queued = waiting(&self.outputs, self.fabric.as_deref(), port);
        let starting = Starting { now: turn.now, wire: turn.headers.get(packet).wire, queued };
        arbiters.sends(&starting, port, turn.headers.collecting_mut(packet));
    }
}
