//! How evenly the uplinks of leaves are used. Must not depend on balancers.

use crate::derived::{tier, utilisation};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use weft_core::record::{ArrivalRecord, RunRecord};
use weft_statistics::mean;

/// Utilisation of the uplinks of leaves, that is, of their links to switches above them, without links that were down for part of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Uplinks {
    /// Least utilisation of an uplink, as a fraction.
    pub min: f64,
    /// Mean over all uplinks.
    pub mean: f64,
    /// Greatest utilisation of an uplink.
    pub max: f64,
    /// (Maximum - minimum) / mean over a leaf's uplinks, averaged over the leaves that sent something and have at
    /// least two uplinks (the throughput imbalance of CONGA, SIGCOMM 2014, figure 12). 0: perfectly even; n: one of n
    /// uplinks carried all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
}

impl Uplinks {
    /// From the links of a record; `None` without switches above the leaves.
    pub(crate) fn of(record: &RunRecord, window: Option<ArrivalRecord>) -> Option<Uplinks> {
        let tier = |node: u32| tier(record, node);
        let mut leaves: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        let uplinks =
            record.links.iter().filter(|link| !link.failed && tier(link.from) == 1 && tier(link.to) > 1);
        uplinks.for_each(|link| leaves.entry(link.from).or_default().push(utilisation(link, record, window)));
        let all: Vec<f64> = leaves.values().flatten().copied().collect();
        let spreads: Vec<f64> = leaves.values().filter_map(|of_leaf| spread(of_leaf)).collect();
        Some(Uplinks { min: least(&all), mean: mean(&all)?, max: greatest(&all), spread: mean(&spreads) })
    }

    /// Every value with its path.
    pub(crate) fn named(&self) -> impl Iterator<Item = (String, f64)> {
        let named = [("min", self.min), ("mean", self.mean), ("max", self.max)].into_iter();
        let spread = self.spread.map(|spread| ("spread", spread));
        named.chain(spread).map(|(name, value)| (format!("utilisation.uplinks.{name}"), value))
    }
}

/// The spread of one leaf's uplinks; `None` for a single uplink or a leaf that sent nothing.
fn spread(of_leaf: &[f64]) -> Option<f64> {
    let mean = mean(of_leaf).filter(|mean| *mean > 0.0 && of_leaf.len() > 1)?;
    Some((greatest(of_leaf) - least(of_leaf)) / mean)
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn greatest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::record::{LinkRecord, NodeRecord};
    use weft_core::{Bytes, Rate, Span, Time};

    /// Nodes 0 (host), 1 and 2 (leaves), 3 and 4 (spines); 1 Gbps links over 1 us carry 125 bytes.
    fn record(links: &[(u32, u32, u64)]) -> RunRecord {
        let link = |&(from, to, sent): &(u32, u32, u64)| LinkRecord {
            from,
            to,
            rate: Rate(1_000_000_000),
            sent: Bytes(sent),
            ..LinkRecord::default()
        };
        RunRecord {
            nodes: [0, 1, 1, 2, 2].map(|tier| NodeRecord { tier, ..NodeRecord::default() }).to_vec(),
            links: links.iter().map(link).collect(),
            ended: Time::ZERO + Span::from_us(1),
            ..RunRecord::default()
        }
    }

    #[test]
    fn uplinks_are_told_by_their_closed_forms() {
        // Leaf 1 sends 100 and 50 bytes up, leaf 2 sends 25 on one of two uplinks; hosts and spines are not counted.
        let links = [(0, 1, 125), (1, 3, 100), (1, 4, 50), (2, 3, 25), (2, 4, 0), (3, 2, 125), (1, 0, 125)];
        let found = Uplinks::of(&record(&links), None).unwrap();
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} is not {b}");
        close(found.min, 0.0);
        close(found.max, 100.0 / 125.0);
        close(found.mean, 175.0 / 500.0);
        close(found.spread.unwrap(), (50.0 / 75.0 + 2.0) / 2.0);
    }

    #[test]
    fn failed_and_idle_uplinks_are_not_taken_for_uneven_ones() {
        let mut failed = record(&[(1, 3, 60), (1, 4, 60), (1, 4, 5), (2, 3, 0), (2, 4, 0)]);
        failed.links[2].failed = true;
        assert_eq!(Uplinks::of(&failed, None).unwrap().spread, Some(0.0));
        assert_eq!(Uplinks::of(&record(&[(2, 3, 0), (2, 4, 0)]), None).unwrap().spread, None);
        assert_eq!(Uplinks::of(&record(&[(1, 3, 9)]), None).unwrap().spread, None);
        assert_eq!(Uplinks::of(&record(&[(0, 1, 9), (1, 0, 9)]), None), None);
    }

    /// A chain of switches has a cable before and a cable behind, which are no alternatives.
    #[test]
    fn cables_between_neighbours_of_one_tier_are_no_uplinks() {
        assert_eq!(Uplinks::of(&record(&[(1, 2, 60), (2, 1, 60)]), None), None);
        let mixed = Uplinks::of(&record(&[(1, 2, 125), (1, 3, 50), (1, 4, 50)]), None).unwrap();
        assert_eq!((mixed.max, mixed.spread), (0.4, Some(0.0)));
    }
}
