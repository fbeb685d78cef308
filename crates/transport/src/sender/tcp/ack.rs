//! Processing of an acknowledgement: it is recorded, losses are detected, then the window and the timers follow.

use weft_core::record::FlowState;
use weft_core::{Span, Time};

use super::{Phase, TcpSender, Trouble};
use crate::congestion::AckEvent;
use crate::segment::{BlockCount, Flags, Segment};
use weft_recovery::prr::Delivery;
use weft_recovery::scoreboard::{News, Overtaken, Reference};

/// The content of an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Digest {
    /// Payload by which the cumulative acknowledgement advanced.
    acked: u64,
    /// Payload now known to have arrived.
    pub(super) delivered: u64,
    /// Payload newly declared lost.
    pub(super) lost: u64,
    /// How far other packets had overtaken the arrivals.
    overtaken: Overtaken,
    /// The round trip it measures.
    rtt: Option<Span>,
}

impl TcpSender {
    #[inline(always)]
    pub(super) fn acknowledged(&mut self, now: Time, segment: &Segment) {
        let ack = segment.ack.min(self.size);
        if ack < self.una || ack > self.next {
            return;
        }
        // Zero unless the window tunes itself; it never shrinks.
        self.rules.receive_window = self.rules.receive_window.max(segment.sequence);
        let expected = ack > self.una && segment.blocks_used == BlockCount::Zero && self.dupacks == 0;
        if expected && self.trouble.is_none() && self.probe.is_none() {
            self.advance(now, ack, segment);
        } else {
            self.acknowledged_in_trouble(now, ack, segment);
        }
        if self.una == self.size {
            self.all_acknowledged(now);
        }
    }

    /// The usual case: progress, and nothing is or was missing.
    #[inline(always)]
    fn advance(&mut self, now: Time, ack: u64, segment: &Segment) {
        let (acked, in_flight) = (ack - self.una, self.outstanding());
        self.una = ack;
        let rtt = self.measure(now, segment);
        let grows = self.state == FlowState::Open && !self.is_marked(segment);
        let event = self.event(now, segment, (acked, rtt), in_flight);
        self.law.advance_with(&mut self.window, || event, grows);
        if !grows {
            // A copy, so that the usual case keeps what it needs of the event in registers.
            let copy = event;
            self.react(&copy, &Digest { acked, delivered: acked, rtt, ..Digest::default() });
        }
        self.restart_timers(now, true);
    }

    /// Handles the case that payload is missing, or has been missing before on this connection.
    #[inline(never)]
    fn acknowledged_in_trouble(&mut self, now: Time, ack: u64, segment: &Segment) {
        let in_flight = self.pipe();
        let mut digest = self.take_in(ack, segment);
        if digest.delivered > 0 {
            digest.rtt = self.measure(now, segment);
        }
        let event = self.event(now, segment, (digest.delivered, digest.rtt), in_flight);
        self.law.observe(&mut self.window, &event);
        if self.trouble.is_some() {
            self.judge(now, segment, &mut digest);
        }
        self.react(&event, &digest);
        self.after_probe(now, segment);
        self.restart_timers(now, digest.acked > 0);
    }

    #[inline]
    fn event(
        &self,
        now: Time,
        segment: &Segment,
        (acked, rtt): (u64, Option<Span>),
        in_flight: u64,
    ) -> AckEvent {
        let in_slow_start = self.window.in_slow_start();
        AckEvent {
            now,
            acked,
            rtt,
            min_rtt: self.trip.least(),
            srtt: self.trip.smoothed(),
            in_flight,
            cwnd_limited: self.usage.limited || in_slow_start && self.window.cwnd < 2 * self.usage.most,
            marked: self.is_marked(segment),
            una: self.una,
            next: self.next,
        }
    }

    /// Whether an acknowledgement echoes a mark that counts.
    #[inline]
    fn is_marked(&self, segment: &Segment) -> bool {
        self.rules.marks && segment.flags.has(Flags::ECE)
    }

    /// Records the cumulative and the selective acknowledgement.
    fn take_in(&mut self, ack: u64, segment: &Segment) -> Digest {
        let acked = ack - self.una;
        self.una = ack;
        let mut digest = Digest { acked, delivered: acked, ..Digest::default() };
        if let Some(trouble) = &mut self.trouble {
            let news = trouble.board.advance(ack);
            digest.delivered -= news.bytes;
            digest.overtaken = news.overtaken;
        }
        if !self.rules.sack {
            digest.delivered = self.count_duplicates(acked);
        } else if segment.blocks_used != BlockCount::Zero {
            let news = self.take_in_blocks(segment, acked > 0);
            digest.delivered += news.bytes;
            digest.overtaken = digest.overtaken.or(news.overtaken);
            self.dupacks = if acked > 0 { 0 } else { self.dupacks + u32::from(news.bytes > 0) };
        } else if acked > 0 {
            self.dupacks = 0;
        }
        digest
    }

    /// Records the selective acknowledgement. Without progress the echo belongs to the first block; bytes reported by
    /// other blocks were sent earlier.
    fn take_in_blocks(&mut self, segment: &Segment, progress: bool) -> News {
        let (una, next, newest) = (self.una, self.next, self.newest);
        let mut all = News::default();
        let mut sent = if progress { newest } else { segment.echo };
        let board = &mut self.trouble().board;
        for (start, end) in segment.sacked() {
            let (start, end) = (start.max(una), end.min(next));
            if start < end {
                let news = board.sack(start..end, sent);
                all.bytes += news.bytes;
                all.overtaken = all.overtaken.or(news.overtaken);
            }
            sent = newest;
        }
        all
    }

    /// Without selective acknowledgements, a duplicate means that one segment has arrived; a later cumulative
    /// acknowledgement must not count these segments again. Returns the payload delivered.
    fn count_duplicates(&mut self, acked: u64) -> u64 {
        let mss = self.window.mss;
        if acked == 0 {
            let duplicate = self.outstanding() > 0;
            self.dupacks += u32::from(duplicate);
            return if duplicate { mss } else { 0 };
        }
        let said = u64::from(self.dupacks).min((acked / mss).saturating_sub(1));
        self.dupacks = if self.state == FlowState::Recovery { self.dupacks - said as u32 } else { 0 };
        acked - said * mss
    }

    /// Learns about reordering, updates RACK, then detects losses.
    fn judge(&mut self, now: Time, segment: &Segment, digest: &mut Digest) {
        let (una, next, least) = (self.una, self.next, self.trip.least());
        let flags = segment.flags;
        let first_block = segment.sacked().next().filter(|_| digest.acked == 0);
        let answered = first_block.map_or(una, |(_, end)| end);
        let mss = self.window.mss;
        let Trouble { rack, patience, undo, .. } = self.trouble();
        if digest.delivered > 0 {
            let reference = Reference { sent: segment.echo, end: answered };
            rack.delivered(reference, now.since(segment.echo), flags.has(Flags::AGAIN), least);
        }
        if digest.overtaken.sent_once > 0 {
            rack.saw_reordering();
            patience.overtaken(digest.overtaken.sent_once, mss);
        }
        if let Some(undo) = undo {
            undo.extent = undo.extent.max(digest.overtaken.sent_twice);
        }
        if let Some(start) = segment.duplicate() {
            rack.saw_duplicate(una, next);
            undo.iter_mut().for_each(|undo| undo.duplicate(start));
            self.undo_if_proved();
        }
        digest.lost = self.look_for_losses(now);
    }

    /// Updates the window and the recovery state.
    #[inline(never)]
    fn react(&mut self, event: &AckEvent, digest: &Digest) {
        self.leave_if_over();
        match self.state {
            FlowState::Open | FlowState::Disorder => self.react_calmly(event, digest),
            FlowState::Reducing | FlowState::Recovery => {
                self.begin_recovery_if_due(event.now);
                self.repair(digest);
            }
            FlowState::Loss => self.grow(event, digest),
        }
    }

    fn react_calmly(&mut self, event: &AckEvent, digest: &Digest) {
        if self.begin_recovery_if_due(event.now) {
            return self.repair(digest);
        }
        self.state = if self.nothing_missing() { FlowState::Open } else { FlowState::Disorder };
        if event.marked && self.mark_counts() {
            self.begin_reduction(event.now);
            self.repair(digest);
        } else {
            self.grow(event, digest);
        }
    }

    fn grow(&mut self, event: &AckEvent, digest: &Digest) {
        if digest.acked > 0 {
            let new = self.transport.tcp.grow_by_delivered;
            let acked = if new { digest.delivered } else { digest.acked };
            self.law.grow(&mut self.window, &AckEvent { acked, ..*event });
        }
    }

    /// Handles an acknowledgement during recovery or reduction.
    fn repair(&mut self, digest: &Digest) {
        let partial = digest.acked > 0 && self.state == FlowState::Recovery;
        if partial && !self.transport.tcp.sack {
            self.lose_head();
        }
        let delivery = Delivery {
            bytes: digest.delivered,
            pipe: self.pipe(),
            clean: digest.acked > 0 && digest.lost == 0,
        };
        self.reduce_in_proportion(&delivery);
    }

    /// All payload has arrived.
    #[cold]
    fn all_acknowledged(&mut self, now: Time) {
        self.newest = now;
        (self.retransmit_at, self.probe_at, self.verdict_at) = (Time::NEVER, Time::NEVER, Time::NEVER);
        self.pace_at = Time::NEVER;
        self.phase = if self.transport.tcp.close { Phase::Closing } else { Phase::Done };
    }
}
