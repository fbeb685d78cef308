//! PIAS thresholds by a queueing model: Poisson arrivals at one link, classes by strict priority, and flows of a class share what the
//! classes above leave (processor sharing). Must not depend on packets, rates or congestion control.
//!
//! With the load r, sizes X and thresholds a_1 ≤ … ≤ a_K (the last infinite), class i carries m_i = E\[min(X, a_i)\] − E\[min(X, a_i−1)\]
//! of a mean flow, and classes up to i load the link to r_i = r E\[min(X, a_i)\] / E\[X\]. The mean completion time is
//! Σ m_i / (C (1 − r_i)). It is least where 1 − r_i = (1 − r)^(i/K), which [`thresholds`] solves for a_i.

use weft_core::Bytes;
use weft_workload::SizeDistribution;

/// Flow sizes and the load they cause.
#[derive(Clone, Copy, Debug)]
pub struct FlowDemand<'a> {
    /// Sizes of flows.
    pub sizes: &'a SizeDistribution,
    /// Load of the link, above 0 and below 1.
    pub load: f64,
}

/// The thresholds with the minimum mean completion time for `queues` queues: one fewer, ascending. If no size exceeds a
/// threshold, the queues beyond it stay empty.
#[must_use]
pub fn thresholds(demand: &FlowDemand<'_>, queues: usize) -> Vec<Bytes> {
    let share = |i: usize| (1.0 - (1.0 - demand.load).powf(i as f64 / queues as f64)) / demand.load;
    (1..queues).map(|i| where_share_is(demand.sizes, share(i))).collect()
}

/// The size up to which flows carry this share of all bytes.
fn where_share_is(sizes: &SizeDistribution, share: f64) -> Bytes {
    let (mean, carried) = (sizes.mean(), |size: u64| sizes.mean_up_to(size as f64));
    let reaches = |size: u64| carried(size) >= share * mean;
    let mut high = 1_u64;
    while !reaches(high) && high < 1 << 50 {
        high *= 2;
    }
    let mut low = high / 2;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if reaches(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Bytes(high)
}

/// The mean completion time under these thresholds, as a multiple of that of a flow of mean size alone on the link.
/// With one queue it is 1 / (1 − load).
#[must_use]
pub fn cost(demand: &FlowDemand<'_>, thresholds: &[Bytes]) -> f64 {
    let mean = demand.sizes.mean();
    let limits = thresholds.iter().map(|threshold| demand.sizes.mean_up_to(threshold.0 as f64));
    let mut below = 0.0;
    let classes = limits.chain([mean]).map(|up_to| {
        let own = (up_to - below) / mean;
        below = up_to;
        own / (1.0 - demand.load * up_to / mean)
    });
    classes.sum()
}

/// The minimum [`cost`] over all thresholds for `queues` queues.
#[must_use]
pub fn least_cost(load: f64, queues: usize) -> f64 {
    let queues = queues as f64;
    queues * ((1.0 - load).powf(-1.0 / queues) - 1.0) / load
}

/// Thresholds for a load that is not known: those whose cost at the worst of these loads, relative to the least there, is smallest.
/// Among thresholds that are best for some load, which one parameter describes. Returns them with that relative cost.
#[must_use]
pub fn compromise(sizes: &SizeDistribution, loads: &[f64], queues: usize) -> (Vec<Bytes>, f64) {
    let excess = |thresholds: &[Bytes]| {
        let relative = |load: &f64| {
            let demand = FlowDemand { sizes, load: *load };
            cost(&demand, thresholds) / cost(&demand, &self::thresholds(&demand, queues))
        };
        loads.iter().map(relative).fold(1.0, f64::max)
    };
    let [low, high] = [f64::min, f64::max].map(|of| loads.iter().copied().reduce(of).unwrap_or(0.5));
    let steps = 64;
    let tried = (0..=steps).map(|step| {
        let load = low + (high - low) * f64::from(step) / f64::from(steps);
        let thresholds = thresholds(&FlowDemand { sizes, load }, queues);
        let excess = excess(&thresholds);
        (thresholds, excess)
    });
    tried.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const PACKET: f64 = 1_460.0;

    /// The set for an unknown load is worse than each load's own there, but by less than the worst of these elsewhere.
    #[test]
    fn a_compromise_costs_less_than_a_wrong_guess() {
        for name in ["web-search-pias", "data-mining-pfabric"] {
            let (sizes, loads) = (sizes(name), [0.5, 0.7, 0.9]);
            let (_, excess) = compromise(&sizes, &loads, 8);
            let guess = |of: f64, at: f64| {
                let demand = |load| FlowDemand { sizes: &sizes, load };
                cost(&demand(at), &thresholds(&demand(of), 8))
                    / cost(&demand(at), &thresholds(&demand(at), 8))
            };
            let wrong = guess(0.5, 0.9).min(guess(0.9, 0.5));
            assert!(excess >= 1.0 && excess <= wrong, "{name}: {excess}, a wrong guess {wrong}");
        }
    }

    fn sizes(name: &str) -> SizeDistribution {
        SizeDistribution::read(name, Path::new(".")).expect("it is bundled")
    }

    /// 10, 4.80 and 2.97 mean flows for one, two and eight queues at 90 %; 2.56 in the limit.
    #[test]
    fn the_least_cost_is_the_closed_form() {
        for (queues, expected) in [(1, 10.0), (2, 4.80), (8, 2.97), (100_000, 2.56)] {
            assert!((least_cost(0.9, queues) - expected).abs() < 0.01, "{queues}");
        }
    }

    /// Whatever the sizes, the thresholds reach the least cost that any can have.
    #[test]
    fn thresholds_reach_the_least_cost() {
        for name in ["web-search-pias", "data-mining-pfabric", "exponential(100 kB)", "pareto(10 kB, 1.5)"] {
            let sizes = sizes(name);
            for (load, queues) in [(0.3, 2), (0.5, 4), (0.8, 8), (0.9, 8)] {
                let demand = FlowDemand { sizes: &sizes, load };
                let found = thresholds(&demand, queues);
                assert!(found.is_sorted() && found.len() == queues - 1, "{found:?}");
                let (least, cost) = (least_cost(load, queues), cost(&demand, &found));
                assert!((cost / least - 1.0).abs() < 1e-3, "{name} {load} {queues}: {cost} {least}");
            }
        }
    }

    /// The specification's figures for web search at 90 %: thresholds in packets of 1460 bytes, and the cost of those that were
    /// published.
    #[test]
    fn web_search_at_ninety_per_cent() {
        let sizes = sizes("web-search-pias");
        let demand = FlowDemand { sizes: &sizes, load: 0.9 };
        let packets =
            thresholds(&demand, 8).iter().map(|bytes| (bytes.0 as f64 / PACKET).round()).collect::<Vec<_>>();
        let expected = [875.0, 2_050.0, 3_422.0, 5_078.0, 7_568.0, 10_635.0, 13_869.0];
        for (found, expected) in packets.iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 0.01, "{packets:?}");
        }
        let published = [759, 1_132, 1_456, 1_737, 2_010, 2_199, 2_325].map(|packets| Bytes(packets * 1_460));
        assert!((cost(&demand, &published) - 5.52).abs() < 0.05, "{}", cost(&demand, &published));
    }
}
