//! Packets that change domains: collected while a domain runs, handed over when all meet, taken in before they run on.

use std::sync::Mutex;

use weft_core::{Header, LinkId, PacketId, Time};
use weft_transport::Segment;

use crate::domain::Domain;
use crate::wire::Flying;

/// A packet on a link that ends in another domain.
pub(crate) struct Handoff {
    link: LinkId,
    lands: Time,
    header: Header,
    body: Segment,
}

/// What a domain has for the others.
pub(crate) struct Outbox {
    /// By domain.
    packets: Vec<Vec<Handoff>>,
    /// The first landing among them.
    first: Time,
}

impl Outbox {
    pub(crate) fn new(domains: usize) -> Outbox {
        Outbox { packets: (0..domains).map(|_| Vec::new()).collect(), first: Time::NEVER }
    }

    /// When the first of the packets lands.
    pub(crate) fn first(&self) -> Time {
        self.first
    }
}

/// Letter boxes between all pairs of domains, twice: one set is filled while the other may still be read.
pub(crate) struct Mail {
    domains: usize,
    boxes: Vec<Mutex<Vec<Handoff>>>,
}

impl Mail {
    pub(crate) fn new(domains: usize) -> Mail {
        Mail { domains, boxes: (0..2 * domains * domains).map(|_| Mutex::default()).collect() }
    }

    fn letter_box(&self, set: usize, from: usize, to: usize) -> &Mutex<Vec<Handoff>> {
        &self.boxes[(set * self.domains + from) * self.domains + to]
    }

    /// Hands over what a domain has for the others; takes their empty lists in exchange.
    pub(crate) fn post(&self, set: usize, domain: &mut Domain) {
        for to in 0..self.domains {
            let packets = &mut domain.outbox.packets[to];
            if !packets.is_empty() {
                let mut letter_box =
                    self.letter_box(set, domain.number, to).lock().expect("no thread panics");
                std::mem::swap(&mut *letter_box, packets);
            }
        }
        domain.outbox.first = Time::NEVER;
    }

    /// Takes in what the others have for a domain.
    pub(crate) fn collect(&self, set: usize, domain: &mut Domain) {
        for from in 0..self.domains {
            if from != domain.number {
                let mut letter_box =
                    self.letter_box(set, from, domain.number).lock().expect("no thread panics");
                letter_box.drain(..).for_each(|handoff| domain.take_in(&handoff));
            }
        }
    }
}

impl Domain {
    /// A packet leaves for another domain.
    #[inline]
    pub(crate) fn hand_over(&mut self, to: u16, link: LinkId, packet: PacketId, lands: Time) {
        let handoff =
            Handoff { link, lands, header: *self.pool.headers.get(packet), body: *self.pool.body(packet) };
        self.outbox.first = self.outbox.first.min(lands);
        self.outbox.packets[usize::from(to)].push(handoff);
        self.pool.remove(packet);
    }

    #[inline]
    fn take_in(&mut self, handoff: &Handoff) {
        let packet = self.pool.insert(handoff.header, handoff.body);
        self.fly(handoff.link, Flying { lands: handoff.lands, packet });
    }
}
