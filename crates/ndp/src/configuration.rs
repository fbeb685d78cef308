//! NDP of a run: its settings with the sizes that follow. Must not depend on the ends of flows.

use weft_core::stack::Frames;
use weft_core::{Bytes, Class};

use crate::settings::NdpSettings;

/// NDP of a run, shared by all its ends.
#[derive(Clone, Debug)]
pub struct NdpStack {
    pub(crate) settings: NdpSettings,
    pub(crate) frames: Frames,
}

impl NdpStack {
    /// From settings that the checks of a scenario accept.
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
