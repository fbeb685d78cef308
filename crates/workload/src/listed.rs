//! A flow as listed in a scenario or an imported file: times count from the start of its entry.

use weft_core::{Bytes, Span};

/// Maximum flows of a pattern that must list them: 48 bytes each.
pub(crate) const MAX_LISTED: usize = 50_000_000;

weft_core::settings! {
    /// One flow.
    pub struct ListedFlow {
        /// When it starts, counted from the `start` of its entry.
        at: Span = Span::ZERO,
        /// Number of the sending host.
        from: u32,
        /// Number of the receiving host.
        to: u32,
        /// Payload.
        size: Bytes,
        /// Its deadline, counted from its start; absent: that of the entry, if it has one.
        deadline: Option<Span> = None,
    }
}
