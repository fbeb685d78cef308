//! The load that flows would put on the links above leaves if it were split equally. Must not depend on flows or
//! routes.

use crate::derived::tier;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use weft_core::record::RunRecord;
use weft_statistics::mean;

/// The load that flows would offer to the initial network, as shares of capacity. With uplinks above 1, packets must queue
/// or be lost whatever balancer chooses among shortest paths; single links above 1 may be spared by one that weights paths.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offered {
    /// Mean and maximum over leaves; the load of a leaf is the sum over its uplinks divided by the sum of their rates.
    pub uplinks: [f64; 2],
    /// Mean and maximum over the links that lead down to a leaf.
    pub downlinks: [f64; 2],
}

impl Offered {
    /// The offered load, from the links of a record; `None` if no link has one.
    pub(crate) fn of(record: &RunRecord) -> Option<Offered> {
        let tier = |node: u32| tier(record, node);
        let mut leaves: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        let mut downlinks = Vec::new();
        for link in &record.links {
            let (Some(offered), rate) = (link.offered, link.rate.0 as f64) else { continue };
            match (tier(link.from), tier(link.to)) {
                (1, _) => {
                    let leaf = leaves.entry(link.from).or_default();
                    *leaf = (leaf.0 + offered * rate, leaf.1 + rate);
                }
                (_, 1) => downlinks.push(offered),
                _ => {}
            }
        }
        let uplinks: Vec<f64> = leaves.values().map(|(offered, rate)| offered / rate).collect();
        Some(Offered { uplinks: mean_and_greatest(&uplinks)?, downlinks: mean_and_greatest(&downlinks)? })
    }

    /// Every value with its path.
    pub(crate) fn named(&self) -> impl Iterator<Item = (String, f64)> {
        let sides = [("uplinks", self.uplinks), ("downlinks", self.downlinks)].into_iter();
        sides.flat_map(|(side, [mean, max])| {
            [(format!("offered.{side}.mean"), mean), (format!("offered.{side}.max"), max)]
        })
    }
}

fn mean_and_greatest(shares: &[f64]) -> Option<[f64; 2]> {
    Some([mean(shares)?, shares.iter().copied().fold(0.0, f64::max)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::Rate;
    use weft_core::record::{LinkRecord, NodeRecord};

    #[test]
    fn leaves_count_whole_and_links_that_are_down_not_at_all() {
        // Host 0, leaves 1 and 2, spines 3 and 4.
        let nodes = [0, 1, 1, 2, 2].map(|tier| NodeRecord { tier, ..NodeRecord::default() }).to_vec();
        let link = |(from, to, gbps, offered): (u32, u32, u64, Option<f64>)| LinkRecord {
            from,
            to,
            rate: Rate(gbps * 1_000_000_000),
            offered,
            ..LinkRecord::default()
        };
        let up = [(1, 3, 10, Some(0.9)), (1, 4, 30, Some(0.3)), (2, 3, 10, Some(0.75)), (2, 4, 10, None)];
        let down = [(3, 1, 10, Some(0.6)), (4, 1, 30, Some(0.2)), (3, 2, 10, Some(1.3)), (4, 2, 10, None)];
        let links = up.into_iter().chain(down).chain([(1, 0, 10, None)]).map(link).collect();
        let found = Offered::of(&RunRecord { nodes, links, ..RunRecord::default() }).unwrap();
        let close = |found: [f64; 2], told: [f64; 2]| {
            assert!(found.iter().zip(&told).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?} is not {told:?}");
        };
        close(found.uplinks, [0.6, 0.75]);
        close(found.downlinks, [0.7, 1.3]);
        assert_eq!(Offered::of(&RunRecord::default()), None);
    }
}
