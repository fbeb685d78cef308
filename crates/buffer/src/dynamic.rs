//! Dynamic thresholds (Choudhury and Hahne 1998): a queue may hold alpha times the free memory.
//!
//! Rule: each queue first fills its guaranteed minimum; beyond that it takes from the shared pool of
//! `buffer - queues * minimum` bytes while its shared part, packet included, is at most alpha times the free part of the
//! pool. n equally congested queues settle at alpha B / (1 + n alpha) each.

use weft_core::record::Reason;
use weft_core::{Bytes, settings};

use crate::{Memory, Occupancy, Sharing};

/// Summary shown by `weft list`.
pub const SUMMARY: &str =
    "shared buffer with dynamic thresholds: a queue may hold alpha times the free memory";

settings! {
    /// Dynamic thresholds.
    pub struct DynamicSharingSettings {
        /// A queue's threshold as a multiple of the free shared memory (alpha).
        alpha: f64 [0.0009765625, 1024] = 1.0,
        /// Bytes every queue may always hold.
        minimum: Bytes = Bytes(0),
    }
}

/// A shared buffer with dynamic thresholds.
#[derive(Clone, Debug)]
pub struct Dynamic {
    alpha: f64,
    minimum: u64,
    pool: u64,
    used: u64,
}

impl Dynamic {
    /// From the settings; the scenario guarantees a buffer larger than all minima.
    #[must_use]
    pub fn new(settings: &DynamicSharingSettings, memory: Memory) -> Dynamic {
        let buffer = memory.buffer.expect("checked with the scenario: dynamic sharing has a buffer").0;
        let pool = buffer.saturating_sub(memory.queues * settings.minimum.0);
        Dynamic { alpha: settings.alpha, minimum: settings.minimum.0, pool, used: 0 }
    }

    fn shared_part(&self, queue: u64) -> u64 {
        queue.saturating_sub(self.minimum)
    }
}

impl Sharing for Dynamic {
    fn admit(&self, occupancy: &Occupancy) -> Result<(), Reason> {
        let after = self.shared_part(occupancy.queue + occupancy.packet);
        if after == 0 {
            return Ok(());
        }
        let more = after - self.shared_part(occupancy.queue);
        if self.used + more > self.pool {
            return Err(Reason::BufferFull);
        }
        let free = (self.pool - self.used) as f64;
        if after as f64 > self.alpha * free { Err(Reason::Threshold) } else { Ok(()) }
    }

    fn allows(&self, _class: usize) -> u64 {
        let free = self.pool.saturating_sub(self.used);
        self.minimum + (self.alpha * free as f64) as u64
    }

    fn admits_up_to(&self) -> u64 {
        self.minimum
    }

    /// Where x = alpha (pool - x), except for a byte that may have been rounded up.
    fn admits_while(&self) -> u64 {
        ((self.alpha * self.pool as f64 / (1.0 + self.alpha)) as u64).saturating_sub(1)
    }

    fn counted(&self) -> u64 {
        self.used
    }

    fn count(&mut self, bytes: u64) {
        self.used = bytes;
    }

    fn stored(&mut self, _class: usize, queue: u64, bytes: u64) {
        self.used += self.shared_part(queue) - self.shared_part(queue - bytes);
    }

    fn released(&mut self, _class: usize, queue: u64, bytes: u64) {
        self.used -= self.shared_part(queue + bytes) - self.shared_part(queue);
    }

    fn charge(&mut self, bytes: u64) {
        self.used += bytes;
    }

    fn discharge(&mut self, bytes: u64) {
        self.used -= bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offers `packet` bytes to each of `queues` queues in turn until none accepts more.
    fn fill(dynamic: &mut Dynamic, queues: &mut [u64], packet: u64) {
        loop {
            let mut taken = false;
            for queue in queues.iter_mut() {
                let total = 0; // not looked at
                if dynamic.admit(&Occupancy { packet, class: 0, queue: *queue, port: *queue, total }).is_ok()
                {
                    *queue += packet;
                    dynamic.stored(0, *queue, packet);
                    taken = true;
                }
            }
            if !taken {
                return;
            }
        }
    }

    #[test]
    fn n_congested_queues_settle_at_alpha_b_over_one_plus_n_alpha() {
        for (alpha, n) in [(1.0, 1), (1.0, 2), (1.0, 14), (8.0, 4), (0.5, 3)] {
            let settings = DynamicSharingSettings { alpha, minimum: Bytes(0) };
            let memory = Memory { buffer: Some(Bytes(4_500_000)), queues: 64 };
            let mut dynamic = Dynamic::new(&settings, memory);
            let mut queues = vec![0; n];
            fill(&mut dynamic, &mut queues, 100);
            let expected = alpha * 4_500_000.0 / (1.0 + n as f64 * alpha);
            for queue in &queues {
                assert!(
                    (*queue as f64 - expected).abs() <= 100.0 * (1.0 + alpha) * n as f64,
                    "{queue} {expected}"
                );
            }
        }
    }

    #[test]
    fn the_minimum_is_always_there_and_everything_is_given_back() {
        let settings = DynamicSharingSettings { alpha: 1.0, minimum: Bytes(3_000) };
        let mut dynamic = Dynamic::new(&settings, Memory { buffer: Some(Bytes(100_000)), queues: 4 });
        let mut hog = vec![0];
        fill(&mut dynamic, &mut hog, 1_000);
        let mut late = vec![0; 3];
        fill(&mut dynamic, &mut late, 1_000);
        assert!(late.iter().all(|queue| *queue >= 3_000), "{late:?}");
        for queue in hog.iter_mut().chain(&mut late) {
            while *queue > 0 {
                *queue -= 1_000;
                dynamic.released(0, *queue, 1_000);
            }
        }
        assert_eq!(dynamic.used, 0);
    }
}
