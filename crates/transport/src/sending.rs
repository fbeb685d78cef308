//! The sending end of a flow, as a host drives it: packets and the clock come in, packets come out when the network
//! card asks. Must not depend on the network or other flows.

use weft_core::segment::{Needs, Outgoing, Segment};
use weft_core::{Ecn, FlowSite, Header, InBand, Marks, SenderReport, Time};

use crate::protocols::{AnyHost, Body, SenderEnd};
use crate::stacks::HoldsLayout;
use crate::transport::Transport;

/// The sending end of one flow.
///
/// [`Sender::is_ready`] says whether it may send, and [`Sender::send`] writes one packet; a packet is in flight
/// only once it has been written.
pub struct Sender {
    end: SenderEnd,
}

impl Sender {
    /// The sender of a flow that the application starts now.
    #[must_use]
    #[inline]
    pub fn new(transport: &Transport, site: &FlowSite, now: Time) -> Sender {
        Sender {
            end: match site.rate {
                Some(_) => {
                    SenderEnd::Datagram(weft_core::stack::Stack::sender(&transport.datagrams, site, now))
                }
                None => transport.stack.sender(site, now),
            },
        }
    }

    /// What the sender needs from its host.
    #[must_use]
    #[inline]
    pub fn needs(&self) -> Needs {
        match &self.end {
            SenderEnd::Tcp(end) => end.needs(),
            other => other.needs(),
        }
    }

    /// A packet of the flow arrived: the reply to the SYN, an acknowledgement, a pull.
    #[inline(never)]
    pub fn receive(&mut self, now: Time, header: &Header, body: &Body) {
        match &mut self.end {
            SenderEnd::Tcp(end) => end.on_packet(now, body.view()),
            other => other.on_packet(now, header, body),
        }
    }

    /// As [`Sender::receive`], for a bare segment.
    pub fn on_packet(&mut self, now: Time, ecn: Ecn, segment: &Segment) {
        let header = Header { marks: Marks { ecn }, ..Header::default() };
        self.receive(now, &header, &Body::from(*segment));
    }

    /// Whether the sender has a packet for the network card.
    #[must_use]
    #[inline]
    pub fn is_ready(&self) -> bool {
        match &self.end {
            SenderEnd::Tcp(end) => end.is_ready(),
            other => other.needs().ready,
        }
    }

    /// What the sender needs from its host, unless the network card is free for it and it has a packet, which must then be
    /// sent.
    #[must_use]
    #[inline]
    pub fn needs_unless_sending(&self, card_is_free: bool) -> Option<Needs> {
        match &self.end {
            SenderEnd::Tcp(end) if card_is_free && end.is_ready() => None,
            SenderEnd::Tcp(end) => Some(end.needs()),
            other => Some(other.needs()).filter(|needs| !(card_is_free && needs.ready)),
        }
    }

    /// As [`Sender::send`] if there is a packet, for a transport whose packets are segments.
    pub fn poll(&mut self, now: Time) -> Option<Outgoing> {
        let (mut header, mut body) = (Header::default(), Body::default());
        self.is_ready().then(|| {
            self.send(now, &mut header, &mut body);
            Outgoing::new(&header, *body.view())
        })
    }

    /// The network card is free: writes the next packet, sent now, in place: all of the body, and of the header the
    /// fields the end decides ([`weft_core::stack::End::send`]). Must not be called unless [`Sender::is_ready`].
    /// Returns what the sender needs now.
    #[inline(always)]
    pub fn send(&mut self, now: Time, header: &mut Header, body: &mut Body) -> Needs {
        debug_assert!(self.is_ready(), "a sender writes a packet only if it has one");
        match &mut self.end {
            SenderEnd::Tcp(end) => {
                end.send(now, header, body.view_mut());
                end.needs()
            }
            other => other.send(now, header, body),
        }
    }

    /// Payload that will follow the last packet back to back, as one burst of segmentation offload.
    #[must_use]
    pub fn burst(&self) -> u64 {
        self.end.burst()
    }

    /// The rank of the next packet, if the stack ranks packets; smaller goes first.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.end.rank()
    }

    /// When [`Sender::on_wakeup`] must be called at the latest; [`Time::NEVER`] if nothing is due.
    #[must_use]
    #[inline]
    pub fn next_wakeup(&self) -> Time {
        self.needs().wake
    }

    /// The clock reached an instant; does nothing if called early.
    pub fn on_wakeup(&mut self, now: Time) {
        self.end.on_wakeup(now);
    }

    /// What the packet just written carries for switches.
    #[must_use]
    pub fn in_band(&self) -> InBand {
        self.end.in_band()
    }

    /// What the packet about to be passed to [`Sender::receive`] carries.
    pub fn on_in_band(&mut self, now: Time, carried: &InBand) {
        self.end.on_in_band(now, carried);
    }

    /// [`Needs::asks`] is set: the sender registers its need with the host part.
    pub fn ask(&mut self, host: &mut AnyHost) {
        self.end.ask(host);
    }

    /// The host part gives the sender a turn; returns whether it used it.
    pub fn on_turn(&mut self, now: Time) -> bool {
        self.end.on_turn(now)
    }

    /// Everything is acknowledged and closed (datagrams: sent): the state may be dropped.
    #[must_use]
    #[inline]
    pub fn finished(&self) -> bool {
        self.needs().done
    }

    /// State and counts.
    #[must_use]
    pub fn report(&self) -> SenderReport {
        self.end.report()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_is_small() {
        assert!(size_of::<Sender>() <= 512, "{} bytes", size_of::<Sender>());
    }
}
