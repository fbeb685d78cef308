//! PDQ as a stack: the ends that it gives a flow, and the resulting packets and classes.

use std::sync::Arc;

use weft_core::stack::{ClassSet, Classes, Sizes, Stack};
use weft_core::{Class, FlowSite, Header, Rate, Time};

use crate::configuration::PdqStack;
use crate::packet::{PdqPacket, PdqPacketKind};
use crate::{PdqReceiver, PdqSender};

impl Stack for PdqStack {
    type Sender = PdqSender;
    type Receiver = PdqReceiver;

    fn sender(this: &Arc<PdqStack>, site: &FlowSite, now: Time) -> PdqSender {
        PdqSender::new(this, site, now)
    }

    fn receiver(this: &Arc<PdqStack>, site: &FlowSite) -> PdqReceiver {
        PdqReceiver::new(this, site)
    }

    fn host(&self, _line: Rate) {}

    fn sizes(&self) -> Sizes {
        self.settings.sizes()
    }

    fn opening(&self) -> Option<u16> {
        Some(self.frames.wire(0))
    }

    fn classes(&self, own: Option<Class>) -> Classes {
        Classes {
            sender: ClassSet::of(self.payload_class(own)),
            receiver: ClassSet::of(Class(self.settings.control_class as u8)),
        }
    }

    /// Late packets are probes and retransmissions after a lost acknowledgement.
    fn reply_after_close(
        &self,
        _header: &Header,
        body: &PdqPacket,
        _now: Time,
    ) -> Option<(Header, PdqPacket)> {
        let reply =
            PdqPacket { flow: body.flow, what: PdqPacketKind::Done, sent: body.sent, ..PdqPacket::default() };
        let mut header = Header::default();
        self.address(&mut header, body.flow);
        (body.what != PdqPacketKind::Leave).then_some((header, reply))
    }

    fn sends_besides(&self) -> Option<&'static str> {
        Some("probes and pauses of PDQ")
    }

    fn arbiter(&self) -> Option<&'static str> {
        Some("pdq")
    }
}
