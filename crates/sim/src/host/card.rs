//! The network card of a host: who uses it next, and how a packet gets on the wire.

use weft_core::{HostId, PacketId};

use super::card_of;
use crate::carry::wire_of;
use crate::domain::Domain;

impl Domain {
    /// The card is idle, and was wanted when it became busy.
    pub(crate) fn card_idle(&mut self, host: HostId) {
        card_of(&mut self.hosts, host).called = false;
        self.use_card(host);
    }

    /// If somebody waits for the card: the next packet if it is idle, and an event for when it is idle again if anybody is
    /// left waiting.
    #[inline]
    pub(super) fn use_card(&mut self, host: HostId) {
        let card = card_of(&mut self.hosts, host);
        if card.is_wanted() && (!card.called || self.now >= card.busy_until) {
            self.serve_card(host);
        }
    }

    #[inline(never)]
    fn serve_card(&mut self, host: HostId) {
        if self.now >= card_of(&mut self.hosts, host).busy_until {
            let _ = self.replies(host) || self.next_of_receivers(host) || self.next_of_senders(host);
        }
        let card = card_of(&mut self.hosts, host);
        if !card.called && card.is_wanted() {
            card.called = true;
            self.calendar.push_transmitted(card.busy_until, card.link);
        }
    }

    #[inline]
    fn replies(&mut self, host: HostId) -> bool {
        !card_of(&mut self.hosts, host).replies.is_empty() && self.reply(host)
    }

    /// The oldest reply of a closed connection, if no pause holds them all.
    #[inline(never)]
    fn reply(&mut self, host: HostId) -> bool {
        let card = card_of(&mut self.hosts, host);
        if card.paused != 0 {
            card.park_replies(host, &self.plan.setup);
        }
        if card.replies.is_empty() {
            return false;
        }
        let (header, body) = card.replies.remove(0);
        let packet = self.pool.insert(header, body);
        self.send(host, packet);
        true
    }

    fn next_of_receivers(&mut self, host: HostId) -> bool {
        while let Some(seat) = card_of(&mut self.hosts, host).receivers.pop() {
            if card_of(&mut self.hosts, host).parks(&mut self.ends.receivers, seat) {
                let since = self.now;
                card_of(&mut self.hosts, host).parked.receivers.push((seat, since));
            } else if self.receiver_sends(seat, host) {
                return true;
            }
        }
        false
    }

    fn next_of_senders(&mut self, host: HostId) -> bool {
        while let Some(seat) = card_of(&mut self.hosts, host).senders.pop() {
            if card_of(&mut self.hosts, host).parks(&mut self.ends.senders, seat) {
                let since = self.now;
                card_of(&mut self.hosts, host).parked.senders.push((seat, since));
            } else if self.sender_sends(seat, host) {
                return true;
            }
        }
        false
    }

    /// Puts a packet on the wire.
    #[inline(always)]
    pub(super) fn send(&mut self, host: HostId, packet: PacketId) {
        self.tally.packets.created += 1;
        let wire_bytes = self.pool.headers.get(packet).wire;
        let card = card_of(&mut self.hosts, host);
        let (link, end) = (card.link, wire_of(&mut self.wires, card.link).end_of(self.now, wire_bytes));
        card.busy_until = end;
        self.launch(link, packet, wire_bytes, end);
    }
}
