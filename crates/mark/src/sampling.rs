//! The length of a queue at regular instants, found when a packet comes by: a marker that samples needs no event.
//!
//! Between two looks at a queue nothing enters it. It falls from what it was then to what it is now; for that it takes the
//! whole line first, and rests afterwards. A port with one queue does just that, up to the packet in service, which
//! counts whole until its last bit has left. Must not depend on probabilities.

use weft_core::{Bytes, Rate, Span, Time};

/// Bytes of a queue at one instant, or at several in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    pub(super) bytes: f64,
    /// So many instants in a row find the same.
    pub(super) times: u64,
}

/// When the next instant is due, and what the queue was at the last look.
#[derive(Clone, Debug)]
pub(super) struct Sampling {
    every: Span,
    next: Time,
    /// Bytes that the line carries away in a picosecond.
    drain: f64,
    looked: Time,
    queue: f64,
}

impl Sampling {
    /// Of an empty queue before a line of this rate: instants at the multiples of `every`.
    pub(super) fn new(every: Span, line: Rate) -> Sampling {
        assert!(every > Span::ZERO, "checked with the scenario: samples are some time apart");
        let drain = line.0 as f64 / (Bytes(1).bits() as f64 * Span::from_s(1).0 as f64);
        Sampling { every, next: Time::ZERO + every, drain, looked: Time::ZERO, queue: 0.0 }
    }

    /// The next instant up to `now` that was not handed out, when the queue holds `queue` bytes. As many steps as the
    /// queue took instants to fall, and one for all the rest.
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

    /// The queue holds so many bytes from `now` on.
    #[inline]
    pub(super) fn look(&mut self, now: Time, queue: u64) {
        self.looked = now;
        self.queue = queue as f64;
    }
}
