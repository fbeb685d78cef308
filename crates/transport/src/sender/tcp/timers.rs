//! The sender's timers: retransmission, tail loss probe, reordering.

use weft_core::Time;

use super::{Phase, TcpSender};
use crate::congestion::Cause;
use crate::sender::probe::Probe;

impl TcpSender {
    /// The earliest timer.
    pub(in crate::sender) fn next_wakeup(&self) -> Time {
        self.rto_at.min(self.probe_at).min(self.reorder_at)
    }

    pub(in crate::sender) fn on_wakeup(&mut self, now: Time) {
        if self.reorder_at <= now {
            self.overdue(now);
        }
        if self.probe_at <= now {
            self.probe_at = Time::NEVER;
            self.probe.wanted = true;
        }
        if self.rto_at <= now {
            self.timed_out(now);
        }
    }

    /// After anything was sent or acknowledged.
    pub(super) fn arm_timers(&mut self, now: Time, progress: bool) {
        if self.board.outstanding() == 0 {
            self.rto_at = Time::NEVER;
            self.probe_at = Time::NEVER;
            return;
        }
        let timeout = self.rtt.timeout(&self.transport.rto);
        if progress || self.rto_at == Time::NEVER {
            self.rto_at = now + timeout;
        }
        let tcp = &self.transport.tcp;
        let may_probe = self.transport.tlp() && self.phase == Phase::Open && !self.board.has_holes();
        self.probe_at = if may_probe && !self.probe.is_out() && !self.probe.wanted {
            let wait = Probe::timeout(tcp, &self.rtt, self.board.len());
            if wait < timeout { now + wait } else { Time::NEVER }
        } else {
            Time::NEVER
        };
    }

    /// Segments that might have been late are lost now.
    fn overdue(&mut self, now: Time) {
        self.find_losses(now, 0);
        if self.board.to_resend() && matches!(self.phase, Phase::Open | Phase::Reducing) {
            self.start_recovery(now);
            self.window.cwnd = self.window.cwnd.min(self.board.pipe() + self.window.mss);
        }
        self.arm_timers(now, false);
    }

    /// Nothing was heard for a whole time-out: all is lost, begin with one segment.
    fn timed_out(&mut self, now: Time) {
        self.report.timeouts += 1;
        self.rtt.back_off();
        self.rto_at = Time::NEVER;
        if self.phase == Phase::Opening {
            self.phase = Phase::Closed;
            return;
        }
        if self.phase != Phase::Loss || self.una >= self.recover {
            self.reduce(now, Cause::Timeout);
        }
        self.phase = Phase::Loss;
        self.recover = self.next;
        self.window.cwnd = self.window.mss;
        self.board.lose_all();
        self.probe.forget();
        self.dupacks = 0;
        self.permitted = 0;
        self.reorder_at = Time::NEVER;
        self.probe_at = Time::NEVER;
        self.rto_at = now + self.rtt.timeout(&self.transport.rto);
    }
}
