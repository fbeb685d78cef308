//! The sending end of a flow, as a host drives it: packets and the clock come in, packets come out when the network card
//! asks. Knows no network and no other flow.

mod datagram;
mod tcp;

use std::sync::Arc;

pub use weft_core::SenderReport;
use weft_core::segment::{Needs, Outgoing, Segment};
use weft_core::{Ecn, FlowSite, Header, Time};
use weft_roce::QueueSender;

use crate::transport::Transport;

/// The sending end of one flow.
///
/// What it may send it offers by [`Sender::ready`], and hands out one packet per [`Sender::poll`]; what is not polled is
/// not in flight.
pub struct Sender {
    /// As it was after the last call.
    needs: Needs,
    end: End,
}

#[allow(
    clippy::large_enum_variant,
    reason = "nearly all flows are TCP; a box would cost each of them an allocation"
)]
enum End {
    Tcp(tcp::TcpSender),
    Datagram(datagram::DatagramSender),
    Roce(QueueSender),
}

impl Sender {
    /// The sender of a flow that the application hands over now.
    #[must_use]
    pub fn new(transport: &Arc<Transport>, site: &FlowSite, now: Time) -> Sender {
        let end = match (transport.datagram_rate(site), transport.roce()) {
            (Some(rate), _) => End::Datagram(datagram::DatagramSender::new(transport, site, rate, now)),
            (None, Some(pairs)) => End::Roce(QueueSender::new(pairs, site, now)),
            (None, None) => End::Tcp(tcp::TcpSender::new(transport, site)),
        };
        Sender { needs: forward!(&end, end => end.needs()), end }
    }

    /// What the sender needs from its host.
    #[must_use]
    #[inline]
    pub const fn needs(&self) -> Needs {
        self.needs
    }

    /// A packet of the flow arrived: the answer to the opening, or an acknowledgement.
    pub fn on_packet(&mut self, now: Time, _ecn: Ecn, segment: &Segment) {
        if let End::Tcp(end) = &mut self.end {
            end.on_packet(now, segment);
            self.needs = end.needs();
        } else {
            self.on_packet_of_others(now, segment);
        }
    }

    #[inline(never)]
    fn on_packet_of_others(&mut self, now: Time, segment: &Segment) {
        if let End::Roce(end) = &mut self.end {
            end.on_packet(now, segment);
            self.needs = end.needs();
        }
    }

    /// Whether [`Sender::poll`] would give a packet now.
    #[must_use]
    #[inline]
    pub const fn ready(&self, _now: Time) -> bool {
        self.needs.ready
    }

    /// The network card is free: the next packet, sent now.
    pub fn poll(&mut self, now: Time) -> Option<Outgoing> {
        let (mut header, mut segment) = Default::default();
        self.poll_into(now, &mut header, &mut segment).then(|| Outgoing::new(&header, segment))
    }

    /// As [`Sender::poll`], written to where the packet is to live: all of the segment, and of the header the fields that
    /// the end decides (ports, wire, kind, class, marks). False, and nothing is written, if there is nothing to send.
    #[inline]
    pub fn poll_into(&mut self, now: Time, header: &mut Header, segment: &mut Segment) -> bool {
        if !self.needs.ready {
            return false;
        }
        if let End::Tcp(end) = &mut self.end {
            end.send(now, header, segment);
            self.needs = end.needs();
        } else {
            self.poll_others(now, header, segment);
        }
        true
    }

    #[inline(never)]
    fn poll_others(&mut self, now: Time, header: &mut Header, segment: &mut Segment) {
        forward!(&mut self.end, end => {
            end.send(now, header, segment);
            self.needs = end.needs();
        });
    }

    /// Payload that will follow the packet last sent without a pause, as one burst of segmentation offload.
    #[must_use]
    pub fn burst(&self) -> u64 {
        match &self.end {
            End::Tcp(end) => end.burst(),
            End::Datagram(_) | End::Roce(_) => 0,
        }
    }

    /// When [`Sender::on_wakeup`] has to be called at the latest; [`Time::NEVER`] if nothing is due.
    #[must_use]
    #[inline]
    pub const fn next_wakeup(&self) -> Time {
        self.needs.wake
    }

    /// The clock reached some instant; called early, nothing happens.
    pub fn on_wakeup(&mut self, now: Time) {
        forward!(&mut self.end, end => {
            end.on_wakeup(now);
            self.needs = end.needs();
        });
    }

    /// Everything is acknowledged and closed, or, of datagrams, sent: the state may be dropped.
    #[must_use]
    #[inline]
    pub const fn finished(&self) -> bool {
        self.needs.done
    }

    /// State and counts.
    #[must_use]
    pub fn report(&self) -> SenderReport {
        forward!(&self.end, end => end.report())
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
