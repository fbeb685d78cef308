//! Strict priority above deficit round robin: the first queues go ahead, the others share the rest by weight.

use weft_core::{Bytes, Headers, settings};

use super::Scheduler;
use super::ahead::Ahead;
use super::drr::{Drr, DrrSettings};
use crate::ClassQueue;

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "strict priority for the first queues, deficit round robin among the others";

settings! {
    /// Strict priority above deficit round robin.
    pub struct StrictDrrSettings {
        /// Queues served by strict priority, from queue 0; the others get the rest.
        first: u32 [1, 7] = 1,
        /// Bytes a queue of weight 1 may send per round (quantum).
        quantum: Bytes = Bytes(1_538),
        /// Weight of each of the other queues, from queue `first`; queues without one have weight 1.
        weights: Vec<u32> = Vec::new(),
    }
}

/// Strict priority above deficit round robin.
#[derive(Clone, Debug)]
pub struct StrictDrr(Ahead<Drr>);

impl StrictDrr {
    /// For a port with `queues` queues.
    #[must_use]
    pub fn new(settings: &StrictDrrSettings, queues: usize) -> StrictDrr {
        let shares = DrrSettings { quantum: settings.quantum, weights: settings.weights.clone() };
        StrictDrr(Ahead::new(settings.first, queues, |others| Drr::new(&shares, others)))
    }
}

impl Scheduler for StrictDrr {
    fn pick(&mut self, queues: &[ClassQueue], headers: &Headers) -> Option<usize> {
        self.0.pick(queues, headers)
    }

    fn refund(&mut self, queue: usize, wire: u16) {
        self.0.refund(queue, wire);
    }
}
