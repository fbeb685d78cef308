//! PDQ of a run: its settings with the sizes that follow. Must not depend on the ends of flows.

use weft_core::stack::Frames;
use weft_core::{Bytes, Class};

use crate::settings::PdqSettings;

/// PDQ of a run, shared by all its ends.
#[derive(Clone, Debug)]
pub struct PdqStack {
    pub(crate) settings: PdqSettings,
    pub(crate) frames: Frames,
}

impl PdqStack {
    /// From settings that the checks of a scenario accept.
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
