//! Packets on their way: over wires, through switches, and lost.

use weft_core::record::Reason;
use weft_core::{LinkId, PacketId, PortId, SwitchId};
use weft_switch::{Effect, Turn};
use weft_topology::{Change, Node};

use crate::event::Event;
use crate::network::Network;

/// What an event leaves to be done at a switch: its effects, and before them the port whose transmitter is idle.
pub(crate) type Asking = (SwitchId, Option<PortId>);

impl Network {
    /// The transmission of a packet starts. Part of every hop of every packet, hence always inlined.
    #[inline(always)]
    pub(crate) fn launch(&mut self, link: LinkId, packet: PacketId) {
        let wire = &mut self.wires[link.index()];
        let header = self.pool.headers.get_mut(packet);
        let (left, lands) = wire.launch(self.now, header.wire);
        header.arrived = lands;
        self.tally.packet_hops += 1;
        self.calendar.push(left, Event::Transmitted(link));
        if let Some(reason) = wire.failure() {
            return self.lose(link, packet, reason);
        }
        if wire.in_flight.is_empty() {
            self.calendar.push(lands, Event::Arrive(link));
        }
        wire.in_flight.push(packet, &mut self.pool.headers);
    }

    /// The last bit of a packet has left a transmitter, which is idle now.
    #[inline]
    pub(crate) fn transmitted(&mut self, link: LinkId) -> Option<Asking> {
        let wire = &self.wires[link.index()];
        match wire.from {
            Node::Host(host) => {
                self.card_idle(host);
                None
            }
            Node::Switch(switch) => Some((switch, Some(wire.port))),
        }
    }

    /// A packet lands at the far end of a link.
    #[inline]
    pub(crate) fn arrive(&mut self, link: LinkId) -> Option<Asking> {
        let wire = &mut self.wires[link.index()];
        let packet = wire.land(self.now, &self.pool.headers)?;
        let (to, port) = (wire.to, wire.to_port);
        if let Some(next) = wire.in_flight.front() {
            let lands = self.pool.headers.get(next).arrived;
            self.calendar.push(lands, Event::Arrive(link));
        }
        match to {
            Node::Host(host) => {
                self.at_host(host, packet);
                None
            }
            Node::Switch(switch) => {
                self.at_switch(switch, port, packet);
                Some((switch, None))
            }
        }
    }

    #[inline]
    fn at_switch(&mut self, switch: SwitchId, from: PortId, packet: PacketId) {
        if let Some(tap) = &mut self.tap {
            tap.arrived(switch, (self.now, from), packet, self.pool.headers.get(packet));
        }
        let mut turn = Turn { now: self.now, headers: &mut self.pool.headers, effects: &mut self.effects };
        self.switches[switch.index()].receive(&mut turn, from, packet);
    }

    /// Does what a switch asked for, the last first, and what it asks for meanwhile. Ends every event at a switch, hence
    /// always inlined.
    #[inline(always)]
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

    /// Gives the idle transmitter of a port its next packet. What else the switch wants is left to
    /// [`Network::carry_out`].
    #[inline(always)]
    fn feed(&mut self, switch: SwitchId, port: PortId) {
        let mut turn = Turn { now: self.now, headers: &mut self.pool.headers, effects: &mut self.effects };
        let Some(packet) = self.switches[switch.index()].next_packet(&mut turn, port) else { return };
        let header = self.pool.headers.get(packet);
        self.tally.waited(header, self.now.since(header.arrived));
        if let Some(tap) = &mut self.tap {
            tap.left(switch, (self.now, port), packet, header);
        }
        self.launch(self.link_of(switch, port), packet);
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

    /// The next change of the network's timeline. Returns what a switch asks for because of it.
    pub(crate) fn change(&mut self, number: u32) -> Option<Asking> {
        let timeline = std::sync::Arc::clone(&self.setup.timeline);
        if let Some((time, _)) = timeline.changes.get(number as usize + 1) {
            self.schedule(*time, Event::Change(number + 1));
        }
        match &timeline.changes[number as usize].1 {
            Change::CableDown(cable) => self.set_cable(*cable, false),
            Change::CableUp(cable) => self.set_cable(*cable, true),
            Change::LocalDown { switch, port } => return self.set_port(*switch, *port, false),
            Change::LocalUp { switch, port } => return self.set_port(*switch, *port, true),
            Change::Install { switch, state } => {
                let routes = &timeline.states[*state].switches[switch.index()];
                self.switches[switch.index()].install(routes.group_of_leaf.clone(), routes.groups.clone());
            }
        }
        None
    }

    /// A cable goes down, with what is in flight on it, or comes back.
    fn set_cable(&mut self, cable: usize, up: bool) {
        for link in self.setup.graph.links_of_cable(cable) {
            let wire = &mut self.wires[link.index()];
            wire.up = up;
            wire.failed |= !up;
            while !up && let Some(packet) = self.wires[link.index()].in_flight.pop(&self.pool.headers) {
                self.lose(link, packet, Reason::LinkDown);
            }
        }
    }

    fn set_port(&mut self, switch: SwitchId, port: PortId, up: bool) -> Option<Asking> {
        let mut turn = Turn { now: self.now, headers: &mut self.pool.headers, effects: &mut self.effects };
        self.switches[switch.index()].set_port(&mut turn, port, up);
        Some((switch, None))
    }
}
