//! The receiving end of an NDP flow: answers each packet at once, and pulls the packets that are still to be sent. Must
//! not depend on when pulls are sent; it only counts how many are needed.

use std::collections::VecDeque;
use std::sync::Arc;

use weft_core::bitmap::Bitmap;
use weft_core::order::ReorderCounts;
use weft_core::segment::{Needs, reverse_ports};
use weft_core::stack::{End, Receiving};
use weft_core::{Bytes, Class, Ecn, FlowId, FlowSite, Header, Marks, PacketKind, ReceiverReport, Time};

use crate::packet::{NdpPacket, NdpPacketKind};
use crate::settings::PullOrder;
use crate::{NdpStack, PullQueue};

/// An answer to a packet.
#[derive(Clone, Copy, Debug)]
struct Answer {
    what: NdpPacketKind,
    number: u64,
    echo: Time,
}

/// The state of a flow's pulls.
#[derive(Clone, Copy, Debug, Default)]
struct Pulls {
    /// Pulls still needed.
    owed: u64,
    /// Pulls sent so far.
    made: u64,
    /// Whether the flow waits in its host's pull queue.
    queued: bool,
    /// Whether it has just had a turn.
    served: bool,
}

/// The receiving end of a flow.
pub struct NdpReceiver {
    ndp: Arc<NdpStack>,
    flow: FlowId,
    class: Class,
    size: u64,
    /// Packets of the flow.
    count: u64,
    /// Packets that have arrived, their number and bytes.
    arrived: Bitmap,
    done: u64,
    delivered: u64,
    /// Headers that arrived without their payload.
    headers: u32,
    /// Packets that the sender reported as waiting to be sent.
    told: u64,
    pulls: Pulls,
    answers: VecDeque<Answer>,
    completed: Option<Time>,
    order: ReorderCounts,
}

impl NdpReceiver {
    /// The receiver of a flow whose first packet is about to be passed to it.
    pub(crate) fn new(ndp: &Arc<NdpStack>, site: &FlowSite) -> NdpReceiver {
        NdpReceiver {
            flow: site.flow,
            class: ndp.payload_class(site.class),
            size: site.size.0.max(1),
            count: ndp.packets(site.size),
            arrived: Bitmap::default(),
            done: 0,
            delivered: 0,
            headers: 0,
            told: 0,
            pulls: Pulls::default(),
            answers: VecDeque::new(),
            completed: None,
            order: ReorderCounts::default(),
            ndp: Arc::clone(ndp),
        }
    }

    /// A packet arrived whole.
    fn take(&mut self, now: Time, packet: &NdpPacket) {
        let mss = self.ndp.frames().mss;
        let end = packet.number * mss + u64::from(packet.length);
        self.order.arrived(end, packet.again, mss);
        if !self.arrived.insert(packet.number) {
            return;
        }
        self.done += 1;
        self.delivered += u64::from(packet.length);
        if self.done == self.count {
            self.completed = Some(now);
            self.pulls.owed = 0;
        }
    }

    /// Every arriving packet triggers another pull until the sender may send as many packets as it needs: all packets
    /// of the flow, and the trimmed ones again. The sender reports any other packet that it has to send.
    fn pull_another(&mut self, short: bool) {
        let allowed = self.ndp.first_window(self.count) + self.pulls.made + self.pulls.owed;
        self.told += u64::from(short);
        let needed = self.count + u64::from(self.headers) + self.told;
        if self.completed.is_none() {
            self.pulls.owed += needed.saturating_sub(allowed).min(1 + u64::from(short));
        }
    }
}

impl End for NdpReceiver {
    type Body = NdpPacket;
    type Host = Box<PullQueue>;

    fn needs(&self) -> Needs {
        let (complete, ready) = (self.completed.is_some(), !self.answers.is_empty());
        let asks = self.pulls.owed > 0 && !self.pulls.queued;
        Needs { wake: Time::NEVER, ready, complete, done: complete && !ready, asks }
    }

    fn on_packet(&mut self, now: Time, header: &Header, packet: &NdpPacket) {
        let trimmed = header.kind == PacketKind::Trimmed;
        let known = self.arrived.contains(packet.number);
        if trimmed && !known {
            self.headers += 1;
        } else if !trimmed {
            self.take(now, packet);
        }
        let what = if trimmed && !known { NdpPacketKind::Nack } else { NdpPacketKind::Ack };
        self.answers.push_back(Answer { what, number: packet.number, echo: packet.sent });
        self.pull_another(packet.short);
    }

    fn send(&mut self, now: Time, header: &mut Header, body: &mut NdpPacket) {
        let Answer { what, number, echo } =
            self.answers.pop_front().expect("a receiver that is ready has an answer");
        let sent = if what == NdpPacketKind::Pull { now } else { echo };
        *body =
            NdpPacket { flow: self.flow, number, what, headers: self.headers, sent, ..NdpPacket::default() };
        self.ndp.address(header, self.flow);
        header.kind = if what == NdpPacketKind::Pull { PacketKind::Control } else { PacketKind::Ack };
    }

    fn ask(&mut self, host: &mut Box<PullQueue>) {
        let stays = self.pulls.served && self.ndp.settings().pull_order == PullOrder::Fifo;
        if self.pulls.owed > 0 && !self.pulls.queued {
            if stays {
                host.stay(self.flow, self.class)
            } else {
                host.join(self.flow, self.class)
            }
            self.pulls.queued = true;
        }
        self.pulls.served = false;
    }

    fn on_turn(&mut self, now: Time) -> bool {
        self.pulls.queued = false;
        let wanted = self.pulls.owed > 0;
        self.pulls.served = wanted;
        if wanted {
            self.pulls.owed -= 1;
            self.pulls.made += 1;
            self.answers.push_back(Answer { what: NdpPacketKind::Pull, number: self.pulls.made, echo: now });
        }
        wanted
    }
}

impl Receiving for NdpReceiver {
    fn completed(&self) -> Option<Time> {
        self.completed
    }

    fn report(&self) -> ReceiverReport {
        debug_assert!(self.delivered <= self.size, "each byte is delivered once");
        ReceiverReport {
            delivered: Bytes(self.delivered),
            completed: self.completed,
            out_of_order: self.order.out_of_order,
            displacement: self.order.displacement,
            displaced: self.order.displaced.into(),
            nacks: self.headers,
            ..ReceiverReport::default()
        }
    }
}

impl NdpStack {
    /// The header of an answer, without its content.
    pub(crate) fn address(&self, header: &mut Header, flow: FlowId) {
        header.ports = reverse_ports(flow);
        header.wire = self.frames().wire(0);
        header.class = Class(self.settings().control_class as u8);
        header.marks = Marks { ecn: Ecn::NotCapable };
    }
}
