//! No arbiter.

use weft_core::settings;

use super::{Arbiter, ArbiterSite};

/// One sentence for lists.
pub const SUMMARY: &str = "none: the ends decide";

settings! {
    /// No settings.
    pub struct OffSettings {}
}

/// No arbiter.
#[derive(Clone, Debug)]
pub struct Off;

impl Off {
    /// From the settings.
    #[must_use]
    pub fn new(_settings: &OffSettings, _site: ArbiterSite) -> Off {
        Off
    }
}

impl Arbiter for Off {
    fn is_on(&self) -> bool {
        false
    }
}
