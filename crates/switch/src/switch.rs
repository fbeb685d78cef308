//! The switch: the path of a packet, top to bottom.

use weft_core::record::Reason;
use weft_core::{
    Bytes, Class, GroupId, Header, Headers, PacketId, PortId, Purpose, Random, Rate, Span, SwitchId, Time,
};

use crate::balance::{BalancerSettings, Candidates, Loads, Site};
use crate::engine::Engine;
use crate::mark::{Sight, Verdict};
use crate::port::{InService, Output, PortCounters, Store};
use crate::settings::{ClassLoad, SwitchSettings, Visibility};
use crate::share::{AnySharing, Memory};
use crate::table::{Route, Table};
use crate::visibility::Visible;

/// What the driver of a switch has to carry out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The idle transmitter of this port has a packet: ask [`Switch::next_packet`].
    HasWork(PortId),
    /// The packet is lost; its place in the pool is the driver's to free.
    Dropped(PacketId, Reason),
}

/// A reused list of effects, drained by the driver after each call.
pub type Effects = Vec<Effect>;

/// What a driver lends to a switch for one call.
#[derive(Debug)]
pub struct Turn<'a> {
    /// The time.
    pub now: Time,
    /// The headers of all packets.
    pub headers: &'a mut Headers,
    /// Where the switch writes what is to be done.
    pub effects: &'a mut Effects,
}

/// What a switch must be told about its place.
#[derive(Clone, Debug)]
pub struct SwitchSite {
    /// Seed of the run.
    pub seed: u64,
    /// Which switch it is.
    pub switch: SwitchId,
    /// Line rate of each port.
    pub rates: Vec<Rate>,
    /// Wire size of a full-size packet, for the time an engine may take per packet.
    pub full_packet: Bytes,
}

/// A combined input-output-queued switch with shared memory.
pub struct Switch {
    table: Table,
    engines: Vec<Engine>,
    outputs: Vec<Output>,
    visible: Visible,
    store: Store,
    marking: Random,
    inputs: Vec<Input>,
    queues: usize,
    class_load: ClassLoad,
    count_in_service: bool,
}

/// An input port.
#[derive(Clone, Copy, Debug)]
struct Input {
    /// The forwarding engine that serves it.
    engine: usize,
    /// How long after its decision a packet becomes visible.
    visible_after: Span,
}

impl Switch {
    /// A switch with empty queues.
    #[must_use]
    pub fn new(
        settings: &SwitchSettings,
        balancer: &BalancerSettings,
        site: &SwitchSite,
        table: Table,
    ) -> Switch {
        let ports = site.rates.len();
        let queues = settings.queues as usize;
        let engine = |engine| {
            let place = Site { seed: site.seed, switch: site.switch, engine: engine as u16 };
            Engine::new(balancer, place)
        };
        let engines: Vec<_> = (0..settings.engines).map(engine).collect();
        let reads_loads = engines[0].balancer.reads_loads();
        let memory = Memory { buffer: settings.buffer, queues: (ports * queues) as u64 };
        Switch {
            table,
            outputs: site.rates.iter().map(|_| Output::new(settings)).collect(),
            visible: Visible::new(ports * queues, reads_loads),
            store: Store { total: 0, sharing: AnySharing::new(&settings.sharing, memory) },
            marking: Random::new(site.seed, Purpose::Mark, u64::from(site.switch.0)),
            inputs: inputs(settings, site),
            queues,
            class_load: settings.class_load,
            count_in_service: settings.count_in_service,
            engines,
        }
    }

    /// A whole packet came in by port `from`: look up, balance, admit, mark, queue - or drop.
    #[inline]
    pub fn receive(&mut self, turn: &mut Turn<'_>, from: PortId, packet: PacketId) {
        let header = turn.headers.get_mut(packet);
        header.ingress = from;
        header.arrived = turn.now;
        header.hops = header.hops.saturating_add(1);
        let header = *header;
        match self.output(turn.now, &header) {
            Some(port) => self.enqueue(turn, port, (packet, &header)),
            None => turn.effects.push(Effect::Dropped(packet, Reason::NoRoute)),
        }
    }

    /// The transmitter of `port` is idle: the packet in service, if any, has left; which goes next?
    #[inline]
    pub fn next_packet(&mut self, turn: &mut Turn<'_>, port: PortId) -> Option<PacketId> {
        let output = &mut self.outputs[port.index()];
        if let Some(done) = output.port.in_service.take() {
            let queue = usize::from(done.queue);
            output.release(turn.now, queue, done.wire, &mut self.store);
            if self.count_in_service {
                self.visible.left(slot(port, queue, self.queues), done.wire);
            }
        }
        loop {
            let output = &mut self.outputs[port.index()];
            let queue = output.scheduler.pick(&output.queues, turn.headers)?;
            let (packet, verdict) = output.take(queue, turn.headers, &mut self.marking);
            match verdict {
                Verdict::Pass => {}
                Verdict::Mark => output.port.mark(packet, turn.headers),
                Verdict::Drop => {
                    self.give_up(turn, (port, queue), packet, Reason::Early);
                    continue;
                }
            }
            let wire = turn.headers.get(packet).wire;
            output.port.in_service = Some(InService { queue: queue as u8, wire });
            if !self.count_in_service {
                self.visible.left(slot(port, queue, self.queues), wire);
            }
            return Some(packet);
        }
    }

    /// The link behind `port` went down or came back. Queued packets of a port that went down are lost; a packet in
    /// service is the driver's to lose, and stays charged until [`Switch::next_packet`] is asked at its end. A port that
    /// came back is used at once by the groups that contain it.
    pub fn set_port(&mut self, turn: &mut Turn<'_>, port: PortId, up: bool) {
        self.outputs[port.index()].port.up = up;
        self.table.set_port(port, up);
        self.forget_groups();
        if up {
            return;
        }
        for queue in 0..self.queues {
            while let Some(packet) = self.outputs[port.index()].queues[queue].packets.pop(turn.headers) {
                self.give_up(turn, (port, queue), packet, Reason::LinkDown);
            }
        }
    }

    /// New routes from the routing protocol, all at once. Ports that are down here stay out of them.
    pub fn install(&mut self, group_of_leaf: Vec<GroupId>, groups: Vec<Vec<PortId>>) {
        self.table.install(group_of_leaf, groups);
        self.forget_groups();
    }

    /// What has happened at a port up to `now`.
    pub fn counters(&mut self, now: Time, port: PortId) -> PortCounters {
        self.outputs[port.index()].port.counters(now)
    }

    /// Wire bytes a port holds, the packet in service included.
    #[must_use]
    pub fn queued(&self, port: PortId) -> Bytes {
        Bytes(self.outputs[port.index()].port.bytes)
    }

    /// Packets a port holds, the packet in service included.
    #[must_use]
    pub fn queued_packets(&self, port: PortId) -> u64 {
        self.outputs[port.index()].port.packets
    }

    /// Wire bytes the whole switch holds.
    #[must_use]
    pub fn stored(&self) -> Bytes {
        Bytes(self.store.total)
    }

    /// Number of ports.
    #[must_use]
    pub fn ports(&self) -> usize {
        self.outputs.len()
    }

    /// Looks a packet up and lets its engine choose among equals.
    #[inline]
    fn output(&mut self, now: Time, header: &Header) -> Option<PortId> {
        let (group, ports) = match self.table.route(header.destination) {
            Route::Local(port) => return Some(port),
            Route::Group(_, [only]) => return Some(*only),
            Route::Group(_, []) => return None,
            Route::Group(group, ports) => (group, ports),
        };
        self.visible.advance(now);
        let loads = Loads::Switch {
            visible: &self.visible,
            queues: self.queues,
            classes: match self.class_load {
                ClassLoad::AtOrAbove => queue_of(header.class, self.queues) + 1,
                ClassLoad::All => self.queues,
            },
        };
        let engine = &mut self.engines[self.inputs[header.ingress.index()].engine];
        let candidates = Candidates { group, ports, loads };
        Some(ports[engine.balancer.choose(header, &candidates, now, &mut engine.random)])
    }

    /// Admits, marks and queues a packet at its output port.
    #[inline]
    fn enqueue(&mut self, turn: &mut Turn<'_>, port: PortId, (packet, header): (PacketId, &Header)) {
        let (queue, wire) = (queue_of(header.class, self.queues), header.wire);
        let output = &mut self.outputs[port.index()];
        if let Err(reason) = output.admit(queue, wire, &self.store) {
            return self.dropped(port, packet, reason, turn.effects);
        }
        let own = &mut output.queues[queue];
        let sight = Sight { packet: header, queue: own.bytes, port: output.port.bytes };
        match output.markers[queue].arriving(&sight, &mut self.marking) {
            Verdict::Pass => {}
            Verdict::Mark => output.port.mark(packet, turn.headers),
            Verdict::Drop => return self.dropped(port, packet, Reason::Early, turn.effects),
        }
        own.packets.push(packet, turn.headers);
        own.bytes += u64::from(wire);
        self.store.stored(own.bytes, wire);
        output.port.store(turn.now, wire);
        if output.port.in_service.is_none() {
            turn.effects.push(Effect::HasWork(port));
        }
        if self.visible.is_tracked() {
            let after = self.inputs[header.ingress.index()].visible_after;
            self.visible.enqueued(turn.now, after, slot(port, queue, self.queues), wire);
        }
    }

    /// A packet that was stored, and has been taken from its queue, is thrown away instead of served.
    #[cold]
    fn give_up(&mut self, turn: &mut Turn<'_>, at: (PortId, usize), packet: PacketId, reason: Reason) {
        let (port, queue) = at;
        let wire = turn.headers.get(packet).wire;
        self.visible.left(slot(port, queue, self.queues), wire);
        self.outputs[port.index()].release(turn.now, queue, wire, &mut self.store);
        self.dropped(port, packet, reason, turn.effects);
    }

    #[cold]
    fn dropped(&mut self, port: PortId, packet: PacketId, reason: Reason, effects: &mut Effects) {
        self.outputs[port.index()].port.counters.dropped += 1;
        effects.push(Effect::Dropped(packet, reason));
    }

    fn forget_groups(&mut self) {
        for engine in &mut self.engines {
            engine.balancer.groups_changed();
        }
    }
}

/// The place of a queue among all of the switch.
#[inline]
fn slot(port: PortId, queue: usize, queues: usize) -> usize {
    port.index() * queues + queue
}

/// The queue of a class.
#[inline]
fn queue_of(class: Class, queues: usize) -> usize {
    usize::from(class.0).min(queues - 1)
}

/// What a switch knows of its input ports: input i belongs to engine i mod F, and sees its decisions after the delay
/// that the visibility rule gives for its line rate.
fn inputs(settings: &SwitchSettings, site: &SwitchSite) -> Vec<Input> {
    let full = |rate: &Rate| rate.time_for(site.full_packet);
    let ports = site.rates.len() as u64;
    let engines = u64::from(settings.engines).min(ports);
    let delay = |rate: &Rate| match settings.visibility {
        Visibility::Instant => Span::ZERO,
        Visibility::Store => full(rate),
        Visibility::EngineSlot => full(rate) * engines / ports,
    };
    let engine = |input| input % settings.engines as usize;
    let input = |(n, rate)| Input { engine: engine(n), visible_after: delay(rate) };
    site.rates.iter().enumerate().map(input).collect()
}

#[cfg(test)]
mod tests;
