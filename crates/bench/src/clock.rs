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

/// Runs `work`; also returns its duration in seconds, and the share of it in which the thread did not wait for a core: 1
/// where the kernel does not tell.
pub(crate) fn timed_on_core<T>(work: impl FnOnce() -> T) -> (T, f64, f64) {
    let before = waited();
    let (result, seconds) = timed(work);
    let wait = before.zip(waited()).map_or(0.0, |(before, after)| after.saturating_sub(before) as f64 / 1e9);
    (result, seconds, 1.0 - (wait / seconds).min(1.0))
}

/// Nanoseconds for which this thread has been ready to run and had no core.
fn waited() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}

/// The clock rate of the cores in MHz as the kernel gives it, where it does.
pub(crate) fn core_mhz() -> Option<f64> {
    rate_of(&std::fs::read_to_string("/proc/cpuinfo").ok()?)
}

/// The rate of the first core in `/proc/cpuinfo`.
fn rate_of(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu MHz"))?;
    let rate: f64 = line.trim_start().strip_prefix(':')?.trim().parse().ok()?;
    (rate.is_finite() && rate > 0.0).then_some(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_rate_is_the_kernels_or_unknown() {
        let told = "processor\t: 0\ncpu MHz\t\t: 2445.428\ncache size\t: 512 KB\ncpu MHz\t\t: 3000.0\n";
        assert_eq!(rate_of(told), Some(2445.428));
        for unknown in
            ["", "processor\t: 0\nBogoMIPS\t: 50.00\n", "cpu MHz\t\t: 0.000\n", "cpu MHz\t\t: fast\n"]
        {
            assert_eq!(rate_of(unknown), None, "{unknown}");
        }
    }
}
