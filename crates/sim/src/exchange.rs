//! Packets that change domains, and flows that end in a different domain: collected while a domain runs, handed over
//! when all meet, taken in before they continue. A flow is announced before its first packet can arrive.

use std::sync::Mutex;

use weft_core::record::HopWaits;
use weft_core::scheduling::SchedulingHeader;
use weft_core::{FlowId, Header, LinkId, PacketId, Time};
use weft_switch::PauseFrame;
use weft_transport::Body;
use weft_workload::Flow;

use crate::context::Context;
use crate::domain::Domain;
use crate::wire::Flying;

/// A packet on a link that ends in another domain.
pub(crate) struct Handoff {
    link: LinkId,
    lands: Time,
    header: Header,
    body: Body,
}

/// Packets, flows and pauses from one domain to another.
#[derive(Default)]
struct Letter {
    flows: Vec<(FlowId, Flow)>,
    packets: Vec<Handoff>,
    /// Scheduling headers of the packets, in runs that have them.
    scheduling: Vec<SchedulingHeader>,
    /// Of these packets, in runs that record waits by flow.
    waits: Vec<HopWaits>,
    /// The link whose transmitter must obey a pause frame, and when.
    pauses: Vec<(LinkId, Landing)>,
}

/// A pause frame and when it is obeyed.
pub(crate) type Landing = (Time, PauseFrame);

/// What a domain has to send to the others.
pub(crate) struct Outbox {
    /// By domain.
    letters: Vec<Letter>,
    /// The first landing among the packets.
    first: Time,
}

impl Outbox {
    pub(crate) fn new(domains: usize) -> Outbox {
        Outbox { letters: (0..domains).map(|_| Letter::default()).collect(), first: Time::NEVER }
    }

    /// A flow has started whose receiver is in another domain.
    pub(crate) fn announce(&mut self, to: usize, flow: FlowId, spec: Flow) {
        self.letters[to].flows.push((flow, spec));
    }

    /// A pause frame for the transmitter of a link in another domain.
    pub(crate) fn pause(&mut self, to: u16, link: LinkId, landing: Landing) {
        self.first = self.first.min(landing.0);
        self.letters[usize::from(to)].pauses.push((link, landing));
    }

    /// When the first packet lands or the first frame is obeyed.
    pub(crate) fn first(&self) -> Time {
        self.first
    }
}

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
        for to in 0..self.domains {
            let letter = &mut domain.cx.outbox.letters[to];
            if !(letter.packets.is_empty() && letter.flows.is_empty() && letter.pauses.is_empty()) {
                let mut letter_box =
                    self.letter_box(set, domain.cx.number, to).lock().expect("no thread panics");
                std::mem::swap(&mut *letter_box, letter);
            }
        }
        domain.cx.outbox.first = Time::NEVER;
    }

    /// Takes in the letters for a domain.
    pub(crate) fn collect(&self, set: usize, domain: &mut Domain) {
        for from in 0..self.domains {
            if from != domain.cx.number {
                let mut letter =
                    self.letter_box(set, from, domain.cx.number).lock().expect("no thread panics");
                let letter = &mut *letter;
                letter.flows.drain(..).for_each(|(flow, spec)| domain.hosts.ends.expect(flow, spec));
                let mut scheduling = letter.scheduling.drain(..);
                let mut waits = letter.waits.drain(..);
                let packets = letter.packets.drain(..);
                packets.for_each(|handoff| domain.cx.take_in(&handoff, (scheduling.next(), waits.next())));
                letter.pauses.drain(..).for_each(|(link, landing)| domain.cx.will_pause(link, landing));
            }
        }
    }
}

impl Context {
    /// A packet leaves for another domain.
    #[inline]
    pub(crate) fn hand_over(&mut self, to: u16, link: LinkId, packet: PacketId, lands: Time) {
        let handoff =
            Handoff { link, lands, header: *self.pool.headers.get(packet), body: *self.pool.body(packet) };
        self.outbox.first = self.outbox.first.min(lands);
        let letter = &mut self.outbox.letters[usize::from(to)];
        letter.packets.push(handoff);
        if self.pool.headers.carries_scheduling() {
            letter.scheduling.push(self.pool.headers.scheduling(packet));
        }
        letter.waits.extend(self.pool.headers.waits_mut(packet).copied());
        self.pool.remove(packet);
    }

    #[inline]
    fn take_in(
        &mut self,
        handoff: &Handoff,
        (scheduling, waits): (Option<SchedulingHeader>, Option<HopWaits>),
    ) {
        let packet = self.pool.insert(handoff.header, handoff.body);
        if let (Some(own), Some(scheduling)) = (self.pool.headers.scheduling_mut(packet), scheduling) {
            *own = scheduling;
        }
        if let (Some(own), Some(waits)) = (self.pool.headers.waits_mut(packet), waits) {
            *own = waits;
        }
        self.fly(handoff.link, Flying { lands: handoff.lands, packet });
    }
}
