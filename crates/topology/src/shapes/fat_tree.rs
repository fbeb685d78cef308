//! The k-ary fat tree (Al-Fares et al., SIGCOMM 2008): k pods of k/2 edge and k/2 aggregation switches, (k/2)² cores.
//!
//! Switches: `edge0`.. by (pod, position), then `agg0`.. likewise, then `core0`..; core c connects to aggregation c /
//! (k/2) of every pod. Ports: edge: hosts, aggregations; aggregation: edges, cores; core: pods.

use super::Topology;
use crate::wiring::{LinkSettings, Wiring};
use weft_core::Problem;
use weft_core::Rate;

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "Three tiers of identical k-port switches in k pods";

weft_core::settings! {
    /// k-ary fat tree.
    pub struct FatTreeSettings {
        /// Ports per switch (the paper's k), even: k pods, k³/4 hosts.
        k: u32 [2, 256] = 4,
        /// Hosts per edge switch divided by k/2: 1 is the full-bisection tree, 2 doubles the hosts.
        oversubscription: u32 [1, 256] = 1,
        /// Cable from host to edge switch.
        host_link: LinkSettings = LinkSettings::of(Rate::from_gbps(10)),
        /// Cable between switches.
        fabric_link: LinkSettings = LinkSettings::of(Rate::from_gbps(10)),
    }
}

/// A fat tree.
pub struct FatTree(FatTreeSettings);

impl FatTree {
    /// A tree of this size.
    #[must_use]
    pub fn new(settings: &FatTreeSettings, _site: ()) -> FatTree {
        FatTree(settings.clone())
    }
}

impl Topology for FatTree {
    fn cables(&self) -> u64 {
        let (k, over) = (u64::from(self.0.k), u64::from(self.0.oversubscription));
        k * k * k / 4 * (over + 2)
    }

    fn wire(&self, wiring: &mut Wiring) -> Vec<Problem> {
        let FatTreeSettings { k, oversubscription, host_link, fabric_link } = &self.0;
        let mut problems = Vec::new();
        host_link.check("host_link", &mut problems);
        fabric_link.check("fabric_link", &mut problems);
        if !k.is_multiple_of(2) {
            problems.push(Problem::new("k", format!("k is {k}; it must be even, for example {}", k + 1)));
        }
        if !problems.is_empty() {
            return problems;
        }
        let half = (k / 2) as usize;
        let edges = wiring.tier(("edge", "edge"), k * k / 2);
        let aggregations = wiring.tier(("agg", "aggregation"), k * k / 2);
        let cores = wiring.tier(("core", "core"), k * k / 4);
        for &edge in &edges {
            wiring.hosts_on(edge, oversubscription * k / 2, host_link);
        }
        for (pod, edges) in edges.chunks(half).enumerate() {
            let aggregations = &aggregations[pod * half..][..half];
            for &edge in edges {
                aggregations.iter().for_each(|&aggregation| wiring.cable(edge, aggregation, fabric_link));
            }
            for (row, &aggregation) in aggregations.iter().enumerate() {
                cores[row * half..][..half]
                    .iter()
                    .for_each(|&core| wiring.cable(aggregation, core, fabric_link));
            }
        }
        Vec::new()
    }
}
