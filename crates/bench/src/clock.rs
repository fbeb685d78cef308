//! The only place where the benchmarks read a clock. No result of a simulation depends on it.

use std::time::Instant;

/// Runs `work`; also returns its duration in seconds.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let began = now();
    let result = work();
    (result, began.elapsed().as_secs_f64())
}

/// Now.
pub(crate) fn now() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "wall times are what a benchmark is for")]
    Instant::now()
}
