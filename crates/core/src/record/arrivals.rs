//! The part of a run in which flows arrive.

use crate::units::{Bytes, Time};

/// The part of a run in which flows arrived: from its start to the start of the last flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArrivalRecord {
    /// When the last flow started.
    pub until: Time,
    /// Payload of measured flows delivered by then.
    pub delivered: Bytes,
    /// Whether this is at least half of all payload delivered in the run.
    pub most: bool,
}
