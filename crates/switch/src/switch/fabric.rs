//! The path of a packet through a switch with virtual output queues: it waits at the inputs, and joins its output when credit has
//! brought it across the fabric, or credit is at hand. Routes, balancing and transmission are those of every switch.

use weft_core::record::Reason;
use weft_core::{PacketId, PortId};
use weft_voq::{FabricSite, Passed, VoqFabric, VoqKey};

use super::Switch;
use crate::outputs::queue_of;
use crate::settings::{PortSettings, SwitchSettings};
use crate::share::SharingSettings;
use crate::site::SwitchSite;
use crate::turn::{Effect, Turn, Verdict};

/// The fabric that settings ask for.
pub(super) fn of(settings: &SwitchSettings, site: &SwitchSite) -> Option<VoqFabric> {
    let classes = settings.queues as usize;
    let (ecn, schedule) = (&settings.ecn, &settings.schedule);
    let site = FabricSite { rates: &site.rates, classes, ecn, schedule };
    settings.voq.as_ref().map(|voq| VoqFabric::new(voq, &site))
}

/// The settings of the outputs behind a fabric: they take what it delivers, which exceeds
/// [`VoqSettings::output`](crate::VoqSettings::output) by the credit that empty queues keep at most, and leave limits and marks to the
/// queues in front of it.
pub(super) fn outputs_behind(settings: &SwitchSettings) -> SwitchSettings {
    SwitchSettings {
        sharing: SharingSettings::Infinite(Default::default()),
        buffer: None,
        ecn: Default::default(),
        ..settings.clone()
    }
}

impl Switch {
    /// A packet is stored in the virtual output queue of its input's group, its output and its class.
    pub(super) fn enter_fabric(&mut self, turn: &mut Turn<'_>, port: PortId, packet: PacketId) -> Verdict {
        let output = &self.outputs.ports[port.index()];
        let Some(fabric) = self.fabric.as_mut().filter(|_| output.port.up) else {
            return Verdict::Dropped(self.outputs.refuse(port, Reason::LinkDown));
        };
        let header = *turn.headers.get(packet);
        let class = queue_of(header.class, self.queues) as u8;
        let key = VoqKey { group: fabric.group_of(header.ingress), port, class };
        let entered = fabric.enter(turn.now, key, (packet, turn.headers), &mut self.outputs.marking);
        match entered {
            Ok(entered) => {
                let output = &mut self.outputs.ports[port.index()].port;
                output.store(turn.now, header.wire);
                output.counters.marked += u64::from(entered.marked);
                turn.effects.extend(entered.wake.map(|at| Effect::WakeAt(at, port)));
                Verdict::Queued(port)
            }
            Err(reason) => Verdict::Dropped(self.outputs.refuse(port, reason)),
        }
    }

    /// Grants and uses the credits that are due and moves packets to the output. Returns whether the idle transmitter
    /// now has something to send.
    pub(super) fn pass_fabric(&mut self, turn: &mut Turn<'_>, port: PortId) -> bool {
        let Some(mut fabric) = self.fabric.take() else { return false };
        let mut ready = false;
        loop {
            let behind = self.outputs.port(port).queues.iter().map(|queue| queue.bytes).sum();
            let random = &mut self.outputs.marking;
            let Some(passed) = fabric.advance(turn.now, (port, behind), turn.headers, random) else { break };
            ready |= self.leave_fabric(turn, port, passed);
        }
        turn.effects.extend(fabric.next(turn.now, port).map(|at| Effect::WakeAt(at, port)));
        self.fabric = Some(fabric);
        ready
    }

    /// A packet joins its output, or is dropped. Returns whether the output's transmitter is idle.
    fn leave_fabric(&mut self, turn: &mut Turn<'_>, port: PortId, passed: Passed) -> bool {
        let (Passed::Arrived(packet, _) | Passed::Dropped(packet)) = passed;
        let wire = turn.headers.get(packet).wire;
        let held = &mut self.outputs.ports[port.index()].port;
        held.release(turn.now, wire);
        held.counters.marked += u64::from(matches!(passed, Passed::Arrived(_, true)));
        let verdict = match passed {
            Passed::Arrived(..) => {
                let joined = self.outputs.join(turn, port, packet);
                joined.verdict(turn.headers.get(packet), port)
            }
            Passed::Dropped(_) => Verdict::Dropped(self.outputs.refuse(port, Reason::Early)),
        };
        match verdict {
            Verdict::Dropped(reason) => turn.effects.push_back(Effect::Dropped(packet, reason)),
            Verdict::Ready(_) | Verdict::Queued(_) | Verdict::Returned => {}
            Verdict::LeavesAt(_) | Verdict::QueuedUntil(..) => {
                unreachable!("outputs of a fabric foresee nothing")
            }
        }
        matches!(verdict, Verdict::Ready(_))
    }

    /// The link behind an output is down: packets that wait for it are lost.
    pub(super) fn flush_fabric(&mut self, turn: &mut Turn<'_>, port: PortId) {
        let Some(mut fabric) = self.fabric.take() else { return };
        while let Some(packet) = fabric.flush(turn.now, port, turn.headers) {
            let wire = turn.headers.get(packet).wire;
            self.outputs.ports[port.index()].port.release(turn.now, wire);
            let reason = self.outputs.refuse(port, Reason::LinkDown);
            turn.effects.push_back(Effect::Dropped(packet, reason));
        }
        turn.effects.extend(fabric.next(turn.now, port).map(|at| Effect::WakeAt(at, port)));
        self.fabric = Some(fabric);
    }

    /// Applies a port's own settings: marks and limit at its virtual output queues, the shaper behind the fabric.
    pub(super) fn set_up_fabric(&mut self, port: PortId, settings: &PortSettings) {
        let line = self.rates[port.index()];
        let behind = PortSettings { ecn: Default::default(), queue_limit: None, ..settings.clone() };
        self.outputs.set_up(port, &behind, line);
        if let Some(fabric) = &mut self.fabric {
            fabric.set_up(port, (&settings.ecn, line), &settings.schedule, settings.queue_limit);
        }
    }
}
