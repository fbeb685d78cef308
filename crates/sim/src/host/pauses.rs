//! What pauses do to a host's card: they hold what it sends, and their frames go before everything else.

use weft_core::{Class, HostId, Time};
use weft_switch::PauseFrame;

use crate::domain::Domain;

impl Domain {
    /// A pause begins or ends to hold what a card sends in one queue. The senders of a card wait together for all queues
    /// that they use; answers wait only where they share the queue of the payload.
    pub(crate) fn hold_card(&mut self, host: HostId, queue: usize, held: bool) {
        let (payload, answers) = self.plan.setup.transport.classes();
        let whole = self.queue(payload) == queue && self.queue(answers) == queue;
        let card = &mut self.hosts[host.index()];
        card.paused = card.paused & !(1 << queue) | u8::from(held) << queue;
        card.senders_held = card.paused & card.used != 0;
        if whole && held {
            card.held =
                Some(card.held.unwrap_or_else(|| std::mem::replace(&mut card.busy_until, Time::NEVER)));
        } else if whole && let Some(until) = card.held.take() {
            card.busy_until = until;
        }
        self.use_card(host);
    }

    /// A flow begins at a card: its senders use one more queue, perhaps.
    pub(crate) fn uses_queue(&mut self, host: HostId, datagrams: bool) {
        let class = if datagrams { Class(0) } else { self.plan.setup.transport.classes().0 };
        let queue = self.queue(class);
        let card = &mut self.hosts[host.index()];
        card.used |= 1 << queue;
        card.senders_held = card.paused & card.used != 0;
    }

    /// The queue of a class at every port.
    fn queue(&self, class: Class) -> usize {
        usize::from(class.0).min(self.plan.setup.switch.queues as usize - 1)
    }

    /// A pause frame leaves after the packet that is being sent.
    pub(crate) fn send_from_card(&mut self, host: HostId, frame: PauseFrame) {
        let card = &self.hosts[host.index()];
        let start = self.now.max(card.held.unwrap_or(card.busy_until));
        let end = self.send_frame(card.link, start, frame);
        let card = &mut self.hosts[host.index()];
        match &mut card.held {
            Some(until) => *until = end,
            None => card.busy_until = end,
        }
    }
}
