//! The timers of a sender: retransmission (RFC 6298), tail loss probe (RFC 8985, section 7), RACK's reordering timer,
//! pacing. Each is an instant, `NEVER` if nothing is due; a timer is cancelled only by moving it.

use weft_core::record::FlowState;
use weft_core::{Span, Time};

use super::{Phase, TcpSender};
use crate::congestion::Cause;
use crate::segment::{Flags, Segment};
use weft_recovery::prr::Delivery;

/// The tail loss probe in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    /// Its outcome is known when this is acknowledged (TLP.end_seq).
    end: u64,
    /// Whether it was a retransmission, not new data.
    again: bool,
}

/// Consecutive time-outs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Streak {
    timeouts: u32,
    /// The first unacknowledged byte at the last of them: progress beyond it ends the streak.
    una: u64,
}

impl TcpSender {
    pub(in crate::sender) fn on_wakeup(&mut self, now: Time) {
        if self.pace_at <= now {
            self.pace_at = Time::NEVER;
        }
        if self.verdict_at <= now {
            self.verdict_due(now);
        }
        if self.probe_at <= now {
            self.probe_due(now);
        } else if self.retransmit_at <= now {
            self.timed_out(now);
        }
        self.look_ahead(now);
    }

    /// Updates the timers after an acknowledgement.
    #[inline(always)]
    pub(super) fn restart_timers(&mut self, now: Time, progress: bool) {
        if self.outstanding() == 0 {
            self.retransmit_at = Time::NEVER;
        } else if progress && !self.keeps_timer() {
            self.retransmit_at = now + self.trip.timeout(&self.transport.rto);
        }
        self.schedule_probe(now);
    }

    /// Whether the timer keeps running: the impatient variant of RFC 6582 restarts it only for the first partial
    /// acknowledgement.
    #[inline]
    fn keeps_timer(&mut self) -> bool {
        let partial = !self.rules.sack && self.transport.tcp.impatient && self.state == FlowState::Recovery;
        partial && std::mem::replace(&mut self.restarted, true)
    }

    /// Starts the timer after a packet was sent, if it is not running; restarts it if the packet was the first
    /// unacknowledged segment.
    #[inline]
    pub(super) fn start_retransmission_timer(&mut self, now: Time, first: bool) {
        if first || self.retransmit_at == Time::NEVER {
            self.restart_retransmission_timer(now);
        }
    }

    #[inline(never)]
    fn restart_retransmission_timer(&mut self, now: Time) {
        self.retransmit_at = now + self.trip.timeout(&self.transport.rto);
    }

    /// Sets the probe timer after new data was sent or acknowledged; there is no probe while payload is known to be
    /// missing.
    #[inline]
    pub(super) fn schedule_probe(&mut self, now: Time) {
        if self.rules.tlp {
            self.schedule_probe_if_calm(now);
        }
    }

    #[inline(never)]
    fn schedule_probe_if_calm(&mut self, now: Time) {
        self.probe_at = Time::NEVER;
        let calm = matches!(self.state, FlowState::Open | FlowState::Reducing);
        if calm && self.probe.is_none() && self.outstanding() > 0 && self.nothing_missing() {
            self.probe_at = (now + self.probe_timeout()).min(self.retransmit_at);
        }
    }

    /// The probe time-out (PTO).
    fn probe_timeout(&self) -> Span {
        let tcp = &self.transport.tcp;
        if !self.trip.measured() {
            return tcp.initial_rto;
        }
        let single = self.outstanding() <= self.window.mss;
        self.trip.smoothed() * 2 + if single { tcp.tlp_delayed_ack } else { tcp.tlp_slack }
    }

    fn probe_due(&mut self, now: Time) {
        self.probe_at = Time::NEVER;
        self.owed.probe = true;
        self.retransmit_at = now + self.trip.timeout(&self.transport.rto);
    }

    /// A probe was sent.
    pub(super) fn probed(&mut self, again: bool) {
        self.owed.probe = false;
        self.counts.probes += 1;
        self.probe = Some(Probe { end: self.next, again });
        self.probe_at = Time::NEVER;
    }

    /// Determines the outcome of the probe. If it was a retransmission and it, not the first copy, was acknowledged, it
    /// repaired a loss: the window falls as for any loss (RFC 8985, section 7.4).
    #[inline]
    pub(super) fn after_probe(&mut self, now: Time, segment: &Segment) {
        let Some(probe) = self.probe.filter(|probe| self.una >= probe.end) else { return };
        self.probe = None;
        let repaired = segment.flags.has(Flags::AGAIN) && !segment.flags.has(Flags::DUPLICATE);
        let calm = matches!(self.state, FlowState::Open | FlowState::Disorder);
        if probe.again && repaired && calm {
            self.reduce(now, Cause::Loss);
            self.window.cwnd = self.window.ssthresh;
        }
    }

    fn verdict_due(&mut self, now: Time) {
        self.verdict_at = Time::NEVER;
        let lost = self.look_for_losses(now);
        if lost > 0 && self.begin_recovery_if_due(now) {
            let delivery = Delivery { bytes: 0, pipe: self.pipe(), clean: false };
            self.reduce_in_proportion(&delivery);
        }
    }

    /// Time-outs since the last progress.
    pub(super) fn timeouts_in_a_row(&self) -> u32 {
        if self.streak.una == self.una { self.streak.timeouts } else { 0 }
    }

    /// The retransmission timer expired.
    fn timed_out(&mut self, now: Time) {
        self.counts.timeouts += 1;
        if self.phase == Phase::Opening {
            self.counts.syn_timeouts += 1;
            self.owed.syn = true;
        } else {
            self.lose_everything(now);
        }
        self.trip.back_off();
        self.streak = Streak { una: self.una, timeouts: self.timeouts_in_a_row() + 1 };
        self.counts.timeouts_in_a_row = self.counts.timeouts_in_a_row.max(self.streak.timeouts);
        self.verdict_at = Time::NEVER;
        self.retransmit_at = now + self.trip.timeout(&self.transport.rto);
    }
}
