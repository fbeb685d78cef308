//! The sending end of a PDQ flow: opens, sends at the last granted rate, probes while paused, and announces its end.
//! Must not depend on how switches decide.

use std::sync::Arc;

use weft_core::record::FlowState;
use weft_core::scheduling::{Role, SchedulingHeader};
use weft_core::segment::{Needs, ports};
use weft_core::stack::{End, Sending};
use weft_core::{
    Bytes, Class, Ecn, FlowId, FlowSite, Header, Marks, PacketKind, Rate, SenderReport, Span, Time,
};
use weft_delivery::SentPackets;

use crate::PdqStack;
use crate::packet::{PdqPacket, PdqPacketKind};

/// The stage of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// There has been no answer yet.
    Opening,
    /// It sends, or is paused.
    Open,
    /// The packet that announces its end is due.
    Leaving,
    /// That packet has been sent.
    Left,
    /// The deadline cannot be met: the sender announces it until it is answered.
    GivingUp,
}

/// The latest grant.
#[derive(Clone, Copy, Debug)]
struct Granted {
    /// The granted rate; zero: the flow is paused.
    rate: Rate,
    paused_by: u64,
    /// Interval between probes, in tenths of a round trip; zero: the configured interval.
    probe_gap: u32,
}

/// After this many consecutive expiries the time-out no longer doubles.
const LARGEST_BACKOFF: u32 = 10;

/// The sending end of a flow.
pub struct PdqSender {
    pdq: Arc<PdqStack>,
    flow: FlowId,
    class: Class,
    size: u64,
    /// [`Time::NEVER`] without one.
    deadline: Time,
    /// Rate of the network card, which the flow requests.
    line: Rate,
    packets: SentPackets,
    stage: Stage,
    granted: Granted,
    /// A packet (or, while paused, a probe) may be sent now; otherwise from `opens_at` on.
    is_open: bool,
    opens_at: Time,
    /// When the last packet was sent, and its size on the wire.
    last: (Time, u16),
    /// The retransmission timer, and its consecutive expiries.
    due: Time,
    backoff: u32,
    /// When a paused flow whose probes go unanswered has had a time-out.
    silent_at: Time,
    /// Time-outs without an answer in between, and their maximum.
    in_a_row: u32,
    most_in_a_row: u32,
    srtt: Span,
    /// The role of the packet just written.
    role: Role,
    /// When the last packet was acknowledged.
    completed: Option<Time>,
    retransmitted: u64,
    probes: u32,
    timeouts: u32,
    opening_timeouts: u32,
    /// Early Termination has begun.
    terminated: bool,
}

impl PdqSender {
    /// The sender of a flow that the application starts now.
    pub(crate) fn new(pdq: &Arc<PdqStack>, site: &FlowSite, now: Time) -> PdqSender {
        PdqSender {
            flow: site.flow,
            class: pdq.payload_class(site.class),
            size: site.size.0.max(1),
            deadline: site.deadline.unwrap_or(Time::NEVER),
            line: Rate(site.line_rate.0.max(1)),
            packets: SentPackets::new(pdq.packets(site.size)),
            stage: Stage::Opening,
            granted: Granted { rate: Rate(0), paused_by: 0, probe_gap: 0 },
            is_open: true,
            opens_at: now,
            last: (now, 0),
            due: Time::NEVER,
            backoff: 0,
            silent_at: Time::NEVER,
            in_a_row: 0,
            most_in_a_row: 0,
            srtt: Span::ZERO,
            role: Role::Request,
            completed: None,
            retransmitted: 0,
            probes: 0,
            timeouts: 0,
            opening_timeouts: 0,
            terminated: false,
            pdq: Arc::clone(pdq),
        }
    }

    fn is_paused(&self) -> bool {
        self.granted.rate == Rate(0)
    }

    fn has_payload(&self) -> bool {
        self.packets.upcoming().is_some()
    }

    /// The round-trip time, or the configured one before the first answer.
    fn round_trip(&self) -> Span {
        let known = if self.srtt == Span::ZERO { self.pdq.settings().round_trip } else { self.srtt };
        known.max(Span::from_us(1))
    }

    /// The interval between probes.
    fn probe_interval(&self) -> Span {
        let trip = self.round_trip();
        match self.granted.probe_gap {
            0 => Span((trip.0 as f64 * self.pdq.settings().probe_interval) as u64).max(Span::from_ns(100)),
            tenths => trip * u64::from(tenths) / 10,
        }
    }

    /// Sets when the next packet may be sent: as long after the last one as the rate or the pause requires; after an
    /// opening packet, at once.
    fn set_gate(&mut self, now: Time) {
        let (sent, wire) = self.last;
        let gap = match self.stage {
            Stage::Opening | Stage::GivingUp => return,
            _ if self.is_paused() => self.probe_interval(),
            _ => self.granted.rate.time_for(Bytes(u64::from(wire))),
        };
        self.opens_at = sent + gap;
        self.is_open = now >= self.opens_at;
    }

    /// The retransmission time-out: at least two round trips, and twice as long after each consecutive expiry (RFC 6298,
    /// 5.5), or packets that wait in a queue would be retransmitted into it.
    fn timeout(&self) -> Span {
        self.timeout_after(self.backoff)
    }

    fn timeout_after(&self, expiries: u32) -> Span {
        let base = self.pdq.settings().rto.max(Span::from_us(1)).max(self.srtt * 2);
        base * (1 << expiries.min(LARGEST_BACKOFF))
    }

    /// Counts a time-out. Nothing is retransmitted while the flow is paused; a silence as long as the timer counts as
    /// one.
    #[cold]
    fn count_timeout(&mut self, now: Time) {
        self.timeouts += 1;
        self.in_a_row += 1;
        self.most_in_a_row = self.most_in_a_row.max(self.in_a_row);
        self.silent_at = now + self.timeout_after(self.in_a_row);
    }

    fn restart_timer(&mut self, now: Time) {
        self.due = now + self.timeout();
    }

    /// Called when an answer arrives, to a packet or to a probe.
    fn answered(&mut self, now: Time, packet: &PdqPacket) {
        let is_news = self.packets.acknowledge(packet.number, packet.missing);
        let trip = now.since(packet.sent);
        self.srtt = self.srtt.smoothed(trip);
        self.in_a_row = 0;
        self.silent_at = now + self.timeout_after(0);
        if is_news {
            self.backoff = 0;
            self.restart_timer(now);
        }
    }

    /// When the retransmission timer expires, if it is running.
    fn expires_at(&self) -> Time {
        let runs = matches!(self.stage, Stage::Opening | Stage::GivingUp) || self.packets.flying() > 0;
        if runs { self.due } else { Time::NEVER }
    }

    /// Called when there was no answer for too long: everything in flight is lost, and the last grant may be void.
    #[cold]
    fn expire(&mut self, now: Time) {
        self.count_timeout(now);
        self.backoff += 1;
        self.opening_timeouts += u32::from(self.stage == Stage::Opening);
        self.granted.rate = Rate(0);
        self.packets.lose_all();
        (self.is_open, self.opens_at) = (true, now);
        self.restart_timer(now);
    }

    /// Whether the flow cannot finish by its deadline: the remaining time is zero, too short for the remaining
    /// payload at full rate, or, for a paused flow, shorter than a round trip.
    fn is_hopeless(&self, now: Time) -> bool {
        let wait = if self.is_paused() && self.stage == Stage::Open { self.round_trip() } else { Span::ZERO };
        self.pdq.settings().early_termination
            && self.deadline < Time::NEVER
            && now + self.remaining().max(wait) > self.deadline
    }

    /// Gives the flow up if its deadline cannot be met.
    fn reconsider(&mut self, now: Time) {
        if matches!(self.stage, Stage::Opening | Stage::Open) && self.is_hopeless(now) {
            (self.stage, self.due) = (Stage::GivingUp, Time::NEVER);
            self.packets.abandon();
            (self.is_open, self.opens_at) = (true, now);
        }
    }

    /// Time at which the deadline must be checked even if no packet arrives.
    fn looks_at(&self) -> Time {
        let watches = self.pdq.settings().early_termination && self.deadline < Time::NEVER;
        if watches { self.deadline + Span(1) } else { Time::NEVER }
    }

    /// Payload of a packet.
    fn length(&self, number: u64) -> u64 {
        let mss = self.pdq.frames().mss;
        mss.min(self.size - number * mss)
    }

    /// Transmission time of the remaining payload at the rate of the network card.
    fn remaining(&self) -> Span {
        let frames = self.pdq.frames();
        let again = self.packets.again();
        let payload = self.size.saturating_sub(self.packets.next() * frames.mss) + again * frames.mss;
        let packets = self.packets.count() - self.packets.next() + again;
        self.line.time_for(Bytes(payload + packets * frames.overhead))
    }

    fn send_payload(&mut self, now: Time, header: &mut Header, body: &mut PdqPacket) {
        if self.packets.flying() == 0 {
            self.restart_timer(now);
        }
        let (number, again) = self.packets.send(0);
        let length = self.length(number);
        self.retransmitted += if again { length } else { 0 };
        (body.number, body.length, body.again) = (number, length as u16, again);
        (header.wire, header.kind) = (self.pdq.frames().wire(length), PacketKind::Data);
    }

    /// Sends a packet without payload.
    fn send_word(&mut self, now: Time, header: &mut Header, body: &mut PdqPacket) {
        // Packets beyond the end are ignored.
        body.number = self.packets.count();
        body.what = PdqPacketKind::Probe;
        (header.wire, header.kind) = (self.pdq.frames().wire(0), PacketKind::Control);
        match self.stage {
            Stage::Leaving => {
                body.what = PdqPacketKind::Leave;
                self.stage = Stage::Left;
            }
            Stage::GivingUp => {
                body.what = PdqPacketKind::GiveUp;
                self.restart_timer(now);
            }
            Stage::Opening => self.restart_timer(now),
            _ => {
                self.probes += 1;
                if now >= self.silent_at {
                    self.count_timeout(now);
                }
            }
        }
    }
}

impl End for PdqSender {
    type Body = PdqPacket;
    type Host = ();

    fn needs(&self) -> Needs {
        let complete = self.packets.is_done();
        match self.stage {
            Stage::Left => Needs { complete, done: true, ..Needs::NOTHING },
            Stage::Leaving => Needs { complete, ready: true, ..Needs::NOTHING },
            Stage::GivingUp => Needs { ready: self.is_open, wake: self.expires_at(), ..Needs::NOTHING },
            Stage::Opening => {
                let wake = self.expires_at().min(self.looks_at());
                Needs { complete, ready: self.is_open, wake, ..Needs::NOTHING }
            }
            Stage::Open => {
                let wants = self.is_paused() || self.has_payload();
                let gate = if wants && !self.is_open { self.opens_at } else { Time::NEVER };
                let ready = wants && self.is_open;
                let wake = gate.min(self.expires_at()).min(self.looks_at());
                Needs { complete, ready, wake, ..Needs::NOTHING }
            }
        }
    }

    fn on_grant(&mut self, _now: Time, grant: &SchedulingHeader) {
        if grant.role == Role::Grant {
            let SchedulingHeader { rate, paused_by, probe_gap, .. } = *grant;
            self.granted = Granted { rate, paused_by, probe_gap };
        }
    }

    fn on_packet(&mut self, now: Time, _header: &Header, packet: &PdqPacket) {
        if matches!(self.stage, Stage::Leaving | Stage::Left) {
            return;
        }
        if self.stage == Stage::GivingUp {
            // Any answer except one to an earlier packet; late answers change nothing.
            if packet.what == PdqPacketKind::Done {
                self.stage = Stage::Left;
            }
            return;
        }
        match packet.what {
            PdqPacketKind::Done => self.packets.finish(),
            _ => self.answered(now, packet),
        }
        self.stage = Stage::Open;
        self.set_gate(now);
        if self.packets.is_done() {
            self.completed.get_or_insert(now);
            self.stage = Stage::Leaving;
        }
        self.reconsider(now);
    }

    fn send(&mut self, now: Time, header: &mut Header, body: &mut PdqPacket) {
        *body = PdqPacket { flow: self.flow, sent: now, ..PdqPacket::default() };
        let leaves = matches!(self.stage, Stage::Leaving | Stage::GivingUp);
        self.role = if leaves { Role::Leave } else { Role::Request };
        self.terminated |= self.stage == Stage::GivingUp;
        if self.stage == Stage::Open && !self.is_paused() {
            self.send_payload(now, header, body);
        } else {
            self.send_word(now, header, body);
        }
        header.ports = ports(self.flow);
        header.class = self.class;
        header.marks = Marks { ecn: Ecn::NotCapable };
        (self.last, self.is_open) = ((now, header.wire), false);
        self.set_gate(now);
    }

    fn request(&self) -> SchedulingHeader {
        SchedulingHeader {
            role: self.role,
            rate: self.line,
            paused_by: self.granted.paused_by,
            sends: self.stage == Stage::Open && !self.is_paused(),
            deadline: self.deadline,
            remaining: self.remaining(),
            round_trip: self.round_trip(),
            ..SchedulingHeader::NONE
        }
    }

    fn on_wakeup(&mut self, now: Time) {
        if now >= self.expires_at() {
            self.expire(now);
        }
        self.reconsider(now);
        self.is_open |= now >= self.opens_at && self.stage == Stage::Open;
    }
}

impl Sending for PdqSender {
    fn report(&self) -> SenderReport {
        let mss = self.pdq.frames().mss;
        SenderReport {
            retransmitted: Bytes(self.retransmitted),
            timeouts: self.timeouts,
            timeouts_in_a_row: self.most_in_a_row,
            syn_timeouts: self.opening_timeouts,
            completed: self.completed,
            probes: self.probes,
            terminated: self.terminated,
            acknowledged: Bytes(self.packets.bytes_arrived(self.size, mss)),
            in_flight: Bytes(self.packets.bytes_in_flight(self.size, mss)),
            srtt: self.srtt,
            rto: self.timeout(),
            rate: Some(self.granted.rate),
            state: if self.packets.again() == 0 { FlowState::Open } else { FlowState::Loss },
            ..SenderReport::default()
        }
    }
}
