//! pFabric as a stack: its checked configuration, and the resulting packets and classes.

use std::sync::Arc;

use weft_core::stack::{ClassSet, Classes, Frames, Sizes, Stack};
use weft_core::{Bytes, Class, FlowSite, Header, Rate, Time};

use crate::packet::{PfabricPacket, PfabricPacketKind};
use crate::settings::PfabricSettings;
use crate::{PfabricReceiver, PfabricSender};

/// pFabric of a run, shared by all its ends.
#[derive(Clone, Debug)]
pub struct PfabricStack {
    settings: PfabricSettings,
    frames: Frames,
}

impl PfabricStack {
    /// From the settings. A scenario's checks reject impossible values; here values are clamped to their bounds.
    #[must_use]
    pub fn new(settings: &PfabricSettings) -> PfabricStack {
        PfabricStack { frames: Frames::from(settings.sizes()), settings: settings.clone() }
    }

    /// The settings of the scenario.
    #[must_use]
    pub fn settings(&self) -> &PfabricSettings {
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

    fn ranks_packets(&self) -> bool {
        true
    }
}
