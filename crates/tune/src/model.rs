//! PIAS thresholds by an objective: Poisson arrivals at one link, classes by strict priority, and flows of a class
//! share what the classes above leave. Must not depend on packets, rates or congestion control.
//!
//! With the load r, sizes X and thresholds a_1 ≤ … ≤ a_K (the last infinite), class i carries m_i = E\[min(X, a_i)\]
//! − E\[min(X, a_i−1)\] of a mean flow, and classes up to i load the link to r_i = r E\[min(X, a_i)\] / E\[X\]. The
//! objective is a sum of ratios like that of Bai et al. (NSDI 2015, section 4), Σ m_i / (C (1 − r_i)). It is least
//! where 1 − r_i = (1 − r)^(i/K), which [`thresholds`] solves for a_i.
//!
//! The objective ranks thresholds; it is not a completion time. It counts how later arrivals slow a flow down and
//! ignores the flows already present when it arrives, so it can be lower than any schedule reaches. Completion times
//! are in [`link`](mod@crate::link).

use weft_core::Bytes;
use weft_workload::SizeDistribution;

use crate::demand::{FlowDemand, share_beyond};

/// The thresholds with the least objective for `queues` queues: one fewer, ascending. Some may separate nothing: see
/// [`worth_setting`].
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

/// Payload of a full packet: an Ethernet frame of 1500 bytes less the headers of IPv4 and TCP.
pub const PACKET: Bytes = Bytes(1_460);

/// A threshold that a smaller share of flows exceeds has no effect in any run.
const RARE: f64 = 1e-9;

/// Thresholds that separate flows, and the number of others that do not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorthSetting {
    /// Those that do, strictly ascending.
    pub thresholds: Vec<Bytes>,
    /// Number of those that end in the same packet as a larger one.
    pub within_a_packet: usize,
    /// Number of those beyond which less than one flow in 10^9 has a packet.
    pub beyond_all: usize,
}

/// Leaves out thresholds, which ascend, that make no difference to packets.
#[must_use]
pub fn worth_setting(sizes: &SizeDistribution, thresholds: &[Bytes]) -> WorthSetting {
    let packet = |threshold: &Bytes| threshold.0 / PACKET.0;
    let exceeded = |threshold: &&Bytes| share_beyond(sizes, (packet(threshold) + 1) * PACKET.0) >= RARE;
    let reached: Vec<Bytes> = thresholds.iter().filter(exceeded).copied().collect();
    let is_last = |n: usize| reached.get(n + 1).is_none_or(|next| packet(next) > packet(&reached[n]));
    let kept: Vec<Bytes> = (0..reached.len()).filter(|n| is_last(*n)).map(|n| reached[n]).collect();
    WorthSetting {
        within_a_packet: reached.len() - kept.len(),
        beyond_all: thresholds.len() - reached.len(),
        thresholds: kept,
    }
}

/// The objective for these thresholds, as a multiple of the time of a flow of mean size alone on the link. With one
/// queue it is 1 / (1 − load), and the only one that is a mean completion time.
#[must_use]
pub fn objective(demand: &FlowDemand<'_>, thresholds: &[Bytes]) -> f64 {
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

/// The least [`objective`] over all thresholds for `queues` queues.
#[must_use]
pub fn least_objective(load: f64, queues: usize) -> f64 {
    let queues = queues as f64;
    queues * ((1.0 - load).powf(-1.0 / queues) - 1.0) / load
}

/// Thresholds for an unknown load: those with the smallest objective, relative to the least possible, at the worst of
/// these loads. Searches among thresholds that are best for some load, which one parameter describes. Returns them
/// with that ratio.
#[must_use]
pub fn compromise(sizes: &SizeDistribution, loads: &[f64], queues: usize) -> (Vec<Bytes>, f64) {
    let excess = |thresholds: &[Bytes]| {
        let relative = |load: &f64| {
            let demand = FlowDemand { sizes, load: *load };
            objective(&demand, thresholds) / objective(&demand, &self::thresholds(&demand, queues))
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

    /// At each load the set for an unknown load is worse than that load's own set, but by less than the worst of
    /// these at other loads.
    #[test]
    fn a_compromise_is_better_than_a_wrong_guess() {
        for name in ["web-search-pias", "data-mining-pfabric"] {
            let (sizes, loads) = (sizes(name), [0.5, 0.7, 0.9]);
            let (_, excess) = compromise(&sizes, &loads, 8);
            let guess = |of: f64, at: f64| {
                let demand = |load| FlowDemand { sizes: &sizes, load };
                objective(&demand(at), &thresholds(&demand(of), 8))
                    / objective(&demand(at), &thresholds(&demand(at), 8))
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
    fn the_least_objective_is_the_closed_form() {
        for (queues, expected) in [(1, 10.0), (2, 4.80), (8, 2.97), (100_000, 2.56)] {
            assert!((least_objective(0.9, queues) - expected).abs() < 0.01, "{queues}");
        }
    }

    /// Whatever the sizes, the thresholds reach the minimum of the objective.
    #[test]
    fn thresholds_reach_the_least_objective() {
        for name in ["web-search-pias", "data-mining-pfabric", "exponential(100 kB)", "pareto(10 kB, 1.5)"] {
            let sizes = sizes(name);
            for (load, queues) in [(0.3, 2), (0.5, 4), (0.8, 8), (0.9, 8)] {
                let demand = FlowDemand { sizes: &sizes, load };
                let found = thresholds(&demand, queues);
                assert!(found.is_sorted() && found.len() == queues - 1, "{found:?}");
                let (least, found) = (least_objective(load, queues), objective(&demand, &found));
                assert!((found / least - 1.0).abs() < 1e-3, "{name} {load} {queues}: {found} {least}");
            }
        }
    }

    /// The specification's figures for web search at 90 %: thresholds in packets of 1460 bytes, and the objective of
    /// the published ones.
    #[test]
    fn web_search_at_ninety_per_cent() {
        let sizes = sizes("web-search-pias");
        let demand = FlowDemand { sizes: &sizes, load: 0.9 };
        let packets = thresholds(&demand, 8)
            .iter()
            .map(|bytes| (bytes.0 as f64 / PACKET.0 as f64).round())
            .collect::<Vec<_>>();
        let expected = [875.0, 2_050.0, 3_422.0, 5_078.0, 7_568.0, 10_635.0, 13_869.0];
        for (found, expected) in packets.iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 0.01, "{packets:?}");
        }
        let published = [759, 1_132, 1_456, 1_737, 2_010, 2_199, 2_325].map(|packets| Bytes(packets * 1_460));
        assert!((objective(&demand, &published) - 5.52).abs() < 0.05, "{}", objective(&demand, &published));
    }

    /// The first packet of a flow always goes in the highest class, and its class changes between packets only.
    #[test]
    fn thresholds_that_packets_do_not_tell_apart_are_left_out() {
        let worth = |name: &str, thresholds: &[u64]| {
            let thresholds: Vec<Bytes> = thresholds.iter().copied().map(Bytes).collect();
            worth_setting(&sizes(name), &thresholds)
        };
        let kept = |of: &WorthSetting| of.thresholds.iter().map(|threshold| threshold.0).collect::<Vec<_>>();
        let inside = worth("10 kB", &[157, 532, 1_460, 2_000, 3_000]);
        assert_eq!(
            (kept(&inside), inside.within_a_packet, inside.beyond_all),
            (vec![532, 2_000, 3_000], 2, 0)
        );
        // The last packet of 10 kB starts at 8760.
        let beyond = worth("10 kB", &[8_759, 8_760, 20_000]);
        assert_eq!((kept(&beyond), beyond.within_a_packet, beyond.beyond_all), (vec![8_759], 0, 2));
        assert_eq!(kept(&worth("1 kB", &[200, 700])), [0; 0]);
        let heavy = worth("pareto(10 kB, 1.05)", &[1 << 30, 1 << 50, 1 << 50]);
        assert_eq!((kept(&heavy), heavy.beyond_all), (vec![1 << 30], 2));
    }
}
