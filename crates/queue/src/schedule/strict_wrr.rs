//! Strict priority above weighted round robin: the first queues go ahead, the others take turns by packets.

use weft_core::{Headers, settings};

use super::Scheduler;
use super::ahead::Ahead;
use super::wrr::{Wrr, WrrSettings};
use crate::ClassQueue;

/// Summary shown by `weft list`.
pub const SUMMARY: &str =
    "strict priority for the first queues, weighted round robin by packets among the others";

settings! {
    /// Strict priority above weighted round robin.
    pub struct StrictWrrSettings {
        /// Queues served by strict priority, from queue 0; the others get the rest.
        first: u32 [1, 7] = 1,
        /// Packets per round of each of the other queues, from queue `first`; queues without one have weight 1.
        weights: Vec<u32> = Vec::new(),
    }
}

/// Strict priority above weighted round robin.
#[derive(Clone, Debug)]
pub struct StrictWrr(Ahead<Wrr>);

impl StrictWrr {
    /// For a port with `queues` queues.
    #[must_use]
    pub fn new(settings: &StrictWrrSettings, queues: usize) -> StrictWrr {
        let shares = WrrSettings { weights: settings.weights.clone() };
        StrictWrr(Ahead::new(settings.first, queues, |others| Wrr::new(&shares, others)))
    }
}

impl Scheduler for StrictWrr {
    fn pick(&mut self, queues: &[ClassQueue], headers: &Headers) -> Option<usize> {
        self.0.pick(queues, headers)
    }

    fn refund(&mut self, queue: usize, wire: u16) {
        self.0.refund(queue, wire);
    }
}
