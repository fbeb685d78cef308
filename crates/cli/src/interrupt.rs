//! Ctrl-C: the first asks for a valid partial result, the second exits at once.

use crate::{console, progress};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The exit code shells use for a process killed by SIGINT.
const ENDED_AT_ONCE: i32 = 130;

/// Sets `stop` at the first Ctrl-C (or SIGTERM).
pub(crate) fn listen(stop: Arc<AtomicBool>, mode: progress::ProgressMode) -> Result<(), weft::Error> {
    ctrlc::set_handler(move || {
        if stop.swap(true, Ordering::SeqCst) {
            std::process::exit(ENDED_AT_ONCE);
        }
        if mode != progress::ProgressMode::Json {
            console::complain("\nstopping after a partial result; Ctrl-C again stops at once");
        }
    })
    .map_err(|error| weft::Error::Failed(format!("cannot listen for Ctrl-C: {error}")))
}
