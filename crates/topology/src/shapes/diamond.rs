//! Diamond: two leaves connected by two spines, each path with its own rate and delay; the smallest network in which
//! packets of one flow can overtake each other.
//!
//! `leaf0` has hosts 0..n, `leaf1` hosts n..2n; `spine0` is path a, `spine1` path b. Ports of a leaf: hosts, path a,
//! path b.

use super::Topology;
use crate::wiring::{LinkSettings, Wiring};
use weft_core::Problem;
use weft_core::Rate;

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "Two leaves joined by two paths, each with its own rate and delay";

weft_core::settings! {
    /// Two-path diamond.
    pub struct DiamondSettings {
        /// Hosts on either leaf.
        hosts_per_leaf: u32 [1, 65533] = 1,
        /// Cable from host to leaf.
        host_link: LinkSettings = LinkSettings::of(Rate::from_gbps(10)),
        /// Both cables of the path over `spine0`.
        path_a: LinkSettings = LinkSettings::of(Rate::from_gbps(10)),
        /// Both cables of the path over `spine1`.
        path_b: LinkSettings = LinkSettings::of(Rate::from_gbps(10)),
    }
}

/// A diamond.
pub struct Diamond(DiamondSettings);

impl Diamond {
    /// A diamond with these paths.
    #[must_use]
    pub fn new(settings: &DiamondSettings, _site: ()) -> Diamond {
        Diamond(settings.clone())
    }
}

impl Topology for Diamond {
    fn cables(&self) -> u64 {
        u64::from(self.0.hosts_per_leaf) * 2 + 4
    }

    fn wire(&self, wiring: &mut Wiring) -> Vec<Problem> {
        let DiamondSettings { hosts_per_leaf, host_link, path_a, path_b } = &self.0;
        let mut problems = Vec::new();
        for (name, link) in [("host_link", host_link), ("path_a", path_a), ("path_b", path_b)] {
            link.check(name, &mut problems);
        }
        let leaves = wiring.tier(("leaf", "leaf"), 2);
        let spines = wiring.tier(("spine", "spine"), 2);
        for &leaf in &leaves {
            wiring.hosts_on(leaf, *hosts_per_leaf, host_link);
        }
        for &leaf in &leaves {
            wiring.cable(leaf, spines[0], path_a);
            wiring.cable(leaf, spines[1], path_b);
        }
        problems
    }
}
