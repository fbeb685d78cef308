//! How pauses affect a host's card: flows with a paused queue let others pass, and frames precede everything else.

use weft_core::stack::Side;
use weft_core::{HostId, LinkId, PacketId, Ring, Span, Time};
use weft_plan::Setup;
use weft_switch::PauseFrame;

use super::Hosts;
use super::card::Host;
use super::parked::Loose;
use crate::context::Context;
use crate::ends::{FlowEnd, Seat};

/// Puts parked ends before later ones.
fn unpark(ring: &mut Ring<Seat>, parked: &mut Vec<(Seat, Time)>) {
    parked.extend(std::iter::from_fn(|| ring.pop()).map(|seat| (seat, Time::ZERO)));
    parked.drain(..).for_each(|(seat, _)| ring.push(seat));
}

impl Host {
    /// Puts parked ends of one side back into the ring of the card, because a pause has ended.
    fn unpark(&mut self, side: Side) {
        let mut parked = std::mem::take(self.parked.of(side));
        unpark(self.ring(side), &mut parked);
        *self.parked.of(side) = parked;
    }

    /// Sets aside loose packets that a pause holds.
    pub(super) fn park_loose(&mut self, host: HostId, setup: &Setup) {
        let paused = self.paused;
        let held = |loose: &mut Loose| setup.is_paused(host, loose.class(), paused);
        self.parked.loose.extend(self.loose.extract_if(.., held));
    }
}

impl Hosts {
    /// Whether an end waits for the end of a pause.
    #[inline]
    pub(super) fn is_paused<E: FlowEnd>(&mut self, seat: Seat, host: HostId) -> bool {
        let paused = self.card(host).paused;
        paused != 0 && self.is_held::<E>(seat, host)
    }

    /// The same while a queue is paused.
    #[inline(never)]
    fn is_held<E: FlowEnd>(&mut self, seat: Seat, host: HostId) -> bool {
        let Host { paused, parked, .. } = &self.cards[host.index()];
        let all = E::slab(&mut self.ends).at(seat).is_some_and(|active| active.queues & !paused == 0);
        all || parked.has_packet_of((E::SIDE, seat))
    }

    /// Sets aside a packet that an end has written, after waiting for the card, if its class is paused.
    #[inline(never)]
    pub(super) fn sets_aside<E: FlowEnd>(
        &mut self,
        cx: &mut Context,
        (host, seat): (HostId, Seat),
        (packet, waited): (PacketId, Span),
    ) -> bool {
        let header = cx.pool.headers.get_mut(packet);
        let (class, card) = (header.class, self.card(host));
        let held = cx.plan.setup.is_paused(host, class, card.paused);
        if held {
            header.arrived = Time(cx.now.0 - waited.0);
            cx.tally.packets.created += 1;
            card.parked.loose.push(Loose::Written { packet, class, end: (E::SIDE, seat), since: cx.now });
        }
        held
    }

    /// The link of a host's card.
    pub(crate) fn link_of(&self, host: HostId) -> LinkId {
        self.cards[host.index()].link
    }

    /// A pause of one queue of a card starts or ends.
    pub(crate) fn hold(&mut self, cx: &mut Context, host: HostId, (queue, held): (usize, bool)) {
        let card = self.card(host);
        card.paused = card.paused & !(1 << queue) | u8::from(held) << queue;
        if !held {
            self.release_senders(cx, host, cx.now);
            let card = self.card(host);
            card.unpark(Side::Receiver);
            card.parked.loose.append(&mut card.loose);
            std::mem::swap(&mut card.loose, &mut card.parked.loose);
        }
        self.use_card(cx, host);
    }

    /// Puts parked senders back into the ring of the card and records how long they were held.
    fn release_senders(&mut self, cx: &mut Context, host: HostId, now: Time) {
        let card = self.card(host);
        card.parked.tell_held_senders(now, |seat, held| cx.was_held_at_host(seat, held));
        card.unpark(Side::Sender);
    }

    /// Closes the pauses still in force at the end of the run.
    pub(crate) fn release_cards(&mut self, cx: &mut Context, end: Time) {
        (0..self.cards.len()).for_each(|host| self.release_senders(cx, HostId(host as u32), end));
    }

    /// A pause frame leaves after the packet that is being sent.
    pub(crate) fn send_frame(&mut self, cx: &mut Context, host: HostId, frame: PauseFrame) {
        let card = self.card(host);
        card.busy_until = cx.send_frame(card.link, cx.now.max(card.busy_until), frame);
    }
}
