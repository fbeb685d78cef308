//! The path of a packet through a switch with virtual output queues: it waits at the inputs, and joins its output
//! when credit has brought it across the fabric or credit is available. Routes, balancing and transmission are those
//! of every switch.

use weft_core::record::Reason;
use weft_core::{Header, Headers, PacketId, PortId, Random, Time};
use weft_foresight::{Foresight, Slot};
use weft_voq::{Entered, FabricSite, Passed, VoqFabric, VoqKey};

use super::Switch;
use crate::foreseen::take_later_place;
use crate::join::Joined;
use crate::outputs::Outputs;
use crate::port::{Output, Port};
use crate::settings::{PortSettings, SwitchSettings};
use crate::share::SharingSettings;
use crate::site::SwitchSite;
use crate::turn::{Departure, Effect, SentEarly, Turn};

/// A fabric and the packets in front of it.
pub(crate) struct InputSide {
    pub(super) fabric: VoqFabric,
    /// By output: bytes and packets that wait in front of the fabric or are crossing it.
    pub(crate) held: Box<[Port]>,
    /// Whether any output foresees departures.
    foresees: bool,
}

/// The fabric of the settings.
pub(super) fn of(settings: &SwitchSettings, site: &SwitchSite) -> Option<InputSide> {
    let classes = settings.queues as usize;
    let (ecn, schedule) = (&settings.ecn, &settings.schedule);
    let held = site.rates.iter().map(|_| Port::new()).collect();
    let site = FabricSite { rates: &site.rates, classes, ecn, schedule };
    let side = |voq| InputSide { fabric: VoqFabric::new(voq, &site), held, foresees: false };
    settings.voq.as_ref().map(side)
}

impl InputSide {
    /// Lets the output foresee departures from now on.
    pub(super) fn foresee(&mut self, port: PortId) {
        self.fabric.foresee(port);
        self.foresees = true;
    }

    /// Processes events due before `now` at an output whose departures are foreseen.
    fn catch_up(
        &mut self,
        (now, port): (Time, PortId),
        output: &mut Output,
        lent: (&mut Headers, &mut Random),
    ) {
        self.fabric.catch_up(now, (port, |at| [output.held_at(Time(at.0 + 1)), 0]), lent.0, lent.1);
    }

    /// [`InputSide::catch_up`] at all outputs.
    fn catch_up_all(&mut self, now: Time, outputs: &mut Outputs, headers: &mut Headers) {
        let Outputs { ports, marking, .. } = outputs;
        for (port, output) in ports.iter_mut().enumerate() {
            self.catch_up((now, PortId(port as u16)), output, (headers, marking));
        }
    }
}

/// The settings of the outputs behind a fabric: they accept everything that it delivers, which exceeds
/// [`VoqSettings::output`](crate::VoqSettings::output) at most by the credit that empty queues keep, and leave limits
/// and marks to the queues in front of it.
pub(super) fn outputs_behind(settings: &SwitchSettings) -> SwitchSettings {
    SwitchSettings {
        sharing: SharingSettings::Infinite(Default::default()),
        buffer: None,
        ecn: Default::default(),
        ..settings.clone()
    }
}

impl Switch {
    /// Whether a fabric, if there is one, allows a port to foresee departures: only the port's own packets may depend
    /// on what waits for it.
    pub(super) fn fabric_may_foresee(&self, port: PortId) -> bool {
        self.fabric.as_ref().is_none_or(|side| {
            self.queues == 1
                && self.congestion.is_none()
                && !self.engines[0].balancer.reads_loads()
                && !side.fabric.acts_on_departures(port)
        })
    }

    /// Processes events due before `now` at outputs whose departures are foreseen.
    pub(super) fn catch_up_fabric(&mut self, now: Time, headers: &mut Headers) {
        if let Some(side) = self.fabric.as_mut().filter(|side| side.foresees) {
            side.catch_up_all(now, &mut self.outputs, headers);
        }
    }

    /// [`Switch::receive`] for a switch with a fabric and outputs that foresee departures, and without an observer.
    #[inline(never)]
    pub(super) fn receive_at_inputs(
        &mut self,
        turn: &mut Turn<'_>,
        from: PortId,
        packet: PacketId,
    ) -> (Joined, PortId) {
        let header = turn.headers.get_mut(packet);
        match self.enter(turn.now, header, from) {
            Ok(port) => self.enter_fabric(turn, port, packet),
            Err(reason) => (Joined::Dropped(reason), from),
        }
    }

    /// Sends a packet across the fabric at once, or stores it in the virtual output queue of its input's group, its
    /// output and its class.
    #[inline(always)]
    pub(super) fn enter_fabric(
        &mut self,
        turn: &mut Turn<'_>,
        port: PortId,
        packet: PacketId,
    ) -> (Joined, PortId) {
        let Header { ingress, class, wire, .. } = *turn.headers.get(packet);
        let Some(side) = &mut self.fabric else { unreachable!("called only with a fabric") };
        let class = self.outputs.classes.queue(class) as u8;
        let key = VoqKey { group: side.fabric.group_of(ingress), port, class };
        match side.fabric.pass(turn.now, key, wire) {
            Some(arrives) => (Joined::Line(self.expect((turn.now, arrives), port, wire)), port),
            None => self.wait_at_inputs(turn, key, packet),
        }
    }

    /// The slow path of [`Switch::enter_fabric`].
    #[inline(never)]
    fn wait_at_inputs(&mut self, turn: &mut Turn<'_>, key: VoqKey, packet: PacketId) -> (Joined, PortId) {
        let (now, port, wire) = (turn.now, key.port, turn.headers.get(packet).wire);
        let Some(side) = self.fabric.as_mut().filter(|_| self.outputs.ports[port.index()].port.up) else {
            return (Joined::Dropped(self.outputs.refuse(port, Reason::LinkDown)), port);
        };
        if side.foresees {
            let Outputs { ports, marking, .. } = &mut self.outputs;
            side.catch_up((now, port), &mut ports[port.index()], (turn.headers, marking));
            if let Some(arrives) = side.fabric.pass(now, key, wire) {
                return (Joined::Line(self.expect((now, arrives), port, wire)), port);
            }
            if side.fabric.is_tight(now, key.group, wire) {
                side.catch_up_all(now, &mut self.outputs, turn.headers);
            }
        }
        let foresight = &self.outputs.ports[port.index()].foresight;
        let free = foresight.as_ref().map_or(Time::ZERO, Foresight::busy_until);
        let joined =
            match side.fabric.enter(now, key, (packet, turn.headers), (&mut self.outputs.marking, free)) {
                Ok(Entered { marked, wake }) => {
                    let held = &mut side.held[port.index()];
                    held.store(now, wire);
                    let output = &mut self.outputs.ports[port.index()];
                    output.port.marked += u64::from(marked);
                    output.held_at(now);
                    output.note_peak(held.bytes);
                    turn.effects.extend(wake.map(|at| Effect::WakeAt(at, port)));
                    Joined::Queued
                }
                Err(reason) => Joined::Dropped(self.outputs.refuse(port, reason)),
            };
        (joined, port)
    }

    /// [`Output::expect`] for a packet that has not waited in front of the fabric.
    #[inline(always)]
    fn expect(&mut self, (now, arrives): (Time, Time), port: PortId, wire: u16) -> Slot {
        let in_front = self.fabric.as_ref().map_or(0, |side| side.held[port.index()].bytes);
        let output = &mut self.outputs.ports[port.index()];
        let slot = output.expect((now, arrives), wire);
        output.note_peak(in_front);
        slot
    }

    /// Grants and uses the credits that are due at a port that foresees departures; returns whether it does.
    pub(super) fn use_credits(&mut self, turn: &mut Turn<'_>, port: PortId) -> bool {
        let Some(side) = self.fabric.as_mut().filter(|side| side.foresees) else { return false };
        let Outputs { ports, marking, .. } = &mut self.outputs;
        let output = &mut ports[port.index()];
        side.catch_up((Time(turn.now.0 + 1), port), output, (turn.headers, marking));
        output.foresight.is_some()
    }

    /// The next packet that has crossed a fabric to a port that foresees departures, after [`Switch::wake`].
    #[inline]
    pub fn cross(&mut self, now: Time, headers: &Headers, port: PortId) -> Option<SentEarly> {
        let Switch { fabric: Some(side), outputs, .. } = self else { return None };
        let output = &mut outputs.ports[port.index()];
        let free = output.foresight.as_ref()?.busy_until();
        let Some((packet, arrives)) = side.fabric.cross(now, port) else {
            return side.fabric.next(now, port, free).map(SentEarly::Later);
        };
        let header = headers.get(packet);
        side.held[port.index()].release(now, header.wire);
        let slot = output.expect((now, arrives), header.wire);
        Some(SentEarly::Packet(packet, Departure::of(header, port, slot), None))
    }

    /// Grants and uses the credits that are due and moves packets to the output. Returns whether the idle transmitter
    /// now has something to send.
    pub(super) fn pass_fabric(&mut self, turn: &mut Turn<'_>, port: PortId) -> bool {
        let Switch { fabric: Some(side), outputs, .. } = self else { return false };
        let mut ready = false;
        loop {
            let Outputs { ports, marking, .. } = &mut *outputs;
            let output = &ports[port.index()];
            let behind = |_| output.held_by_shaping();
            let Some(passed) = side.fabric.advance(turn.now, (port, behind), turn.headers, marking) else {
                break;
            };
            let (Passed::Arrived { packet, .. } | Passed::Dropped(packet)) = passed;
            let held = &mut side.held[port.index()];
            held.release(turn.now, turn.headers.get(packet).wire);
            ready |= leave_fabric(outputs, turn, port, passed);
            // In cells, a packet may take more behind the fabric than in front of it.
            outputs.ports[port.index()].note_peak(held.bytes);
        }
        turn.effects.extend(side.fabric.next(turn.now, port, Time::ZERO).map(|at| Effect::WakeAt(at, port)));
        ready
    }

    /// Called when the link behind an output is down: packets that wait for it are lost.
    pub(super) fn flush_fabric(&mut self, turn: &mut Turn<'_>, port: PortId) {
        let Some(mut side) = self.fabric.take() else { return };
        while let Some(packet) = side.fabric.flush(turn.now, port, turn.headers) {
            side.held[port.index()].release(turn.now, turn.headers.get(packet).wire);
            let reason = self.outputs.refuse(port, Reason::LinkDown);
            turn.effects.push_back(Effect::Dropped(packet, reason));
        }
        turn.effects.extend(side.fabric.next(turn.now, port, Time::ZERO).map(|at| Effect::WakeAt(at, port)));
        self.fabric = Some(side);
    }

    /// Applies a port's own settings: marks and limit at its virtual output queues, the shaper behind the fabric, whose
    /// credits leave room for the classes that it does not slow down.
    pub(super) fn set_up_fabric(&mut self, port: PortId, settings: &PortSettings) {
        let line = self.rates[port.index()];
        let behind = PortSettings { ecn: Default::default(), queue_limit: None, ..settings.clone() };
        self.outputs.set_up(port, &behind, line);
        if let Some(side) = &mut self.fabric {
            side.fabric.set_up(port, (&settings.ecn, line), &settings.schedule, settings.queue_limit);
            side.fabric.shape(port, self.outputs.ports[port.index()].shaped_classes());
        }
    }
}

/// Adds a packet to its output, or drops it. Returns whether the output's transmitter is idle.
#[inline(always)]
fn leave_fabric(outputs: &mut Outputs, turn: &mut Turn<'_>, port: PortId, passed: Passed) -> bool {
    let (packet, joined) = match passed {
        Passed::Arrived { packet, marked } => {
            outputs.ports[port.index()].port.marked += u64::from(marked);
            (packet, outputs.join(turn, port, packet))
        }
        Passed::Dropped(packet) => (packet, Joined::Dropped(outputs.refuse(port, Reason::Early))),
    };
    if let Joined::Dropped(reason) = joined {
        turn.effects.push_back(Effect::Dropped(packet, reason));
    }
    matches!(joined, Joined::Ready)
}

impl Output {
    /// Gives a packet known at `now` that will arrive behind the fabric its slot there; returns when it leaves.
    #[inline(always)]
    fn expect(&mut self, known: (Time, Time), wire: u16) -> Slot {
        self.held_at(known.0);
        take_later_place(known, self.foreseen(), wire)
    }

    /// The classes that a shaper slows down, if there are others: bit c for class c.
    fn shaped_classes(&self) -> u8 {
        let shaper = self.shaper.as_ref();
        let shaped = |class: &usize| shaper.is_some_and(|shaper| shaper.shapes(*class));
        let all = (0..self.queues.len()).all(|class| shaped(&class));
        (0..self.queues.len()).filter(shaped).fold(0, |set, class| if all { 0 } else { set | 1 << class })
    }

    /// Bytes held: of classes that only the line slows down, and of the others.
    fn held_by_shaping(&self) -> [u64; 2] {
        if self.shaper.is_none() {
            return [self.port.bytes, 0];
        }
        let shaped = self.shaped_classes();
        let queues = self.queues.iter().enumerate().filter(|(class, _)| shaped >> class & 1 == 1);
        let behind_shaper = queues.map(|(_, queue)| queue.bytes).sum();
        [self.port.bytes - behind_shaper, behind_shaper]
    }

    /// Records the peak, including bytes queued in front of the fabric.
    #[inline]
    fn note_peak(&mut self, in_front: u64) {
        self.port.peak = self.port.peak.max(self.port.bytes + in_front);
    }
}
