//! Dumbbell: senders on the left, receivers on the right, one bottleneck between them; the classical
//! congestion-control test. Hosts 0..n are on `left`, n..2n on `right`; the bottleneck is the last port of either.

use super::Topology;
use crate::wiring::{LinkSettings, Wiring};
use weft_core::Problem;
use weft_core::Rate;

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "Hosts on two switches with one bottleneck cable between them";

weft_core::settings! {
    /// Dumbbell.
    pub struct DumbbellSettings {
        /// Hosts on either side (n).
        hosts_per_side: u32 [1, 65534] = 2,
        /// Cable from host to switch.
        host_link: LinkSettings = LinkSettings::of(Rate::from_gbps(10)),
        /// Cable between the two switches.
        bottleneck: LinkSettings = LinkSettings::of(Rate::from_gbps(10)),
    }
}

/// A dumbbell.
pub struct Dumbbell(DumbbellSettings);

impl Dumbbell {
    /// A dumbbell of this size.
    #[must_use]
    pub fn new(settings: &DumbbellSettings, _site: ()) -> Dumbbell {
        Dumbbell(settings.clone())
    }
}

impl Topology for Dumbbell {
    fn cables(&self) -> u64 {
        u64::from(self.0.hosts_per_side) * 2 + 1
    }

    fn wire(&self, wiring: &mut Wiring) -> Vec<Problem> {
        let mut problems = Vec::new();
        self.0.host_link.check("host_link", &mut problems);
        self.0.bottleneck.check("bottleneck", &mut problems);
        let (left, right) = (wiring.switch("left"), wiring.switch("right"));
        wiring.hosts_on(left, self.0.hosts_per_side, &self.0.host_link);
        wiring.hosts_on(right, self.0.hosts_per_side, &self.0.host_link);
        wiring.cable(left, right, &self.0.bottleneck);
        problems
    }
}
