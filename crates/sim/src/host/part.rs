//! The host part that flows share: it decides which end may act, and that end acts. Unused by stacks whose flows share
//! nothing.

use weft_core::stack::{HostPart, Side};
use weft_core::{FlowId, HostId, Time};
use weft_transport::{Receiver, Sender};

use super::Hosts;
use crate::context::Context;
use crate::ends::FlowEnd;
use crate::event::Event;

impl Hosts {
    /// An end needs something from the host part.
    pub(super) fn ask<E: FlowEnd>(&mut self, cx: &mut Context, flow: FlowId, host: HostId) {
        if let Some((_, active)) = E::slab(&mut self.ends).seated(flow) {
            self.cards[host.index()].parts.iter_mut().for_each(|part| active.end.ask(part));
        }
        self.expect_turn(cx, host);
    }

    /// A turn is due, or the line of a card with a queue is idle. Events of turns that have since moved are stale.
    pub(crate) fn host_wake(&mut self, cx: &mut Context, host: HostId) {
        self.line_idle(cx, host);
        let card = self.card(host);
        if card.part_at == cx.now {
            card.part_at = Time::NEVER;
            self.give_turns(cx, host);
        }
    }

    /// Gives all turns that are due.
    fn give_turns(&mut self, cx: &mut Context, host: HostId) {
        for part in 0..self.card(host).parts.len() {
            while let Some((side, flow)) = self.card(host).parts[part].next(cx.now) {
                match side {
                    Side::Sender => self.give_turn::<Sender>(cx, (host, part), flow),
                    Side::Receiver => self.give_turn::<Receiver>(cx, (host, part), flow),
                }
            }
        }
        self.expect_turn(cx, host);
    }

    /// Gives a turn to an end, if it is still open and can use it.
    fn give_turn<E: FlowEnd>(&mut self, cx: &mut Context, (host, part): (HostId, usize), flow: FlowId) {
        let Some((seat, active)) = E::slab(&mut self.ends).seated(flow) else { return };
        if active.end.on_turn(cx.now) {
            self.card(host).parts[part].used(cx.now);
            self.attend::<E>(cx, seat, host);
        }
    }

    /// Schedules the host part's next turn, not before all arrivals of this instant, because the end that asked may be
    /// about to send.
    fn expect_turn(&mut self, cx: &mut Context, host: HostId) {
        let card = self.card(host);
        let wake = card.parts.iter().map(HostPart::wake).min().unwrap_or(Time::NEVER).max(cx.now);
        if wake < card.part_at {
            card.part_at = wake;
            cx.schedule(wake, Event::Wake(card.link));
        }
    }
}
