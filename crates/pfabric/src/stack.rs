//! pFabric as a stack: the ends that it gives a flow, and the resulting packets and classes.

use std::sync::Arc;

use weft_core::stack::{ClassSet, Classes, Sizes, Stack};
use weft_core::{Class, FlowSite, Header, Rate, Time};

use crate::configuration::PfabricStack;
use crate::packet::{PfabricPacket, PfabricPacketKind};
use crate::{PfabricReceiver, PfabricSender};

impl Stack for PfabricStack {
    type Sender = PfabricSender;
    type Receiver = PfabricReceiver;

    fn sender(this: &Arc<PfabricStack>, site: &FlowSite, _now: Time) -> PfabricSender {
        PfabricSender::new(this, site)
    }

    fn receiver(this: &Arc<PfabricStack>, site: &FlowSite) -> PfabricReceiver {
        PfabricReceiver::new(this, site)
    }

    fn host(&self, _line: Rate) {}

    fn sizes(&self) -> Sizes {
        self.settings.sizes()
    }

    fn classes(&self, own: Option<Class>) -> Classes {
        Classes {
            sender: ClassSet::of(self.payload_class(own)),
            receiver: ClassSet::of(Class(self.settings.control_class as u8)),
        }
    }

    /// Late packets are retransmissions after a late or lost acknowledgement.
    fn reply_after_close(
        &self,
        _header: &Header,
        body: &PfabricPacket,
        _now: Time,
    ) -> Option<(Header, PfabricPacket)> {
        let reply = PfabricPacket {
            flow: body.flow,
            what: PfabricPacketKind::Done,
            sent: body.sent,
            ..PfabricPacket::default()
        };
        let mut header = Header::default();
        self.address(&mut header, body.flow);
        Some((header, reply))
    }

    fn sends_besides(&self) -> Option<&'static str> {
        Some("probes of pFabric")
    }

    fn ranks_packets(&self) -> bool {
        true
    }
}
