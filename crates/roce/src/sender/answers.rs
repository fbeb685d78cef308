//! How the sender reacts to answers and to silence: progress, gaps, time-outs.

use weft_core::record::FlowState;
use weft_core::segment::{Flags, MAX_BLOCKS, Segment};
use weft_core::{Purpose, Random, Span, Time};

use super::QueueSender;
use crate::flags;

impl QueueSender {
    pub(super) fn answered(&mut self, now: Time, segment: &Segment) {
        let ack = segment.ack.min(self.size);
        if self.marker.is_some() {
            self.consult_marker(ack, segment);
        }
        if segment.flags.has(flags::NEGATIVE) && ack >= self.una {
            self.negative(now, ack, segment);
        }
        if ack > self.una {
            self.progress(now, ack);
        }
        if !segment.flags.has(Flags::AGAIN) {
            self.measure(now, segment);
        }
    }

    /// Passes an answer to TLT. Neither the tail behind the last packet that arrived nor a lost retransmission is
    /// requested by the receiver; the rest of a gap will be repaired anyway.
    fn consult_marker(&mut self, ack: u64, segment: &Segment) {
        let mss = self.rules.mss;
        let mut beyond = [(0, 0); MAX_BLOCKS];
        segment.sacked().zip(&mut beyond).for_each(|(block, to)| *to = block);
        let top = beyond.iter().map(|(_, end)| end.div_ceil(mss)).fold(self.repair.arrived.top(), u64::max);
        let begins = segment.flags.has(flags::NEGATIVE) && ack >= self.repair.until;
        let (from, top) = match begins {
            true => (ack / mss, top),
            false => (self.repair.next, top.max(self.repair.all_below)),
        };
        let repairs = if begins || ack < self.repair.until { from * mss..top * mss } else { 0..0 };
        let echo = segment.flags.has(flags::ECHO);
        if let Some(marker) = &mut self.marker {
            marker.answered(ack, &beyond, (echo, repairs));
        }
    }

    /// Called when more payload has arrived in order.
    fn progress(&mut self, now: Time, ack: u64) {
        self.una = ack;
        if ack == self.size {
            self.completed = Some(now);
        }
        self.next = self.next.max(ack);
        self.backoff = 0;
        if self.rules.selective {
            self.repair.arrived.advance(ack / self.rules.mss);
        }
        self.retry_at = Time::NEVER;
        if self.fresh > ack {
            self.restart(now);
        }
    }

    fn measure(&mut self, now: Time, segment: &Segment) {
        let trip = now.since(segment.echo);
        self.srtt =
            if self.srtt == Span::ZERO { trip } else { Span(self.srtt.0 - self.srtt.0 / 8 + trip.0 / 8) };
        if segment.flags.has(flags::MEASURED) {
            self.pace.measured(now, segment.echo);
        }
    }

    /// Called when payload is missing, starting at `ack`.
    fn negative(&mut self, now: Time, ack: u64, segment: &Segment) {
        if self.rules.cut_on_nack {
            self.pace.notified(now);
        }
        if self.rules.selective {
            self.arrived_beyond(ack, segment);
        } else {
            self.go_back(now, ack);
        }
    }

    /// Go-back-N: the packet at `ack` is sent again, even if it is the next to be sent anyway, because a retransmission has
    /// just reached it: the receiver asks for it only once, so that it must arrive.
    fn go_back(&mut self, now: Time, ack: u64) {
        if let Some(marker) = &mut self.marker {
            marker.goes_back();
        }
        if self.next > ack {
            self.next = ack;
            self.counts.recoveries += 1;
        }
        self.restart(now);
    }

    /// Called when a packet arrived beyond the gap: starts a recovery unless one is in progress.
    fn arrived_beyond(&mut self, ack: u64, segment: &Segment) {
        let mss = self.rules.mss;
        for (start, _) in segment.sacked().filter(|(start, _)| *start >= ack) {
            self.repair.arrived.insert(start / mss);
        }
        if ack >= self.repair.until {
            self.repair.until = self.fresh;
            self.repair.next = ack / mss;
            self.repair.all_below = 0;
            self.counts.recoveries += 1;
        }
    }

    /// Called when nothing has been acknowledged for too long: everything in flight is retransmitted.
    #[cold]
    pub(super) fn expire(&mut self, now: Time) {
        self.counts.timeouts += 1;
        self.backoff += 1;
        self.counts.timeouts_in_a_row = self.counts.timeouts_in_a_row.max(self.backoff);
        if let Some(marker) = &mut self.marker {
            marker.timed_out();
        }
        if self.rules.selective {
            self.repair.until = self.fresh;
            self.repair.next = self.una / self.rules.mss;
            self.repair.all_below = self.fresh.div_ceil(self.rules.mss);
        } else {
            self.next = self.una;
        }
        self.restart(now);
        self.choose();
    }

    /// Restarts the time-out.
    pub(super) fn restart(&mut self, now: Time) {
        let silence = self.timeout();
        self.retry_at = now + silence + self.out_of_step(silence);
    }

    /// A random time of at most an eighth, so that senders that stopped together do not retry in lockstep forever.
    fn out_of_step(&self, silence: Span) -> Span {
        if self.backoff < 2 || !self.pairs.settings.retry_backoff {
            return Span::ZERO;
        }
        let attempt = u64::from(self.flow.0) << 32 | u64::from(self.counts.timeouts);
        Span((silence.0 as f64 / 8.0 * Random::new(self.seed, Purpose::Retry, attempt).unit()) as u64)
    }

    /// The current time-out.
    pub(super) fn timeout(&self) -> Span {
        let settings = &self.pairs.settings;
        let few = self.fresh - self.una <= u64::from(settings.low_packets) * self.rules.mss;
        let base = match settings.retry_timeout_low {
            Some(low) if few => low,
            _ => settings.retry_timeout,
        };
        let base = base.max(Span::from_us(1));
        if !settings.retry_backoff {
            return base;
        }
        (base * (1 << self.backoff.min(20))).min(settings.retry_timeout_max.max(base))
    }

    pub(super) fn state(&self) -> FlowState {
        if self.backoff > 0 {
            FlowState::Loss
        } else if self.next < self.fresh || self.una < self.repair.until {
            FlowState::Recovery
        } else {
            FlowState::Open
        }
    }
}
