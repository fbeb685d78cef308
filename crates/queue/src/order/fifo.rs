//! First in, first out.

use weft_core::settings;

use super::Order;

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "first in, first out";

settings! {
    /// No settings.
    pub struct FifoOrderSettings {}
}

/// First in, first out: the list as it is.
#[derive(Clone, Debug)]
pub struct FifoOrder;

impl FifoOrder {
    /// Creates it; it has no state.
    #[must_use]
    pub fn new(_settings: &FifoOrderSettings, _site: ()) -> FifoOrder {
        FifoOrder
    }
}

impl Order for FifoOrder {}
