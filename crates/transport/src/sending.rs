//! The sending end of a flow, as a host drives it: packets and the clock come in, packets come out when the network
//! card asks. Must not depend on the network or other flows.

use weft_core::scheduling::SchedulingHeader;
use weft_core::segment::{Needs, Outgoing, Segment};
use weft_core::{Ecn, FlowSite, Header, Marks, SenderReport, Time};

use crate::protocols::{AnyHost, Body, SenderEnd};
use crate::stacks::HoldsLayout;
use crate::transport::Transport;

/// The sending end of one flow.
///
/// [`Sender::ready`] says whether it may send, and [`Sender::poll_into`] hands out one packet; a packet is in flight
/// only once it has been polled.
pub struct Sender {
    /// Its needs after the last call.
    needs: Needs,
    end: SenderEnd,
}

impl Sender {
    /// The sender of a flow that the application starts now.
    #[must_use]
    pub fn new(transport: &Transport, site: &FlowSite, now: Time) -> Sender {
        let end = match site.rate {
            Some(_) => SenderEnd::Datagram(weft_core::stack::Stack::sender(&transport.datagrams, site, now)),
            None => transport.stack.sender(site, now),
        };
        Sender { needs: end.needs(), end }
    }

    /// What the sender needs from its host.
    #[must_use]
    #[inline]
    pub const fn needs(&self) -> Needs {
        self.needs
    }

    /// A packet of the flow arrived: the reply to the SYN, an acknowledgement, a pull.
    #[inline(never)]
    pub fn receive(&mut self, now: Time, header: &Header, body: &Body) {
        if let SenderEnd::Tcp(end) = &mut self.end {
            end.on_packet(now, body.view());
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

    /// As [`Sender::receive`], for a bare segment.
    pub fn on_packet(&mut self, now: Time, ecn: Ecn, segment: &Segment) {
        let header = Header { marks: Marks { ecn }, ..Header::default() };
        self.receive(now, &header, &Body::from(*segment));
    }

    /// Whether [`Sender::poll`] would return a packet now.
    #[must_use]
    #[inline]
    pub const fn ready(&self, _now: Time) -> bool {
        self.needs.ready
    }

    /// As [`Sender::poll_into`], for a transport whose packets are segments.
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
        if let SenderEnd::Tcp(end) = &mut self.end {
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

    /// The scheduling header of the packet about to be passed to [`Sender::receive`].
    pub fn on_grant(&mut self, now: Time, grant: &SchedulingHeader) {
        self.end.on_grant(now, grant);
    }

    /// [`Needs::asks`] is set: the sender registers its need with the host part.
    pub fn ask(&mut self, host: &mut AnyHost) {
        self.end.ask(host);
        self.needs = self.end.needs();
    }

    /// The host part gives the sender a turn; returns whether it used it.
    pub fn on_turn(&mut self, now: Time) -> bool {
        let used = self.end.on_turn(now);
        self.needs = self.end.needs();
        used
    }

    /// Everything is acknowledged and closed (datagrams: sent): the state may be dropped.
    #[must_use]
    #[inline]
    pub const fn finished(&self) -> bool {
        self.needs.done
    }

    /// Its state and counts.
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
