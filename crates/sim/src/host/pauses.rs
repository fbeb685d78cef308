//! What pauses do to a host's card: they hold what it sends, and their frames go before everything else.

use weft_core::{Class, HostId, Time};
use weft_switch::PauseFrame;

use crate::domain::Domain;

impl Domain {
    /// A pause begins or ends to hold what a card sends: its payload, and what else shares the queue. Congestion
    /// notifications, and the acknowledgements that share their way, are never held in a queue of their own.
    pub(crate) fn hold_card(&mut self, host: HostId, class: usize, held: bool) {
        let setup = &self.plan.setup;
        let queue = |class: Class| usize::from(class.0).min(setup.switch.queues as usize - 1);
        let (payload, answers) = setup.transport.classes();
        if class != queue(payload) {
            return;
        }
        let card = &mut self.hosts[host.index()];
        if queue(payload) != queue(answers) {
            card.senders_held = held;
        } else if held {
            card.held =
                Some(card.held.unwrap_or_else(|| std::mem::replace(&mut card.busy_until, Time::NEVER)));
        } else if let Some(until) = card.held.take() {
            card.busy_until = until;
        }
        self.use_card(host);
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
