//! Arbiters at the ports of a switch: they read and write the scheduling headers of packets that pass. Must not depend
//! on what an arbiter decides.
//!
//! A port has the arbiter of the link it feeds, and that of the link in the other direction if a host sends on it.

use weft_arbiter::{AnyArbiter, ArbiterSettings, ArbiterSite, Passing};
use weft_core::scheduling::{FlowKey, Role, SchedulingHeader};
use weft_core::{Bytes, Header, PacketId, PortId, SwitchId, Time};

use super::{Switch, enter};
use crate::site::SwitchSite;
use crate::turn::{Effect, Turn, Verdict};

/// See the file's head.
pub(super) struct Arbiters {
    switch: SwitchId,
    ports: Box<[PortArbiters]>,
}

/// The two arbiters of a port.
struct PortArbiters {
    /// Of the link that the port feeds.
    out: AnyArbiter,
    /// Of the link on which a host sends to the port; unused between switches.
    from_host: AnyArbiter,
    /// The next wake-up that the driver has been asked for.
    wake: Time,
}

impl PortArbiters {
    fn new(settings: &ArbiterSettings, site: &SwitchSite, port: usize) -> PortArbiters {
        let first = (u64::from(site.switch.0) << 16 | port as u64) * 2 + 1;
        let arbiter = |number| {
            let (line, full_packet) = (site.rates[port], site.full_packet);
            AnyArbiter::new(settings, ArbiterSite { number, line, full_packet })
        };
        PortArbiters { out: arbiter(first), from_host: arbiter(first + 1), wake: Time::NEVER }
    }

    /// When something is due at an arbiter, if that is earlier than the wake-up the driver has been asked for.
    fn earlier(&mut self) -> Option<Time> {
        let due = self.out.due().min(self.from_host.due());
        (due < self.wake).then(|| {
            self.wake = due;
            due
        })
    }
}

impl Arbiters {
    /// `None`: there are none.
    pub(super) fn new(settings: &ArbiterSettings, site: &SwitchSite) -> Option<Arbiters> {
        let ports: Box<[_]> =
            (0..site.rates.len()).map(|port| PortArbiters::new(settings, site, port)).collect();
        ports.first().is_some_and(|port| port.out.is_on()).then_some(Arbiters { switch: site.switch, ports })
    }

    fn at(&mut self, port: PortId) -> &mut PortArbiters {
        &mut self.ports[port.index()]
    }

    /// A packet arrives. An answer passes the arbiters of its flow; returns the port by which it goes back.
    fn arrives(&mut self, turn: &mut Turn<'_>, from: PortId, packet: PacketId) -> Option<PortId> {
        let (header, now) = (*turn.headers.get(packet), turn.now);
        let scheduling = turn.headers.scheduling_mut(packet)?;
        let passing = passing(now, &header, scheduling);
        match scheduling.role {
            Role::None => None,
            Role::Grant => {
                self.at(from).out.reverse(&passing, scheduling);
                let back = scheduling.trail.pop(self.switch)?;
                if scheduling.trail.is_empty() {
                    self.at(back).from_host.reverse(&passing, scheduling);
                }
                Some(back)
            }
            Role::Request | Role::Leave => {
                scheduling.trail.push(self.switch, from);
                if header.hops == 0 {
                    self.at(from).from_host.forward(&passing, scheduling);
                    self.set_timer(turn, from);
                }
                None
            }
        }
    }

    /// A packet waits at a port.
    fn departs(&mut self, turn: &mut Turn<'_>, port: PortId, packet: PacketId) {
        let (header, now) = (*turn.headers.get(packet), turn.now);
        let Some(scheduling) = turn.headers.scheduling_mut(packet) else { return };
        if matches!(scheduling.role, Role::Request | Role::Leave) {
            let passing = passing(now, &header, scheduling);
            self.at(port).out.forward(&passing, scheduling);
            self.set_timer(turn, port);
        }
    }

    fn set_timer(&mut self, turn: &mut Turn<'_>, port: PortId) {
        turn.effects.extend(self.at(port).earlier().map(|due| Effect::WakeAt(due, port)));
    }
}

fn passing(now: Time, header: &Header, scheduling: &SchedulingHeader) -> Passing {
    let flow = FlowKey::of(header, scheduling.role == Role::Grant);
    Passing { now, flow, wire: header.wire }
}

impl Switch {
    /// [`Switch::receive`] with arbiters. A request meets the arbiter of its output once it waits there; a dropped one
    /// never does. An answer returns along its trail, whatever routes and balancer say.
    #[inline(never)]
    pub(super) fn receive_arbitrated(
        &mut self,
        turn: &mut Turn<'_>,
        from: PortId,
        packet: PacketId,
    ) -> Verdict {
        let Some(arbiters) = &mut self.arbiters else { unreachable!("called only with arbiters") };
        if let Some(back) = arbiters.arrives(turn, from, packet) {
            return self.send_back(turn, (from, back), packet);
        }
        let verdict = self.receive_watched(turn, from, packet);
        if let (Some(arbiters), Verdict::Ready(port) | Verdict::Queued(port)) = (&mut self.arbiters, verdict)
        {
            arbiters.departs(turn, port, packet);
        }
        verdict
    }

    /// An answer joins the port by which its request entered.
    fn send_back(&mut self, turn: &mut Turn<'_>, (from, to): (PortId, PortId), packet: PacketId) -> Verdict {
        let now = turn.now;
        self.tell_received(turn, from, packet);
        enter(now, turn.headers.get_mut(packet), from);
        let joined = match self.fabric {
            None => self.outputs.join(turn, to, packet),
            Some(_) => self.enter_fabric(turn, to, packet),
        };
        let verdict = joined.verdict(turn.headers.get(packet), to);
        if let (Some(observer), Verdict::Dropped(reason)) = (&mut self.observer, verdict) {
            observer.dropped(now, packet, reason);
        }
        verdict
    }

    /// The timer of a port's arbiters may have expired.
    pub(super) fn arbitrate_again(&mut self, turn: &mut Turn<'_>, port: PortId) {
        let Some(arbiters) = &mut self.arbiters else { return };
        let own = arbiters.at(port);
        if turn.now < own.wake {
            return;
        }
        own.wake = Time::NEVER;
        let held = &self.outputs.port(port).port;
        let in_service = held.in_service.map_or(0, |packet| u64::from(packet.wire));
        let in_front = self.fabric.as_ref().map_or(0, |side| side.held[port.index()].bytes);
        own.out.tick(turn.now, Bytes(in_front + held.bytes.saturating_sub(in_service)));
        own.from_host.tick(turn.now, Bytes::ZERO);
        arbiters.set_timer(turn, port);
    }
}
