//! The sending end of a pFabric flow: a window, one timer, and probes after repeated expiries. Must not depend on how
//! switches use ranks.

use std::sync::Arc;

use weft_core::record::FlowState;
use weft_core::segment::{Needs, ports};
use weft_core::stack::{End, Sending};
use weft_core::{Bytes, Class, Ecn, FlowId, FlowSite, Header, Marks, PacketKind, SenderReport, Span, Time};
use weft_delivery::SentPackets;

use crate::PfabricStack;
use crate::packet::{PfabricPacket, PfabricPacketKind};
use crate::settings::RankBy;

/// The window, in packets.
#[derive(Clone, Copy, Debug)]
struct Window {
    size: u64,
    threshold: u64,
    /// Answers since the window last grew, above the threshold.
    answers: u64,
}

impl Window {
    /// Reacts to new data: slow start up to the threshold, then one packet per window.
    fn grow(&mut self, most: u64) {
        self.answers += 1;
        if self.size < self.threshold || self.answers >= self.size {
            self.size = (self.size + 1).min(most);
            self.answers = 0;
        }
    }

    /// Reacts to the loss of everything in flight.
    fn collapse(&mut self) {
        *self = Window { size: 1, threshold: (self.size / 2).max(2), answers: 0 };
    }
}

/// Probing for a usable path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Probing {
    Off,
    /// A probe must be sent.
    Due,
    /// One has been sent.
    Sent,
}

/// The sending end of a flow.
pub struct PfabricSender {
    pfabric: Arc<PfabricStack>,
    flow: FlowId,
    class: Class,
    size: u64,
    packets: SentPackets,
    window: Window,
    /// The timer, while anything is in flight.
    due: Time,
    /// Consecutive time-outs.
    expired: u32,
    /// The most of them.
    most_expired: u32,
    probing: Probing,
    srtt: Span,
    /// When the last packet was acknowledged.
    completed: Option<Time>,
    retransmitted: u64,
    timeouts: u32,
}

impl PfabricSender {
    /// The sender of a flow that the application starts now.
    pub(crate) fn new(pfabric: &Arc<PfabricStack>, site: &FlowSite) -> PfabricSender {
        let size = u64::from(pfabric.settings().initial_window);
        PfabricSender {
            flow: site.flow,
            class: pfabric.payload_class(site.class),
            size: site.size.0.max(1),
            packets: SentPackets::new(pfabric.packets(site.size)),
            window: Window { size, threshold: u64::MAX, answers: 0 },
            due: Time::NEVER,
            expired: 0,
            most_expired: 0,
            probing: Probing::Off,
            srtt: Span::ZERO,
            completed: None,
            retransmitted: 0,
            timeouts: 0,
            pfabric: Arc::clone(pfabric),
        }
    }

    fn is_done(&self) -> bool {
        self.packets.is_done()
    }

    fn may_send(&self) -> bool {
        let something = self.packets.upcoming().is_some();
        something && self.packets.flying() < self.window.size
    }

    fn restart_timer(&mut self, now: Time) {
        self.due = now + self.pfabric.settings().rto.max(Span::from_us(1));
    }

    /// Called when an answer arrives, to a packet or to a probe.
    fn answered(&mut self, now: Time, packet: &PfabricPacket) {
        let is_news = self.packets.acknowledge(packet.number, packet.missing);
        let trip = now.since(packet.sent);
        self.srtt = self.srtt.smoothed(trip);
        (self.expired, self.probing) = (0, Probing::Off);
        if is_news {
            self.window.grow(u64::from(self.pfabric.settings().max_window));
            self.restart_timer(now);
        }
    }

    /// Called when there was no progress for too long: everything in flight is lost.
    #[cold]
    fn expire(&mut self, now: Time) {
        self.restart_timer(now);
        if self.probing != Probing::Off {
            self.probing = Probing::Due;
            return;
        }
        self.timeouts += 1;
        self.expired += 1;
        self.most_expired = self.most_expired.max(self.expired);
        self.window.collapse();
        self.packets.lose_all();
        if self.expired >= self.pfabric.settings().probe_after {
            self.probing = Probing::Due;
        }
    }

    /// The next packet to send.
    fn upcoming(&self) -> u64 {
        self.packets.upcoming().unwrap_or(self.packets.next())
    }

    /// Payload of a packet.
    fn length(&self, number: u64) -> u64 {
        let mss = self.pfabric.frames().mss;
        mss.min(self.size - number * mss)
    }

    /// The rank of a packet; answers have rank 0, which payload never has.
    fn rank_of(&self, number: u64) -> u32 {
        let mss = self.pfabric.frames().mss;
        let bytes = match self.pfabric.settings().rank {
            RankBy::Remaining => self.size - (self.packets.arrived() * mss).min(self.size - 1),
            RankBy::Sent => number * mss + 1,
            RankBy::Size => self.size,
        };
        bytes.min(u64::from(u32::MAX)) as u32
    }

    fn send_probe(&mut self, now: Time, header: &mut Header, body: &mut PfabricPacket) {
        self.probing = Probing::Sent;
        self.restart_timer(now);
        // Packets beyond the end are ignored.
        *body = PfabricPacket {
            flow: self.flow,
            number: self.packets.count(),
            what: PfabricPacketKind::Probe,
            sent: now,
            ..PfabricPacket::default()
        };
        (header.wire, header.kind) = (self.pfabric.frames().wire(0), PacketKind::Control);
        header.note = self.rank_of(self.packets.missing());
    }

    fn send_payload(&mut self, now: Time, header: &mut Header, body: &mut PfabricPacket) {
        if self.packets.flying() == 0 {
            self.restart_timer(now);
        }
        let (number, again) = self.packets.send(0);
        let length = self.length(number);
        self.retransmitted += if again { length } else { 0 };
        *body = PfabricPacket {
            flow: self.flow,
            number,
            length: length as u16,
            what: PfabricPacketKind::Data,
            again,
            sent: now,
            ..PfabricPacket::default()
        };
        (header.wire, header.kind) = (self.pfabric.frames().wire(length), PacketKind::Data);
        header.note = self.rank_of(number);
    }
}

impl End for PfabricSender {
    type Body = PfabricPacket;
    type Host = ();

    fn needs(&self) -> Needs {
        let done = self.is_done();
        let ready = !done
            && match self.probing {
                Probing::Off => self.may_send(),
                Probing::Due => true,
                Probing::Sent => false,
            };
        let waits = !done && (self.packets.flying() > 0 || self.probing == Probing::Sent);
        let wake = if waits { self.due } else { Time::NEVER };
        Needs { wake, ready, complete: done, done, asks: false }
    }

    fn on_packet(&mut self, now: Time, _header: &Header, packet: &PfabricPacket) {
        match packet.what {
            PfabricPacketKind::Done => self.packets.finish(),
            _ => self.answered(now, packet),
        }
        if self.is_done() {
            self.completed.get_or_insert(now);
        }
    }

    fn send(&mut self, now: Time, header: &mut Header, body: &mut PfabricPacket) {
        if self.probing == Probing::Due {
            self.send_probe(now, header, body);
        } else {
            self.send_payload(now, header, body);
        }
        header.ports = ports(self.flow);
        header.class = self.class;
        header.marks = Marks { ecn: Ecn::NotCapable };
    }

    fn on_wakeup(&mut self, now: Time) {
        if self.due <= now && self.needs().wake != Time::NEVER {
            self.expire(now);
        }
    }
}

impl Sending for PfabricSender {
    fn rank(&self) -> u32 {
        let number = if self.probing == Probing::Due { self.packets.missing() } else { self.upcoming() };
        self.rank_of(number)
    }

    fn report(&self) -> SenderReport {
        let mss = self.pfabric.frames().mss;
        SenderReport {
            retransmitted: Bytes(self.retransmitted),
            timeouts: self.timeouts,
            timeouts_in_a_row: self.most_expired,
            completed: self.completed,
            acknowledged: Bytes(self.packets.bytes_arrived(self.size, mss)),
            in_flight: Bytes(self.packets.bytes_in_flight(self.size, mss)),
            cwnd: Bytes(self.window.size * mss),
            ssthresh: Bytes(self.window.threshold.saturating_mul(mss)),
            srtt: self.srtt,
            rto: self.pfabric.settings().rto,
            state: if self.expired > 0 { FlowState::Loss } else { FlowState::Open },
            ..SenderReport::default()
        }
    }
}
