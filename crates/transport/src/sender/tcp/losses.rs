//! Losses, marks and the window: when a segment counts as lost, how an event starts and ends, how far the window falls.

use weft_core::Time;
use weft_core::record::FlowState;

use super::TcpSender;
use crate::congestion::{Cause, CongestionEvent, MarkUse, Window};
use crate::settings::Recovery;
use weft_recovery::prr::{Delivery, Reduction};
use weft_recovery::rack::URGENT_SEGMENTS;
use weft_recovery::reordering::Undo;

impl TcpSender {
    /// Detects losses among the segments in flight, with selective acknowledgements. Returns the payload newly declared
    /// lost.
    pub(super) fn look_for_losses(&mut self, now: Time) -> u64 {
        let tcp = &self.transport.tcp;
        let mss = self.window.mss;
        let Some(trouble) = self.trouble.as_mut().filter(|_| tcp.sack) else { return 0 };
        if !self.transport.rack() {
            return trouble.board.judge_by_count(trouble.patience.threshold(), mss);
        }
        let repairing = matches!(self.state, FlowState::Recovery | FlowState::Loss);
        let urgent = repairing || trouble.board.sacked().div_ceil(mss) >= URGENT_SEGMENTS;
        let limit = trouble.rack.limit(self.trip.least(), self.trip.smoothed(), urgent);
        let (lost, due) = trouble.board.judge_by_time(trouble.rack.reference, limit, now);
        self.verdict_at = if due == Time::NEVER { due } else { due + tcp.rack_slack };
        lost
    }

    /// Starts recovery if something is lost and none is in progress.
    pub(super) fn begin_recovery_if_due(&mut self, now: Time) -> bool {
        if matches!(self.state, FlowState::Recovery | FlowState::Loss) {
            return false;
        }
        let known = self.trouble.as_ref().is_some_and(|trouble| trouble.board.waiting() > 0);
        if !known {
            if !self.enough_duplicates() {
                return false;
            }
            self.lose_head();
        }
        self.counts.recoveries += 1;
        let una = self.una;
        // Marks that halve the window answer its losses too. Those that cut it in proportion do not (RFC 8257, section 3.5).
        let answered = self.state == FlowState::Reducing && self.law.mark_use() == MarkUse::Classic;
        let before = (!answered).then_some(self.window);
        if before.is_some() {
            self.reduce(now, Cause::Loss);
        }
        if self.transport.tcp.undo {
            self.trouble().undo = before.map(|window| Undo::new(una, window.cwnd, window.ssthresh));
        }
        self.state = FlowState::Recovery;
        self.recover = self.next;
        self.owed.lost = true;
        (self.rescued, self.restarted) = (false, false);
        self.probe_at = Time::NEVER;
        true
    }

    /// Whether duplicate acknowledgements alone indicate a loss. Without selective acknowledgements, duplicates up to
    /// the end of the last event may stem from its retransmissions (RFC 6582, section 3.2, step 2).
    fn enough_duplicates(&self) -> bool {
        let fresh = self.transport.tcp.sack || self.una > self.recover || self.recover == 0;
        let patience = self.trouble.as_ref().map(|trouble| trouble.patience.threshold());
        let threshold = patience.unwrap_or(self.transport.tcp.dup_threshold);
        !self.transport.rack() && fresh && self.dupacks >= threshold
    }

    /// Declares the first unacknowledged segment lost.
    pub(super) fn lose_head(&mut self) {
        let (una, newest) = (self.una, self.newest);
        let length = self.window.mss.min(self.outstanding());
        self.trouble().board.lose_head(una, length, newest);
        self.owed.lost = true;
    }

    /// Whether an echoed mark calls for a reduction. A classic echo lasts until the receiver has seen that the window was
    /// reduced (CWR), and the window falls once for everything lost or marked in it (RFC 3168, section 6.1.2): only
    /// data sent after the last reduction counts.
    pub(super) fn mark_counts(&self) -> bool {
        match self.law.mark_use() {
            MarkUse::Immediate => false,
            MarkUse::Accurate => true,
            MarkUse::Classic => self.una > self.recover || self.recover == 0,
        }
    }

    /// Starts a reduction after an echoed mark.
    pub(super) fn begin_reduction(&mut self, now: Time) {
        self.counts.reductions += 1;
        self.reduce(now, Cause::Mark);
        self.state = FlowState::Reducing;
        self.recover = self.next;
    }

    /// Asks the law how far the window must fall and starts the reduction.
    pub(super) fn reduce(&mut self, now: Time, cause: Cause) {
        let in_flight = self.outstanding();
        let event = CongestionEvent { now, cause, in_flight, line_rate: self.line_rate };
        let mss = self.window.mss;
        let target = self.law.reduce(&self.window_before(&event), &event).max(mss);
        self.window.ssthresh = if self.transport.tcp.whole_segments { target / mss * mss } else { target };
        self.reduction = Reduction::new(in_flight);
        // Also after a loss (RFC 3168, section 6.1.2), so that the receiver does not echo marks of the same window.
        self.owed.cwr = self.rules.marks;
        self.pace.burst = 0;
        if self.transport.tcp.recovery == Recovery::Halve {
            self.window.cwnd = self.window.ssthresh;
        }
    }

    /// The window that an event lowers: after a loss, what is in flight counts as it was before marks of the same round trip cut the
    /// window, so that both together take no more than half.
    fn window_before(&self, event: &CongestionEvent) -> Window {
        match (self.state, event.cause) {
            (FlowState::Reducing, Cause::Loss) => {
                Window { cwnd: self.window.cwnd.max(event.in_flight), ..self.window }
            }
            _ => self.window,
        }
    }

    pub(super) fn reduce_in_proportion(&mut self, delivery: &Delivery) {
        if self.transport.tcp.recovery == Recovery::Prr {
            let (ssthresh, mss) = (self.window.ssthresh, self.window.mss);
            self.window.cwnd = self.reduction.window(delivery, ssthresh, mss).max(mss);
        }
    }

    /// Ends the current event when everything in flight at its start is acknowledged; after a mark one segment later,
    /// when the receiver must have seen the reduction.
    pub(super) fn leave_if_over(&mut self) {
        let over = match self.state {
            FlowState::Open | FlowState::Disorder => false,
            FlowState::Reducing => self.una > self.recover,
            FlowState::Recovery | FlowState::Loss => self.una >= self.recover,
        };
        if !over {
            return;
        }
        match self.state {
            FlowState::Reducing => self.window.cwnd = self.window.ssthresh,
            FlowState::Recovery => self.end_recovery(),
            _ => self.dupacks = 0,
        }
        self.state = FlowState::Open;
    }

    fn end_recovery(&mut self) {
        self.window.cwnd = self.window.ssthresh;
        if !self.transport.tcp.sack {
            // Avoids a burst at the end (RFC 6582, section 3.2, step 3, first choice).
            let calm = self.outstanding().max(self.window.mss) + self.window.mss;
            self.window.cwnd = calm.min(self.window.ssthresh);
            self.dupacks = 0;
        }
        if let Some(trouble) = &mut self.trouble {
            trouble.rack.recovered();
        }
    }

    /// Undoes the last or current recovery if it was spurious, because every retransmitted segment had arrived:
    /// restores the window, and waits longer for reordered segments from then on.
    pub(super) fn undo_if_proved(&mut self) {
        let mss = self.window.mss;
        let Some(trouble) = &mut self.trouble else { return };
        let Some(undo) = trouble.undo.filter(|undo| undo.is_proved() && trouble.board.waiting() == 0) else {
            return;
        };
        trouble.undo = None;
        trouble.patience.overtaken(undo.extent, mss);
        self.window.cwnd = self.window.cwnd.max(undo.cwnd);
        self.window.ssthresh = self.window.ssthresh.max(undo.ssthresh);
        if self.state == FlowState::Recovery {
            self.state = FlowState::Disorder;
            self.dupacks = 0;
        }
    }

    /// Called when the retransmission timer has expired: declares everything in flight lost. Only the first expiry of
    /// an episode lowers the threshold.
    pub(super) fn lose_everything(&mut self, now: Time) {
        if self.timeouts_in_a_row() == 0 {
            self.reduce(now, Cause::Timeout);
        }
        let (next, newest) = (self.next, self.newest);
        let trouble = self.trouble();
        trouble.board.lose_all(next, newest);
        trouble.patience.forget();
        trouble.undo = None;
        self.state = FlowState::Loss;
        self.recover = self.next;
        self.window.cwnd = self.window.mss;
        self.usage.limited = true;
        self.dupacks = 0;
        self.pace.burst = 0;
        self.owed.lost = true;
        self.owed.probe = false;
        self.probe = None;
        if let Some(labels) = &mut self.labels {
            labels.tlt.timed_out();
        }
    }
}
