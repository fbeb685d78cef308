//! PASE as a stack: the ends that it gives a flow, and the resulting packets and classes.

use std::sync::Arc;

use weft_core::segment::reverse_ports;
use weft_core::stack::{ClassSet, Classes, Frames, Sizes, Stack};
use weft_core::{Bytes, Class, Ecn, FlowId, FlowSite, Header, Marks, PacketKind, Rate, Time};

use crate::packet::{PasePacket, PasePacketKind};
use crate::settings::PaseSettings;
use crate::{PaseReceiver, PaseSender};

/// PASE of a run, shared by all its ends.
#[derive(Clone, Debug)]
pub struct PaseStack {
    settings: PaseSettings,
    frames: Frames,
}

impl PaseStack {
    /// From the settings. A scenario's checks reject impossible values; here values are clamped to their bounds.
    #[must_use]
    pub fn new(settings: &PaseSettings) -> PaseStack {
        PaseStack { frames: Frames::from(settings.sizes()), settings: settings.clone() }
    }

    /// The settings of the scenario.
    #[must_use]
    pub fn settings(&self) -> &PaseSettings {
        &self.settings
    }

    pub(crate) fn frames(&self) -> &Frames {
        &self.frames
    }

    /// Packets of a flow.
    pub(crate) fn packets(&self, size: Bytes) -> u64 {
        size.0.max(1).div_ceil(self.frames.mss)
    }

    /// The class of a flow that is granted this queue.
    pub(crate) fn class(&self, own: Option<Class>, queue: u8) -> Class {
        let first = own.map_or(self.settings.class as u8, |class| class.0);
        Class(first.saturating_add(queue).min(7))
    }

    /// The lowest queue.
    pub(crate) fn lowest(&self) -> u8 {
        if self.settings.arbitration { self.settings.queues as u8 - 1 } else { 0 }
    }

    /// The header of a packet without payload.
    pub(crate) fn address(&self, header: &mut Header, (ports, kind): (u32, PacketKind)) {
        header.ports = ports;
        header.wire = self.frames.wire(0);
        header.kind = kind;
        header.class = Class(self.settings.control_class as u8);
        header.marks = Marks { ecn: Ecn::NotCapable };
    }

    pub(crate) fn answer(&self, header: &mut Header, flow: FlowId) {
        self.address(header, (reverse_ports(flow), PacketKind::Ack));
    }
}

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

    fn arbiter(&self) -> Option<&'static str> {
        self.settings.arbitration.then_some("pase")
    }
}
