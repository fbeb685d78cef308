//! What leaves next: the SYN, a probe, what is lost, new data, in this order.

use weft_core::{Bytes, Class, Ecn, Kind, Time};

use super::{Phase, TcpSender};
use crate::segment::{Flags, Outgoing, Segment, ports};
use crate::transport::Marking;

/// What the next packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Syn,
    Probe,
    /// The segment at this place of the scoreboard.
    Again(usize),
    New,
}

impl TcpSender {
    pub(in crate::sender) fn ready(&self) -> bool {
        self.choose().is_some()
    }

    pub(in crate::sender) fn poll(&mut self, now: Time) -> Option<Outgoing> {
        let out = match self.choose()? {
            Next::Syn => self.send_syn(now),
            Next::Probe => self.send_probe(now),
            Next::Again(index) => self.send_again(index, now),
            Next::New => self.send_new(now),
        };
        Some(out)
    }

    fn choose(&self) -> Option<Next> {
        match self.phase {
            Phase::Closed => return Some(Next::Syn),
            Phase::Opening => return None,
            _ => {}
        }
        if self.probe.wanted && self.board.outstanding() > 0 {
            return Some(Next::Probe);
        }
        let room = self.window.cwnd.saturating_sub(self.pipe());
        if room >= self.window.mss.min(self.window.cwnd)
            && let Some(index) = self.board.next_lost()
        {
            return Some(Next::Again(index));
        }
        self.may_send_new(room).then_some(Next::New).or_else(|| self.rescue(room))
    }

    /// Bytes in flight; without selective acknowledgements every duplicate stands for a segment that has left.
    fn pipe(&self) -> u64 {
        let guessed = if self.tcp().sack { 0 } else { u64::from(self.dupacks) * self.window.mss };
        self.board.pipe().saturating_sub(guessed)
    }

    /// RFC 6675, rules 3 and 4, when there is no new data: a hole that is not yet lost, or once the last segment.
    fn rescue(&self, room: u64) -> Option<Next> {
        let counting = self.tcp().sack && !self.transport.rack();
        if !counting || self.phase != Phase::Recovery || room < self.window.mss {
            return None;
        }
        let last = || self.board.last().filter(|_| !self.rescued && self.next == self.end);
        self.board.next_hole().or_else(last).map(Next::Again)
    }

    /// Whether new data may leave.
    fn may_send_new(&self, room: u64) -> bool {
        let left = self.end - self.next;
        if left == 0 || self.phase == Phase::Loss && self.board.to_resend() {
            return false;
        }
        let permitted = u64::from(self.permitted) * u64::from(!self.tcp().sack) * self.window.mss;
        let room = room + permitted;
        let segment = self.window.mss.min(left);
        let advertised = self.una.saturating_add(self.transport.receive_window());
        let fits = room >= segment || self.board.outstanding() == 0;
        fits && self.next + segment <= advertised.max(self.una + segment) && self.burst_allowed(room, left)
    }

    /// With bursts: once one has begun it goes on; a new one begins when all of it may leave.
    fn burst_allowed(&self, room: u64, left: u64) -> bool {
        self.burst_left > 0
            || self.burst_size(left).is_none_or(|burst| room >= burst)
            || self.board.outstanding() == 0
    }

    /// The size of the next burst, if bursts are on.
    fn burst_size(&self, left: u64) -> Option<u64> {
        if !self.tcp().tso {
            return None;
        }
        let share = self.window.cwnd / u64::from(self.tcp().tso_divisor);
        let whole = share.min(self.tcp().tso_limit.0) / self.window.mss * self.window.mss;
        Some(whole.max(self.window.mss).min(left))
    }

    fn send_syn(&mut self, now: Time) -> Outgoing {
        self.phase = Phase::Opening;
        self.rto_at = now + self.rtt.timeout(&self.transport.rto);
        let ecn = self.marking != Marking::Off;
        let flags = Flags::SYN.with_if(ecn, Flags::ECE.with(Flags::CWR));
        let segment = Segment { sent: now, flow: self.site.flow, flags, ..Segment::default() };
        self.outgoing(segment, Kind::Control, self.marking == Marking::Accurate)
    }

    /// New data if there is any, whatever the window says; else the last segment again.
    fn send_probe(&mut self, now: Time) -> Outgoing {
        self.probe_at = Time::NEVER;
        let fresh = self.next < self.end;
        let out = match self.board.last() {
            Some(last) if !fresh => self.send_again(last, now),
            _ => self.send_new(now),
        };
        self.probe.sent(self.next, !fresh);
        self.probe_at = Time::NEVER;
        self.rto_at = now + self.rtt.timeout(&self.transport.rto);
        out
    }

    fn send_again(&mut self, index: usize, now: Time) -> Outgoing {
        self.rescued |= Some(index) == self.board.last() && self.phase == Phase::Recovery;
        let sent = self.board.resend(index, now);
        self.reduction.sent(u64::from(sent.len));
        let out = self.data((sent.seq, sent.end()), now, Flags::AGAIN);
        self.report.retransmitted += Bytes(u64::from(out.segment.length));
        self.arm_timers(now, index == 0);
        out
    }

    fn send_new(&mut self, now: Time) -> Outgoing {
        let (seq, left) = (self.next, self.end - self.next);
        let end = seq + self.window.mss.min(left);
        let len = end - seq;
        self.permitted = self.permitted.saturating_sub(1);
        self.take_from_burst(len, left);
        self.board.push(seq, len as u32, now);
        self.reduction.sent(len);
        self.next = end;
        self.limited = self.next < self.end && self.window.cwnd.saturating_sub(self.pipe()) < self.window.mss;
        self.arm_timers(now, false);
        self.data((seq, end), now, Flags::default())
    }

    fn take_from_burst(&mut self, len: u64, left: u64) {
        if self.burst_left == 0 {
            self.burst_left = self.burst_size(left).unwrap_or(0);
        }
        self.burst_left = self.burst_left.saturating_sub(len);
    }

    /// A data segment of the bytes `seq..end`; the last one carries the FIN.
    fn data(&mut self, (seq, end): (u64, u64), now: Time, flags: Flags) -> Outgoing {
        let fin = self.transport.tcp.close && end == self.end;
        let fresh = !flags.has(Flags::AGAIN);
        let tell = fresh && std::mem::take(&mut self.tell_reduced);
        let segment = Segment {
            sequence: seq,
            sent: now,
            flow: self.site.flow,
            length: (end - seq) as u16,
            flags: flags.with_if(fin, Flags::FIN).with_if(tell, Flags::CWR),
            ..Segment::default()
        };
        let capable = match self.marking {
            Marking::Off => false,
            Marking::Classic => fresh,
            Marking::Accurate => true,
        };
        let kind = if segment.length > 0 { Kind::Data } else { Kind::Control };
        self.outgoing(segment, kind, capable)
    }

    fn outgoing(&self, segment: Segment, kind: Kind, capable: bool) -> Outgoing {
        Outgoing {
            segment,
            wire: if kind == Kind::Control {
                self.transport.syn_wire()
            } else {
                self.transport.data_wire(u64::from(segment.length))
            },
            kind,
            class: Class(0),
            ecn: if capable { Ecn::Capable } else { Ecn::NotCapable },
            ports: ports(self.site.flow),
        }
    }
}
