//! No limit: queues grow freely. For analysis only.

use weft_core::record::Reason;
use weft_core::settings;

use crate::{Memory, Occupancy, Sharing};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "no limit, for analysis";

settings! {
    /// No limit.
    pub struct InfiniteSharingSettings {}
}

/// No limit at all.
#[derive(Clone, Debug)]
pub struct Infinite;

impl Infinite {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(_settings: &InfiniteSharingSettings, _memory: Memory) -> Infinite {
        Infinite
    }
}

impl Sharing for Infinite {
    #[inline]
    fn admit(&self, _occupancy: &Occupancy) -> Result<(), Reason> {
        Ok(())
    }

    fn allows(&self, _class: usize) -> u64 {
        u64::MAX
    }

    fn admits_up_to(&self) -> u64 {
        u64::MAX
    }

    fn admits_while(&self) -> u64 {
        u64::MAX
    }

    fn looks_beyond_port(&self) -> bool {
        false
    }
}
