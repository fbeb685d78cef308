//! The part of a host that its flows share: it decides whose turn it is, and the end whose turn it is goes on. Stacks whose
//! flows do not know each other never come here.

use weft_core::stack::{HostPart, Side};
use weft_core::{FlowId, HostId, Time};

use super::card_of;
use crate::domain::Domain;
use crate::ends::{End, Seat, Slab};
use crate::event::Event;

impl Domain {
    /// A sender wants something of its host's part.
    pub(super) fn sender_asks(&mut self, flow: FlowId, host: HostId) {
        if let Some((_, active)) = self.ends.senders.seated(flow) {
            card_of(&mut self.hosts, host).parts.iter_mut().for_each(|part| active.end.ask(part));
        }
        self.expect_turn(host);
    }

    /// A receiver wants something of its host's part.
    pub(super) fn receiver_asks(&mut self, flow: FlowId, host: HostId) {
        if let Some((_, active)) = self.ends.receivers.seated(flow) {
            card_of(&mut self.hosts, host).parts.iter_mut().for_each(|part| active.end.ask(part));
        }
        self.expect_turn(host);
    }

    /// A turn is due. Events of turns that have moved since are stale.
    pub(crate) fn host_wake(&mut self, host: HostId) {
        let card = card_of(&mut self.hosts, host);
        if card.part_at == self.now {
            card.part_at = Time::NEVER;
            self.give_turns(host);
        }
    }

    /// Gives all turns that are due.
    fn give_turns(&mut self, host: HostId) {
        for part in 0..self.hosts[host.index()].parts.len() {
            while let Some((side, flow)) = self.hosts[host.index()].parts[part].next(self.now) {
                let Some(seat) = self.turn(side, flow) else { continue };
                self.hosts[host.index()].parts[part].used(self.now);
                match side {
                    Side::Sender => self.sender_has_news(seat, host),
                    Side::Receiver => self.receiver_has_news(seat, host),
                }
            }
        }
        self.expect_turn(host);
    }

    /// The host's part comes back for the next turn, at the earliest when all arrivals of this instant have been handled: who
    /// asks may be about to send.
    fn expect_turn(&mut self, host: HostId) {
        let (now, card) = (self.now, card_of(&mut self.hosts, host));
        let wake = card.parts.iter().map(HostPart::wake).min().unwrap_or(Time::NEVER).max(now);
        if wake < card.part_at {
            card.part_at = wake;
            self.schedule(wake, Event::HostWake(host));
        }
    }

    /// Where the end sits whose turn it is, if it is still open and has a use for it.
    fn turn(&mut self, side: Side, flow: FlowId) -> Option<Seat> {
        let now = self.now;
        match side {
            Side::Sender => on_turn(&mut self.ends.senders, flow, now),
            Side::Receiver => on_turn(&mut self.ends.receivers, flow, now),
        }
    }
}

fn on_turn<E: End>(ends: &mut Slab<E>, flow: FlowId, now: Time) -> Option<Seat> {
    let (seat, active) = ends.seated(flow)?;
    active.end.on_turn(now).then_some(seat)
}
