//! PASE of a run: the state that all ends share, and the resulting packets and classes. Must not depend on the ends.

use weft_core::segment::reverse_ports;
use weft_core::stack::Frames;
use weft_core::{Bytes, Class, Ecn, FlowId, Header, Marks, PacketKind};

use crate::settings::PaseSettings;

/// PASE of a run, shared by all its ends.
#[derive(Clone, Debug)]
pub struct PaseStack {
    pub(crate) settings: PaseSettings,
    frames: Frames,
}

impl PaseStack {
    /// Creates it from the settings. A scenario's checks reject impossible values; packet sizes are also clamped to
    /// their bounds here.
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
