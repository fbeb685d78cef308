//! Quantities shown as whole numbers, and only where there are any.

use crate::sweep::Run;

/// Whether a sender was paused in any run.
pub(crate) fn paused(runs: &[Run]) -> bool {
    runs.iter().any(|run| run.summary.metric("pause.stops").is_some_and(|stops| stops > 0.0))
}

/// Whether a metric without unit counts something.
pub(crate) fn is_count(metric: &str) -> bool {
    let counts = ["flows.", "pause.", "deadline.late", "deadline.terminated"];
    counts.iter().any(|begin| metric.starts_with(begin))
        && !metric.ends_with("_share")
        && !metric.ends_with("slowdown")
}
