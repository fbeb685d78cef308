//! No marks.

use weft_core::{Rate, settings};

use super::Marker;

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "no congestion marks";

settings! {
    /// No settings.
    pub struct OffSettings {}
}

/// No marks.
#[derive(Clone, Debug)]
pub struct Off;

impl Off {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(_settings: &OffSettings, _line: Rate) -> Off {
        Off
    }
}

impl Marker for Off {
    fn passes_up_to(&self) -> u64 {
        u64::MAX
    }
}
