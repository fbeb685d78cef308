//! A flow as listed in a scenario or an imported file: times count from the start of its entry.

use weft_core::{Bytes, Span};

weft_core::settings! {
    /// One flow.
    pub struct ListedFlow {
        /// When it starts.
        at: Span = Span::ZERO,
        /// Number of the sending host.
        from: u32,
        /// Number of the receiving host.
        to: u32,
        /// Payload.
        size: Bytes,
    }
}
