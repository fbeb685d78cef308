//! TLT at the sender: the important packets, the losses that an echo proves, and packets sent although the window is
//! closed. Unused without TLT.

use std::ops::Range;

use weft_core::{Header, Time};
use weft_recovery::prr::Delivery;
use weft_tlt::settings::Clocking;
use weft_tlt::{InFlight, flags};

use super::send::{NOTHING, What, Why};
use super::{Phase, TcpSender};
use crate::segment::{Flags, Segment};

impl TcpSender {
    /// Colours the payload just written, and chooses what to send next.
    #[inline(never)]
    pub(super) fn color_and_choose(&mut self, now: Time, header: &mut Header, segment: &Segment) {
        let bytes = segment.sequence..segment.end();
        let mut important = self.labels.as_mut().is_some_and(|labels| labels.tlt.sends(bytes.clone()));
        self.choice = self.choose(now).0;
        let exhausted = self.choice == What::Nothing && !self.waits_for_pace(now);
        if let Some(labels) = self.labels.as_mut().filter(|_| exhausted) {
            important |= labels.tlt.exhausted(&bytes);
        }
        if let Some(labels) = self.labels.as_mut().filter(|_| important) {
            labels.important += bytes.end - bytes.start;
        }
        header.kind = weft_tlt::kind(important);
    }

    /// Processes an acknowledgement under TLT: losses that its echo proves are recorded before the rest. The answer
    /// to a forced packet is passed on only if it brings news; otherwise it would look like a duplicate
    /// acknowledgement.
    #[inline(never)]
    pub(super) fn acknowledged_under_tlt(&mut self, now: Time, segment: &Segment) {
        let Some(labels) = &mut self.labels else { return };
        let tlt = &mut labels.tlt;
        tlt.arrived(segment.ack.min(self.size), segment.sacked());
        let lost = if segment.flags.has(flags::ECHO) { tlt.echoed() } else { Default::default() };
        let newest = self.newest;
        for bytes in lost.iter() {
            self.trouble().board.lose_range(bytes, newest);
        }
        let forced = segment.flags.has(flags::FORCED_ECHO);
        if !forced || self.brings_news(segment) {
            let flags = if forced { segment.flags.without(Flags::DUPLICATE) } else { segment.flags };
            self.acknowledged(now, &Segment { flags, ..*segment });
        }
        if self.una < self.size && !lost.is_empty() && self.begin_recovery_if_due(now) {
            self.reduce_in_proportion(&Delivery { bytes: 0, pipe: self.pipe(), clean: false });
        }
    }

    /// Whether an acknowledgement reports any payload not known to have arrived.
    fn brings_news(&self, segment: &Segment) -> bool {
        let known = |(start, end)| {
            end <= self.una || self.trouble.as_ref().is_some_and(|trouble| trouble.board.has(start..end))
        };
        segment.ack > self.una || !segment.sacked().all(known)
    }

    /// There is nothing to send. If that is because something closed the first window before its last packet was sent,
    /// nothing green is in flight, and a packet is forced.
    #[cold]
    pub(super) fn idle_under_tlt(&mut self, now: Time) {
        let waits = self.phase == Phase::Open && self.outstanding() > 0 && !self.waits_for_pace(now);
        if let Some(labels) = self.labels.as_mut().filter(|_| waits)
            && labels.tlt.closed()
        {
            self.choice = self.choose(now).0;
        }
    }

    /// Whether the window is open and new payload goes as soon as the pace allows, so that nothing is forced.
    fn waits_for_pace(&self, now: Time) -> bool {
        self.is_early(now) && self.windows_allow_new()
    }

    /// Chooses what to send when the transport has nothing. An important packet that is due ends the wait for a whole burst.
    pub(super) fn choose_under_tlt(&self, now: Time) -> (What, Range<u64>) {
        match self.windows_allow_new() {
            true if self.is_early(now) || !self.labels.as_ref().is_some_and(|labels| labels.tlt.is_due()) => {
                NOTHING
            }
            true => (What::New, 0..0),
            false => self.choose_forced(),
        }
    }

    /// Chooses what to send although the window is closed.
    fn choose_forced(&self) -> (What, Range<u64>) {
        let Some(labels) = self.labels.as_ref().filter(|labels| labels.tlt.is_due()) else { return NOTHING };
        let lost = self.trouble.as_ref().and_then(|trouble| trouble.board.first_waiting());
        let flight = InFlight { una: self.una, next: self.next, mss: self.window.mss };
        let clocking = self.transport.tcp.tlt.as_ref().map_or(Clocking::Adaptive, |tlt| tlt.clocking);
        match (lost, labels.tlt.forced(clocking, flight)) {
            (Some(bytes), Some(_)) if clocking != Clocking::Byte => {
                (What::Again(Why::Lost), self.one_segment(bytes))
            }
            (_, Some(bytes)) => (What::Again(Why::Forced), bytes),
            (_, None) => NOTHING,
        }
    }

    /// Sends a packet that the window would not allow. The scoreboard does not record it, so it may be declared lost
    /// and sent again.
    #[inline(never)]
    pub(super) fn send_forced(&mut self, now: Time, bytes: Range<u64>, segment: &mut Segment) {
        self.counts.probes += 1;
        self.counts.retransmitted += bytes.end - bytes.start;
        self.start_retransmission_timer(now, false);
        *segment = self.data(bytes, Flags::AGAIN.with(flags::FORCED), now);
    }
}
