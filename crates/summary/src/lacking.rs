//! Metrics that a run lacks because its engine does not measure their quantity.

use crate::summary::Summary;
use weft_core::record::Quantity;

impl Summary {
    /// Whether a metric is absent because the engine does not measure its quantity.
    #[must_use]
    pub fn lacks(&self, metric: &str) -> bool {
        let quantity = quantity(metric).map(Quantity::name);
        self.not_measured.iter().any(|name| quantity == Some(name))
    }
}

/// Metrics of reordering that count duplicate acknowledgements.
pub(crate) const DUPLICATE_ACKS: [&str; 4] =
    ["flows_with_dupacks", "over_3", "flows_with_dupacks_reorder", "over_3_reorder"];

/// The quantity that a metric is computed from, if an engine may leave it unmeasured.
fn quantity(path: &str) -> Option<Quantity> {
    let family = path.split('.').next().unwrap_or(path);
    match family {
        "flows" if path.contains("timed_out") || path.contains("starved") => Some(Quantity::Recovery),
        "drops" => Some(Quantity::Drops),
        "queueing" => Some(Quantity::Waits),
        "imbalance" | "queue" => Some(Quantity::Queues),
        "reordering" if DUPLICATE_ACKS.iter().any(|name| path.ends_with(name)) => {
            Some(Quantity::DuplicateAcks)
        }
        "reordering" => Some(Quantity::Reordering),
        "utilisation" | "packet_hops" => Some(Quantity::Loads),
        "pause" => Some(Quantity::Pauses),
        "marks" => Some(Quantity::Marks),
        "retransmitted" | "timeouts" | "important_share" | "fct_acknowledged" => Some(Quantity::Recovery),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_lacking_only_where_its_quantity_is() {
        let not_measured = vec![Quantity::Drops.name().to_owned(), Quantity::Queues.name().to_owned()];
        let summary = Summary { not_measured, ..Summary::default() };
        for (metric, lacks) in [
            ("drops.hop1", true),
            ("queue.peak", true),
            ("imbalance.hop1", true),
            ("marks", false),
            ("fct.p99", false),
        ] {
            assert_eq!(summary.lacks(metric), lacks, "{metric}");
        }
    }
}
