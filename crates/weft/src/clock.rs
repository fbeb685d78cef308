//! The only place where the facade reads a clock: for the progress display and the wall-clock times in manifests. No
//! result depends on it.

use std::time::Instant;

/// Now, for measuring how long something takes.
pub(crate) fn now() -> Instant {
    #[expect(
        clippy::disallowed_methods,
        reason = "wall times are shown and recorded, never used in a result"
    )]
    Instant::now()
}
