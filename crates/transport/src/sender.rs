//! The sending end of a flow, as a host drives it: packets and the clock come in, packets come out when the network card
//! asks. Knows no network and no other flow.

mod datagram;
mod tcp;

use std::sync::Arc;

use weft_core::{Bytes, Ecn, Span, Time};

use crate::segment::{Outgoing, Segment};
use crate::transport::{FlowSite, Transport};

/// The sending end of one flow.
///
/// What it may send it offers by [`Sender::ready`], and hands out one packet per [`Sender::poll`]; what is not polled is
/// not in flight.
pub struct Sender(End);

#[allow(
    clippy::large_enum_variant,
    reason = "nearly all flows are TCP; a box would cost each of them an allocation"
)]
enum End {
    Tcp(tcp::TcpSender),
    Datagram(datagram::DatagramSender),
}

/// What recovery is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SenderState {
    /// Nothing is missing.
    #[default]
    Open,
    /// Something arrived out of order, too little to call anything lost.
    Disorder,
    /// A mark was echoed; the window falls (CWR).
    Reducing,
    /// Something was lost and is being repaired.
    Recovery,
    /// The retransmission timer expired.
    Loss,
}

/// The state and the counts of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderReport {
    /// Payload sent again.
    pub retransmitted: Bytes,
    /// Expiries of the retransmission timer, those while opening included.
    pub timeouts: u32,
    /// Recoveries begun without a time-out.
    pub recoveries: u32,
    /// Reductions because of echoed marks.
    pub reductions: u32,
    /// Tail loss probes.
    pub probes: u32,
    /// Payload acknowledged; of datagrams: sent.
    pub acknowledged: Bytes,
    /// Payload in flight, as far as the sender knows (pipe).
    pub in_flight: Bytes,
    /// Congestion window.
    pub cwnd: Bytes,
    /// Slow-start threshold; `u64::MAX` bytes as long as there is none.
    pub ssthresh: Bytes,
    /// Smoothed round trip; zero before the first measurement.
    pub srtt: Span,
    /// Retransmission time-out at present.
    pub rto: Span,
    /// What recovery is doing.
    pub state: SenderState,
}

macro_rules! forward {
    ($self:ident, $end:ident => $call:expr) => {
        match &$self.0 {
            End::Tcp($end) => $call,
            End::Datagram($end) => $call,
        }
    };
    (mut $self:ident, $end:ident => $call:expr) => {
        match &mut $self.0 {
            End::Tcp($end) => $call,
            End::Datagram($end) => $call,
        }
    };
}

impl Sender {
    /// The sender of a flow that the application hands over now.
    #[must_use]
    pub fn new(transport: &Arc<Transport>, site: &FlowSite, now: Time) -> Sender {
        Sender(match transport.datagram_rate(site) {
            Some(rate) => End::Datagram(datagram::DatagramSender::new(transport, site, rate, now)),
            None => End::Tcp(tcp::TcpSender::new(transport, site, now)),
        })
    }

    /// A packet of the flow arrived: the answer to the opening, or an acknowledgement.
    pub fn on_packet(&mut self, now: Time, ecn: Ecn, segment: &Segment) {
        forward!(mut self, end => end.on_packet(now, ecn, segment));
    }

    /// Whether [`Sender::poll`] would give a packet now.
    #[must_use]
    pub fn ready(&self, now: Time) -> bool {
        forward!(self, end => end.ready(now))
    }

    /// The network card is free: the next packet, sent now.
    pub fn poll(&mut self, now: Time) -> Option<Outgoing> {
        forward!(mut self, end => end.poll(now))
    }

    /// When [`Sender::on_wakeup`] has to be called at the latest; [`Time::NEVER`] if nothing is due.
    #[must_use]
    pub fn next_wakeup(&self) -> Time {
        forward!(self, end => end.next_wakeup())
    }

    /// The clock reached some instant; called early, nothing happens.
    pub fn on_wakeup(&mut self, now: Time) {
        forward!(mut self, end => end.on_wakeup(now));
    }

    /// Everything is acknowledged and closed, or, of datagrams, sent: the state may be dropped.
    #[must_use]
    pub fn finished(&self) -> bool {
        forward!(self, end => end.finished())
    }

    /// State and counts.
    #[must_use]
    pub fn report(&self) -> SenderReport {
        forward!(self, end => end.report())
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
