//! No arbiter.

use weft_core::settings;

use super::{Arbiter, ArbiterSite};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "none: the ends decide";

settings! {
    /// No settings.
    pub struct NoArbiterSettings {}
}

/// No arbiter.
#[derive(Clone, Debug)]
pub struct NoArbiter;

impl NoArbiter {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(_settings: &NoArbiterSettings, _site: ArbiterSite) -> NoArbiter {
        NoArbiter
    }
}

impl Arbiter for NoArbiter {
    fn is_on(&self) -> bool {
        false
    }
}
