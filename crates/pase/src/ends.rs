//! PASE as a stack: the ends that it gives a flow.

use std::sync::Arc;

use weft_core::stack::{ClassSet, Classes, Sizes, Stack};
use weft_core::{Class, FlowSite, Header, Rate, Time};

use crate::packet::{PasePacket, PasePacketKind};
use crate::{PaseReceiver, PaseSender, PaseStack};

impl Stack for PaseStack {
    type Sender = PaseSender;
    type Receiver = PaseReceiver;

    fn sender(this: &Arc<PaseStack>, site: &FlowSite, now: Time) -> PaseSender {
        PaseSender::new(this, site, now)
    }

    fn receiver(this: &Arc<PaseStack>, site: &FlowSite) -> PaseReceiver {
        PaseReceiver::new(this, site)
    }

    fn host(&self, _line: Rate) {}

    fn sizes(&self) -> Sizes {
        self.settings.sizes()
    }

    fn classes(&self, own: Option<Class>) -> Classes {
        let control = Class(self.settings.control_class as u8);
        let sender =
            (0..=self.lowest()).fold(ClassSet::of(control), |set, queue| set.and(self.class(own, queue)));
        Classes { sender, receiver: ClassSet::of(control) }
    }

    /// Late packets are requests and retransmissions after a lost acknowledgement.
    fn reply_after_close(
        &self,
        _header: &Header,
        body: &PasePacket,
        _now: Time,
    ) -> Option<(Header, PasePacket)> {
        let reply = PasePacket {
            flow: body.flow,
            what: PasePacketKind::Done,
            sent: body.sent,
            ..PasePacket::default()
        };
        let mut header = Header::default();
        self.answer(&mut header, body.flow);
        (body.what != PasePacketKind::Leave).then_some((header, reply))
    }

    fn reads_marks(&self) -> bool {
        true
    }

    fn goes_by_marks(&self) -> bool {
        !self.settings.arbitration
    }

    fn sends_besides(&self) -> Option<&'static str> {
        self.settings.arbitration.then_some("requests and grants of PASE")
    }

    fn arbiter(&self) -> Option<&'static str> {
        self.settings.arbitration.then_some("pase")
    }
}
