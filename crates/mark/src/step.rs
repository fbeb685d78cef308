//! Step marking (DCTCP, SIGCOMM'10 section 3.1): mark every packet while the queue is longer than K.
//!
//! On arrival the packet counts towards the queue, on departure it does not.

use weft_core::settings::Amount;
use weft_core::{Bytes, Random, Rate, settings};

use super::{Action, At, Marker, NonEct, Scope, Sight};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "mark every packet while the queue exceeds a threshold (DCTCP)";

settings! {
    /// Step marking.
    pub struct StepSettings {
        /// Mark while the queue is longer than this (K). 65 packets at 10 Gb/s, 20 at 1 Gb/s in the DCTCP paper.
        threshold: Amount = Amount::Packets(65),
        /// Wire size of the packet for `pkt`.
        packet: Bytes = Bytes(1_538),
        /// Where the decision is made.
        at: At = At::Enqueue,
        /// Which bytes count.
        scope: Scope = Scope::Queue,
        /// What happens to packets that cannot be marked.
        non_ect: NonEct = NonEct::Pass,
    }
}

/// Step marking.
#[derive(Clone, Debug)]
pub struct Step {
    threshold: u64,
    at: At,
    scope: Scope,
    non_ect: NonEct,
}

impl Step {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &StepSettings, _line: Rate) -> Step {
        let threshold = settings.threshold.bytes(settings.packet).0;
        Step { threshold, at: settings.at, scope: settings.scope, non_ect: settings.non_ect }
    }

    fn judge(&self, bytes: u64, sight: &Sight<'_>) -> Action {
        if bytes > self.threshold { sight.chosen(self.non_ect) } else { Action::Pass }
    }
}

impl Marker for Step {
    #[inline]
    fn arriving(&mut self, sight: &Sight<'_>, _random: &mut Random) -> Action {
        match self.at {
            At::Enqueue => self.judge(sight.bytes(self.scope) + u64::from(sight.occupied), sight),
            At::Dequeue => Action::Pass,
        }
    }

    #[inline]
    fn leaving(&mut self, sight: &Sight<'_>, _random: &mut Random) -> Action {
        match self.at {
            At::Dequeue => self.judge(sight.bytes(self.scope), sight),
            At::Enqueue => Action::Pass,
        }
    }

    fn passes_up_to(&self) -> u64 {
        match self.at {
            At::Enqueue => self.threshold,
            At::Dequeue => u64::MAX,
        }
    }

    fn looks_at_departures(&self) -> bool {
        self.at == At::Dequeue
    }
}
