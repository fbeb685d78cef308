//! Deficit round robin (Shreedhar and Varghese 1995): queues share the port by weight, regardless of packet sizes.
//!
//! Each visit adds `weight * quantum` bytes to a queue's deficit; it sends while the packet at its head fits. A queue
//! that is empty or paused loses its deficit. O(1) per packet while the quantum is at least a full-size packet.

use weft_core::{Bytes, Headers, settings};

use super::Scheduler;
use crate::ClassQueue;

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "deficit round robin by weight";

settings! {
    /// Deficit round robin.
    pub struct DrrSettings {
        /// Bytes a queue of weight 1 may send per round (quantum).
        quantum: Bytes = Bytes(1_538),
        /// Weight of each queue from queue 0; queues without one have weight 1.
        weights: Vec<u32> = Vec::new(),
    }
}

/// Deficit round robin.
#[derive(Clone, Debug)]
pub struct Drr {
    quanta: Vec<u64>,
    deficits: Vec<u64>,
    current: usize,
    /// The current queue has received its quantum for this visit.
    granted: bool,
}

impl Drr {
    /// For a port with `queues` queues.
    #[must_use]
    pub fn new(settings: &DrrSettings, queues: usize) -> Drr {
        let weight = |n: usize| u64::from(settings.weights.get(n).copied().unwrap_or(1).max(1));
        let quanta = (0..queues).map(|n| weight(n).saturating_mul(settings.quantum.0.max(1))).collect();
        Drr { quanta, deficits: vec![0; queues], current: 0, granted: false }
    }

    fn advance(&mut self) {
        self.current = (self.current + 1) % self.quanta.len();
        self.granted = false;
    }
}

impl Scheduler for Drr {
    fn pick(&mut self, queues: &[ClassQueue], headers: &Headers) -> Option<usize> {
        if queues.iter().all(|queue| queue.ready().is_none()) {
            self.deficits.fill(0);
            self.granted = false;
            return None;
        }
        loop {
            let Some(head) = queues[self.current].ready() else {
                self.deficits[self.current] = 0;
                self.advance();
                continue;
            };
            if !self.granted {
                let deficit = &mut self.deficits[self.current];
                *deficit = deficit.saturating_add(self.quanta[self.current]);
                self.granted = true;
            }
            let size = u64::from(headers.get(head).wire);
            if size <= self.deficits[self.current] {
                self.deficits[self.current] -= size;
                return Some(self.current);
            }
            self.advance();
        }
    }

    fn refund(&mut self, queue: usize, wire: u16) {
        self.deficits[queue] += u64::from(wire);
    }
}
