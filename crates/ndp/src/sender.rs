//! The sending end of an NDP flow: a window of packets at once, then one for each pull. Must not depend on rates or
//! congestion.

use std::collections::VecDeque;
use std::sync::Arc;

use weft_core::bitmap::Bitmap;
use weft_core::record::FlowState;
use weft_core::segment::{Needs, ports};
use weft_core::stack::{End, Sending};
use weft_core::{Bytes, Class, Ecn, FlowId, FlowSite, Header, Marks, PacketKind, SenderReport, Span, Time};

use crate::packet::{NdpPacket, NdpPacketKind};
use crate::{NdpStack, PullQueue};

/// A packet without feedback.
#[derive(Clone, Copy, Debug)]
struct Flying {
    number: u64,
    sent: Time,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    retransmitted: u64,
    timeouts: u32,
    /// Maximum number of consecutive ones without an answer in between.
    timeouts_in_a_row: u32,
}

/// The sending end of a flow.
pub struct NdpSender {
    ndp: Arc<NdpStack>,
    flow: FlowId,
    class: Class,
    size: u64,
    /// Packets of the flow, and the number of them sent before any feedback.
    count: u64,
    first_window: u64,
    /// The first packet never sent.
    next: u64,
    /// Packets that may be sent: the first window, then one per pull.
    credit: u64,
    /// Pulls received so far.
    pulled: u64,
    /// Packets retransmitted after a time-out without a pull, and the number of these that the receiver has also
    /// pulled.
    unasked: u64,
    doubled: u64,
    /// Packets that have arrived, and their number.
    arrived: Bitmap,
    done: u64,
    /// Packets in flight, in the order in which they were sent.
    flying: VecDeque<Flying>,
    /// Packets to be retransmitted.
    again: VecDeque<u64>,
    /// When a packet was last received or sent.
    heard: Time,
    /// Packets to send that the receiver does not know of, and the number of them that have been reported to it.
    unknown: u64,
    told: u64,
    /// Answers to packets, and the number of them for trimmed headers.
    answers: u64,
    nacks: u64,
    /// Trimmed headers that the receiver has reported.
    headers: u64,
    /// Consecutive time-outs.
    backoff: u32,
    srtt: Span,
    counts: Counts,
}

impl NdpSender {
    /// The sender of a flow that the application starts now.
    pub(crate) fn new(ndp: &Arc<NdpStack>, site: &FlowSite, now: Time) -> NdpSender {
        let count = ndp.packets(site.size);
        NdpSender {
            flow: site.flow,
            class: ndp.payload_class(site.class),
            size: site.size.0.max(1),
            count,
            first_window: ndp.first_window(count),
            next: 0,
            credit: ndp.first_window(count),
            pulled: 0,
            unasked: 0,
            doubled: 0,
            arrived: Bitmap::default(),
            done: 0,
            flying: VecDeque::new(),
            again: VecDeque::new(),
            heard: now,
            unknown: 0,
            told: 0,
            answers: 0,
            nacks: 0,
            headers: 0,
            backoff: 0,
            srtt: Span::ZERO,
            counts: Counts::default(),
            ndp: Arc::clone(ndp),
        }
    }

    /// Whether any packet remains to be sent or retransmitted.
    fn has_something(&self) -> bool {
        !self.again.is_empty() || self.next < self.count
    }

    /// The time-out of a packet without feedback.
    fn timeout(&self) -> Span {
        let settings = self.ndp.settings();
        let base = settings.rto;
        (base * (1 << self.backoff.min(20))).min(settings.pull_timeout.max(base))
    }

    /// When the time-out expires: for the oldest packet in flight, or for missing pulls.
    fn due(&self) -> Time {
        match self.flying.front() {
            Some(oldest) => oldest.sent + self.timeout(),
            None if self.credit == 0 && self.has_something() => self.heard + self.ndp.settings().pull_timeout,
            None => Time::NEVER,
        }
    }

    /// Records feedback on a packet: it is no longer in flight. Returns `false` if it was not.
    fn landed(&mut self, number: u64) -> bool {
        let place = self.flying.iter().position(|flying| flying.number == number);
        place.and_then(|place| self.flying.remove(place)).is_some()
    }

    fn acknowledged(&mut self, now: Time, packet: &NdpPacket) {
        self.answers += 1;
        self.landed(packet.number);
        if !self.arrived.insert(packet.number) {
            return;
        }
        self.done += 1;
        self.again.retain(|number| *number != packet.number);
        let trip = now.since(packet.sent);
        self.srtt = self.srtt.smoothed(trip);
    }

    /// Records that a switch trimmed a packet: it is retransmitted when pulled, before any new packet.
    fn trimmed(&mut self, number: u64) {
        self.answers += 1;
        self.nacks += 1;
        self.repeat(number);
    }

    /// Records that a switch trimmed a packet and had no room for the header either, so the receiver does not know of
    /// it.
    fn returned(&mut self, packet: &NdpPacket) {
        if self.repeat(packet.number) {
            self.unknown += 1 + u64::from(packet.short);
            self.told -= u64::from(packet.short);
        }
    }

    /// Schedules the retransmission of a packet. Returns false if it is not needed.
    fn repeat(&mut self, number: u64) -> bool {
        let missing = self.landed(number) && !self.arrived.contains(number);
        if missing {
            self.again.push_back(number);
        }
        missing
    }

    /// If, to its knowledge, the receiver has nothing more to pull (it pulls once per packet received, up to the
    /// number it knows to be missing, and once per packet that reports another), and no packet in flight could inform
    /// it, the next packet is sent without a pull and reports the rest.
    fn go_on(&mut self) {
        let missing = self.count - self.first_window + self.headers;
        let expected = missing.min(self.answers) + self.told;
        if self.credit == 0 && self.flying.is_empty() && self.has_something() && self.pulled >= expected {
            self.credit = 1;
        }
    }

    /// Called when a pull arrives. The receiver counts its pulls, so each also replaces lost ones.
    fn pulled(&mut self, total: u64) {
        let more = total.saturating_sub(self.pulled);
        self.pulled += more;
        self.credit += more;
    }

    /// The receiver pulls for each header it has. If its answer was lost, the time-out also retransmits that packet:
    /// it must count only once.
    fn settle(&mut self) {
        let doubled = self.headers.saturating_sub(self.nacks).min(self.unasked);
        self.credit += self.doubled.saturating_sub(doubled);
        let taken = doubled.saturating_sub(self.doubled).min(self.credit);
        self.credit -= taken;
        self.doubled = self.doubled.min(doubled) + taken;
    }

    /// Called when there was no feedback for too long: packets in flight are lost, and are retransmitted without a
    /// pull.
    #[cold]
    fn expire(&mut self, now: Time) {
        let timeout = self.timeout();
        self.counts.timeouts += 1;
        self.backoff += 1;
        self.counts.timeouts_in_a_row = self.counts.timeouts_in_a_row.max(self.backoff);
        if self.flying.is_empty() {
            self.credit += 1;
            self.unknown = self.unknown.max(1);
        }
        while let Some(lost) = self.flying.pop_front_if(|flying| flying.sent + timeout <= now) {
            self.credit += 1;
            self.unasked += 1;
            self.again.push_back(lost.number);
        }
        self.settle();
        self.heard = now;
    }

    /// Chooses what to send: the first window, then lost and trimmed packets, then new ones.
    fn choose(&mut self) -> u64 {
        let again = if self.next < self.first_window { None } else { self.again.pop_front() };
        again.unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }

    /// Payload of a packet.
    fn length(&self, number: u64) -> u64 {
        let mss = self.ndp.frames().mss;
        mss.min(self.size - number * mss)
    }
}

impl End for NdpSender {
    type Body = NdpPacket;
    type Host = Box<PullQueue>;

    fn needs(&self) -> Needs {
        let done = self.done == self.count;
        let ready = !done && self.credit > 0 && self.has_something();
        let wake = if done || ready { Time::NEVER } else { self.due() };
        Needs { wake, ready, complete: done, done, asks: false }
    }

    fn on_packet(&mut self, now: Time, _header: &Header, packet: &NdpPacket) {
        self.heard = now;
        self.backoff = 0;
        self.headers = self.headers.max(u64::from(packet.headers));
        match packet.what {
            NdpPacketKind::Ack => self.acknowledged(now, packet),
            NdpPacketKind::Nack => self.trimmed(packet.number),
            NdpPacketKind::Pull => self.pulled(packet.number),
            NdpPacketKind::Done => self.done = self.count,
            NdpPacketKind::Data => self.returned(packet),
        }
        self.settle();
        self.go_on();
    }

    fn send(&mut self, now: Time, header: &mut Header, body: &mut NdpPacket) {
        let fresh = self.next;
        let number = self.choose();
        let short = self.unknown > 0;
        self.unknown -= u64::from(short);
        self.told += u64::from(short);
        let (length, again) = (self.length(number), number < fresh);
        self.credit -= 1;
        self.heard = now;
        self.counts.retransmitted += if again { length } else { 0 };
        self.flying.push_back(Flying { number, sent: now });
        *body = NdpPacket {
            flow: self.flow,
            number,
            length: length as u16,
            what: NdpPacketKind::Data,
            again,
            short,
            sent: now,
            ..NdpPacket::default()
        };
        header.ports = ports(self.flow);
        header.wire = self.ndp.frames().wire(length);
        (header.kind, header.class) = (PacketKind::Trimmable, self.class);
        header.marks = Marks { ecn: Ecn::NotCapable };
    }

    fn on_wakeup(&mut self, now: Time) {
        if self.due() <= now {
            self.expire(now);
            self.go_on();
        }
    }
}

impl Sending for NdpSender {
    fn report(&self) -> SenderReport {
        let mss = self.ndp.frames().mss;
        let (is_done, last) = (self.done == self.count, self.count - 1);
        let flying = self.flying.iter().filter(|_| !is_done).map(|flying| self.length(flying.number));
        let short = if self.arrived.contains(last) { mss - self.length(last) } else { 0 };
        SenderReport {
            retransmitted: Bytes(self.counts.retransmitted),
            timeouts: self.counts.timeouts,
            timeouts_in_a_row: self.counts.timeouts_in_a_row,
            completed: is_done.then_some(self.heard),
            acknowledged: Bytes(if is_done { self.size } else { self.done * mss - short }),
            in_flight: Bytes(flying.sum()),
            cwnd: Bytes(u64::from(self.ndp.settings().initial_window) * mss),
            ssthresh: Bytes(u64::MAX),
            srtt: self.srtt,
            rto: self.timeout(),
            state: if self.backoff > 0 { FlowState::Loss } else { FlowState::Open },
            ..SenderReport::default()
        }
    }
}
