//! The receiving end of a pFabric flow: answers each packet at once.

use std::collections::VecDeque;
use std::sync::Arc;

use weft_core::bitmap::Bitmap;
use weft_core::order::ReorderCounts;
use weft_core::segment::{Needs, reverse_ports};
use weft_core::stack::{End, Receiving};
use weft_core::{Bytes, Class, Ecn, FlowId, FlowSite, Header, Marks, PacketKind, ReceiverReport, Time};

use crate::PfabricStack;
use crate::packet::{PfabricPacket, PfabricPacketKind};

/// The receiving end of a flow.
pub struct PfabricReceiver {
    pfabric: Arc<PfabricStack>,
    flow: FlowId,
    /// Packets of the flow.
    count: u64,
    /// Packets that have arrived, their number and bytes, and the first missing packet.
    arrived: Bitmap,
    done: u64,
    delivered: u64,
    missing: u64,
    /// Number and time of each packet to be answered.
    answers: VecDeque<(u64, Time)>,
    completed: Option<Time>,
    order: ReorderCounts,
}

impl PfabricReceiver {
    /// The receiver of a flow whose first packet is about to be passed to it.
    pub(crate) fn new(pfabric: &Arc<PfabricStack>, site: &FlowSite) -> PfabricReceiver {
        PfabricReceiver {
            flow: site.flow,
            count: pfabric.packets(site.size),
            arrived: Bitmap::default(),
            done: 0,
            delivered: 0,
            missing: 0,
            answers: VecDeque::new(),
            completed: None,
            order: ReorderCounts::default(),
            pfabric: Arc::clone(pfabric),
        }
    }

    fn take(&mut self, now: Time, packet: &PfabricPacket) {
        let mss = self.pfabric.frames().mss;
        self.order.arrived(packet.number * mss + u64::from(packet.length), packet.again, mss);
        if packet.number < self.missing || !self.arrived.insert(packet.number) {
            return;
        }
        self.missing = self.arrived.first_missing(self.missing);
        self.arrived.advance(self.missing);
        self.done += 1;
        self.delivered += u64::from(packet.length);
        if self.done == self.count {
            self.completed = Some(now);
        }
    }
}

impl End for PfabricReceiver {
    type Body = PfabricPacket;
    type Host = ();

    fn needs(&self) -> Needs {
        let (complete, ready) = (self.completed.is_some(), !self.answers.is_empty());
        Needs { wake: Time::NEVER, ready, complete, done: complete && !ready, asks: false }
    }

    fn on_packet(&mut self, now: Time, _header: &Header, packet: &PfabricPacket) {
        if packet.what == PfabricPacketKind::Data {
            self.take(now, packet);
        }
        self.answers.push_back((packet.number, packet.sent));
    }

    fn send(&mut self, _now: Time, header: &mut Header, body: &mut PfabricPacket) {
        let (number, sent) = self.answers.pop_front().expect("a receiver that is ready has an answer");
        let missing = self.missing;
        *body = PfabricPacket {
            flow: self.flow,
            number,
            missing,
            what: PfabricPacketKind::Ack,
            sent,
            ..PfabricPacket::default()
        };
        self.pfabric.address(header, self.flow);
    }
}

impl Receiving for PfabricReceiver {
    fn completed(&self) -> Option<Time> {
        self.completed
    }

    fn report(&self) -> ReceiverReport {
        ReceiverReport {
            delivered: Bytes(self.delivered),
            completed: self.completed,
            out_of_order: self.order.out_of_order,
            displacement: self.order.displacement,
            displaced: self.order.displaced.into(),
            ..ReceiverReport::default()
        }
    }
}

impl PfabricStack {
    /// The header of an answer, which precedes all payload.
    pub(crate) fn address(&self, header: &mut Header, flow: FlowId) {
        header.ports = reverse_ports(flow);
        header.wire = self.frames().wire(0);
        header.kind = PacketKind::Ack;
        header.class = Class(self.settings().control_class as u8);
        header.marks = Marks { ecn: Ecn::NotCapable };
        header.note = 0;
    }
}
