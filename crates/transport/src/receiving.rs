//! The receiving end of a flow, as a host drives it. Must not depend on the network or other flows.

use weft_core::stack::End;
use weft_core::{Ecn, FlowSite, Header, InBand, Marks, ReceiverReport, Time};

use crate::protocols::{AnyHost, Body, ReceiverEnd};
use crate::segment::{Needs, Outgoing, Segment};
use crate::stacks::HoldsLayout;
use crate::transport::Transport;

/// The receiving end of one flow, created when its first packet arrives.
pub struct Receiver {
    end: ReceiverEnd,
}

impl Receiver {
    /// The receiver of a flow whose first packet is about to be passed to it.
    #[must_use]
    #[inline]
    pub fn new(transport: &Transport, site: &FlowSite, _now: Time) -> Receiver {
        Receiver {
            end: match site.rate {
                Some(_) => {
                    ReceiverEnd::Datagram(weft_core::stack::Stack::receiver(&transport.datagrams, site))
                }
                None => transport.stack.receiver(site),
            },
        }
    }

    /// What the receiver needs from its host.
    #[must_use]
    #[inline]
    pub fn needs(&self) -> Needs {
        match &self.end {
            ReceiverEnd::Tcp(end) => end.needs(),
            other => other.needs(),
        }
    }

    /// A packet of the flow arrived.
    #[inline(never)]
    pub fn receive(&mut self, now: Time, header: &Header, body: &Body) {
        match &mut self.end {
            ReceiverEnd::Tcp(end) => End::on_packet(end, now, header, body.view()),
            other => other.on_packet(now, header, body),
        }
    }

    /// As [`Receiver::receive`], for a bare segment.
    pub fn on_packet(&mut self, now: Time, ecn: Ecn, segment: &Segment) {
        let header = Header { marks: Marks { ecn }, ..Header::default() };
        self.receive(now, &header, &Body::from(*segment));
    }

    /// Whether the receiver has a packet for the network card.
    #[must_use]
    #[inline]
    pub fn is_ready(&self) -> bool {
        match &self.end {
            ReceiverEnd::Tcp(end) => end.is_ready(),
            other => other.needs().ready,
        }
    }

    /// What the receiver needs from its host, unless the network card is free for it and it has a packet, which must then be
    /// sent.
    #[must_use]
    #[inline]
    pub fn needs_unless_sending(&self, card_is_free: bool) -> Option<Needs> {
        match &self.end {
            ReceiverEnd::Tcp(end) if card_is_free && end.is_ready() => None,
            ReceiverEnd::Tcp(end) => Some(end.needs()),
            other => Some(other.needs()).filter(|needs| !(card_is_free && needs.ready)),
        }
    }

    /// As [`Receiver::send`] if there is a packet, for a transport whose packets are segments.
    pub fn poll(&mut self, now: Time) -> Option<Outgoing> {
        let (mut header, mut body) = (Header::default(), Body::default());
        self.is_ready().then(|| {
            self.send(now, &mut header, &mut body);
            Outgoing::new(&header, *body.view())
        })
    }

    /// The network card is free: writes the next packet, sent now, in place: all of the body, and of the header the
    /// fields the end decides ([`weft_core::stack::End::send`]). Must not be called unless [`Receiver::is_ready`].
    /// Returns what the receiver needs now.
    #[inline(always)]
    pub fn send(&mut self, now: Time, header: &mut Header, body: &mut Body) -> Needs {
        debug_assert!(self.is_ready(), "a receiver writes a packet only if it has one");
        match &mut self.end {
            ReceiverEnd::Tcp(end) => {
                end.send(now, header, body.view_mut());
                end.needs()
            }
            other => other.send(now, header, body),
        }
    }

    /// Payload that will follow the last packet back to back.
    #[must_use]
    pub fn burst(&self) -> u64 {
        self.end.burst()
    }

    /// When [`Receiver::on_wakeup`] must be called at the latest; [`Time::NEVER`] if nothing is due.
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

    /// What the packet about to be passed to [`Receiver::receive`] carries.
    pub fn on_in_band(&mut self, now: Time, carried: &InBand) {
        self.end.on_in_band(now, carried);
    }

    /// [`Needs::asks`] is set: the receiver registers its need with the host part.
    pub fn ask(&mut self, host: &mut AnyHost) {
        self.end.ask(host);
    }

    /// Whether the host part of its stack lets a control packet leave that the receiver has just written; if not, the
    /// receiver does not count it as sent.
    pub fn is_admitted(&mut self, now: Time, host: &mut AnyHost) -> bool {
        let admitted = self.end.is_admitted(now, host);
        if !admitted {
            self.end.refused();
        }
        admitted
    }

    /// The host part gives the receiver a turn; returns whether it used it.
    pub fn on_turn(&mut self, now: Time) -> bool {
        self.end.on_turn(now)
    }

    /// When the application had the last byte; for datagrams, when the last of the flow arrived.
    #[must_use]
    #[inline]
    pub fn completed(&self) -> Option<Time> {
        if self.needs().complete { self.end.completed() } else { None }
    }

    /// Everything has arrived and is acknowledged: the state may be dropped. [`Transport::reply_after_close`] replies
    /// to later packets.
    #[must_use]
    #[inline]
    pub fn closed(&self) -> bool {
        self.needs().done
    }

    /// Counts.
    #[must_use]
    pub fn report(&self) -> ReceiverReport {
        self.end.report()
    }
}

#[cfg(test)]
mod tests;
