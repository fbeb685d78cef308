//! The value of thresholds on one link with Poisson arrivals and no congestion control, beside the orders that bound
//! them. Must not depend on the objective by which thresholds are chosen.

use weft_core::Bytes;
use weft_ideal::PoissonLink;

use crate::demand::{FlowDemand, in_pieces};

/// Mean completion times on one link without congestion control, in units of the time of a flow of mean size alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkMeans {
    /// With one queue, which all flows share: processor sharing, exact.
    pub one_queue: f64,
    /// With the thresholds: strict priority between classes, which flows of a class share; solved numerically.
    pub thresholds: f64,
    /// With any number of thresholds: least attained service, exact.
    pub any_number: f64,
    /// If sizes were known: shortest remaining first, which no order beats; exact.
    pub sizes_known: f64,
}

impl LinkMeans {
    /// The means for these flows and thresholds; `None` if a tail is so heavy that most bytes lie in flows of sizes
    /// without physical meaning (a Pareto shape hardly above 1).
    #[must_use]
    pub fn of(demand: &FlowDemand<'_>, thresholds: &[Bytes]) -> Option<LinkMeans> {
        let work = in_pieces(demand.sizes);
        if (work.mean() / demand.sizes.mean() - 1.0).abs() > 0.01 {
            return None;
        }
        let link = PoissonLink { work: &work, load: demand.load };
        let limits: Vec<f64> = thresholds.iter().map(|threshold| threshold.0 as f64).collect();
        Some(LinkMeans {
            one_queue: link.shared(),
            thresholds: link.levels(&limits),
            any_number: link.least_attained(),
            sizes_known: link.shortest_remaining(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::thresholds;
    use std::path::Path;
    use weft_workload::SizeDistribution;

    fn means(name: &str, load: f64) -> LinkMeans {
        let sizes = SizeDistribution::read(name, Path::new(".")).expect("it is bundled");
        let demand = FlowDemand { sizes: &sizes, load };
        LinkMeans::of(&demand, &thresholds(&demand, 8)).expect("its tail ends")
    }

    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 0.005, "{found}, expected {expected}");
    }

    /// Integrated independently of this code, over quantiles: 4.53 with least attained service, 2.29 with sizes
    /// known.
    #[test]
    fn web_search_at_eighty_per_cent() {
        let means = means("web-search-pias", 0.8);
        near(means.one_queue, 5.0);
        near(means.any_number, 4.53);
        near(means.sizes_known, 2.29);
        // A large flow is more likely to end soon: least attained service is not the best order without sizes.
        assert!(means.thresholds < means.any_number, "{means:?}");
    }

    #[test]
    fn nothing_is_faster_than_with_known_sizes() {
        for name in [
            "data-mining-pfabric",
            "facebook-unitless",
            "exponential(100 kB)",
            "pareto(10 kB, 1.05)",
            "64 kB",
        ] {
            for load in [0.3, 0.95] {
                let means = means(name, load);
                let others = [means.one_queue, means.thresholds, means.any_number];
                assert!(others.iter().all(|mean| *mean > means.sizes_known), "{name}: {means:?}");
            }
        }
    }

    /// Equal flows gain nothing from thresholds; the more thresholds, the more they lose.
    #[test]
    fn equal_flows_are_best_served_by_one_queue() {
        let means = means("64 kB", 0.8);
        assert!(means.one_queue < means.thresholds && means.thresholds < means.any_number, "{means:?}");
    }

    #[test]
    fn a_tail_without_end_has_no_means() {
        let sizes = SizeDistribution::Pareto { least: 1e4, shape: 1.000_1 };
        assert_eq!(LinkMeans::of(&FlowDemand { sizes: &sizes, load: 0.5 }, &[]), None);
    }
}
