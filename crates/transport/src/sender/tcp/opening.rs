//! The connection opens: what the SYN-ACK says.

use weft_core::{Ecn, Time};

use super::timer::Streak;
use super::{Phase, TcpSender};
use crate::segment::{Flags, Segment};
use crate::tcp::ConnectionMarking;

impl TcpSender {
    /// The SYN-ACK arrived.
    #[cold]
    pub(super) fn established(&mut self, now: Time, segment: &Segment) {
        self.measure(now, segment);
        // A path that loses SYNs starts with one segment, as in Linux: after the second loss.
        if self.counts.syn_timeouts > 1 {
            self.window.cwnd = self.window.mss;
        }
        if self.counts.syn_timeouts > 0 {
            self.trip.opened_late();
            self.streak = Streak::default();
        }
        if self.rules.marks && !segment.flags.has(Flags::ECE) {
            self.go_without_ecn();
        }
        self.phase = Phase::Open;
        self.owed.syn = false;
        self.retransmit_at = Time::NEVER;
    }

    /// The other end did not agree to ECN.
    fn go_without_ecn(&mut self) {
        (self.rules.ecn, self.rules.ecn_again) = (Ecn::NotCapable, Ecn::NotCapable);
        self.rules.marks = false;
        self.law = self.transport.law_under(ConnectionMarking::Off);
    }
}
