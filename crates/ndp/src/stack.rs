//! NDP as a stack: the ends that it gives a flow, and the resulting packets, classes and host parts.

use std::sync::Arc;

use weft_core::stack::{ClassSet, Classes, Sizes, Stack};
use weft_core::{Bytes, Class, FlowSite, Header, PacketKind, Rate, Time};

use crate::configuration::NdpStack;
use crate::packet::{NdpPacket, NdpPacketKind};
use crate::{NdpReceiver, NdpSender, PullQueue};

impl Stack for NdpStack {
    type Sender = NdpSender;
    type Receiver = NdpReceiver;

    fn sender(this: &Arc<NdpStack>, site: &FlowSite, now: Time) -> NdpSender {
        NdpSender::new(this, site, now)
    }

    fn receiver(this: &Arc<NdpStack>, site: &FlowSite) -> NdpReceiver {
        NdpReceiver::new(this, site)
    }

    fn host(&self, line: Rate) -> Box<PullQueue> {
        let full = Bytes(u64::from(self.frames.full_wire()));
        Box::new(PullQueue::new(Rate(line.0.max(1)).time_for(full)))
    }

    fn sizes(&self) -> Sizes {
        self.settings.sizes()
    }

    fn classes(&self, own: Option<Class>) -> Classes {
        Classes {
            sender: ClassSet::of(self.payload_class(own)),
            receiver: ClassSet::of(Class(self.settings.control_class as u8)),
        }
    }

    /// Late packets are retransmissions after a lost acknowledgement.
    fn reply_after_close(
        &self,
        _header: &Header,
        body: &NdpPacket,
        _now: Time,
    ) -> Option<(Header, NdpPacket)> {
        let reply =
            NdpPacket { flow: body.flow, what: NdpPacketKind::Done, sent: body.sent, ..NdpPacket::default() };
        let mut header = Header { kind: PacketKind::Ack, ..Header::default() };
        self.address(&mut header, body.flow);
        Some((header, reply))
    }

    /// Receivers pull flows of a lower class first.
    fn goes_by_classes(&self) -> bool {
        true
    }

    fn sends_besides(&self) -> Option<&'static str> {
        Some("pulls and trimmed headers of NDP")
    }

    fn is_trimmable(&self) -> bool {
        true
    }
}
