//! What a scenario plans to happen to its network during a run.

use super::Reason;
use crate::units::Time;

/// A kind of planned incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Incident {
    /// Cables fail.
    Failure,
    /// Cables work again.
    Repair,
    /// A host starts to send pause frames endlessly.
    StormBegins,
    /// It stops.
    StormEnds,
}

impl Incident {
    /// All kinds, in their order.
    pub const ALL: [Incident; 4] =
        [Incident::Failure, Incident::Repair, Incident::StormBegins, Incident::StormEnds];

    /// The name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Incident::Failure => "failure",
            Incident::Repair => "repair",
            Incident::StormBegins => "storm_begins",
            Incident::StormEnds => "storm_ends",
        }
    }

    /// Whether it disturbs the network; repairs and the ends of storms do not.
    #[must_use]
    pub const fn disturbs(self) -> bool {
        matches!(self, Incident::Failure | Incident::StormBegins)
    }

    /// The incident behind drops for this reason: a failure if a link was down, no route was left or routes formed a loop, a storm if a
    /// watchdog dropped the packets.
    #[must_use]
    pub const fn behind(reason: Reason) -> Option<Incident> {
        match reason {
            Reason::LinkDown | Reason::NoRoute | Reason::HopLimit => Some(Incident::Failure),
            Reason::Watchdog => Some(Incident::StormBegins),
            _ => None,
        }
    }
}

/// Everything of one kind that happens at one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncidentRecord {
    /// The instant.
    pub at: Time,
    /// The kind of incident.
    pub kind: Incident,
    /// The cables or hosts: `leaf0-spine1`, `host3`.
    pub places: Vec<String>,
    /// Packets lost to it, until the next of its kind; see [`Incident::behind`].
    pub lost: u64,
}
