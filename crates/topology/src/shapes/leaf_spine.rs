//! Leaf-spine, the two-tier folded Clos of most load-balancing papers (DRILL, SIGCOMM 2017; CONGA, SIGCOMM 2014).
//!
//! Leaves `leaf0`.. come before spines `spine0`..; host h is on leaf h / hosts_per_leaf. Ports of a leaf: hosts, then
//! uplinks by (spine, parallel number); ports of a spine: by (leaf, parallel number).

use super::Topology;
use crate::wiring::{LinkSettings, Wiring};
use weft_core::settings::Share;
use weft_core::{Problem, Purpose, Random, Rate, Span};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "Two tiers: every leaf is connected to every spine, hosts to leaves";

weft_core::settings! {
    /// Leaf-spine network; the defaults are the main configuration of the DRILL paper.
    pub struct LeafSpineSettings {
        /// Number of leaves (DRILL: 16).
        leaves: u32 [1, 65535] = 16,
        /// Number of spines (DRILL: 4).
        spines: u32 [1, 65535] = 4,
        /// Hosts on each leaf (DRILL: 20).
        hosts_per_leaf: u32 [1, 65535] = 20,
        /// Cables between each leaf and each spine, each with its own port.
        parallel: u32 [1, 1024] = 1,
        /// Cable from host to leaf (DRILL: 10 Gbps).
        host_link: LinkSettings = LinkSettings::of(Rate::from_gbps(10)),
        /// Cable from leaf to spine (DRILL: 40 Gbps).
        fabric_link: LinkSettings = LinkSettings::of(Rate::from_gbps(40)),
        /// Total rate of a leaf's host cables divided by that of its uplinks: 1 does not block, 3 is 3:1. It sets the rate of the
        /// fabric cables, in whole bits per second rounded down, instead of `fabric_link.rate`.
        oversubscription: Option<f64> = None,
        /// Pairs of leaf and spine that are wired differently.
        unequal: Vec<Unequal> = Vec::new(),
        /// Random cables between leaf and spine that are slower than the others.
        slow: Option<Slow> = None,
    }
}

weft_core::settings! {
    /// A random fraction of the cables is slow, as after partial upgrades. Each leaf keeps a cable of full rate.
    pub struct Slow {
        /// Line rate of a slow cable.
        rate: Rate,
        /// Probability that a cable is slow; at each leaf at least one keeps its full rate.
        share: Share = Share(0.4),
        /// Number of the random choice, so that every seed has the same slow cables; absent: the seed of the run, so that
        /// slow cables differ by seed.
        draw: Option<u32> = None,
    }
}

weft_core::settings! {
    /// A leaf-spine pair that differs from `fabric_link` and `parallel`; absent settings are taken from those.
    pub struct Unequal {
        /// Number of the leaf, from 0.
        leaf: u32,
        /// Number of the spine, from 0.
        spine: u32,
        /// Number of cables; 0 leaves the pair unconnected.
        count: Option<u32> = None,
        /// Line rate of its cables.
        rate: Option<Rate> = None,
        /// Propagation delay of its cables.
        delay: Option<Span> = None,
    }
}

impl LeafSpineSettings {
    /// The rate of a fabric cable that gives the requested oversubscription; zero if no rate does.
    #[must_use]
    pub fn rate_by_oversubscription(&self) -> Option<Rate> {
        let ratio = self.oversubscription?;
        let hosts = self.host_link.rate.0 as f64 * f64::from(self.hosts_per_leaf);
        let rate = hosts / (ratio * f64::from(self.spines) * f64::from(self.parallel));
        Some(Rate(if ratio > 0.0 && rate.is_finite() { rate as u64 } else { 0 }))
    }
}

/// A leaf-spine network.
pub struct LeafSpine(LeafSpineSettings);

impl LeafSpine {
    /// A network of these sizes.
    #[must_use]
    pub fn new(settings: &LeafSpineSettings, _site: ()) -> LeafSpine {
        let mut settings = settings.clone();
        if let Some(rate) = settings.rate_by_oversubscription() {
            settings.fabric_link.rate = rate;
        }
        LeafSpine(settings)
    }

    fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        self.0.host_link.check("host_link", &mut problems);
        match self.0.oversubscription {
            Some(ratio) if self.0.fabric_link.rate == Rate(0) => problems.push(Problem::new(
                "oversubscription",
                format!(
                    "{ratio} gives no rate for the fabric cables; give a number above zero, such as 3 for 3:1"
                ),
            )),
            _ => self.0.fabric_link.check("fabric_link", &mut problems),
        }
        problems.extend(self.check_slow());
        for (index, pair) in self.0.unequal.iter().enumerate() {
            let path = |field: &str| format!("unequal[{index}].{field}");
            let mut limit = |field: &str, value: u32, count: u32| {
                if value >= count {
                    let message =
                        format!("there is no {field} {value}; they are numbered 0 to {}", count - 1);
                    problems.push(Problem::new(path(field), message));
                }
            };
            limit("leaf", pair.leaf, self.0.leaves);
            limit("spine", pair.spine, self.0.spines);
            if pair.rate == Some(Rate(0)) {
                problems.push(Problem::new(
                    path("rate"),
                    "a cable needs a rate above zero; to remove it, set count = 0",
                ));
            }
            if self.0.unequal[..index]
                .iter()
                .any(|other| (other.leaf, other.spine) == (pair.leaf, pair.spine))
            {
                let message = format!("leaf {} and spine {} are listed twice", pair.leaf, pair.spine);
                problems.push(Problem::new(format!("unequal[{index}]"), message));
            }
        }
        problems
    }

    fn check_slow(&self) -> Option<Problem> {
        let slow = self.0.slow.as_ref()?;
        let fastest =
            self.0.unequal.iter().filter_map(|pair| pair.rate).fold(self.0.fabric_link.rate, Rate::max);
        let problem = |field: &str, message: &str| Some(Problem::new(format!("slow.{field}"), message));
        match () {
            () if slow.rate == Rate(0) => problem("rate", "a cable needs a rate above zero"),
            () if slow.rate >= fastest => {
                problem("rate", "no cable is faster than this, so none would slow down")
            }
            () if slow.share.0 == 0.0 => problem("share", "no cable would be slow; omit `slow`"),
            () if self.0.spines == 1 && self.0.parallel == 1 && self.0.unequal.is_empty() => {
                problem("share", "a leaf keeps a cable of full rate, and each has only one; omit `slow`")
            }
            () => None,
        }
    }

    /// Number and kind of the cables between a leaf and a spine.
    fn pair(&self, leaf: u32, spine: u32) -> (u32, LinkSettings) {
        let mut link = self.0.fabric_link.clone();
        let Some(own) = self.0.unequal.iter().find(|pair| (pair.leaf, pair.spine) == (leaf, spine)) else {
            return (self.0.parallel, link);
        };
        link.rate = own.rate.unwrap_or(link.rate);
        link.delay = own.delay.unwrap_or(link.delay);
        (own.count.unwrap_or(self.0.parallel), link)
    }
}

impl Topology for LeafSpine {
    fn cables(&self) -> u64 {
        let extra: u64 = self.0.unequal.iter().map(|pair| u64::from(pair.count.unwrap_or(0))).sum();
        let per_leaf =
            u64::from(self.0.hosts_per_leaf) + u64::from(self.0.spines) * u64::from(self.0.parallel);
        u64::from(self.0.leaves) * per_leaf + extra
    }

    fn wire(&self, wiring: &mut Wiring) -> Vec<Problem> {
        let problems = self.check();
        if !problems.is_empty() {
            return problems;
        }
        let leaves = wiring.tier(("leaf", "leaf"), self.0.leaves);
        let spines = wiring.tier(("spine", "spine"), self.0.spines);
        for &leaf in &leaves {
            wiring.hosts_on(leaf, self.0.hosts_per_leaf, &self.0.host_link);
        }
        let fixed = self.0.slow.as_ref().and_then(|slow| slow.draw);
        let mut dice = Random::new(fixed.map_or(wiring.seed(), u64::from), Purpose::SlowCables, 0);
        for (l, &leaf) in leaves.iter().enumerate() {
            let mut uplinks = self.uplinks(l as u32);
            self.slow_down(&mut uplinks, &mut dice);
            uplinks.iter().for_each(|(spine, link)| wiring.cable(leaf, spines[*spine], link));
        }
        Vec::new()
    }
}

impl LeafSpine {
    /// The cables of a leaf, each with its spine.
    fn uplinks(&self, leaf: u32) -> Vec<(usize, LinkSettings)> {
        let bundle = |spine| {
            let (count, link) = self.pair(leaf, spine);
            (0..count).map(move |_| (spine as usize, link.clone()))
        };
        (0..self.0.spines).flat_map(bundle).collect()
    }

    /// Makes some of a leaf's cables slow; if the draw selects all, a random one is kept.
    fn slow_down(&self, uplinks: &mut [(usize, LinkSettings)], dice: &mut Random) {
        let Some(slow) = self.0.slow.as_ref().filter(|_| !uplinks.is_empty()) else { return };
        let mut drawn: Vec<bool> = uplinks.iter().map(|_| dice.chance(slow.share.0)).collect();
        if drawn.iter().all(|slow| *slow) {
            drawn[dice.below(uplinks.len() as u32) as usize] = false;
        }
        for ((_, link), _) in uplinks.iter_mut().zip(drawn).filter(|(_, drawn)| *drawn) {
            link.rate = link.rate.min(slow.rate);
        }
    }
}
