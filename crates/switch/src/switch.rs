//! The switch: the path of a packet, top to bottom.

use std::{mem::offset_of, sync::Arc};

use weft_arbiter::ports::SwitchArbiters;
use weft_congestion::{Congestion, CongestionSite};
use weft_core::record::Reason;
use weft_core::{
    Class, Component, Group, GroupId, HOP_LIMIT, Header, Headers, PacketId, PortId, Rate, Time, Transmission,
};

use crate::balance::{BalancerSettings, BalancerSite, Candidates, Elsewhere, Loads, PathCongestion};
use crate::engine::ForwardingEngine;
use crate::join::Unseen;
use crate::observe::{Observer, Observing};
use crate::outputs::Outputs;
use crate::port::Output;
use crate::settings::{ClassLoad, PortSettings, SwitchSettings};
use crate::site::SwitchSite;
use crate::turn::{Departure, Effect, PauseOrder, Sent, SentEarly, Turn, Verdict};
use fabric::InputSide;
use weft_forwarding::hash::FlowHash;
use weft_forwarding::{ForwardingTable, Way};

/// A combined input-output-queued switch with shared memory.
///
/// A driver builds it ([`Switch::new`], [`Switch::set_up`], [`Switch::foresee`], [`Switch::observe`]), then makes six calls:
/// [`Switch::receive`], [`Switch::transmit`] (or [`Switch::transmit_early`]), [`Switch::wake`] (with [`Switch::cross`]), [`Switch::set_port`], [`Switch::install`] and, with priority flow
/// control, [`Switch::pause`]. It reads through [`Switch::reading`].
#[repr(C)]
pub struct Switch {
    /// Without path measurement, observer, fabric, arbiters and lulls.
    plain: bool,
    /// With a fabric and outputs that foresee departures, and without an observer.
    at_inputs: bool,
    queues: usize,
    /// The hash that chooses among ports, if nothing else does.
    hash: Option<FlowHash>,
    table: ForwardingTable,
    /// Input port i belongs to engine i modulo their number.
    engines: Vec<ForwardingEngine>,
    pub(crate) outputs: Outputs,
    rates: Vec<Rate>,
    class_load: ClassLoad,
    /// Present if the balancer measures paths.
    congestion: Option<Box<Congestion>>,
    /// Present if the balancer excludes paused ports: the remaining ports.
    unpaused: Option<Box<Component>>,
    /// Present if packets wait in virtual output queues.
    pub(crate) fabric: Option<Box<InputSide>>,
    /// Present if links have arbiters.
    arbiters: Option<Box<SwitchArbiters>>,
    observer: Observing,
}

impl Switch {
    /// The parts that every packet touches: their offset and number of bytes.
    pub const HOT: [(usize, usize); 2] = [
        (0, offset_of!(Switch, table) + ForwardingTable::HOT),
        (offset_of!(Switch, outputs.ports), size_of::<Vec<Output>>()),
    ];

    /// A switch with empty queues.
    #[must_use]
    pub fn new(
        settings: &SwitchSettings,
        balancer: &BalancerSettings,
        site: &SwitchSite,
        mut table: ForwardingTable,
    ) -> Switch {
        table.seed(site.seed, site.switch);
        let engine = |engine| {
            let place = BalancerSite { seed: site.seed, switch: site.switch, engine: engine as u16 };
            ForwardingEngine::new(balancer, place)
        };
        let engines: Vec<_> = (0..settings.engines).map(engine).collect();
        let hash = engines[0].balancer.decides_by().cloned();
        let reads_loads = engines[0].balancer.reads_loads();
        let excludes = settings.pfc.is_on() && engines[0].balancer.excludes_paused();
        let congestion = engines[0].balancer.measures().map(|measure| {
            let ((own_leaf, leaf_of_host), fabric) = (table.leaves(), table.fabric(site.rates.len()));
            let place = CongestionSite { own_leaf, leaf_of_host, rates: &site.rates, fabric };
            Box::new(Congestion::new(measure, place))
        });
        let fabric = fabric::of(settings, site).map(Box::new);
        let arbiters = arbitration::of(settings, site).map(Box::new);
        let behind = fabric.as_ref().map(|_| fabric::outputs_behind(settings));
        let reads_outputs = reads_loads && fabric.is_none();
        let mut outputs = Outputs::new(behind.as_ref().unwrap_or(settings), site, reads_outputs);
        table.choices().for_each(|choice| outputs.watch(&choice.ports));
        let switch = Switch {
            table,
            outputs,
            rates: site.rates.clone(),
            queues: settings.queues as usize,
            class_load: settings.class_load,
            hash,
            plain: congestion.is_none() && fabric.is_none() && arbiters.is_none(),
            fabric,
            at_inputs: false,
            arbiters,
            observer: None,
            congestion,
            unpaused: excludes.then(|| Box::new(Component::equal(Vec::new()))),
            engines,
        };
        switch.assert_ports(switch.table.ports());
        switch
    }

    /// Panics if a table that names this many ports is for another switch.
    fn assert_ports(&self, named: usize) {
        assert!(named <= self.outputs.len(), "the table names ports that the switch has");
    }

    /// Panics if the switch does not have a port that its driver or a packet names.
    #[inline]
    fn assert_port(&self, port: PortId) {
        assert!(port.index() < self.outputs.len(), "the driver names ports that the switch has");
    }

    /// Gives a port its own settings; must be called before any packet and before [`Switch::foresee`].
    pub fn set_up(&mut self, port: PortId, settings: &PortSettings) {
        match &mut self.fabric {
            None => self.outputs.set_up(port, settings, self.rates[port.index()]),
            Some(_) => self.set_up_fabric(port, settings),
        }
    }

    /// Makes [`Switch::receive`] return when packets leave by `port`, or when [`Switch::transmit_early`] must be
    /// called for it (strict priority, or an order of its own): the end of a transmission then needs no event, and nothing else
    /// changes. Returns `false` and changes nothing if the port's settings rule this out (another scheduler, marking
    /// on departure, a shaper or an arbiter). The port's link must not change state, and the port must be empty.
    pub fn foresee(&mut self, port: PortId) -> bool {
        let line = Transmission::at(self.rates[port.index()]);
        let foresees =
            self.arbiters.is_none() && self.fabric_may_foresee(port) && self.outputs.foresee(port, line);
        if foresees && let Some(side) = &mut self.fabric {
            side.foresee(port);
            self.at_inputs = self.observer.is_none();
        }
        foresees
    }

    /// Makes `observer` see every packet from now on.
    pub fn observe(&mut self, observer: Box<dyn Observer>) {
        self.observer = Some(observer);
        (self.plain, self.at_inputs) = (false, false);
    }

    /// Receives a whole packet at port `from`: route, balance, admit, mark, queue. The entry to a switch; drivers
    /// with several threads call its two halves, [`Switch::decide`] and [`Switch::enqueue`]. Effects may accompany
    /// any verdict; none of them contains the packet itself.
    #[inline(always)]
    pub fn receive(&mut self, turn: &mut Turn<'_>, from: PortId, packet: PacketId) -> Verdict {
        if !self.plain {
            let (joined, port) = match self.outputs.lull {
                Some(_) => self.receive_in_lulls(&mut turn.again(), from, packet),
                None if self.at_inputs => self.receive_at_inputs(&mut turn.again(), from, packet),
                None => self.receive_specially(&mut turn.again(), from, packet),
            };
            return joined.verdict(turn.headers.get(packet), port);
        }
        let header = turn.headers.get_mut(packet);
        let port = match self.enter(turn.now, header, from) {
            Ok(port) => port,
            Err(reason) => return Verdict::Dropped(reason),
        };
        match self.outputs.join_unseen(turn.now, port, header.wire) {
            Unseen::Line(slot) => Verdict::LeavesAt(Departure::of(header, port, slot)),
            Unseen::Near => self.outputs.join_near(turn.now, port, header).verdict(header, port),
            Unseen::Look => {
                if self.outputs.may_be_overtaken()
                    && let Some(slot) = self.outputs.join_strict_idle(turn.now, port, header)
                {
                    return Verdict::LeavesAt(Departure::of(header, port, slot));
                }
                let joined = self.outputs.join(&mut turn.again(), port, packet);
                joined.verdict(turn.headers.get(packet), port)
            }
        }
    }

    /// Called when the transmitter of `port` is idle: the packet in service, if any, has left. Returns what it sends
    /// next.
    #[inline(always)]
    pub fn transmit(&mut self, turn: &mut Turn<'_>, port: PortId) -> Option<Sent> {
        let before = turn.effects.len();
        self.outputs.finish_service(turn, port);
        if let Some(frame) = self.outputs.next_frame(port) {
            return Some(Sent::Frame(frame));
        }
        let packet = self.outputs.next_packet(turn, port);
        if !self.plain && self.outputs.lull.is_none() {
            self.note_sent(turn, (port, packet), before);
        }
        packet.map(Sent::Packet)
    }

    /// Whether a port foresees only departures that nothing can overtake: [`Switch::transmit_early`] is called for it, never
    /// [`Switch::transmit`].
    #[must_use]
    #[inline(always)]
    pub fn sends_early(&self, port: PortId) -> bool {
        self.outputs.port(port).strict.is_some()
    }

    /// Whether [`Switch::sends_early`] holds for any port.
    #[must_use]
    pub fn may_send_early(&self) -> bool {
        self.outputs.ports.iter().any(|output| output.strict.is_some())
    }

    /// Called at the instant named by [`Verdict::QueuedUntil`] or [`SentEarly`]. `None` if nothing waits.
    #[inline(always)]
    pub fn transmit_early(&mut self, turn: &mut Turn<'_>, port: PortId) -> Option<SentEarly> {
        let sent = self.outputs.serve_strict(turn, port);
        if let (false, Some(SentEarly::Packet(packet, departure, _))) = (self.plain, &sent) {
            self.note_leaving(turn, *packet, *departure);
        }
        sent
    }

    /// Called at the time of an [`Effect::WakeAt`](crate::turn::Effect::WakeAt) of `port`. A port that foresees
    /// departures must be asked what has [crossed](Switch::cross) the fabric in front of it.
    pub fn wake(&mut self, turn: &mut Turn<'_>, port: PortId) {
        if self.use_credits(turn, port) {
            return;
        }
        let before = turn.effects.len();
        let brings = self.pass_fabric(turn, port);
        self.arbitrate_again(turn, port);
        self.note_drops(turn, before);
        if self.outputs.opens(turn.now, port) || brings {
            turn.effects.push_back(Effect::HasWork(port));
        }
    }

    /// Handles an event of priority flow control at a port: from its far end, from the timer of its pauses, or from
    /// the watchdog.
    pub fn pause(&mut self, turn: &mut Turn<'_>, port: PortId, order: PauseOrder) {
        match order {
            PauseOrder::Refresh => self.outputs.refresh(turn.effects, port),
            PauseOrder::Hold { queue, held } => self.outputs.hold(turn.effects, (port, queue), held),
            PauseOrder::Discard { queue, on } => {
                let before = turn.effects.len();
                self.outputs.discard(turn, (port, queue), on);
                self.note_drops(turn, before);
            }
        }
    }

    /// Called when the link of `port` goes down or comes back. Queued packets of a port that went down are lost; the
    /// driver must drop a packet in service, which stays charged until [`Switch::transmit`] is called at its end. A
    /// port that came back is used at once by the groups that contain it.
    pub fn set_port(&mut self, turn: &mut Turn<'_>, port: PortId, up: bool) {
        self.table.set_port(port, up);
        self.forget_groups();
        let before = turn.effects.len();
        self.outputs.set_port(turn, port, up);
        if let Some(arbiters) = &mut self.arbiters {
            arbiters.set_port(port, up);
        }
        if !up {
            self.flush_fabric(turn, port);
        }
        self.note_drops(turn, before);
    }

    /// Installs new routes from the routing protocol, all at once. Ports that are down here are excluded.
    pub fn install(&mut self, group_of_leaf: impl Into<Arc<[GroupId]>>, groups: impl Into<Arc<[Group]>>) {
        let groups = groups.into();
        self.assert_ports(ForwardingTable::ports_of(&groups));
        self.table.install(group_of_leaf, groups);
        self.table.choices().for_each(|choice| self.outputs.watch(&choice.ports));
        self.forget_groups();
    }

    /// Queues per port.
    #[must_use]
    pub fn queues(&self) -> usize {
        self.queues
    }

    /// The queue that packets of a class join.
    #[must_use]
    #[inline]
    pub fn queue_of(&self, class: Class) -> usize {
        self.outputs.classes.queue(class)
    }

    /// Releases the memory of packets that left foreseen ports before `now`; must be called before reading the
    /// contents of the switch.
    pub fn settle(&mut self, now: Time, headers: &mut Headers) {
        self.catch_up_fabric(now, headers);
        self.outputs.settle_all(now);
    }

    /// The contents and counters of the switch, after [`Switch::settle`] if ports foresee their departures.
    #[must_use]
    #[inline]
    pub fn reading(&self) -> SwitchReading<'_> {
        SwitchReading { switch: self }
    }

    /// Looks up a packet and lets its engine choose among equal-cost ports.
    #[inline(always)]
    fn output(&mut self, now: Time, header: &Header) -> Option<PortId> {
        match self.way(header) {
            Way::Only(port) => Some(port),
            Way::None => None,
            Way::Several(group, _) => Some(self.choose(now, header, group)),
        }
    }

    /// The route of a packet: several ports only if an engine must choose among them.
    #[inline(always)]
    fn way(&self, header: &Header) -> Way<'_> {
        match (self.table.way(header), &self.hash) {
            (Way::Several(_, Component { ports, .. }), Some(hash)) => {
                Way::Only(ports[hash.spread(header, ports.len())])
            }
            (way, _) => way,
        }
    }

    /// The port that a packet's engine chooses among several. Not inlined, because it would take registers that every
    /// other packet needs.
    #[inline(never)]
    fn choose(&mut self, now: Time, header: &Header, group: GroupId) -> PortId {
        let mut component = self.table.component(group);
        self.outputs.advance(now);
        let queue = self.outputs.classes.queue(header.class);
        if let Some(left) = &mut self.unpaused {
            self.outputs.unpaused(component, queue, left);
            if let [only] = left.ports[..] {
                return only;
            }
            component = if left.ports.is_empty() { component } else { left };
        }
        let classes = match self.class_load {
            ClassLoad::AtOrAbove => queue + 1,
            ClassLoad::All => self.queues,
        };
        let input = header.ingress.index();
        let number = if input < self.engines.len() { input } else { input % self.engines.len() };
        let loads = match &self.fabric {
            None => Loads::Switch { outputs: &mut self.outputs, now, engine: number, classes },
            Some(side) => {
                let (fabric, group) = (&side.fabric, side.fabric.group_of(header.ingress));
                Loads::Elsewhere(Elsewhere::Fabric { fabric, group, classes })
            }
        };
        let engine = &mut self.engines[number];
        let paths = match &mut self.congestion {
            None => PathCongestion::Unknown,
            Some(congestion) => match congestion.decides(header) {
                Some(leaf) => PathCongestion::Switch { congestion, now, leaf },
                None => PathCongestion::Unknown,
            },
        };
        let mut candidates = Candidates { group, component, loads, paths };
        component.ports[engine.balancer.choose(header, &mut candidates, now, &mut engine.random)]
    }

    /// Records the time and port of arrival of a packet in its header, and chooses its output.
    #[inline(always)]
    fn enter(&mut self, now: Time, header: &mut Header, from: PortId) -> Result<PortId, Reason> {
        arrive(now, header, from)?;
        self.output(now, header).ok_or(Reason::NoRoute)
    }

    fn forget_groups(&mut self) {
        for engine in &mut self.engines {
            engine.balancer.groups_changed();
        }
    }
}

/// Records the time and port of arrival of a packet in its header. The error is a hop limit that is used up.
#[inline(always)]
fn arrive(now: Time, header: &mut Header, from: PortId) -> Result<(), Reason> {
    header.ingress = from;
    header.arrived = now;
    if header.hops >= HOP_LIMIT - 1 {
        return Err(Reason::HopLimit);
    }
    header.hops += 1;
    Ok(())
}

mod arbitration;
mod fabric;
mod lulls;
mod parts;
mod reading;
mod watched;

pub use reading::SwitchReading;

#[cfg(test)]
mod tests;
