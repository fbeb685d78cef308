//! Ctrl-C: the first asks for a valid partial result, the second ends the process at once.

use crate::{console, progress};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What shells use for a process ended by SIGINT.
const ENDED_AT_ONCE: i32 = 130;

/// Sets `stop` at the first Ctrl-C (or SIGTERM).
pub(crate) fn listen(stop: Arc<AtomicBool>, mode: progress::ProgressMode) -> Result<(), weft::Error> {
    ctrlc::set_handler(move || {
        if stop.swap(true, Ordering::SeqCst) {
            std::process::exit(ENDED_AT_ONCE);
        }
        if mode != progress::ProgressMode::Json {
            console::complain("\nstopping with what is there; Ctrl-C once more ends at once");
        }
    })
    .map_err(|error| weft::Error::Failed(format!("cannot listen for Ctrl-C: {error}")))
}
