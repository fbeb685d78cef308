//! The receiving end of a flow, as a host drives it. Must not depend on the network or other flows.

use weft_core::scheduling::SchedulingHeader;
use weft_core::stack::End;
use weft_core::{Ecn, FlowSite, Header, Marks, ReceiverReport, Time};

use crate::protocols::{AnyHost, Body, ReceiverEnd};
use crate::segment::{Needs, Outgoing, Segment};
use crate::stacks::HoldsLayout;
use crate::transport::Transport;

/// The receiving end of one flow, created when its first packet arrives.
pub struct Receiver {
    /// Its needs after the last call.
    needs: Needs,
    end: ReceiverEnd,
}

impl Receiver {
    /// The receiver of a flow whose first packet is about to be passed to it.
    #[must_use]
    pub fn new(transport: &Transport, site: &FlowSite, _now: Time) -> Receiver {
        let end = match site.rate {
            Some(_) => ReceiverEnd::Datagram(weft_core::stack::Stack::receiver(&transport.datagrams, site)),
            None => transport.stack.receiver(site),
        };
        Receiver { needs: end.needs(), end }
    }

    /// What the receiver needs from its host.
    #[must_use]
    #[inline]
    pub const fn needs(&self) -> Needs {
        self.needs
    }

    /// A packet of the flow arrived.
    #[inline(never)]
    pub fn receive(&mut self, now: Time, header: &Header, body: &Body) {
        if let ReceiverEnd::Tcp(end) = &mut self.end {
            End::on_packet(end, now, header, body.view());
            self.needs = end.needs();
        } else {
            self.receive_other(now, header, body);
        }
    }

    #[inline(never)]
    fn receive_other(&mut self, now: Time, header: &Header, body: &Body) {
        self.end.on_packet(now, header, body);
        self.needs = self.end.needs();
    }

    /// As [`Receiver::receive`], for a bare segment.
    pub fn on_packet(&mut self, now: Time, ecn: Ecn, segment: &Segment) {
        let header = Header { marks: Marks { ecn }, ..Header::default() };
        self.receive(now, &header, &Body::from(*segment));
    }

    /// Whether [`Receiver::poll`] would return a packet now.
    #[must_use]
    #[inline]
    pub const fn ready(&self, _now: Time) -> bool {
        self.needs.ready
    }

    /// As [`Receiver::poll_into`], for a transport whose packets are segments.
    pub fn poll(&mut self, now: Time) -> Option<Outgoing> {
        let (mut header, mut body) = (Header::default(), Body::default());
        self.poll_into(now, &mut header, &mut body).then(|| Outgoing::new(&header, *body.view()))
    }

    /// The network card is free: writes the next packet, sent now, in place: all of the body, and of the header the
    /// fields the end decides ([`weft_core::stack::End::send`]). False, and nothing is written, if there is nothing
    /// to send.
    #[inline]
    pub fn poll_into(&mut self, now: Time, header: &mut Header, body: &mut Body) -> bool {
        if !self.needs.ready {
            return false;
        }
        if let ReceiverEnd::Tcp(end) = &mut self.end {
            end.send(now, header, body.view_mut());
            self.needs = end.needs();
        } else {
            self.poll_other(now, header, body);
        }
        true
    }

    #[inline(never)]
    fn poll_other(&mut self, now: Time, header: &mut Header, body: &mut Body) {
        self.end.send(now, header, body);
        self.needs = self.end.needs();
    }

    /// Payload that will follow the last packet back to back.
    #[must_use]
    pub fn burst(&self) -> u64 {
        self.end.burst()
    }

    /// When [`Receiver::on_wakeup`] must be called at the latest; [`Time::NEVER`] if nothing is due.
    #[must_use]
    #[inline]
    pub const fn next_wakeup(&self) -> Time {
        self.needs.wake
    }

    /// The clock reached an instant; does nothing if called early.
    pub fn on_wakeup(&mut self, now: Time) {
        self.end.on_wakeup(now);
        self.needs = self.end.needs();
    }

    /// The scheduling header of the packet just written.
    #[must_use]
    pub fn request(&self) -> SchedulingHeader {
        self.end.request()
    }

    /// The scheduling header of the packet about to be passed to [`Receiver::receive`].
    pub fn on_grant(&mut self, now: Time, grant: &SchedulingHeader) {
        self.end.on_grant(now, grant);
    }

    /// [`Needs::asks`] is set: the receiver registers its need with the host part.
    pub fn ask(&mut self, host: &mut AnyHost) {
        self.end.ask(host);
        self.needs = self.end.needs();
    }

    /// Whether the host part of its stack lets a control packet leave that the receiver has just written.
    pub fn is_admitted(&self, now: Time, host: &mut AnyHost) -> bool {
        self.end.is_admitted(now, host)
    }

    /// The host part gives the receiver a turn; returns whether it used it.
    pub fn on_turn(&mut self, now: Time) -> bool {
        let used = self.end.on_turn(now);
        self.needs = self.end.needs();
        used
    }

    /// When the last byte was delivered to the application; for datagrams, when the last of the flow arrived.
    #[must_use]
    #[inline]
    pub fn completed(&self) -> Option<Time> {
        if self.needs.complete { self.end.completed() } else { None }
    }

    /// Everything has arrived and is acknowledged: the state may be dropped. [`Transport::reply_after_close`] replies
    /// to later packets.
    #[must_use]
    #[inline]
    pub const fn closed(&self) -> bool {
        self.needs.done
    }

    /// Its counts.
    #[must_use]
    pub fn report(&self) -> ReceiverReport {
        self.end.report()
    }
}

#[cfg(test)]
mod tests;
