//! For tests: one law, one window, one path, in rounds. Every segment of a window is acknowledged separately, in
//! order; there is no network, no retransmission and no timer.

use weft_core::{Rate, Span, Time};

use super::{AckEvent, Cause, CongestionEvent, CongestionLaw, LawSite, MarkUse, Window};

pub(crate) const MSS: u64 = 1460;

/// A site without a limit on slow start.
pub(crate) const SITE: LawSite = LawSite { mss: MSS, slow_start_limit: u64::MAX };

pub(crate) struct Rig<L> {
    pub(crate) law: L,
    pub(crate) window: Window,
    pub(crate) now: Time,
    /// Round trip of the coming segments.
    pub(crate) rtt: Span,
    pub(crate) min_rtt: Span,
    /// The sender's state.
    pub(crate) cwnd_limited: bool,
    una: u64,
    /// No growth until this byte is acknowledged, because a mark was handled.
    answered: u64,
}

impl<L: CongestionLaw> Rig<L> {
    /// In congestion avoidance with `segments`.
    pub(crate) fn avoiding(law: L, segments: u64, rtt: Span) -> Rig<L> {
        let mut rig = Rig::starting(law, segments, rtt);
        rig.window.ssthresh = rig.window.cwnd;
        rig
    }

    /// In the first slow start with `segments`.
    pub(crate) fn starting(law: L, segments: u64, rtt: Span) -> Rig<L> {
        let window = Window { cwnd: segments * MSS, ssthresh: u64::MAX, mss: MSS };
        Rig { law, window, now: Time::ZERO, rtt, min_rtt: rtt, cwnd_limited: true, una: 0, answered: 0 }
    }

    /// The window in segments.
    pub(crate) fn segments(&self) -> f64 {
        self.window.cwnd as f64 / MSS as f64
    }

    /// One acknowledgement of one segment.
    pub(crate) fn ack(&mut self, now: Time, marked: bool) {
        let in_flight = self.window.cwnd;
        self.now = now;
        self.una += MSS;
        let ack = AckEvent {
            now,
            acked: MSS,
            rtt: Some(self.rtt),
            min_rtt: self.min_rtt,
            srtt: self.rtt,
            in_flight,
            cwnd_limited: self.cwnd_limited,
            marked,
            una: self.una,
            next: self.una + in_flight - MSS,
        };
        self.law.observe(&mut self.window, &ack);
        if marked && self.una > self.answered && self.law.mark_use() != MarkUse::Immediate {
            self.answered = ack.next;
            self.fall(Cause::Mark);
        } else if self.una > self.answered {
            self.law.grow(&mut self.window, &ack);
        }
    }

    /// Acknowledges a window, spread over a round trip; its last `marked` segments carry marks.
    pub(crate) fn marked_round(&mut self, marked: u64) {
        let (start, count) = (self.now, self.window.cwnd / MSS);
        for n in 1..=count {
            self.ack(start + self.rtt / count * n, n + marked > count);
        }
    }

    /// Acknowledges a window without a mark.
    pub(crate) fn round(&mut self) {
        self.marked_round(0);
    }

    /// A congestion event with a full window in flight.
    pub(crate) fn fall(&mut self, cause: Cause) {
        let (now, in_flight) = (self.now, self.window.cwnd);
        let event = CongestionEvent { now, cause, in_flight, line_rate: Rate::from_gbps(10) };
        self.window.ssthresh = self.law.reduce(&self.window, &event);
        self.window.cwnd = self.window.ssthresh;
        if cause == Cause::Timeout {
            (self.window.cwnd, self.answered) = (MSS, self.una);
        }
    }

    /// Runs rounds over a path that holds `path` segments, prolonged by queueing, until the window exceeds `limit`
    /// segments; returns the seconds it took.
    pub(crate) fn seconds_until(&mut self, limit: u64, path: f64) -> f64 {
        let start = self.now;
        while self.window.cwnd <= limit * MSS {
            let stretch = (self.segments() / path).max(1.0);
            self.rtt = Span::from_seconds_rounded(self.min_rtt.seconds() * stretch);
            self.round();
        }
        self.now.since(start).seconds()
    }

    /// Mean window in segments over `rounds` when exactly every `every`-th segment is lost, after as many rounds to settle.
    pub(crate) fn mean_with_loss(&mut self, every: u64, rounds: u64) -> f64 {
        let (mut sent, mut sum) = (0, 0.0);
        for round in 0..2 * rounds {
            sent += self.window.cwnd / MSS;
            self.round();
            if sent >= every {
                sent -= every;
                self.fall(Cause::Loss);
            }
            sum += if round >= rounds { self.segments() } else { 0.0 };
        }
        sum / rounds as f64
    }
}
