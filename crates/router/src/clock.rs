//! The clock of the workers: the only place where the router reads one, once per poll.

use std::time::Instant;

use weft_core::{Span, Time};

/// Time since the router started.
#[derive(Clone, Copy, Debug)]
pub struct RouterClock(Instant);

impl RouterClock {
    /// A clock that starts now.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "real packets come in real time")]
    pub fn start() -> RouterClock {
        RouterClock(Instant::now())
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> Time {
        Time::ZERO + Span::from_ns(self.0.elapsed().as_nanos() as u64)
    }
}
