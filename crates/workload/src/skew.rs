//! Leaves that send more than others, at an unchanged mean. Must not depend on sizes or arrival times.

use crate::site::{Participants, PatternSite};
use weft_core::{HostId, Problem};

weft_core::settings! {
    /// Hot racks: the hosts under some leaves send more often than the mean, those under the others less, and the
    /// total is unchanged.
    pub struct HotLeaves {
        /// Number of hot leaves, counted from the first leaf that sends.
        leaves: u32 [1, 65535] = 1,
        /// How often a host under a hot leaf sends, in multiples of the mean; above 1. At `load = 0.8`, a hot leaf
        /// with 1.2 offers 96 % of its uplinks if leaves are equal.
        factor: f64,
    }
}

/// Sending rates of hosts under hot and under other leaves.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Skew {
    /// The rate of each leaf, in multiples of the mean.
    pub(crate) of_leaf: Vec<f64>,
    hot: (usize, f64),
    others: (usize, f64),
}

impl HotLeaves {
    /// The resulting skew among these senders.
    ///
    /// # Errors
    /// No leaf is left beside the hot ones, they are not hot, or they send everything.
    pub(crate) fn skew(&self, site: &PatternSite<'_>, from: &Participants) -> Result<Skew, Problem> {
        let leaf = |host: &HostId| usize::from(site.shape.leaf_of_host[host.index()]);
        let mut leaves: Vec<usize> = from.all().iter().map(leaf).collect();
        let hosts = leaves.len() as f64;
        leaves.dedup();
        let (hot, all) = (self.leaves as usize, leaves.len());
        let wrong = |field: &str, says: String| Err(Problem::new(format!("hot.{field}"), says));
        if hot >= all {
            return wrong("leaves", format!("{all} leaves send, and at least one of them must not be hot"));
        }
        let under = from.all().iter().filter(|host| leaves[..hot].contains(&leaf(host))).count() as f64;
        let others = (hosts - under * self.factor) / (hosts - under);
        if self.factor.is_nan() || self.factor <= 1.0 {
            return wrong("factor", format!("{} is not a skew; it must be above 1", self.factor));
        }
        if others <= 0.0 {
            let most = hosts / under;
            return wrong("factor", format!("hot leaves would send everything; it must be below {most:.2}"));
        }
        let mut of_leaf = vec![others; site.shape.uplink_capacity.len()];
        leaves[..hot].iter().for_each(|leaf| of_leaf[*leaf] = self.factor);
        Ok(Skew { of_leaf, hot: (hot, self.factor), others: (all - hot, others) })
    }
}

impl Skew {
    /// The load that leaves offer at a mean load, in words.
    pub(crate) fn note(&self, load: f64) -> String {
        let ((hot, factor), (others, less)) = (self.hot, self.others);
        let leaves = if hot == 1 { "leaf offers" } else { "leaves offer" };
        let [most, least] = [factor, less].map(|factor| 100.0 * load * factor);
        format!("{hot} hot {leaves} {most:.1} % load, each of the other {others} {least:.1} %")
    }
}
