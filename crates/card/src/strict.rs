//! A card whose queue is that of a switch's port with strict priority: flows hand over everything that their windows allow at once,
//! and packets of the highest class leave first. The hosts of the ns-2 study of PIAS have it.

use weft_core::{Bytes, settings};

use crate::{CardPlan, NetworkCard};

/// Summary shown by `weft list`.
pub const SUMMARY: &str =
    "strict priority by class, class 0 first, with one limit and one threshold for all classes";

settings! {
    /// A card with strict priority.
    pub struct StrictCardSettings {
        /// A packet that finds more than this in all queues together, counting the one in transmission, is marked if it can be. Absent:
        /// none is.
        threshold: Option<Bytes> = None,
        /// A packet that would make all queues together exceed this, counting the one in transmission, is dropped. Absent: they hold
        /// whatever the flows send.
        limit: Option<Bytes> = None,
    }
}

/// A card with strict priority.
#[derive(Clone, Copy, Debug)]
pub struct StrictCard {
    threshold: Option<Bytes>,
    limit: Option<Bytes>,
}

impl StrictCard {
    /// The card.
    #[must_use]
    pub fn new(settings: &StrictCardSettings, _site: ()) -> StrictCard {
        StrictCard { threshold: settings.threshold, limit: settings.limit }
    }
}

impl NetworkCard for StrictCard {
    fn plan(&self) -> CardPlan {
        CardPlan::InOrder { limit: self.limit, mark_beyond: self.threshold, by_class: true }
    }
}
