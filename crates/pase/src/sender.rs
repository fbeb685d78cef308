//! The sending end of a PASE flow: asks its links once per round trip, and sends in the class and around the rate that they
//! grant. Must not depend on how links decide.
//!
//! In the highest class, each grant sets the window to the granted rate times the least round trip measured, and
//! DCTCP changes it until the next grant; in the lowest class it is one packet; in the classes between it starts at
//! one packet and follows DCTCP.

use std::sync::Arc;

use weft_core::record::FlowState;
use weft_core::scheduling::{Role, SchedulingHeader};
use weft_core::segment::{Needs, ports};
use weft_core::stack::{End, Sending};
use weft_core::{
    Bytes, Class, Ecn, FlowId, FlowSite, Header, Marks, PacketKind, Rate, SenderReport, Span, Time,
};
use weft_delivery::SentPackets;

use crate::PaseStack;
use crate::packet::{PasePacket, PasePacketKind};
use crate::window::PaseWindow;

/// The stage of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It sends.
    Open,
    /// The packet that announces its end is due.
    Leaving,
    /// That packet has been sent.
    Left,
}

/// The sending end of a flow.
pub struct PaseSender {
    pase: Arc<PaseStack>,
    flow: FlowId,
    /// The class of its traffic entry.
    own: Option<Class>,
    size: u64,
    deadline: Time,
    /// Rate of the network card.
    line: Rate,
    packets: SentPackets,
    window: PaseWindow,
    /// The granted rate and the granted queue; 0 is the highest.
    granted: (Rate, u8),
    stage: Stage,
    /// The next request is due.
    ask_at: Time,
    /// A separate request is due, because payload may not leave for some time.
    asks: bool,
    /// The retransmission timer.
    due: Time,
    srtt: Span,
    /// The least round trip of payload.
    least: Span,
    /// The role of the packet just written.
    role: Role,
    /// When the last packet was acknowledged.
    completed: Option<Time>,
    retransmitted: u64,
    timeouts: u32,
    /// Consecutive time-outs without news of payload, and their maximum.
    in_a_row: u32,
    most_in_a_row: u32,
    recoveries: u32,
}

impl PaseSender {
    /// The sender of a flow that the application starts now.
    pub(crate) fn new(pase: &Arc<PaseStack>, site: &FlowSite, now: Time) -> PaseSender {
        let settings = pase.settings();
        let (first, most) = (f64::from(settings.initial_window), f64::from(settings.max_window));
        PaseSender {
            flow: site.flow,
            own: site.class,
            size: site.size.0.max(1),
            deadline: site.deadline.unwrap_or(Time::NEVER),
            line: Rate(site.line_rate.0.max(1)),
            packets: SentPackets::new(pase.packets(site.size)),
            window: PaseWindow::new(first, most, settings.gain.0),
            granted: (Rate(0), 0),
            stage: Stage::Open,
            ask_at: if settings.arbitration { now } else { Time::NEVER },
            asks: false,
            due: Time::NEVER,
            srtt: Span::ZERO,
            least: Span(u64::MAX),
            role: Role::None,
            completed: None,
            retransmitted: 0,
            timeouts: 0,
            in_a_row: 0,
            most_in_a_row: 0,
            recoveries: 0,
            pase: Arc::clone(pase),
        }
    }

    /// The round-trip time, or the configured one before the first answer.
    fn round_trip(&self) -> Span {
        let known = if self.srtt == Span::ZERO { self.pase.settings().round_trip } else { self.srtt };
        known.max(Span::from_us(1))
    }

    fn is_lowest(&self) -> bool {
        self.granted.1 > 0 && self.granted.1 >= self.pase.lowest()
    }

    fn may_send(&self) -> bool {
        let window = if self.is_lowest() { 1 } else { self.window.packets() };
        self.packets.upcoming().is_some() && self.packets.flying() < window
    }

    /// The time-out of its class.
    fn rto(&self) -> Span {
        let settings = self.pase.settings();
        if self.granted.1 == 0 { settings.rto } else { settings.low_rto }
    }

    fn restart_timer(&mut self, now: Time) {
        self.due = now + self.rto();
    }

    fn expires_at(&self) -> Time {
        if self.packets.flying() > 0 { self.due } else { Time::NEVER }
    }

    /// When a request must leave even without payload: in lower classes payload waits, and its request would wait
    /// with it.
    fn asks_at(&self) -> Time {
        if self.granted.1 > 0 && !self.asks { self.ask_at } else { Time::NEVER }
    }

    /// Called when an answer arrives, to a packet or to a request.
    fn answered(&mut self, now: Time, packet: &PasePacket) {
        let is_payload = packet.number < self.packets.count();
        let news = self.packets.acknowledge(packet.number, packet.missing);
        let trip = now.since(packet.sent);
        if is_payload {
            self.least = self.least.min(trip);
        }
        if is_payload && self.granted.1 == 0 || self.srtt == Span::ZERO {
            self.srtt = self.srtt.smoothed(trip);
        }
        if self.packets.lose_overtaken(self.pase.settings().dup_threshold) > 0 {
            self.recoveries += 1;
            self.window.halve();
        }
        if news {
            self.in_a_row = 0;
            self.window.answered(packet.marked, (self.packets.missing(), self.packets.next()));
            self.restart_timer(now);
        }
    }

    /// Called when there was no news for too long: everything in flight is lost.
    #[cold]
    fn expire(&mut self, now: Time) {
        self.timeouts += 1;
        self.in_a_row += 1;
        self.most_in_a_row = self.most_in_a_row.max(self.in_a_row);
        self.packets.lose_all();
        self.window.collapse();
        self.restart_timer(now);
    }

    /// Wire time of the remaining payload at the rate of the network card.
    fn remaining(&self) -> Span {
        let frames = self.pase.frames();
        let left = self.packets.count() - self.packets.arrived();
        self.line.time_for(
            Bytes(left * (frames.mss + frames.overhead)).min(Bytes(self.size + left * frames.overhead)),
        )
    }

    /// The rate that the flow can use: its line rate, or the remaining payload in one round trip.
    fn demand(&self) -> Rate {
        let share = self.remaining().seconds() / self.round_trip().seconds();
        Rate((self.line.0 as f64 * share.min(1.0)) as u64).max(Rate(1))
    }

    /// A window's worth of the granted rate.
    fn granted_window(&self, rate: Rate) -> f64 {
        let trip = self.least.min(self.round_trip());
        (rate.0 as f64 * trip.seconds() / 8.0 / f64::from(self.pase.frames().full_wire())).ceil()
    }

    fn send_payload(&mut self, now: Time, header: &mut Header, body: &mut PasePacket) {
        if self.packets.flying() == 0 {
            self.restart_timer(now);
        }
        let queue = self.granted.1;
        let (number, again) = self.packets.send(queue);
        let mss = self.pase.frames().mss;
        let length = mss.min(self.size - number * mss);
        self.retransmitted += if again { length } else { 0 };
        (body.number, body.length, body.again) = (number, length as u16, again);
        header.ports = ports(self.flow);
        (header.wire, header.kind) = (self.pase.frames().wire(length), PacketKind::Data);
        header.class = self.pase.class(self.own, queue);
        header.marks = Marks { ecn: Ecn::Capable };
    }

    fn send_word(&mut self, header: &mut Header, body: &mut PasePacket) {
        // Packets beyond the end are ignored.
        body.number = self.packets.count();
        body.what = if self.stage == Stage::Leaving { PasePacketKind::Leave } else { PasePacketKind::Ask };
        self.pase.address(header, (ports(self.flow), PacketKind::Control));
    }
}

impl End for PaseSender {
    type Body = PasePacket;
    type Host = ();

    fn needs(&self) -> Needs {
        let complete = self.packets.is_done();
        match self.stage {
            Stage::Left => Needs { complete, done: true, ..Needs::NOTHING },
            Stage::Leaving => Needs { complete, ready: true, ..Needs::NOTHING },
            Stage::Open => {
                let wake = self.expires_at().min(self.asks_at());
                Needs { complete, ready: self.asks || self.may_send(), wake, ..Needs::NOTHING }
            }
        }
    }

    fn on_grant(&mut self, _now: Time, grant: &SchedulingHeader) {
        if grant.role != Role::Grant {
            return;
        }
        let (_, before) = std::mem::replace(&mut self.granted, (grant.rate, grant.queue));
        if grant.queue == 0 {
            self.window.set(self.granted_window(grant.rate));
        } else if before == 0 {
            self.window.set(1.0);
        }
    }

    fn on_packet(&mut self, now: Time, _header: &Header, packet: &PasePacket) {
        if self.stage != Stage::Open {
            return;
        }
        match packet.what {
            PasePacketKind::Done => self.packets.finish(),
            _ => self.answered(now, packet),
        }
        if self.packets.is_done() {
            self.completed = Some(now);
            self.stage = if self.pase.settings().arbitration { Stage::Leaving } else { Stage::Left };
        }
    }

    fn send(&mut self, now: Time, header: &mut Header, body: &mut PasePacket) {
        *body = PasePacket { flow: self.flow, sent: now, ..PasePacket::default() };
        if self.stage == Stage::Leaving {
            self.send_word(header, body);
            (self.stage, self.role) = (Stage::Left, Role::Leave);
            return;
        }
        // In lower classes, requests travel alone, in the class of answers.
        let alone = self.asks;
        self.role =
            if alone || now >= self.ask_at && self.granted.1 == 0 { Role::Request } else { Role::None };
        if self.role == Role::Request {
            let trips = self.pase.settings().interval;
            self.ask_at = now + Span((self.round_trip().0 as f64 * trips) as u64).max(Span(1));
            self.asks = false;
        }
        if alone { self.send_word(header, body) } else { self.send_payload(now, header, body) }
    }

    fn request(&self) -> SchedulingHeader {
        match self.role {
            Role::Request | Role::Leave => SchedulingHeader {
                role: self.role,
                rate: self.demand(),
                deadline: self.deadline,
                remaining: self.remaining(),
                round_trip: self.round_trip(),
                ..SchedulingHeader::NONE
            },
            _ => SchedulingHeader::NONE,
        }
    }

    fn on_wakeup(&mut self, now: Time) {
        if self.stage != Stage::Open {
            return;
        }
        if now >= self.expires_at() {
            self.expire(now);
        }
        self.asks |= now >= self.asks_at();
    }
}

impl Sending for PaseSender {
    fn report(&self) -> SenderReport {
        let mss = self.pase.frames().mss;
        SenderReport {
            retransmitted: Bytes(self.retransmitted),
            timeouts: self.timeouts,
            timeouts_in_a_row: self.most_in_a_row,
            recoveries: self.recoveries,
            completed: self.completed,
            acknowledged: Bytes(self.packets.bytes_arrived(self.size, mss)),
            in_flight: Bytes(self.packets.bytes_in_flight(self.size, mss)),
            cwnd: Bytes(self.window.packets() * mss),
            ssthresh: Bytes(self.window.threshold().saturating_mul(mss)),
            srtt: self.srtt,
            rto: self.rto(),
            state: if self.packets.again() == 0 { FlowState::Open } else { FlowState::Recovery },
            ..SenderReport::default()
        }
    }
}
