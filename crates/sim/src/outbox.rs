//! The messages of a domain for the others: packets that change domains, flows that end elsewhere, pause frames. A
//! flow is announced before its first packet can arrive. Must not depend on domains or threads.

use weft_core::record::HopWaits;
use weft_core::{FlowId, Header, InBand, LinkId, Time};
use weft_switch::PauseFrame;
use weft_transport::Body;
use weft_workload::Flow;

/// A packet on a link that ends in another domain.
pub(crate) struct Handoff {
    pub(crate) link: LinkId,
    pub(crate) lands: Time,
    pub(crate) header: Header,
    pub(crate) body: Body,
}

/// The messages of a domain for another.
#[derive(Default)]
pub(crate) struct Letter {
    pub(crate) flows: Vec<(FlowId, Flow)>,
    pub(crate) packets: Vec<Handoff>,
    /// Scheduling headers of these packets, in runs that have them.
    pub(crate) in_band: Vec<InBand>,
    /// Waits of these packets, in runs that record them by flow.
    pub(crate) waits: Vec<HopWaits>,
    /// Pause frames by the link whose transmitter must obey, with the time.
    pub(crate) pauses: Vec<(LinkId, Landing)>,
}

impl Letter {
    fn is_empty(&self) -> bool {
        self.packets.is_empty() && self.flows.is_empty() && self.pauses.is_empty()
    }
}

/// The first instant at which a frame is obeyed.
pub(crate) type Landing = (Time, PauseFrame);

/// The messages of a domain for the others.
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

    /// Announces a flow whose receiver is in another domain.
    pub(crate) fn announce(&mut self, to: usize, flow: FlowId, spec: Flow) {
        self.letters[to].flows.push((flow, spec));
    }

    /// Hands over a pause frame for the transmitter of a link in another domain.
    pub(crate) fn pause(&mut self, to: u16, link: LinkId, landing: Landing) {
        self.first = self.first.min(landing.0);
        self.letters[usize::from(to)].pauses.push((link, landing));
    }

    /// Hands over a packet that leaves for another domain.
    pub(crate) fn packet(
        &mut self,
        to: u16,
        packet: Handoff,
        (in_band, waits): (Option<InBand>, Option<HopWaits>),
    ) {
        self.first = self.first.min(packet.lands);
        let letter = &mut self.letters[usize::from(to)];
        letter.packets.push(packet);
        letter.in_band.extend(in_band);
        letter.waits.extend(waits);
    }

    /// Non-empty messages with their destinations, to be taken and replaced by empty ones.
    pub(crate) fn post(&mut self) -> impl Iterator<Item = (usize, &mut Letter)> {
        self.first = Time::NEVER;
        self.letters.iter_mut().enumerate().filter(|(_, letter)| !letter.is_empty())
    }

    /// When the first of the packets lands or the first frame is obeyed.
    pub(crate) fn first(&self) -> Time {
        self.first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Posted messages are gone, and the next landing is known until then.
    #[test]
    fn letters_leave_once_and_only_to_whom_there_is_something_to_say() {
        let mut outbox = Outbox::new(3);
        let packet = |lands| Handoff {
            link: LinkId(1),
            lands: Time(lands),
            header: Header::default(),
            body: Body::default(),
        };
        outbox.packet(2, packet(70), (None, None));
        outbox.packet(2, packet(50), (Some(InBand::NOTHING), None));
        outbox.pause(0, LinkId(3), (Time(60), PauseFrame::default()));
        assert_eq!(outbox.first(), Time(50));
        let posted: Vec<_> = outbox.post().map(|(to, letter)| (to, std::mem::take(letter))).collect();
        let sizes: Vec<_> =
            posted.iter().map(|(to, own)| (*to, own.packets.len(), own.pauses.len())).collect();
        assert_eq!(sizes, [(0, 0, 1), (2, 2, 0)]);
        assert_eq!((outbox.first(), outbox.post().count()), (Time::NEVER, 0));
    }
}
