//! Congestion laws: how large the window may be. A law knows bytes, times and marks of its own flow; never segments,
//! retransmissions or the network.
//!
//! The sender owns the window (it is also moved by recovery, proportional rate reduction and time-outs, which are the
//! same for all laws); a law says how it grows and how far it falls. To add a law, copy [`newreno`] and add one line to
//! the list below and one to the transports in `settings.rs`.

use weft_core::{Rate, Span, Time};

/// The congestion window of a sender, in bytes of payload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Bytes that may be in flight.
    pub cwnd: u64,
    /// Slow start below, congestion avoidance from here on; `u64::MAX` at first.
    pub ssthresh: u64,
    /// Largest payload of a segment.
    pub mss: u64,
}

impl Window {
    /// Below the slow-start threshold.
    #[must_use]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }
}

/// What an acknowledgement tells a law.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent {
    /// When it arrived.
    pub now: Time,
    /// Payload newly acknowledged (cumulatively or selectively).
    pub acked: u64,
    /// Round-trip sample of this acknowledgement, if it gives one.
    pub rtt: Option<Span>,
    /// Smallest round trip of the connection so far.
    pub min_rtt: Span,
    /// Smoothed round trip.
    pub srtt: Span,
    /// Payload in flight before this acknowledgement.
    pub in_flight: u64,
    /// The window, not the application or the network card, limited the sender when this was sent.
    pub cwnd_limited: bool,
    /// It echoes a congestion mark (ECE).
    pub marked: bool,
    /// First byte not acknowledged, after this acknowledgement.
    pub una: u64,
    /// First byte not yet sent.
    pub next: u64,
}

/// Why a window has to fall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A segment was lost and recovery begins.
    Loss,
    /// A congestion mark was echoed (at most once per window of data).
    Mark,
    /// The retransmission timer expired.
    Timeout,
}

/// A congestion event.
#[derive(Clone, Copy, Debug)]
pub struct CongestionEvent {
    /// When.
    pub now: Time,
    /// Why.
    pub cause: Cause,
    /// Payload in flight.
    pub in_flight: u64,
    /// Line rate of the host, for laws that are rates.
    pub line_rate: Rate,
}

/// How a law uses congestion marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkUse {
    /// As the `ecn` setting says: not at all, or as RFC 3168.
    Classic,
    /// Every packet is ECN-capable and the receiver reports marks byte for byte (RFC 8257).
    Accurate,
}

/// How a window grows and falls.
pub trait CongestionLaw {
    /// New data was acknowledged while nothing is being recovered: grow the window. In slow start and in avoidance;
    /// only if `ack.cwnd_limited`.
    fn grow(&mut self, window: &mut Window, ack: &AckEvent);

    /// A congestion event: the window to fall to, which becomes the slow-start threshold.
    fn reduce(&mut self, window: &Window, event: &CongestionEvent) -> u64;

    /// Any acknowledgement, in any state, before [`CongestionLaw::grow`]: measure.
    fn observe(&mut self, _window: &mut Window, _ack: &AckEvent) {}

    /// How marks are used.
    fn mark_use(&self) -> MarkUse {
        MarkUse::Classic
    }
}
