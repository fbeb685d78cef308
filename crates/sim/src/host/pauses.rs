//! What pauses do to a host's card: flows whose queue is paused leave their turn to others, and frames go before everything
//! else.

use weft_core::{Header, HostId, Ring, Time};
use weft_plan::Setup;
use weft_switch::PauseFrame;
use weft_transport::Body;

use super::Host;
use crate::domain::Domain;
use crate::ends::{Seat, Slab};

/// Those that wanted the card while their queues were paused, in this order.
#[derive(Default)]
pub(super) struct Parked {
    /// Each since when.
    pub(super) senders: Vec<(Seat, Time)>,
    pub(super) receivers: Vec<(Seat, Time)>,
    replies: Vec<(Header, Body)>,
}

/// Puts those that were parked before the others, who came later.
fn unpark(ring: &mut Ring<Seat>, parked: &mut Vec<(Seat, Time)>) {
    parked.extend(std::iter::from_fn(|| ring.pop()).map(|seat| (seat, Time::ZERO)));
    parked.drain(..).for_each(|(seat, _)| ring.push(seat));
}

impl Host {
    /// Whether an end waits for the end of a pause.
    #[inline]
    pub(super) fn parks<E>(&self, ends: &mut Slab<E>, seat: Seat) -> bool {
        self.paused != 0 && ends.at(seat).is_some_and(|active| active.queues & !self.paused == 0)
    }

    /// Sets those replies aside that a pause holds.
    pub(super) fn park_replies(&mut self, host: HostId, setup: &Setup) {
        let paused = self.paused;
        let held = |(header, _): &mut (Header, Body)| setup.is_paused(host, header.class, paused);
        self.parked.replies.extend(self.replies.extract_if(.., held));
    }
}

impl Domain {
    /// A pause begins or ends to hold what a card sends in one queue.
    pub(crate) fn hold_card(&mut self, host: HostId, queue: usize, held: bool) {
        let card = &mut self.hosts[host.index()];
        card.paused = card.paused & !(1 << queue) | u8::from(held) << queue;
        if !held {
            self.release_senders(host, self.now);
            let card = &mut self.hosts[host.index()];
            unpark(&mut card.receivers, &mut card.parked.receivers);
            card.parked.replies.append(&mut card.replies);
            std::mem::swap(&mut card.replies, &mut card.parked.replies);
        }
        self.use_card(host);
    }

    /// Senders that waited for the end of a pause want the card again.
    fn release_senders(&mut self, host: HostId, now: Time) {
        let mut parked = std::mem::take(&mut self.hosts[host.index()].parked.senders);
        parked.iter().for_each(|(seat, since)| self.was_held_at_host(*seat, now.since(*since)));
        let card = &mut self.hosts[host.index()];
        unpark(&mut card.senders, &mut parked);
        card.parked.senders = parked;
    }

    /// The run is over: what pauses have held until now has been held until now.
    pub(crate) fn release_cards(&mut self, end: Time) {
        (0..self.hosts.len()).for_each(|host| self.release_senders(HostId(host as u32), end));
    }

    /// A pause frame leaves after the packet that is being sent.
    pub(crate) fn send_from_card(&mut self, host: HostId, frame: PauseFrame) {
        let card = &self.hosts[host.index()];
        let end = self.send_frame(card.link, self.now.max(card.busy_until), frame);
        self.hosts[host.index()].busy_until = end;
    }
}
