//! The choice of the next packet, recomputed whenever anything changes, so that it reflects the newest
//! acknowledgement when the network card asks.

use std::ops::Range;

use weft_core::record::FlowState;
use weft_core::{Ecn, Header, Marks, PacketKind, Time};

use super::{Phase, TcpSender, Trouble};
use crate::segment::{BlockCount, Flags, Segment};
use crate::settings::LossDetection;
use crate::tagging::Tagged;
use weft_recovery::reordering::Undo;

/// What to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum What {
    #[default]
    Nothing,
    Syn,
    /// The acknowledgement of the other side's FIN.
    Close,
    /// A retransmission; the bytes are looked up again when it is sent.
    Again(Why),
    /// New payload.
    New,
}

/// Why payload is retransmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// It is lost.
    Lost,
    /// A segment that may be lost, if there is nothing better to send (NextSeg, rule 3).
    Doubtful,
    /// The last segment, once per recovery, to elicit an acknowledgement (NextSeg, rule 4).
    Rescue,
    /// The last segment, because no acknowledgement arrived for a while.
    Probe,
    /// Part of the data in flight, to elicit an echo (TLT).
    Forced,
}

/// The next new segment.
#[derive(Clone, Copy)]
struct New {
    /// Its payload, as limited by application and receiver.
    length: u64,
    /// Whether it may go now.
    may_go: bool,
}

/// The packet to send and, for a retransmission, its bytes.
type Choice = (What, Range<u64>);

pub(super) const NOTHING: Choice = (What::Nothing, 0..0);

impl New {
    #[inline]
    const fn choice(self) -> What {
        if self.may_go { What::New } else { What::Nothing }
    }
}

impl TcpSender {
    /// Sends the chosen packet; must not be called if none was chosen.
    #[inline(always)]
    pub(crate) fn send(&mut self, now: Time, header: &mut Header, segment: &mut Segment) {
        if self.choice == What::New {
            self.send_new(now, header, segment);
        } else {
            self.send_other(now, header, segment);
        }
    }

    /// Sends anything other than new payload.
    #[inline(never)]
    fn send_other(&mut self, now: Time, header: &mut Header, segment: &mut Segment) {
        match self.choice {
            What::Again(why) => return self.send_payload_again(why, now, header, segment),
            What::Syn => self.send_syn(now, header, segment),
            What::Close => self.send_close(now, header, segment),
            What::New | What::Nothing => unreachable!("there is something else to send"),
        }
        self.look_ahead(now);
    }

    fn send_payload_again(&mut self, why: Why, now: Time, header: &mut Header, segment: &mut Segment) {
        self.send_again(why, now, segment);
        let wire = self.transport.data_wire(u64::from(segment.length));
        self.head(header, PacketKind::Data, wire, self.rules.ecn_again);
        if self.labels.is_some() {
            self.tag(now, header, segment);
        }
        if self.rules.tlt {
            self.color_and_choose(now, header, segment);
        } else {
            self.look_ahead(now);
        }
    }

    /// Chooses what to send next, after any change.
    #[inline]
    pub(super) fn look_ahead(&mut self, now: Time) {
        if self.phase == Phase::Open && self.usual() && !self.owed.probe {
            self.choice = self.new_segment(true, now).choice();
        } else {
            self.choice = self.choose(now).0;
            if self.rules.tlt && self.choice == What::Nothing {
                self.idle_under_tlt(now);
            }
        }
    }

    #[inline(never)]
    pub(super) fn choose(&self, now: Time) -> Choice {
        match self.phase {
            Phase::Open => match self.choose_payload(now) {
                NOTHING if self.rules.tlt => self.choose_under_tlt(now),
                choice => choice,
            },
            Phase::Opening if self.owed.syn => (What::Syn, 0..0),
            Phase::Closing => (What::Close, 0..0),
            Phase::Opening | Phase::Done => NOTHING,
        }
    }

    /// Chooses in the order of RFC 6675, NextSeg: lost segments, new data, segments that may be lost, the last segment.
    /// A tail loss probe ignores the window.
    fn choose_payload(&self, now: Time) -> Choice {
        let room = self.room();
        if let Some(bytes) = self.trouble.as_ref().and_then(|trouble| trouble.board.first_waiting()) {
            let bytes = self.one_segment(bytes);
            let fits = self.owed.lost || bytes.end - bytes.start <= room;
            return if fits { (What::Again(Why::Lost), bytes) } else { NOTHING };
        }
        let new = self.new_segment(self.usual(), now);
        if self.owed.probe {
            return if new.length > 0 { (What::New, 0..0) } else { self.last_segment(Why::Probe) };
        }
        if new.length > 0 {
            return (new.choice(), 0..0);
        }
        if self.state == FlowState::Recovery && room >= self.window.mss {
            return self.choose_doubtful();
        }
        NOTHING
    }

    /// Rules 3 and 4, which RACK does not need.
    fn choose_doubtful(&self) -> Choice {
        let tcp = &self.transport.tcp;
        if !tcp.sack || tcp.loss_detection == LossDetection::Rack {
            return NOTHING;
        }
        let doubtful = self.trouble.as_ref().and_then(|trouble| trouble.board.first_doubtful());
        match doubtful {
            Some(bytes) => (What::Again(Why::Doubtful), self.one_segment(bytes)),
            None if !self.rescued => self.last_segment(Why::Rescue),
            None => NOTHING,
        }
    }

    /// At most one segment of `bytes`, from the front.
    pub(super) fn one_segment(&self, bytes: Range<u64>) -> Range<u64> {
        bytes.start..bytes.end.min(bytes.start + self.window.mss)
    }

    /// The last segment that has not arrived; segments start at multiples of the segment size.
    fn last_segment(&self, why: Why) -> Choice {
        let missing = match &self.trouble {
            Some(trouble) => trouble.board.last_missing(self.next),
            None => self.una..self.next,
        };
        if missing.is_empty() {
            return NOTHING;
        }
        let start = (missing.end - 1) / self.window.mss * self.window.mss;
        (What::Again(why), start.max(missing.start)..missing.end)
    }

    /// The room left in the window.
    #[inline]
    fn room(&self) -> u64 {
        self.window.cwnd.saturating_sub(self.pipe())
    }

    /// Payload of a new segment, as limited by the application.
    #[inline]
    fn next_length(&self) -> u64 {
        self.window.mss.min(self.size - self.next)
    }

    /// The next new segment; `usual` as of [`TcpSender::usual`].
    #[inline]
    fn new_segment(&self, usual: bool, now: Time) -> New {
        let length = self.next_length();
        let in_flight = self.outstanding() + length;
        if length == 0 || in_flight > self.rules.receive_window {
            return New { length: 0, may_go: false };
        }
        let may_go = if usual { in_flight <= self.window.cwnd } else { self.may_send_new(length, now) };
        New { length, may_go }
    }

    /// Whether nothing is or was missing and neither bursts, pacing nor TLT are in use: what is outstanding is in
    /// flight, and only the windows limit new payload.
    #[inline]
    fn usual(&self) -> bool {
        !self.rules.special && self.trouble.is_none() && self.dupacks == 0
    }

    /// Whether the window, limited transmit, bursts and pacing allow a new segment of `length`.
    #[inline(never)]
    fn may_send_new(&self, length: u64, now: Time) -> bool {
        self.window_allows(length) && self.burst_allows(self.room(), now)
    }

    /// Whether the window and limited transmit allow a new segment of `length`.
    fn window_allows(&self, length: u64) -> bool {
        let waits = self.state == FlowState::Disorder && !self.may_send_in_disorder(length);
        length <= self.room() && !waits
    }

    /// Whether the windows allow a new segment, so that only bursts or pacing can hold it back.
    pub(super) fn windows_allow_new(&self) -> bool {
        let length = self.next_length();
        let lost = self.trouble.as_ref().is_some_and(|trouble| trouble.board.waiting() > 0);
        let received = self.outstanding() + length <= self.rules.receive_window;
        length > 0 && !lost && received && self.window_allows(length)
    }

    /// Whether only pacing holds back a new segment of `length`: then the window is not the limit.
    fn held_by_pace(&self, length: u64, now: Time) -> bool {
        self.rules.pacing && self.window_allows(length) && !self.waits_for_burst(self.room(), now)
    }

    /// Limited transmit (RFC 3042).
    fn may_send_in_disorder(&self, length: u64) -> bool {
        self.transport.tcp.limited_transmit || self.outstanding() + length <= self.window.cwnd
    }

    #[cold]
    fn send_syn(&mut self, now: Time, header: &mut Header, segment: &mut Segment) {
        let again = self.counts.syn_timeouts > 0;
        self.owed.syn = false;
        self.start_retransmission_timer(now, false);
        let asks = Flags::ECE.with(Flags::CWR);
        let flags = Flags::SYN.with_if(self.rules.marks, asks).with_if(again, Flags::AGAIN);
        *segment = Segment { flow: self.flow, flags, sent: now, ..Segment::default() };
        self.head(header, PacketKind::Control, self.transport.syn_wire(), self.rules.ecn_again);
    }

    #[cold]
    fn send_close(&mut self, now: Time, header: &mut Header, segment: &mut Segment) {
        self.phase = Phase::Done;
        let (flow, flags, sequence) = (self.flow, Flags::ACK, self.size);
        *segment = Segment { flow, flags, sequence, sent: now, ..Segment::default() };
        self.head(header, PacketKind::Ack, self.transport.ack_wire(BlockCount::Zero), self.rules.ecn_again);
    }

    #[inline]
    fn head(&self, header: &mut Header, kind: PacketKind, wire: u16, ecn: Ecn) {
        (header.ports, header.wire, header.kind) = (self.ports, wire, kind);
        (header.class, header.marks) = (self.rules.class, Marks { ecn });
    }

    #[inline(always)]
    fn send_new(&mut self, now: Time, header: &mut Header, segment: &mut Segment) {
        let (usual, probe) = (self.usual(), self.owed.probe);
        let (start, length) = (self.next, self.next_length());
        self.next += length;
        self.newest = now;
        self.reduction.sent(length);
        if probe || !usual {
            self.count_probe_and_burst(length, now);
        }
        self.start_retransmission_timer(now, probe);
        self.schedule_probe(now);
        let flags = Flags::default().with_if(std::mem::take(&mut self.owed.cwr), Flags::CWR);
        *segment = self.data(start..self.next, flags, now);
        let full = length == self.window.mss;
        let wire = if full { self.rules.full_wire } else { self.transport.data_wire(length) };
        self.head(header, PacketKind::Data, wire, self.rules.ecn);
        if self.labels.is_some() {
            self.tag(now, header, segment);
        }
        let new = self.new_segment(usual, now);
        let held = new.length > 0 && !new.may_go;
        self.note_usage(held && (usual || !self.held_by_pace(new.length, now)));
        if usual {
            self.choice = new.choice();
        } else if self.rules.tlt {
            self.color_and_choose(now, header, segment);
        } else {
            self.choice = self.choose(now).0;
        }
    }

    #[inline(never)]
    fn count_probe_and_burst(&mut self, length: u64, now: Time) {
        if self.rules.bursts {
            self.continue_burst(length, now);
        }
        if self.owed.probe {
            self.probed(false);
        }
    }

    fn send_again(&mut self, why: Why, now: Time, segment: &mut Segment) {
        let bytes = self.choose(now).1;
        if why == Why::Forced {
            return self.send_forced(now, bytes, segment);
        }
        let (next, newest) = (self.next, self.newest);
        let Trouble { board, undo, .. } = self.trouble();
        // Data now in flight was sent before this.
        board.extend(next, newest);
        undo.iter_mut().for_each(Undo::sent_again);
        match why {
            // A rescue leaves no trace: the segment may be sent once more when it counts as lost.
            Why::Rescue | Why::Forced => self.rescued = true,
            Why::Lost | Why::Doubtful => board.resend(bytes.clone(), now),
            Why::Probe => {
                board.resend(bytes.clone(), now);
                self.probed(true);
            }
        }
        self.owed.lost = false;
        let length = bytes.end - bytes.start;
        self.counts.retransmitted += length;
        self.reduction.sent(length);
        self.start_retransmission_timer(now, bytes.start == self.una);
        *segment = self.data(bytes, Flags::AGAIN, now);
    }

    /// Gives a packet of payload its class under PIAS.
    #[inline]
    fn tag(&mut self, now: Time, header: &mut Header, segment: &Segment) {
        let known = self.labels.as_ref().and_then(|labels| labels.tagger.known(segment.sequence));
        match known {
            Some(class) => header.class = class,
            None => self.tag_anew(now, header, segment),
        }
    }

    #[inline(never)]
    fn tag_anew(&mut self, now: Time, header: &mut Header, segment: &Segment) {
        let timeouts = self.timeouts_in_a_row();
        let Some(labels) = &mut self.labels else { return };
        let (start, length) = (segment.sequence, u64::from(segment.length));
        let packet = Tagged { now, start, length, timeouts };
        header.class = labels.tagger.class(&self.transport.tcp.pias, self.rules.class, packet);
    }

    #[inline]
    pub(super) fn data(&self, bytes: Range<u64>, flags: Flags, now: Time) -> Segment {
        let last = self.rules.close && bytes.end == self.size;
        Segment {
            flow: self.flow,
            length: (bytes.end - bytes.start) as u16,
            flags: flags.with_if(last, Flags::FIN),
            sequence: bytes.start,
            sent: now,
            ..Segment::default()
        }
    }

    /// Records, after new data was sent, whether the window is the limit (Linux's tcp_cwnd_validate).
    #[inline]
    fn note_usage(&mut self, limited: bool) {
        let usage = &mut self.usage;
        let outstanding = self.next - self.una;
        if self.una >= usage.until || limited || !usage.limited && outstanding > usage.most {
            (usage.limited, usage.most, usage.until) = (limited, outstanding, self.next);
        }
    }
}
