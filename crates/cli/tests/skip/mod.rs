//! Tests that cannot run on a machine say so. One file for the tests of all crates.

use std::fs::File;
use std::io::Write;

/// A test that cannot run here passes and says why, past the test harness, which hides what passing tests print; `make test` lists
/// the reasons at its end. With `WEFT_KERNEL_TESTS=1`, for machines on which all must run, it fails.
pub(crate) fn skip(why: &str) {
    let must_run = std::env::var_os("WEFT_KERNEL_TESTS").is_some_and(|set| set == "1");
    assert!(!must_run, "WEFT_KERNEL_TESTS=1: {why}");
    let line = format!("skipped: {}: {why}", std::thread::current().name().unwrap_or_default());
    let _ = writeln!(std::io::stderr(), "{line}");
    let list =
        std::env::var_os("WEFT_SKIPPED").map(|path| File::options().create(true).append(true).open(path));
    if let Some(Ok(mut list)) = list {
        let _ = writeln!(list, "{line}");
    }
}
