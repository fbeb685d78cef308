//! Packets on their way: over wires, through switches, and lost.

use weft_core::record::Reason;
use weft_core::{LinkId, PacketId, PortId, Span, SwitchId, Time};
use weft_switch::{Departure, Effect, Sent, Turn, Verdict};
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

    /// A packet has landed at a switch.
    #[inline(always)]
    fn at_switch(&mut self, switch: SwitchId, from: PortId, packet: PacketId) {
        let own = switch_of(&mut self.switches, switch);
        let first_link = own.first_link;
        let mut turn = Turn { now: self.now, headers: &mut self.pool.headers, effects: &mut self.effects };
        match own.switch.receive(&mut turn, from, packet) {
            Verdict::LeavesAt(departure) => self.leave(first_link, packet, departure),
            Verdict::Ready(port) => self.carry_out(switch, Some(port)),
            Verdict::Queued(_) => self.carry_out(switch, None),
            Verdict::Returned => self.returned(switch, from, packet),
            Verdict::Dropped(reason) => self.dropped(switch, packet, reason),
        }
    }

    /// It is known when a packet leaves a switch whose port 0 has the link `first`.
    #[inline(always)]
    fn leave(&mut self, first: u32, packet: PacketId, departure: Departure) {
        let Departure { port, start, end, wire, hops, kind } = departure;
        if kind.is_payload() {
            if start == self.now {
                self.tally.waited(hops, Span::ZERO);
            } else {
                self.tally.waited(hops, Span(start.0 - self.now.0));
            }
        }
        self.launch(LinkId(first + u32::from(port.0)), packet, wire, end);
    }

    /// The header of a packet goes back to its sender, through the switch that had no room for it.
    #[cold]
    fn returned(&mut self, switch: SwitchId, from: PortId, packet: PacketId) {
        self.at_switch(switch, from, packet);
    }

    /// A switch has dropped a packet that it received, and may have more to say.
    #[cold]
    fn dropped(&mut self, switch: SwitchId, packet: PacketId, reason: Reason) {
        self.bury(packet, reason);
        self.carry_out(switch, None);
    }

    /// Does what a switch asked for, in the order given, and what it asks for meanwhile; before that it feeds the port
    /// whose transmitter is idle.
    #[inline(never)]
    pub(crate) fn carry_out(&mut self, switch: SwitchId, idle: Option<PortId>) {
        if let Some(port) = idle {
            self.feed(switch, port);
        }
        while let Some(effect) = self.effects.pop_front() {
            match effect {
                Effect::HasWork(port) => self.feed(switch, port),
                Effect::Dropped(packet, reason) => self.bury(packet, reason),
            }
        }
    }

    /// Gives the idle transmitter of a port its next packet, or what it has to tell the far end. What else the switch wants
    /// is left to [`Domain::carry_out`].
    fn feed(&mut self, switch: SwitchId, port: PortId) {
        let mut turn = Turn { now: self.now, headers: &mut self.pool.headers, effects: &mut self.effects };
        let own = switch_of(&mut self.switches, switch);
        let link = LinkId(own.first_link + u32::from(port.0));
        match own.switch.transmit(&mut turn, port) {
            Some(Sent::Packet(packet)) => self.put_on_line(link, (switch, port), packet),
            Some(Sent::Frame(frame)) => {
                let end = self.send_frame(link, self.now, frame);
                self.calendar.push_transmitted(end, link);
            }
            None => {}
        }
    }

    /// The first bit of a packet leaves a transmitter that is asked for each packet.
    #[inline]
    fn put_on_line(&mut self, link: LinkId, from: (SwitchId, PortId), packet: PacketId) {
        if self.pauses.is_some() {
            self.pay_toll(link, from, packet);
        }
        let header = *self.pool.headers.get(packet);
        if header.kind.is_payload() {
            self.tally.waited(header.hops, self.now.since(header.arrived));
        }
        let end = wire_of(&mut self.wires, link).end_of(self.now, header.wire);
        self.calendar.push_transmitted(end, link);
        self.launch(link, packet, header.wire, end);
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
