//! Ctrl-C: the first asks for a valid partial result, the second exits at once.

use crate::{console, progress};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The exit code shells use for a process killed by SIGINT.
const ENDED_AT_ONCE: i32 = 130;

/// Sets `stop` at the first Ctrl-C (or SIGTERM, or the end of the terminal).
pub(crate) fn listen(stop: Arc<AtomicBool>, mode: progress::ProgressMode) -> Result<(), weft::Error> {
    let told = move || {
        if stop.swap(true, Ordering::SeqCst) {
            std::process::exit(ENDED_AT_ONCE);
        }
        if mode != progress::ProgressMode::Json {
            console::complain("\nstopping after a partial result; Ctrl-C again stops at once");
        }
    };
    on_signals(told).map_err(|error| weft::Error::Failed(format!("cannot listen for Ctrl-C: {error}")))
}

/// Calls `told` at every signal that asks the process to end, on a thread of its own. Signals that were ignored when the
/// program began stay so: `nohup` ignores SIGHUP, and shells ignore SIGINT for what scripts run in the background.
pub(crate) fn on_signals(told: impl Fn() + Send + 'static) -> std::io::Result<()> {
    let ignored = ignored(&std::fs::read_to_string("/proc/self/status").unwrap_or_default());
    let heard = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let mut signals = Signals::new(heard)?;
    std::thread::Builder::new().spawn(move || signals.forever().for_each(|_| told()))?;
    Ok(())
}

/// The ignored signals in a process's status, one bit for each from SIGHUP on.
fn ignored(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_status() {
        let status = "Name:\tweft\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\nSigCgt:\t0\n";
        assert_eq!(ignored(status) >> (SIGHUP - 1) & 1, 1);
        assert_eq!(ignored(status) >> (SIGINT - 1) & 1, 0);
        assert_eq!(ignored(""), 0);
    }
}
