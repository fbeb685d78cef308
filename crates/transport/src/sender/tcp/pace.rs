//! Pacing and bursts: when the next burst may start, and how large it is, as in Linux (`tcp_update_pacing_rate`,
//! `tcp_tso_autosize`, `tcp_tso_should_defer` of kernel 6.18). Depends on the window, not on the data sent.

use weft_core::{Span, Time};

use super::TcpSender;

/// Segments at the start of a flow that are not paced, as in Linux.
const UNPACED: u64 = 10;

/// The state of bursts and pacing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// No burst starts before this.
    next: Time,
    /// Payload left of the burst being sent.
    pub(super) burst: u64,
}

impl Pace {
    /// Starts a burst that takes `span` at the pacing rate. A late sender may catch up by half of that.
    fn begin(&mut self, now: Time, span: Span) {
        let late = if self.next == Time::ZERO { Span::ZERO } else { now.since(self.next.min(now)) };
        self.next = now + (span - late.min(span / 2));
    }
}

impl TcpSender {
    /// Whether bursts and pacing allow new payload now, with `room` in the window.
    pub(super) fn burst_allows(&self, room: u64, now: Time) -> bool {
        !self.is_early(now) && !self.waits_for_burst(room, now)
    }

    /// Whether the pace allows no new burst yet.
    pub(super) fn is_early(&self, now: Time) -> bool {
        self.rules.pacing && self.pace.burst == 0 && now < self.pace.next
    }

    /// Whether the open window is too small for a burst.
    pub(super) fn waits_for_burst(&self, room: u64, now: Time) -> bool {
        self.rules.tso && self.pace.burst == 0 && !self.worth_a_burst(room, now)
    }

    /// Whether a burst may start: enough of the window and of the receiver's window is open for one, or for
    /// everything that is left; or waiting would gain nothing, or has lasted long enough.
    fn worth_a_burst(&self, room: u64, now: Time) -> bool {
        let left = self.size - self.next;
        let room = room.min(self.rules.receive_window - self.outstanding());
        let open = if left <= room { left } else { room / self.window.mss * self.window.mss };
        let last = self.newest.max(self.pace.next);
        let waited = || self.transport.tcp.tso_wait.is_some_and(|most| now > last + most);
        open >= self.worth_waiting_for().min(left) || self.pipe() == 0 || waited()
    }

    /// The payload worth waiting for: a fraction of the window, at most a burst.
    fn worth_waiting_for(&self) -> u64 {
        let window = self.window.cwnd.min(self.rules.receive_window);
        let part = window / u64::from(self.transport.tcp.tso_divisor);
        (part.min(self.burst_limit()) / self.window.mss * self.window.mss).max(self.window.mss)
    }

    /// The maximum payload of a burst: the whole segments that the rate carries in `tso_time`, more if the other end is
    /// near.
    fn burst_limit(&self) -> u64 {
        let tcp = &self.transport.tcp;
        let Some(time) = tcp.tso_time.filter(|_| self.trip.measured()) else { return tcp.tso_limit.0 };
        let carried = (time.0 as f64 / self.pace_of(1)) as u64;
        let segments = (carried + self.bonus()).min(tcp.tso_limit.0) / self.window.mss;
        segments.max(u64::from(tcp.tso_min_segments)) * self.window.mss
    }

    /// The addition of `tso_rtt_log` for nearby hosts.
    fn bonus(&self) -> u64 {
        let tcp = &self.transport.tcp;
        let halvings = (self.trip.least().0 / 1_000_000) >> tcp.tso_rtt_log;
        if tcp.tso_rtt_log == 0 || halvings > 63 { 0 } else { tcp.tso_limit.0 >> halvings }
    }

    /// Time in picoseconds for `bytes` at the pacing rate, a multiple of the window per round trip.
    fn pace_of(&self, bytes: u64) -> f64 {
        let tcp = &self.transport.tcp;
        let starting = self.window.cwnd < self.window.ssthresh / 2;
        let factor = if starting { tcp.pacing_slow_start } else { tcp.pacing_avoidance };
        let window = self.window.cwnd.max(self.outstanding());
        bytes as f64 * self.trip.smoothed().0 as f64 / (factor * window as f64)
    }

    /// Records that a new segment of `length` was sent: it continues the burst or starts one.
    pub(super) fn continue_burst(&mut self, length: u64, now: Time) {
        if self.pace.burst == 0 {
            self.pace.burst = self.new_burst(length);
            if self.rules.pacing && self.next >= UNPACED * self.window.mss && self.trip.measured() {
                self.pace.begin(now, Span(self.pace_of(self.pace.burst) as u64));
                self.pace_at = self.pace.next;
            }
        }
        self.pace.burst = self.pace.burst.saturating_sub(length);
        if self.pace.burst < self.window.mss {
            self.pace.burst = 0;
        }
    }

    /// The payload of the burst started by a new segment of `length`.
    fn new_burst(&self, length: u64) -> u64 {
        if !self.rules.tso {
            return length;
        }
        let room = (self.window.cwnd + length).saturating_sub(self.pipe());
        match self.transport.tcp.tso_time {
            Some(_) => self.burst_limit().min(room.min(self.window.cwnd / 2).max(length)),
            None => self.worth_waiting_for(),
        }
    }
}
