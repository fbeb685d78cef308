//! Congestion laws: the size of the window. A law sees the bytes, times and marks of its own flow; it must not depend
//! on segments, retransmissions or the network.
//!
//! The sender owns the window (recovery, proportional rate reduction and time-outs, which are the same for all laws,
//! also change it); a law decides how it grows and how far it falls. To add a law, copy [`newreno`] and add one line
//! to the list of transports in `list.rs`.

use weft_core::{Rate, Span, Time};

pub mod cubic;
pub mod dctcp;
mod growth;
pub mod htcp;
mod hystart;
pub mod l2dct;
pub mod newreno;

/// The facts about its connection that a law needs from the start.
#[derive(Clone, Copy, Debug)]
pub struct LawSite {
    /// Largest payload of a segment, in bytes.
    pub mss: u64,
    /// Bytes by which one acknowledgement may open the window in slow start: L times `mss` (RFC 5681 and RFC 3465);
    /// `u64::MAX` counts everything acknowledged, as Linux does.
    pub slow_start_limit: u64,
}

/// The congestion window of a sender, in bytes of payload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Bytes that may be in flight.
    pub cwnd: u64,
    /// Slow start below this, congestion avoidance from here; initially `u64::MAX`.
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

/// An acknowledgement from the viewpoint of a law.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent {
    /// When it arrived.
    pub now: Time,
    /// Payload newly acknowledged (cumulatively or selectively).
    pub acked: u64,
    /// Round-trip sample of this acknowledgement, if any.
    pub rtt: Option<Span>,
    /// Smallest round trip of the connection so far.
    pub min_rtt: Span,
    /// Smoothed round trip.
    pub srtt: Span,
    /// Payload in flight before this acknowledgement.
    pub in_flight: u64,
    /// Whether the window, not the application or the network card, limited the sender when this was sent.
    pub cwnd_limited: bool,
    /// Whether it echoes a congestion mark (ECE).
    pub marked: bool,
    /// First unacknowledged byte, after this acknowledgement.
    pub una: u64,
    /// First byte not yet sent.
    pub next: u64,
}

/// Why a window must be reduced.
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
    /// The instant.
    pub now: Time,
    /// The cause.
    pub cause: Cause,
    /// Payload sent and not yet cumulatively acknowledged (FlightSize of RFC 5681).
    pub in_flight: u64,
    /// Line rate of the host, for rate-based laws.
    pub line_rate: Rate,
}

/// How a law uses congestion marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkUse {
    /// According to the `ecn` setting: not at all, or as in RFC 3168.
    Classic,
    /// Every packet is ECN-capable and the receiver reports marks byte for byte (RFC 8257).
    Accurate,
    /// As [`MarkUse::Accurate`], and the law reduces the window in [`CongestionLaw::observe`]: an echoed mark starts no
    /// congestion event.
    Immediate,
}

/// How a window grows and falls.
pub trait CongestionLaw {
    /// Called when new data was acknowledged outside recovery: grows the window, in slow start and in avoidance.
    /// Called whether or not the window was the limit, because a law may need to know; it must grow the window only
    /// if `ack.cwnd_limited`.
    fn grow(&mut self, window: &mut Window, ack: &AckEvent);

    /// Called when a congestion event starts: returns the window to fall to, which becomes the slow-start threshold.
    /// The time-out of an episode is reported once, not at each further expiry of the timer. The event lasts until
    /// the next [`CongestionLaw::grow`]. A law has a minimum window (such as two segments), so the result may exceed
    /// a window that is already smaller; the sender uses it as threshold and does not open the window.
    fn reduce(&mut self, window: &Window, event: &CongestionEvent) -> u64;

    /// Observes any acknowledgement, in any state, before [`CongestionLaw::grow`] and [`CongestionLaw::reduce`]. A law
    /// may end slow start here by lowering `ssthresh` to `cwnd`; a law with [`MarkUse::Immediate`] lowers both.
    fn observe(&mut self, _window: &mut Window, _ack: &AckEvent) {}

    /// Handles an acknowledgement of new data outside recovery: [`CongestionLaw::observe`] and, if `grows`,
    /// [`CongestionLaw::grow`], in one step.
    #[inline]
    fn advance(&mut self, window: &mut Window, ack: &AckEvent, grows: bool) {
        self.observe(window, ack);
        if grows {
            self.grow(window, ack);
        }
    }

    /// How the law uses marks.
    fn mark_use(&self) -> MarkUse {
        MarkUse::Classic
    }
}

#[cfg(test)]
pub(crate) mod rig;
