//! What goes out next. The choice is made when the network card asks, so that it rests on the newest acknowledgement.

use std::ops::Range;

use weft_core::{Class, Ecn, Kind, Time};

use super::{Phase, SenderState, TcpSender};
use crate::segment::{Flags, Outgoing, Segment};
use crate::settings::LossDetection;
use crate::transport::Marking;

/// What to send.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Choice {
    Nothing,
    Syn,
    /// The answer to the other side's FIN.
    Close,
    /// Payload sent before.
    Again(Range<u64>, Why),
    /// So much new payload.
    New(u64),
}

/// Why payload goes again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// It is lost.
    Lost,
    /// It may be lost, and there is nothing better to send (NextSeg, rule 3).
    Doubtful,
    /// The last segment, once per recovery, so that something comes back (NextSeg, rule 4).
    Rescue,
    /// The last segment, because nothing came back for a while.
    Probe,
}

impl TcpSender {
    pub(in crate::sender) fn ready(&self, now: Time) -> bool {
        self.choose(now) != Choice::Nothing
    }

    pub(in crate::sender) fn poll(&mut self, now: Time) -> Option<Outgoing> {
        match self.choose(now) {
            Choice::Nothing => None,
            Choice::Syn => Some(self.send_syn(now)),
            Choice::Close => Some(self.send_close(now)),
            Choice::Again(bytes, why) => Some(self.send_again(bytes, why, now)),
            Choice::New(length) => Some(self.send_new(length, now)),
        }
    }

    fn choose(&self, now: Time) -> Choice {
        match self.phase {
            Phase::Open => self.choose_payload(now),
            Phase::Opening if self.owed.syn => Choice::Syn,
            Phase::Closing => Choice::Close,
            Phase::Opening | Phase::Done => Choice::Nothing,
        }
    }

    /// The order of RFC 6675, NextSeg: what is lost, new data, what may be lost, the last segment. A tail loss probe does
    /// not ask the window.
    fn choose_payload(&self, now: Time) -> Choice {
        let room = self.window.cwnd.saturating_sub(self.pipe());
        if let Some(trouble) = &self.trouble
            && let Some(bytes) = trouble.board.first_waiting()
        {
            let bytes = self.one_segment(bytes);
            let fits = self.owed.lost || bytes.end - bytes.start <= room;
            return if fits { Choice::Again(bytes, Why::Lost) } else { Choice::Nothing };
        }
        let length = self.new_length();
        if self.owed.probe {
            return if length > 0 { Choice::New(length) } else { self.last_segment(Why::Probe) };
        }
        if length > 0 {
            let goes = self.may_send_new(length, room) && self.burst_allows(room, now);
            return if goes { Choice::New(length) } else { Choice::Nothing };
        }
        if self.state == SenderState::Recovery && room >= self.window.mss {
            return self.choose_doubtful();
        }
        Choice::Nothing
    }

    /// Rules 3 and 4, which RACK does not need.
    fn choose_doubtful(&self) -> Choice {
        let tcp = &self.transport.tcp;
        if !tcp.sack || tcp.loss_detection == LossDetection::Rack {
            return Choice::Nothing;
        }
        let doubtful = self.trouble.as_ref().and_then(|trouble| trouble.board.first_doubtful());
        match doubtful {
            Some(bytes) => Choice::Again(self.one_segment(bytes), Why::Doubtful),
            None if !self.rescued => self.last_segment(Why::Rescue),
            None => Choice::Nothing,
        }
    }

    /// At most one segment of `bytes`, from the front.
    fn one_segment(&self, bytes: Range<u64>) -> Range<u64> {
        bytes.start..bytes.end.min(bytes.start + self.window.mss)
    }

    /// The last segment that has not arrived; segments begin at multiples of the segment size.
    fn last_segment(&self, why: Why) -> Choice {
        let missing = match &self.trouble {
            Some(trouble) => trouble.board.last_missing(self.next),
            None => self.una..self.next,
        };
        if missing.is_empty() {
            return Choice::Nothing;
        }
        let start = (missing.end - 1) / self.window.mss * self.window.mss;
        Choice::Again(start.max(missing.start)..missing.end, why)
    }

    /// The payload of the next new segment, as far as application and receiver go.
    fn new_length(&self) -> u64 {
        let length = self.window.mss.min(self.size - self.next);
        let taken = self.outstanding() + length;
        if taken <= self.transport.receive_window() { length } else { 0 }
    }

    /// Whether the window and limited transmit let a new segment of `length` out.
    fn may_send_new(&self, length: u64, room: u64) -> bool {
        let tcp = &self.transport.tcp;
        let waits = !tcp.limited_transmit && self.state == SenderState::Disorder;
        length <= room && !(waits && self.outstanding() + length > self.window.cwnd)
    }

    fn send_syn(&mut self, now: Time) -> Outgoing {
        let again = self.trip.backoff() > 0;
        self.owed.syn = false;
        self.start_retransmission_timer(now, false);
        let asks = self.transport.marking != Marking::Off;
        let flags = Flags::SYN.with_if(asks, Flags::ECE.with(Flags::CWR)).with_if(again, Flags::AGAIN);
        self.control(flags, 0, self.transport.syn_wire(), now)
    }

    fn send_close(&mut self, now: Time) -> Outgoing {
        self.phase = Phase::Done;
        let ack = self.control(Flags::ACK, self.size, self.transport.ack_wire(0), now);
        Outgoing { kind: Kind::Ack, ..ack }
    }

    /// A segment without payload.
    fn control(&self, flags: Flags, sequence: u64, wire: u16, now: Time) -> Outgoing {
        let ecn = self.ecn(self.transport.marking == Marking::Accurate);
        let segment = Segment { flow: self.flow, flags, sequence, sent: now, ..Segment::default() };
        Outgoing { segment, wire, kind: Kind::Control, class: Class(0), ecn, ports: self.ports }
    }

    fn ecn(&self, capable: bool) -> Ecn {
        if capable { Ecn::Capable } else { Ecn::NotCapable }
    }

    fn send_new(&mut self, length: u64, now: Time) -> Outgoing {
        let bytes = self.next..self.next + length;
        if self.transport.tcp.tso || self.transport.tcp.pacing {
            self.continue_burst(length, self.window.cwnd.saturating_sub(self.pipe()), now);
        }
        self.next = bytes.end;
        self.newest = now;
        self.reduction.sent(length);
        let probe = self.owed.probe;
        if probe {
            self.probed(false);
        }
        self.start_retransmission_timer(now, probe);
        self.schedule_probe(now);
        self.note_usage(now);
        let flags = Flags::default().with_if(std::mem::take(&mut self.owed.cwr), Flags::CWR);
        let ecn = self.ecn(self.transport.marking != Marking::Off);
        self.data(bytes, flags, ecn, now)
    }

    fn send_again(&mut self, bytes: Range<u64>, why: Why, now: Time) -> Outgoing {
        let (next, newest) = (self.next, self.newest);
        let board = &mut self.trouble().board;
        // What is in flight by now was sent before this.
        board.extend(next, newest);
        match why {
            // A rescue leaves no trace: the segment may be sent once more when it counts as lost.
            Why::Rescue => self.rescued = true,
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
        let ecn = self.ecn(self.transport.marking == Marking::Accurate);
        self.data(bytes, Flags::AGAIN, ecn, now)
    }

    fn data(&self, bytes: Range<u64>, flags: Flags, ecn: Ecn, now: Time) -> Outgoing {
        let length = bytes.end - bytes.start;
        let last = self.transport.tcp.close && bytes.end == self.size;
        let segment = Segment {
            flow: self.flow,
            length: length as u16,
            flags: flags.with_if(last, Flags::FIN),
            sequence: bytes.start,
            sent: now,
            ..Segment::default()
        };
        let wire = self.transport.data_wire(length);
        Outgoing { segment, wire, kind: Kind::Data, class: Class(0), ecn, ports: self.ports }
    }

    /// Notes after new data was sent whether the window is the limit (tcp_cwnd_validate of Linux).
    fn note_usage(&mut self, now: Time) {
        let length = self.new_length();
        let room = self.window.cwnd.saturating_sub(self.pipe());
        let limited = length > 0 && (!self.may_send_new(length, room) || self.waits_for_burst(room, now));
        let usage = &mut self.usage;
        let outstanding = self.next - self.una;
        if self.una >= usage.until || limited || !usage.limited && outstanding > usage.most {
            (usage.limited, usage.most, usage.until) = (limited, outstanding, self.next);
        }
    }
}
