//! Samples of a queue at regular instants, computed when a packet passes, so that a sampling marker needs no event.
//!
//! Between two observations nothing enters the queue. It falls from its length then to its length now; it is assumed to
//! drain at line rate first and to stay constant afterwards. This is exact for a port with one queue, except for the
//! packet in service, which counts in full until its last bit has left. Must not depend on probabilities.

use weft_core::{Bytes, Rate, Span, Time};

/// Bytes of a queue at an instant, or at several consecutive instants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    pub(super) bytes: f64,
    /// Number of consecutive samples with this length.
    pub(super) times: u64,
}

/// The next instant to be sampled, and the length at the last observation.
#[derive(Clone, Debug)]
pub(super) struct Sampling {
    every: Span,
    next: Time,
    /// Bytes that the line drains per picosecond.
    drain: f64,
    looked: Time,
    queue: f64,
}

impl Sampling {
    /// An empty queue before a line of this rate, sampled at the multiples of `every`.
    pub(super) fn new(every: Span, line: Rate) -> Sampling {
        assert!(every > Span::ZERO, "checked with the scenario: samples are some time apart");
        let drain = line.0 as f64 / (Bytes(1).bits() as f64 * Span::from_s(1).0 as f64);
        Sampling { every, next: Time::ZERO + every, drain, looked: Time::ZERO, queue: 0.0 }
    }

    /// The next sample due by `now`, if the queue holds `queue` bytes. One sample for each instant at which the queue
    /// was falling, and one for all the rest.
    #[inline]
    pub(super) fn take(&mut self, now: Time, queue: u64) -> Option<Sample> {
        (self.next <= now).then(|| self.due(now, queue))
    }

    fn due(&mut self, now: Time, queue: u64) -> Sample {
        let rest = self.queue.min(queue as f64);
        let falling = self.queue - self.drain * self.next.since(self.looked).0 as f64;
        let later = now.since(self.next).0 / self.every.0;
        let times = if falling > rest { 1 } else { 1 + later };
        self.next += self.every * times;
        Sample { bytes: falling.max(rest), times }
    }

    /// Records that the queue holds `queue` bytes from `now`.
    #[inline]
    pub(super) fn look(&mut self, now: Time, queue: u64) {
        self.looked = now;
        self.queue = queue as f64;
    }
}
