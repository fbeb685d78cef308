//! Packets on their way: over wires, through switches, and lost.

use weft_core::record::Reason;
use weft_core::{LinkId, PacketId, PortId, Span, SwitchId, Time};
use weft_switch::{Departure, Effect, Fate, Turn};
use weft_topology::{Change, Node};

use crate::domain::{Domain, Placed};
use crate::wire::{Flying, Wire};

impl Domain {
    /// A packet goes on a link; its last bit leaves at `end`. Part of every hop of every packet, hence always inlined.
    #[inline(always)]
    pub(crate) fn launch(&mut self, link: LinkId, packet: PacketId, wire_bytes: u16, end: Time) {
        let wire = wire_of(&mut self.wires, link);
        let lands = wire.launch(end, wire_bytes);
        if wire.special {
            return self.launch_specially(link, packet, lands);
        }
        if wire.awaited {
            wire.behind.push(Flying { lands, packet });
        } else {
            wire.awaited = true;
            self.calendar.push_arrival(lands, link, packet);
        }
    }

    /// The same on a link that may be down, lossy, stalling or lead to another domain.
    #[inline(never)]
    fn launch_specially(&mut self, link: LinkId, packet: PacketId, lands: Time) {
        let wire = &mut self.wires[link.index()];
        if let Some(reason) = wire.failure() {
            return self.lose(link, packet, reason);
        }
        let lands = wire.taken(lands);
        if let Some(domain) = wire.away {
            return self.hand_over(domain, link, packet, lands);
        }
        self.fly(link, Flying { lands, packet });
    }

    /// A packet is in flight towards this domain, behind those that are already.
    pub(crate) fn fly(&mut self, link: LinkId, flying: Flying) {
        let wire = &mut self.wires[link.index()];
        if wire.awaited {
            wire.behind.push(flying);
        } else {
            wire.awaited = true;
            self.calendar.push_arrival(flying.lands, link, flying.packet);
        }
    }

    /// The last bit of a packet has left a transmitter, which is idle now.
    #[inline(never)]
    pub(crate) fn transmitted(&mut self, link: LinkId) {
        let &mut Wire { from, port, .. } = wire_of(&mut self.wires, link);
        match from {
            Node::Host(host) => self.card_idle(host),
            Node::Switch(switch) => self.carry_out(switch, Some(port)),
        }
    }

    /// A packet lands at the far end of a link, unless it was lost when the cable failed.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, link: LinkId, packet: PacketId) {
        let wire = wire_of(&mut self.wires, link);
        let (to, port) = (wire.to, wire.to_port);
        match wire.behind.pop() {
            Some(next) => self.calendar.push_arrival(next.lands, link, next.packet),
            None => wire.awaited = false,
        }
        if packet == PacketId::NONE {
            return;
        }
        match to {
            Node::Host(host) => self.at_host(host, packet),
            Node::Switch(switch) => self.at_switch(switch, port, packet),
        }
    }

    #[inline(always)]
    fn at_switch(&mut self, switch: SwitchId, from: PortId, packet: PacketId) {
        let own = switch_of(&mut self.switches, switch);
        if !own.plain {
            return self.at_watched_switch(switch, from, packet);
        }
        let (first_link, header) = (own.first_link, self.pool.headers.get_mut(packet));
        match own.switch.forward(self.now, header, from) {
            Fate::Leaves(departure) => self.leave(first_link, packet, departure),
            Fate::Joins(port) => self.join(switch, port, packet),
            Fate::Lost(reason) => self.dropped(switch, packet, reason),
        }
    }

    /// The same where paths are measured, or a tap looks on.
    #[inline(never)]
    fn at_watched_switch(&mut self, switch: SwitchId, from: PortId, packet: PacketId) {
        if let Some(tap) = &mut self.tap {
            tap.arrived(switch, (self.now, from), packet, self.pool.headers.get(packet));
        }
        let own = switch_of(&mut self.switches, switch);
        let (first_link, header) = (own.first_link, self.pool.headers.get_mut(packet));
        match own.switch.forward_measured(self.now, header, from) {
            Fate::Leaves(departure) => self.leave(first_link, packet, departure),
            Fate::Joins(port) => self.join(switch, port, packet),
            Fate::Lost(reason) => self.dropped(switch, packet, reason),
        }
    }

    /// It is known when a packet leaves a switch whose port 0 has the link `first`.
    #[inline(always)]
    fn leave(&mut self, first: u32, packet: PacketId, Departure { port, start, end }: Departure) {
        let header = self.pool.headers.get(packet);
        let wire_bytes = header.wire;
        if start == self.now {
            self.tally.waited(header, Span::ZERO);
        } else {
            self.tally.waited(header, Span(start.0 - self.now.0));
        }
        self.launch(LinkId(first + u32::from(port.0)), packet, wire_bytes, end);
    }

    /// A packet joins the queue of a port.
    #[inline(never)]
    fn join(&mut self, switch: SwitchId, port: PortId, packet: PacketId) {
        let mut turn = Turn { now: self.now, headers: &mut self.pool.headers, effects: &mut self.effects };
        let own = switch_of(&mut self.switches, switch);
        let first_link = own.first_link;
        match own.switch.join(&mut turn, port, packet) {
            Some(departure) => self.leave(first_link, packet, departure),
            None => self.carry_out(switch, None),
        }
    }

    /// Does what a switch asked for, the last first, and what it asks for meanwhile; before that it feeds the port whose
    /// transmitter is idle.
    #[inline(never)]
    pub(crate) fn carry_out(&mut self, switch: SwitchId, mut idle: Option<PortId>) {
        loop {
            if let Some(port) = idle.take() {
                self.feed(switch, port);
            }
            match self.effects.pop() {
                Some(Effect::HasWork(port)) => idle = Some(port),
                Some(Effect::Dropped(packet, reason)) => self.dropped(switch, packet, reason),
                None => return,
            }
        }
    }

    /// Gives the idle transmitter of a port its next packet, or what it has to tell the far end. What else the switch wants is
    /// left to [`Domain::carry_out`].
    fn feed(&mut self, switch: SwitchId, port: PortId) {
        let pausing = self.pauses.is_some();
        let mut turn = Turn { now: self.now, headers: &mut self.pool.headers, effects: &mut self.effects };
        let own = self.switches[switch.index()].as_mut().expect("a switch is fed in its domain");
        let link = LinkId(own.first_link + u32::from(port.0));
        if pausing && let Some(frame) = own.switch.next_frame(&mut turn, port) {
            let end = self.send_frame(link, self.now, frame);
            return self.calendar.push_transmitted(end, link);
        }
        let Some(packet) = own.switch.next_packet(&mut turn, port) else { return };
        if pausing {
            self.pay_toll(link, (switch, port), packet);
        }
        let header = *self.pool.headers.get(packet);
        self.tally.waited(&header, self.now.since(header.arrived));
        if let Some(tap) = &mut self.tap {
            tap.left(switch, (self.now, port), packet, &header);
        }
        let end = self.wires[link.index()].end_of(self.now, header.wire);
        self.calendar.push_transmitted(end, link);
        self.launch(link, packet, header.wire, end);
    }

    #[cold]
    fn dropped(&mut self, switch: SwitchId, packet: PacketId, reason: Reason) {
        if let Some(tap) = &mut self.tap {
            tap.dropped(switch, self.now, packet, reason);
        }
        self.bury(packet, reason);
    }

    /// A packet is lost on a wire.
    fn lose(&mut self, link: LinkId, packet: PacketId, reason: Reason) {
        self.wires[link.index()].lost += 1;
        self.bury(packet, reason);
    }

    /// Counts a lost packet and frees its place.
    fn bury(&mut self, packet: PacketId, reason: Reason) {
        self.tally.dropped(self.pool.headers.get(packet), reason);
        self.pool.remove(packet);
    }

    /// A change of the network's timeline, as far as it concerns this domain.
    pub(crate) fn change(&mut self, number: usize) {
        let plan = std::sync::Arc::clone(&self.plan);
        let (time, change) = &plan.setup.timeline.changes[number];
        self.now = *time;
        match change {
            Change::CableDown(cable) => self.set_cable(*cable, false),
            Change::CableUp(cable) => self.set_cable(*cable, true),
            Change::LocalDown { switch, port } => self.set_port(*switch, *port, false),
            Change::LocalUp { switch, port } => self.set_port(*switch, *port, true),
            Change::Install { switch, state } => {
                let routes = &plan.setup.timeline.states[*state].switches[switch.index()];
                if let Some(labels) = &mut self.labels {
                    labels.installed(&plan.setup, *switch, *state, *time);
                }
                if let Some(own) = &mut self.switches[switch.index()] {
                    own.switch.install(routes.group_of_leaf.clone(), routes.groups.clone());
                }
            }
        }
    }

    /// A cable goes down, with what is in flight on it, or comes back.
    fn set_cable(&mut self, cable: usize, up: bool) {
        for link in self.plan.setup.graph.links_of_cable(cable) {
            self.wires[link.index()].set_up(up);
            if !up {
                self.forget_pauses(link);
            }
            let awaited = self.wires[link.index()].awaited;
            if !up
                && awaited
                && let Some(packet) = self.calendar.lose_arrival(link)
            {
                self.lose(link, packet, Reason::LinkDown);
            }
            while !up && let Some(lost) = self.wires[link.index()].behind.pop() {
                self.lose(link, lost.packet, Reason::LinkDown);
            }
        }
    }

    fn set_port(&mut self, switch: SwitchId, port: PortId, up: bool) {
        let mut turn = Turn { now: self.now, headers: &mut self.pool.headers, effects: &mut self.effects };
        if let Some(own) = &mut self.switches[switch.index()] {
            own.switch.set_port(&mut turn, port, up);
            self.carry_out(switch, None);
        }
    }
}

/// A switch at which a packet has landed.
#[inline]
#[allow(unsafe_code, reason = "2 % of all instructions, with `wire_of`")]
fn switch_of(switches: &mut [Option<Placed>], switch: SwitchId) -> &mut Placed {
    debug_assert!(switches[switch.index()].is_some(), "packets for a switch land in its domain");
    // SAFETY: `Domain::new` makes a place for every switch of the graph, fills those of its own domain, and none is ever
    // emptied. Wires lead to switches of the graph. A packet that is sent on a wire to another domain is handed over
    // (`launch_specially`: such wires are special from the beginning to the end), so it lands where its switch is.
    unsafe { switches.get_unchecked_mut(switch.index()).as_mut().unwrap_unchecked() }
}

/// The wire of a link; in all of its steps a packet needs it three times.
#[inline]
#[allow(unsafe_code, reason = "1 % of all instructions")]
pub(crate) fn wire_of(wires: &mut [Wire], link: LinkId) -> &mut Wire {
    debug_assert!(link.index() < wires.len(), "links are those of the network");
    // SAFETY: `Domain::new` makes a wire for every link of the graph, and only links of the graph are named: by a host's
    // card, by a switch's ports, and by the event list, which is told of these.
    unsafe { wires.get_unchecked_mut(link.index()) }
}
