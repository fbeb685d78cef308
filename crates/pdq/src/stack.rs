//! PDQ as a stack: its checked configuration, and the resulting packets and classes.

use std::sync::Arc;

use weft_core::stack::{ClassSet, Classes, Frames, Sizes, Stack};
use weft_core::{Bytes, Class, FlowSite, Header, Rate, Time};

use crate::packet::{PdqPacket, PdqPacketKind};
use crate::settings::PdqSettings;
use crate::{PdqReceiver, PdqSender};

/// PDQ of a run, shared by all its ends.
#[derive(Clone, Debug)]
pub struct PdqStack {
    settings: PdqSettings,
    frames: Frames,
}

impl PdqStack {
    /// From the settings. A scenario's checks reject impossible values; here values are clamped to their bounds.
    #[must_use]
    pub fn new(settings: &PdqSettings) -> PdqStack {
        PdqStack { frames: Frames::from(settings.sizes()), settings: settings.clone() }
    }

    /// The settings of the scenario.
    #[must_use]
    pub fn settings(&self) -> &PdqSettings {
        &self.settings
    }

    pub(crate) fn frames(&self) -> &Frames {
        &self.frames
    }

    /// Packets of a flow.
    pub(crate) fn packets(&self, size: Bytes) -> u64 {
        size.0.max(1).div_ceil(self.frames.mss)
    }

    pub(crate) fn payload_class(&self, own: Option<Class>) -> Class {
        own.unwrap_or(Class(self.settings.class as u8))
    }
}

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

    fn arbiter(&self) -> Option<&'static str> {
        Some("pdq")
    }
}
