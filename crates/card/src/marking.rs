//! A card with one queue in order of demand that sets congestion marks beyond a threshold, as the port of a switch
//! does: a sender learns of congestion at its own host.

use weft_core::{Bytes, settings};

use crate::{CardPlan, NetworkCard};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "one queue in order of demand that sets congestion marks beyond a threshold";

settings! {
    /// A card with one queue that marks.
    pub struct MarkingCardSettings {
        /// A packet that finds more than this in the queue, counting the one in transmission, is marked if it can be.
        threshold: Bytes = Bytes(97_500),
        /// A packet that would make the queue exceed this, counting the one in transmission, is dropped. Absent: the
        /// queue holds whatever the flows send.
        limit: Option<Bytes> = None,
    }
}

/// A card with one queue that marks beyond a threshold.
#[derive(Clone, Copy, Debug)]
pub struct MarkingCard {
    threshold: Bytes,
    limit: Option<Bytes>,
}

impl MarkingCard {
    /// The card.
    #[must_use]
    pub fn new(settings: &MarkingCardSettings, _site: ()) -> MarkingCard {
        MarkingCard { threshold: settings.threshold, limit: settings.limit }
    }
}

impl NetworkCard for MarkingCard {
    fn plan(&self) -> CardPlan {
        CardPlan::InOrder { limit: self.limit, mark_beyond: Some(self.threshold), by_class: false }
    }
}
