//! The clock of the workers: the only place where the router reads one, once per poll.

use std::time::{Instant, SystemTime};

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

/// Nanoseconds since 1970, for values that must not recur, even after a restart.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "a restart must not repeat what came before")]
pub fn nanoseconds_since_1970() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}
