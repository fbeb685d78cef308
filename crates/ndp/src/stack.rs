//! NDP as a stack: its checked configuration, and the resulting packets, classes and host parts.

use std::sync::Arc;

use weft_core::stack::{ClassSet, Classes, Frames, Sizes, Stack};
use weft_core::{Bytes, Class, FlowSite, Header, PacketKind, Rate, Time};

use crate::packet::{NdpPacket, NdpPacketKind};
use crate::settings::NdpSettings;
use crate::{NdpReceiver, NdpSender, PullQueue};

/// NDP of a run, shared by all its ends.
#[derive(Clone, Debug)]
pub struct NdpStack {
    settings: NdpSettings,
    frames: Frames,
}

impl NdpStack {
    /// From the settings. A scenario's checks reject impossible values; here values are clamped to their bounds.
    #[must_use]
    pub fn new(settings: &NdpSettings) -> NdpStack {
        NdpStack { frames: Frames::from(settings.sizes()), settings: settings.clone() }
    }

    /// The settings of the scenario.
    #[must_use]
    pub fn settings(&self) -> &NdpSettings {
        &self.settings
    }

    pub(crate) fn frames(&self) -> &Frames {
        &self.frames
    }

    /// Packets of a flow.
    pub(crate) fn packets(&self, size: Bytes) -> u64 {
        size.0.max(1).div_ceil(self.frames.mss)
    }

    /// Of these, packets sent before any feedback.
    pub(crate) fn first_window(&self, packets: u64) -> u64 {
        packets.min(u64::from(self.settings.initial_window))
    }

    pub(crate) fn payload_class(&self, own: Option<Class>) -> Class {
        own.unwrap_or(Class(self.settings.class as u8))
    }
}

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

    fn is_trimmable(&self) -> bool {
        true
    }
}
