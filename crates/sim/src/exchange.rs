//! How domains exchange the contents of their outboxes: handed over when all meet, and taken in before they continue.

use std::sync::Mutex;

use crate::domain::Domain;
use crate::outbox::Letter;

/// Mailboxes between all pairs of domains, in two sets: one is filled while the other may still be read.
pub(crate) struct Mail {
    domains: usize,
    boxes: Vec<Mutex<Letter>>,
}

impl Mail {
    pub(crate) fn new(domains: usize) -> Mail {
        Mail { domains, boxes: (0..2 * domains * domains).map(|_| Mutex::default()).collect() }
    }

    fn letter_box(&self, set: usize, from: usize, to: usize) -> &Mutex<Letter> {
        &self.boxes[(set * self.domains + from) * self.domains + to]
    }

    /// Posts a domain's letters to the others and takes empty ones in exchange.
    pub(crate) fn post(&self, set: usize, domain: &mut Domain) {
        let from = domain.cx.number;
        for (to, letter) in domain.cx.outbox.post() {
            std::mem::swap(&mut *self.letter_box(set, from, to).lock().expect("no thread panics"), letter);
        }
    }

    /// Takes in the letters for a domain.
    pub(crate) fn collect(&self, set: usize, domain: &mut Domain) {
        let own = domain.cx.number;
        for from in (0..self.domains).filter(|from| *from != own) {
            let mut letter = self.letter_box(set, from, own).lock().expect("no thread panics");
            let letter = &mut *letter;
            letter.flows.drain(..).for_each(|(flow, spec)| domain.hosts.ends.expect(flow, spec));
            let mut in_band = letter.in_band.drain(..);
            let mut waits = letter.waits.drain(..);
            let packets = letter.packets.drain(..);
            packets.for_each(|handoff| domain.cx.take_in(&handoff, (in_band.next(), waits.next())));
            letter.pauses.drain(..).for_each(|(link, landing)| domain.cx.will_pause(link, landing));
        }
    }
}
