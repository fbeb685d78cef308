//! All output ports of a switch and the memory they share: admission, marking, queueing, service. Must not depend on
//! tables or balancers.

use weft_core::record::Reason;
use weft_core::{
    Header, Headers, PacketId, PacketKind, PortId, Purpose, Random, Rate, Span, Time, Transmission,
};

use crate::cells::MemoryCells;
use crate::class_map::ClassMap;
use crate::lull::{self, Lull};
use crate::order::AnyOrder;
use crate::pause::{Ingress, to_share};
use crate::port::{InService, Output, PortCounters};
use crate::settings::{PortSettings, SwitchSettings, Visibility};
use crate::share::{AnySharing, Memory};
use crate::site::SwitchSite;
use crate::turn::{Effect, Effects, Turn};
use weft_buffer::memory::PacketMemory;
use weft_buffer::trim::Trim;
use weft_foresight::Foresight;
use weft_mark::Action;
use weft_visibility::{Insight, Visible};

/// All output ports of a switch and the memory they share.
pub(crate) struct Outputs {
    pub(crate) ports: Vec<Output>,
    pub(crate) visible: Visible,
    pub(crate) store: PacketMemory,
    pub(crate) marking: Random,
    pub(crate) queues: usize,
    pub(crate) classes: ClassMap,
    pub(crate) cells: MemoryCells,
    count_in_service: bool,
    /// Whether some marker acts on departures.
    marks_departures: bool,
    /// Ports without departure marking and pauses may have foresight.
    plain: bool,
    /// If any class pauses.
    pub(crate) ingress: Option<Box<Ingress>>,
    /// Present if full queues trim packets.
    pub(crate) trim: Option<Trim>,
    /// Ports may foresee departures in lulls.
    pub(crate) lulls: bool,
    /// If any port does.
    pub(crate) lull: Option<Box<Lull>>,
    /// The order of each queue, by slot; empty if queues serve packets in order of arrival.
    pub(crate) orders: Box<[AnyOrder]>,
    /// The port that dropped a packet last.
    pub(crate) refused_at: PortId,
}

impl Outputs {
    /// Empty ports; `read`: engines look at queue lengths.
    pub(crate) fn new(settings: &SwitchSettings, site: &SwitchSite, read: bool) -> Outputs {
        let queues = settings.queues as usize;
        let slots = site.rates.len() * queues;
        let ingress = Ingress::new(settings, site).map(Box::new);
        let memory = Memory { buffer: to_share(settings, site), queues: slots as u64 };
        let ports: Vec<_> = site.rates.iter().map(|rate| Output::new(settings, *rate)).collect();
        let marks_departures = ports.iter().any(Output::looks_at_departures);
        let colors = settings.color.is_on();
        let order = || AnyOrder::new(&settings.order, ());
        let ordered = if order().reads_ranks() { slots } else { 0 };
        let store = PacketMemory::new(AnySharing::new(&settings.sharing, memory));
        let simple = !marks_departures
            && !colors
            && (settings.count_in_service || !read)
            && !settings.trim.is_on()
            && !MemoryCells::of(settings.cell).are_used();
        Outputs {
            ports,
            visible: Visible::new(slots, read, insight(settings, site)),
            store,
            marking: Random::new(site.seed, Purpose::Mark, u64::from(site.switch.0)),
            queues,
            classes: ClassMap::new(settings),
            cells: MemoryCells::of(settings.cell),
            count_in_service: settings.count_in_service,
            marks_departures,
            plain: simple && ingress.is_none(),
            ingress,
            trim: Trim::new(&settings.trim, site.full_packet),
            lulls: lull::allowed_by(settings) && simple && ordered == 0,
            lull: None,
            orders: (0..ordered).map(|_| order()).collect(),
            refused_at: PortId(0),
        }
    }

    /// Sets a port's own marker, scheduler and limit; the port must be empty.
    pub(crate) fn set_up(&mut self, port: PortId, settings: &PortSettings, line: Rate) {
        let output = &mut self.ports[port.index()];
        output.set_up(settings, line);
        self.marks_departures |= output.looks_at_departures();
        self.plain &= !output.looks_at_departures() && output.red.is_none();
    }

    /// Makes the departures of a port known when packets arrive, if the settings allow it.
    pub(crate) fn foresee(&mut self, port: PortId, line: Transmission) -> bool {
        let output = &mut self.ports[port.index()];
        let plain = self.plain && output.shaper.is_none();
        let foresees = plain && self.queues == 1 && self.orders.is_empty();
        if foresees {
            let marker = std::mem::take(&mut output.markers).into_iter().next();
            let admitted = self.store.admits_up_to().min(output.limit);
            output.foresight = marker.map(|marker| Foresight::new(line, marker, admitted));
            self.set_observed(port);
        }
        foresees || plain && self.foresee_partly(port, line)
    }

    pub(crate) fn len(&self) -> usize {
        self.ports.len()
    }

    pub(crate) fn port(&self, port: PortId) -> &Output {
        &self.ports[port.index()]
    }

    pub(crate) fn counters(&self, now: Time, port: PortId) -> PortCounters {
        let output = &self.ports[port.index()];
        let Output { port: held, foresight, strict, .. } = output;
        let counted = held.byte_time;
        let byte_time = match (foresight, strict, output.lull()) {
            (Some(foresight), _, _) => counted - foresight.byte_time_after(now),
            (_, Some(strict), _) => strict.byte_time(counted, now),
            (_, _, Some(foreseen)) => counted - foreseen.byte_time_after(now),
            _ => return held.counters_until(now),
        };
        held.counters(byte_time)
    }

    /// Packets that a port holds, including the packet in service.
    pub(crate) fn packets(&self, port: PortId) -> u64 {
        let output = &self.ports[port.index()];
        let in_lull = || output.lull().map_or(output.port.packets, |foreseen| foreseen.packets() as u64);
        let strict = || output.strict.as_ref().map_or_else(in_lull, |strict| strict.packets());
        output.foresight.as_ref().map_or_else(strict, Foresight::packets)
    }

    /// The load of a port as an engine sees it: visible bytes of its first `classes` queues.
    #[inline]
    pub(crate) fn load(&mut self, now: Time, port: PortId, (engine, classes): (usize, usize)) -> u64 {
        debug_assert!(self.visible.is_read(), "a balancer that reads loads says so in `reads_loads`");
        if !self.visible.is_kept() {
            return self.held(now, port, classes);
        }
        if self.chosen(port).foresight.as_ref().is_some_and(|foresight| foresight.has_left(now)) {
            self.settle(now, port);
        } else {
            self.settle_strict(now, port);
        }
        let first = slot(port, 0, self.queues);
        if classes == 1 {
            return self.visible.get(engine, first);
        }
        (first..first + classes).map(|slot| self.visible.get(engine, slot)).sum()
    }

    /// The bytes in the first `classes` queues of a port, if engines see everything.
    #[inline]
    fn held(&mut self, now: Time, port: PortId, classes: usize) -> u64 {
        if self.foresees(port) {
            self.catch_up(now, port);
            return self.chosen(port).port.bytes;
        }
        self.settle_strict(now, port);
        let output = self.chosen(port);
        (0..classes).map(|queue| output.bytes_that_count(queue, self.count_in_service)).sum()
    }

    /// The bytes of a queue that count towards the load of its port.
    pub(crate) fn counting(&self, port: PortId, queue: usize) -> u64 {
        self.ports[port.index()].bytes_that_count(queue, self.count_in_service)
    }

    /// Lets engines read the queue lengths of these ports from now on.
    pub(crate) fn watch(&mut self, ports: &[PortId]) {
        for port in ports {
            for queue in 0..self.queues {
                let bytes = self.ports[port.index()].bytes_that_count(queue, self.count_in_service);
                self.visible.watch(slot(*port, queue, self.queues), bytes);
            }
            self.set_observed(*port);
        }
    }

    /// Records whether a foreseen port is observed.
    pub(crate) fn set_observed(&mut self, port: PortId) {
        let observed = self.store.counts() || self.visible.is_watched(slot(port, 0, self.queues));
        match &mut self.ports[port.index()] {
            Output { foresight: Some(foresight), .. } => foresight.observe(observed),
            Output { strict: Some(strict), .. } => strict.observe(observed),
            _ => {}
        }
    }

    /// Makes visible what engines may see at `now`.
    #[inline]
    pub(crate) fn advance(&mut self, now: Time) {
        self.visible.advance(now);
    }

    #[inline]
    #[allow(unsafe_code, reason = "1 % of all instructions, with `chosen_of`")]
    pub(crate) fn chosen(&self, port: PortId) -> &Output {
        debug_assert!(port.index() < self.ports.len(), "see `Switch::assert_ports`");
        // SAFETY: as in `chosen_of`.
        unsafe { self.ports.get_unchecked(port.index()) }
    }

    /// Whether the departures of a port are foreseen.
    #[inline]
    pub(crate) fn foresees(&self, port: PortId) -> bool {
        self.chosen(port).foresight.is_some()
    }

    /// Returns the next packet of `port`, whose transmitter is idle; [`Outputs::finish_service`] has been called.
    #[inline(always)]
    pub(crate) fn next_packet(&mut self, turn: &mut Turn<'_>, port: PortId) -> Option<PacketId> {
        if self.ports[port.index()].shaper.is_some() {
            self.shape(turn, port);
        }
        loop {
            let output = &mut self.ports[port.index()];
            let Some(queue) = output.pick(turn.headers) else {
                self.nothing_to_send(turn.effects, port);
                return None;
            };
            let marking = self.marks_departures.then_some(&mut self.marking);
            let (packet, action) = output.take(turn.now, (queue, self.cells), turn.headers, marking);
            if let Some(order) = self.orders.get_mut(slot(port, queue, self.queues)) {
                order.left(&mut output.queues[queue].packets, packet, turn.headers);
            }
            match action {
                Action::Pass => {}
                Action::Mark => output.port.mark(turn.headers.get_mut(packet)),
                Action::Drop => {
                    output.scheduler.refund(queue, turn.headers.get(packet).wire);
                    self.give_up(turn, (port, queue), packet, Reason::Early);
                    continue;
                }
            }
            let Header { wire, ingress, kind, .. } = *turn.headers.get(packet);
            let (occupied, red) = (self.cells.occupied(wire), kind == PacketKind::Red);
            output.port.in_service = Some(InService { queue: queue as u8, wire: occupied, ingress, red });
            if let Some(shaper) = output.shaper.as_mut().filter(|shaper| shaper.shapes(queue)) {
                shaper.sends(turn.now, wire);
            }
            if !self.count_in_service {
                self.visible.left(slot(port, queue, self.queues), u64::from(occupied));
            }
            return Some(packet);
        }
    }

    /// Opens or closes the queues that a shaper limits.
    #[inline(never)]
    fn shape(&mut self, turn: &mut Turn<'_>, port: PortId) {
        if let Some(opens) = self.ports[port.index()].shape(turn.now) {
            turn.effects.push_back(Effect::WakeAt(opens, port));
        }
    }

    /// Called when the wake-up that a port's shaper requested may be due. Returns whether the port may send now.
    pub(crate) fn opens(&mut self, now: Time, port: PortId) -> bool {
        let output = &mut self.ports[port.index()];
        let Some(shaper) = output.shaper.as_mut().filter(|own| own.called <= now) else { return false };
        shaper.called = Time::NEVER;
        output.port.in_service.is_none()
    }

    /// Called when the packet in service, if any, has left.
    #[inline(always)]
    pub(crate) fn finish_service(&mut self, turn: &mut Turn<'_>, port: PortId) {
        let Some(done) = self.ports[port.index()].port.in_service.take() else { return };
        if done.queue == InService::FRAME.queue {
            return;
        }
        let queue = usize::from(done.queue);
        if done.red {
            self.ports[port.index()].queues[queue].red -= u64::from(done.wire);
        }
        self.release(turn, (port, queue), (done.ingress, done.wire));
        if self.count_in_service {
            self.visible.left(slot(port, queue, self.queues), u64::from(done.wire));
        }
    }

    /// Called when the link of a port goes down or comes back. A foreseen port keeps its link.
    pub(crate) fn set_port(&mut self, turn: &mut Turn<'_>, port: PortId, up: bool) {
        let output = &mut self.ports[port.index()];
        let foresees = output.foresight.is_some() || output.strict.is_some();
        assert!(!foresees, "the link of a port whose departures are foreseen changes");
        output.port.up = up;
        if up {
            return;
        }
        for queue in 0..self.queues {
            while let Some(packet) = self.pop((port, queue), turn.headers) {
                self.give_up(turn, (port, queue), packet, Reason::LinkDown);
            }
        }
    }

    /// Takes the next packet from a queue without serving it.
    #[cold]
    pub(crate) fn pop(&mut self, (port, queue): (PortId, usize), headers: &mut Headers) -> Option<PacketId> {
        let packets = &mut self.ports[port.index()].queues[queue].packets;
        let packet = packets.pop(headers)?;
        if let Some(order) = self.orders.get_mut(slot(port, queue, self.queues)) {
            order.left(packets, packet, headers);
        }
        Some(packet)
    }

    /// Discards a stored packet that has left its queue instead of serving it.
    #[cold]
    pub(crate) fn give_up(
        &mut self,
        turn: &mut Turn<'_>,
        at: (PortId, usize),
        packet: PacketId,
        reason: Reason,
    ) {
        let (port, queue) = at;
        let Header { wire, ingress, kind, .. } = *turn.headers.get(packet);
        let wire = self.cells.occupied(wire);
        if kind == PacketKind::Red {
            self.ports[port.index()].queues[queue].red -= u64::from(wire);
        }
        self.visible.left(slot(port, queue, self.queues), u64::from(wire));
        self.release(turn, at, (ingress, wire));
        self.dropped(port, packet, reason, turn.effects);
    }

    /// Releases the memory of a queued packet that entered by port `ingress`.
    #[inline]
    fn release(&mut self, turn: &mut Turn<'_>, at: (PortId, usize), (ingress, wire): (PortId, u16)) {
        let (port, queue) = at;
        let pooled = self.ingress.as_ref().and_then(|own| own.pooled_of_leaving(ingress, queue, wire));
        self.store.discharge(pooled.unwrap_or(0));
        let store = pooled.is_none().then_some(&mut self.store);
        self.ports[port.index()].release(turn.now, queue, wire, store);
        if self.ingress.is_some() {
            self.credit(turn.effects, ingress, at, wire);
            debug_assert!(self.books_agree());
        }
    }

    #[cold]
    pub(crate) fn dropped(&mut self, port: PortId, packet: PacketId, reason: Reason, effects: &mut Effects) {
        effects.push_back(Effect::Dropped(packet, self.refuse(port, reason)));
    }
}

/// The output port chosen for a packet by table and balancer.
#[inline]
#[allow(unsafe_code, reason = "1 % of all instructions, with `chosen`")]
pub(crate) fn chosen_of(ports: &mut [Output], port: PortId) -> &mut Output {
    debug_assert!(port.index() < ports.len(), "see `Switch::assert_ports`");
    // SAFETY: every port that gets here comes from the table, from the number of ports or through `Switch::assert_port`. Before a
    // switch takes a table, it asserts that it has every port the table names.
    unsafe { ports.get_unchecked_mut(port.index()) }
}

/// The visibility rule applied to the line rates of the inputs.
fn insight(settings: &SwitchSettings, site: &SwitchSite) -> Insight {
    let full = |rate: &Rate| rate.time_for(site.full_packet);
    let ports = site.rates.len() as u64;
    let engines = u64::from(settings.engines).min(ports);
    let delay = |rate: &Rate| match settings.visibility {
        Visibility::EngineSlot if engines > 1 => full(rate) * engines / ports,
        Visibility::Instant | Visibility::EngineSlot => Span::ZERO,
        Visibility::Store => full(rate),
    };
    let see_their_own = settings.visibility == Visibility::EngineSlot && engines > 1;
    let engines = if see_their_own { settings.engines as usize } else { 0 };
    Insight::of_engines(site.rates.iter().map(delay).collect(), engines)
}

/// The index of a queue among all of the switch.
#[inline]
pub(crate) fn slot(port: PortId, queue: usize, queues: usize) -> usize {
    port.index() * queues + queue
}
