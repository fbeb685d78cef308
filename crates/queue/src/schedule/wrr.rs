//! Weighted round robin: queues share the port by packets, regardless of their sizes. NDP's ports serve ten headers
//! for each payload packet, so that headers go first and payload does not starve.

use weft_core::{Headers, settings};

use super::Scheduler;
use crate::ClassQueue;

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "weighted round robin by packets";

settings! {
    /// Weighted round robin.
    pub struct WrrSettings {
        /// Packets per round of each queue, from queue 0; queues without one have weight 1.
        weights: Vec<u32> = Vec::new(),
    }
}

/// Weighted round robin.
#[derive(Clone, Debug)]
pub struct Wrr {
    weights: Vec<u32>,
    current: usize,
    /// Packets that the current queue may still send in this visit.
    left: u32,
}

impl Wrr {
    /// For a port with `queues` queues.
    #[must_use]
    pub fn new(settings: &WrrSettings, queues: usize) -> Wrr {
        let weight = |n: usize| settings.weights.get(n).copied().unwrap_or(1).max(1);
        let weights: Vec<u32> = (0..queues).map(weight).collect();
        Wrr { current: 0, left: weights[0], weights }
    }
}

impl Scheduler for Wrr {
    fn pick(&mut self, queues: &[ClassQueue], _headers: &Headers) -> Option<usize> {
        if queues.iter().all(|queue| queue.ready().is_none()) {
            return None;
        }
        while self.left == 0 || queues[self.current].ready().is_none() {
            self.current = (self.current + 1) % self.weights.len();
            self.left = self.weights[self.current];
        }
        self.left -= 1;
        Some(self.current)
    }

    fn refund(&mut self, _queue: usize, _wire: u16) {
        self.left += 1;
    }
}
