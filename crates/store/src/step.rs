//! Points between two changes of the file system at which a process may die. Tests try every one of them; a release
//! build has none.

#[cfg(debug_assertions)]
use std::sync::atomic::{AtomicU64, Ordering};

/// The variable that names the step at which to die, counted from 1.
#[cfg(debug_assertions)]
const VARIABLE: &str = "WEFT_TEST_DIE_AT_STEP";

/// Called after each change of the file system.
#[cfg(debug_assertions)]
pub(crate) fn done() {
    static STEPS: AtomicU64 = AtomicU64::new(0);
    let step = STEPS.fetch_add(1, Ordering::SeqCst) + 1;
    if std::env::var(VARIABLE).is_ok_and(|wanted| wanted == step.to_string()) {
        std::process::abort();
    }
}

#[cfg(not(debug_assertions))]
pub(crate) fn done() {}

/// A path has been synced to disk. Only tests of this crate remember it.
#[cfg(not(test))]
pub(crate) fn synced(_: &std::path::Path) {}

#[cfg(test)]
pub(crate) use remembered::{synced, take_synced};

#[cfg(test)]
mod remembered {
    use std::cell::RefCell;
    use std::path::{Path, PathBuf};

    thread_local! {
        static SYNCED: RefCell<Vec<PathBuf>> = const { RefCell::new(Vec::new()) };
    }

    pub(crate) fn synced(path: &Path) {
        SYNCED.with_borrow_mut(|all| all.push(path.to_owned()));
    }

    /// The paths that this thread has synced since it was last asked.
    pub(crate) fn take_synced() -> Vec<PathBuf> {
        SYNCED.take()
    }
}
