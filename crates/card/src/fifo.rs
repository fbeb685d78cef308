//! A card with one queue in order of demand, as a driver's queue without fair queueing: a flow hands over everything
//! that its window allows at once, so a small flow waits behind the window of a large one.

use weft_core::{Bytes, settings};

use crate::{CardPlan, NetworkCard};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "one queue in order of demand for all flows and acknowledgements of a host";

settings! {
    /// A card with one queue.
    pub struct FifoCardSettings {
        /// A packet that would make the queue exceed this, counting the one in transmission, is dropped. Absent: the
        /// queue holds whatever the flows send.
        limit: Option<Bytes> = None,
    }
}

/// A card with one queue, first in, first out.
#[derive(Clone, Copy, Debug)]
pub struct FifoCard {
    limit: Option<Bytes>,
}

impl FifoCard {
    /// The card.
    #[must_use]
    pub fn new(settings: &FifoCardSettings, _site: ()) -> FifoCard {
        FifoCard { limit: settings.limit }
    }
}

impl NetworkCard for FifoCard {
    fn plan(&self) -> CardPlan {
        CardPlan::InOrder { limit: self.limit, mark_beyond: None, by_class: false }
    }
}
