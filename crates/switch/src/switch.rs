//! The switch: the path of a packet, top to bottom.

use weft_core::record::Reason;
use weft_core::{
    Bytes, Component, Group, GroupId, Header, Headers, PacketId, PortId, Rate, Time, Transmission, prefetch,
};

use crate::balance::{BalancerSettings, Candidates, Loads, Paths, Site};
use crate::congestion::{Congestion, Place};
use crate::engine::Engine;
use crate::foresight::Slot;
use crate::hash::FlowHash;
use crate::outputs::{Outputs, queue_of};
use crate::pause::{Charges, HeldBack, PauseCounters, PauseFrame};
use crate::port::PortCounters;
use crate::settings::{ClassLoad, SwitchSettings};
use crate::table::{Route, Table};
use crate::turn::{Departure, Effect, Fate, SwitchSite, Turn};

/// A combined input-output-queued switch with shared memory.
pub struct Switch {
    table: Table,
    /// Input port i belongs to engine i modulo their number.
    engines: Vec<Engine>,
    outputs: Outputs,
    rates: Vec<Rate>,
    queues: usize,
    class_load: ClassLoad,
    /// If it alone decides among ports.
    hash: Option<FlowHash>,
    /// If the balancer measures paths.
    congestion: Option<Box<Congestion>>,
    /// If the balancer leaves out paused ports: what is left of a choice.
    unpaused: Option<Box<Component>>,
}

impl Switch {
    /// A switch with empty queues.
    #[must_use]
    pub fn new(
        settings: &SwitchSettings,
        balancer: &BalancerSettings,
        site: &SwitchSite,
        mut table: Table,
    ) -> Switch {
        table.seed(site.seed, site.switch);
        let engine = |engine| {
            let place = Site { seed: site.seed, switch: site.switch, engine: engine as u16 };
            Engine::new(balancer, place)
        };
        let engines: Vec<_> = (0..settings.engines).map(engine).collect();
        let hash = engines[0].balancer.decides_by().cloned();
        let reads_loads = engines[0].balancer.reads_loads();
        let excludes = settings.pfc.is_on() && engines[0].balancer.excludes_paused();
        let congestion = engines[0].balancer.measures().map(|measure| {
            let ((own_leaf, leaf_of_host), fabric) = (table.leaves(), table.fabric(site.rates.len()));
            let place = Place { own_leaf, leaf_of_host, rates: &site.rates, fabric };
            Box::new(Congestion::new(measure, place))
        });
        let mut outputs = Outputs::new(settings, site, reads_loads);
        table.choices().for_each(|choice| outputs.watch(&choice.ports));
        let switch = Switch {
            table,
            outputs,
            rates: site.rates.clone(),
            queues: settings.queues as usize,
            class_load: settings.class_load,
            hash,
            congestion,
            unpaused: excludes.then(|| Box::new(Component::equal(Vec::new()))),
            engines,
        };
        switch.assert_ports();
        switch
    }

    /// The table names no port that the switch does not have.
    fn assert_ports(&self) {
        assert!(self.table.ports() <= self.outputs.len(), "the table names ports that the switch has");
    }

    /// From now on [`Switch::receive`] tells when packets leave by `port`, and [`Switch::next_packet`] is not to be asked:
    /// it needs no event for the end of a transmission, and nothing else changes. Returns false, and does nothing, if the
    /// settings do not allow it: several queues per port, marks on departure. The link behind the port must stay as it
    /// is, and the port be empty.
    pub fn foresee(&mut self, port: PortId) -> bool {
        self.outputs.foresee(port, Transmission::at(self.rates[port.index()]))
    }

    /// A whole packet came in by port `from`: look up, balance, admit, mark, queue - or drop. Tells when it leaves, if the
    /// departures of its port are foreseen; otherwise the effects tell when there is work for a transmitter.
    pub fn receive(&mut self, turn: &mut Turn<'_>, from: PortId, packet: PacketId) -> Option<Departure> {
        let header = turn.headers.get_mut(packet);
        let fate = match self.is_plain() {
            true => self.forward(turn.now, header, from),
            false => self.forward_measured(turn.now, header, from),
        };
        match fate {
            Fate::Leaves(departure) => Some(departure),
            Fate::Joins(port) => self.join(turn, port, packet),
            Fate::Lost(reason) => {
                turn.effects.push(Effect::Dropped(packet, reason));
                None
            }
        }
    }

    /// Whether no balancer measures paths, so that packets carry nothing for it.
    #[inline]
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.congestion.is_none()
    }

    /// The first half of [`Switch::receive`], which is all for most packets: what becomes of a packet that came in by port
    /// `from`. One that joins is to be given to [`Switch::join`] next, one that is lost to nobody. For plain switches only.
    #[inline(always)]
    pub fn forward(&mut self, now: Time, header: &mut Header, from: PortId) -> Fate {
        debug_assert!(self.is_plain(), "a switch that is not plain is asked by `forward_measured`");
        enter(now, header, from);
        match self.output(now, header) {
            Some(port) => self.send_to(now, port, header),
            None => Fate::Lost(Reason::NoRoute),
        }
    }

    /// The same for any switch. Where the balancer measures paths, packets carry its fields.
    #[inline]
    pub fn forward_measured(&mut self, now: Time, header: &mut Header, from: PortId) -> Fate {
        enter(now, header, from);
        if let Some(congestion) = &mut self.congestion {
            congestion.arrives(now, header);
        }
        let Some(port) = self.output(now, header) else { return Fate::Lost(Reason::NoRoute) };
        if let Some(congestion) = &mut self.congestion {
            congestion.departs(now, port, header);
        }
        let fate = match self.send_to(now, port, header) {
            Fate::Joins(port) if self.outputs.foresees(port) => self.join_observed(now, port, header),
            fate => fate,
        };
        if let (Some(congestion), Fate::Leaves(Departure { start, end, .. })) = (&mut self.congestion, fate) {
            congestion.will_send(now, port, (start, end), header);
        }
        fate
    }

    /// A packet goes to a port: at once, if its departures are foreseen and nobody looks at what it holds.
    #[inline(always)]
    fn send_to(&mut self, now: Time, port: PortId, header: &mut Header) -> Fate {
        match self.outputs.join(now, port, header) {
            Some(Ok(Slot { start, end })) => Fate::Leaves(Departure { port, start, end }),
            Some(Err(reason)) => Fate::Lost(reason),
            None => Fate::Joins(port),
        }
    }

    /// A packet joins a port whose departures are foreseen, where somebody looks on.
    #[inline]
    fn join_observed(&mut self, now: Time, port: PortId, header: &mut Header) -> Fate {
        match self.outputs.join_observed(now, port, header) {
            Ok(Slot { start, end }) => Fate::Leaves(Departure { port, start, end }),
            Err(reason) => Fate::Lost(reason),
        }
    }

    /// A packet joins the queue of a port, or is dropped there: when it leaves, if that is known.
    #[inline]
    pub fn join(&mut self, turn: &mut Turn<'_>, port: PortId, packet: PacketId) -> Option<Departure> {
        if !self.outputs.foresees(port) {
            self.outputs.enqueue(turn, port, packet);
            return None;
        }
        match self.join_observed(turn.now, port, turn.headers.get_mut(packet)) {
            Fate::Leaves(departure) => return Some(departure),
            Fate::Lost(reason) => turn.effects.push(Effect::Dropped(packet, reason)),
            Fate::Joins(_) => unreachable!("it has joined"),
        }
        None
    }

    /// The transmitter of `port` is idle: the packet in service, if any, has left; which goes next?
    #[inline(always)]
    pub fn next_packet(&mut self, turn: &mut Turn<'_>, port: PortId) -> Option<PacketId> {
        let packet = self.outputs.next_packet(turn, port)?;
        if let Some(congestion) = &mut self.congestion {
            congestion.sends(turn.now, port, turn.headers.get_mut(packet));
        }
        Some(packet)
    }

    /// What the idle transmitter of `port` has to tell the far end before it sends anything else: to be asked before
    /// [`Switch::next_packet`] if any class pauses. The frame occupies the line as a packet of [`FRAME`](crate::pause::FRAME) bytes.
    #[inline]
    pub fn next_frame(&mut self, turn: &mut Turn<'_>, port: PortId) -> Option<PauseFrame> {
        self.outputs.next_frame(turn, port)
    }

    /// The pauses that `port` has asked for are about to end: what is still needed is asked for again.
    pub fn refresh(&mut self, turn: &mut Turn<'_>, port: PortId) {
        self.outputs.refresh(turn.effects, port);
    }

    /// The far end of `port` wants nothing of a queue, or no longer objects.
    pub fn hold(&mut self, turn: &mut Turn<'_>, at: (PortId, usize), held: bool) {
        self.outputs.hold(turn.effects, at, held);
    }

    /// The watchdog of a lossless queue throws away what waits in it and what comes, or no longer does.
    pub fn discard(&mut self, turn: &mut Turn<'_>, at: (PortId, usize), on: bool) {
        self.outputs.discard(turn, at, on);
    }

    /// Whether a queue has made the switch pause somebody since it was empty, and not because it was held itself.
    #[must_use]
    #[inline]
    pub fn is_congested(&self, at: (PortId, usize)) -> bool {
        self.outputs.is_congested(at)
    }

    /// The packets that wait in a queue, the oldest first.
    pub fn waiting_in<'a>(
        &self,
        headers: &'a Headers,
        (port, queue): (PortId, usize),
    ) -> impl Iterator<Item = PacketId> + 'a {
        self.outputs.port(port).queues[queue].packets.iter(headers)
    }

    /// What a port has done to stop the senders of a class.
    #[must_use]
    pub fn pauses(&self, at: (PortId, usize)) -> PauseCounters {
        self.outputs.pauses(at)
    }

    /// Where the bytes are charged that are stored, if [`mmu`](crate::share::mmu) manages the memory.
    #[must_use]
    pub fn charges(&self) -> Option<Charges> {
        self.outputs.charges()
    }

    /// What waits in a queue of senders that have been asked to stop.
    #[must_use]
    pub fn held_back(&self, headers: &Headers, at: (PortId, usize)) -> Vec<HeldBack> {
        self.outputs.held_back(headers, at)
    }

    /// The link behind `port` went down or came back. Queued packets of a port that went down are lost; a packet in
    /// service is the driver's to lose, and stays charged until [`Switch::next_packet`] is asked at its end. A port that
    /// came back is used at once by the groups that contain it.
    pub fn set_port(&mut self, turn: &mut Turn<'_>, port: PortId, up: bool) {
        self.table.set_port(port, up);
        self.forget_groups();
        self.outputs.set_port(turn, port, up);
    }

    /// New routes from the routing protocol, all at once. Ports that are down here stay out of them.
    pub fn install(&mut self, group_of_leaf: Vec<GroupId>, groups: Vec<Group>) {
        self.table.install(group_of_leaf, groups);
        self.assert_ports();
        self.table.choices().for_each(|choice| self.outputs.watch(&choice.ports));
        self.forget_groups();
    }

    /// Gives back the memory of packets that have left foreseen ports before `now`; to be called before anybody looks at
    /// what the switch holds.
    pub fn settle(&mut self, now: Time) {
        self.outputs.settle_all(now);
    }

    /// What has happened at a port up to `now`.
    pub fn counters(&mut self, now: Time, port: PortId) -> PortCounters {
        self.outputs.counters(now, port)
    }

    /// Packets of a foreseen port, and their bytes, whose transmission has not begun before `now`.
    #[must_use]
    pub fn waiting(&self, now: Time, port: PortId) -> (u64, Bytes) {
        self.outputs.waiting(now, port)
    }

    /// Wire bytes a port holds, the packet in service included.
    #[must_use]
    pub fn queued(&self, port: PortId) -> Bytes {
        Bytes(self.outputs.port(port).port.bytes)
    }

    /// Packets a port holds, the packet in service included.
    #[must_use]
    pub fn queued_packets(&self, port: PortId) -> u64 {
        self.outputs.packets(port)
    }

    /// Wire bytes the whole switch holds.
    #[must_use]
    pub fn stored(&self) -> Bytes {
        Bytes(self.outputs.stored())
    }

    /// The port by which a packet will leave, as far as that can be told cheaply.
    #[must_use]
    pub fn likely(&self, header: &Header) -> Option<PortId> {
        match self.table.route(header) {
            Route::Local(port) => Some(port),
            Route::None => None,
            Route::Component(_, component) => match component.ports[..] {
                [only] => Some(only),
                _ => self.engines[0].balancer.likely(header, &component.ports),
            },
        }
    }

    /// Fetches what the next packet needs at a port.
    #[inline]
    pub fn prefetch(&self, port: PortId) {
        prefetch(self.outputs.port(port));
    }

    /// The same for what that points to.
    #[inline]
    pub fn prefetch_beyond(&self, port: PortId) {
        if let Some(foresight) = &self.outputs.port(port).foresight {
            foresight.prefetch();
        }
    }

    /// Number of ports.
    #[must_use]
    pub fn ports(&self) -> usize {
        self.outputs.len()
    }

    /// Looks a packet up and lets its engine choose among equals.
    #[inline(always)]
    fn output(&mut self, now: Time, header: &Header) -> Option<PortId> {
        let (group, component) = match self.table.route(header) {
            Route::Local(port) => return Some(port),
            Route::None => return None,
            Route::Component(group, component) => (group, component),
        };
        match (&component.ports[..], &self.hash) {
            ([only], _) => Some(*only),
            (ports, Some(hash)) => Some(ports[hash.spread(header, ports.len())]),
            _ => Some(self.choose(now, header, group)),
        }
    }

    /// The port that the engine of a packet chooses among several. A function of its own: inlined, it would take the
    /// registers that every other packet needs.
    #[inline(never)]
    fn choose(&mut self, now: Time, header: &Header, group: GroupId) -> PortId {
        let mut component = self.table.component(group);
        self.outputs.advance(now);
        let queue = queue_of(header.class, self.queues);
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
        let loads = Loads::Switch { outputs: &mut self.outputs, now, engine: number, classes };
        let engine = &mut self.engines[number];
        let paths = match &mut self.congestion {
            None => Paths::Unknown,
            Some(congestion) => match congestion.decides(header) {
                Some(leaf) => Paths::Switch { congestion, now, leaf },
                None => Paths::Unknown,
            },
        };
        let mut candidates = Candidates { group, component, loads, paths };
        component.ports[engine.balancer.choose(header, &mut candidates, now, &mut engine.random)]
    }

    fn forget_groups(&mut self) {
        for engine in &mut self.engines {
            engine.balancer.groups_changed();
        }
    }
}

/// A packet is at the switch.
#[inline(always)]
fn enter(now: Time, header: &mut Header, from: PortId) {
    header.ingress = from;
    header.arrived = now;
    header.hops += u8::from(header.hops < u8::MAX);
}

#[cfg(test)]
mod tests;
