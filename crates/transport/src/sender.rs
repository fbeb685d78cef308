//! The sending end of a flow: TCP with any congestion law, or datagrams at a constant rate.
//!
//! A sender owns no clock and no socket. The host's card asks [`Sender::poll`] for the next packet when it is free
//! (what was not asked for is not in flight), hands in what arrives, and calls back at [`Sender::next_wakeup`].

use std::sync::Arc;

use weft_core::{Bytes, Ecn, Span, Time};

use crate::segment::{Outgoing, Segment};
use crate::transport::{FlowSite, Transport};

mod probe;
mod tcp;
mod udp;

/// The sending end of a flow.
#[allow(clippy::large_enum_variant, reason = "nearly all are TCP; a box would cost a cache miss per packet")]
pub enum Sender {
    /// TCP.
    Tcp(tcp::TcpSender),
    /// Datagrams.
    Udp(udp::UdpSender),
}

/// What a sender has done so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SenderReport {
    /// Payload sent again.
    pub retransmitted: Bytes,
    /// Expiries of the retransmission timer.
    pub timeouts: u32,
    /// Times the window fell for a loss.
    pub recoveries: u32,
    /// Times the window fell for a mark.
    pub mark_reductions: u32,
    /// Congestion window.
    pub cwnd: Bytes,
    /// Slow-start threshold; `u64::MAX` before the first event.
    pub ssthresh: Bytes,
    /// Smoothed round trip.
    pub srtt: Span,
    /// Payload acknowledged in sequence.
    pub acknowledged: Bytes,
    /// Payload in flight.
    pub in_flight: Bytes,
}

impl Sender {
    /// The sender of a flow that starts now. A flow with a rate of its own is sent as datagrams, whatever the transport.
    #[must_use]
    pub fn new(transport: &Arc<Transport>, site: &FlowSite, now: Time) -> Sender {
        if transport.datagram_rate(site).is_some() {
            Sender::Udp(udp::UdpSender::new(transport, site, now))
        } else {
            Sender::Tcp(tcp::TcpSender::new(transport, site))
        }
    }

    /// An acknowledgement arrived.
    pub fn on_packet(&mut self, now: Time, _ecn: Ecn, segment: &Segment) {
        if let Sender::Tcp(tcp) = self {
            tcp.on_packet(now, segment);
        }
    }

    /// Whether [`Sender::poll`] would give a packet now.
    #[must_use]
    pub fn ready(&self, now: Time) -> bool {
        match self {
            Sender::Tcp(tcp) => tcp.ready(),
            Sender::Udp(udp) => udp.ready(now),
        }
    }

    /// The next packet; its transmission starts now.
    pub fn poll(&mut self, now: Time) -> Option<Outgoing> {
        match self {
            Sender::Tcp(tcp) => tcp.poll(now),
            Sender::Udp(udp) => udp.poll(now),
        }
    }

    /// When [`Sender::on_wakeup`] wants to be called; [`Time::NEVER`] when no timer runs.
    #[must_use]
    pub fn next_wakeup(&self) -> Time {
        match self {
            Sender::Tcp(tcp) => tcp.next_wakeup(),
            Sender::Udp(udp) => udp.next_wakeup(),
        }
    }

    /// Looks after timers that are due.
    pub fn on_wakeup(&mut self, now: Time) {
        match self {
            Sender::Tcp(tcp) => tcp.on_wakeup(now),
            Sender::Udp(udp) => udp.on_wakeup(now),
        }
    }

    /// Everything is acknowledged and closed; the state may be dropped.
    #[must_use]
    pub fn finished(&self) -> bool {
        match self {
            Sender::Tcp(tcp) => tcp.finished(),
            Sender::Udp(udp) => udp.finished(),
        }
    }

    /// What was done so far.
    #[must_use]
    pub fn report(&self) -> SenderReport {
        match self {
            Sender::Tcp(tcp) => tcp.report(),
            Sender::Udp(_) => SenderReport::default(),
        }
    }
}
