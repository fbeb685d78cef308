//! The receiving end of a pFabric flow: answers each packet at once.

use std::collections::VecDeque;
use std::sync::Arc;

use weft_core::segment::{Needs, reverse_ports};
use weft_core::stack::{End, Receiving};
use weft_core::{Class, Ecn, FlowId, FlowSite, Header, Marks, PacketKind, ReceiverReport, Time};
use weft_delivery::ArrivedPackets;

use crate::PfabricStack;
use crate::packet::{PfabricPacket, PfabricPacketKind};

/// The receiving end of a flow.
pub struct PfabricReceiver {
    pfabric: Arc<PfabricStack>,
    flow: FlowId,
    arrivals: ArrivedPackets,
    /// Number and time of each packet to be answered.
    answers: VecDeque<(u64, Time)>,
}

impl PfabricReceiver {
    /// The receiver of a flow whose first packet is about to be passed to it.
    pub(crate) fn new(pfabric: &Arc<PfabricStack>, site: &FlowSite) -> PfabricReceiver {
        PfabricReceiver {
            flow: site.flow,
            arrivals: ArrivedPackets::new(pfabric.packets(site.size)),
            answers: VecDeque::new(),
            pfabric: Arc::clone(pfabric),
        }
    }

    fn take(&mut self, now: Time, packet: &PfabricPacket) {
        let taken = (packet.number, u64::from(packet.length), packet.again);
        self.arrivals.take(now, taken, self.pfabric.frames().mss);
    }
}

impl End for PfabricReceiver {
    type Body = PfabricPacket;
    type Host = ();

    fn needs(&self) -> Needs {
        let (complete, ready) = (self.arrivals.completed().is_some(), !self.answers.is_empty());
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
        let missing = self.arrivals.missing();
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
        self.arrivals.completed()
    }

    fn report(&self) -> ReceiverReport {
        self.arrivals.report()
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
