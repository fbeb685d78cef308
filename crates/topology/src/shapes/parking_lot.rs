//! Parking lot: a chain of switches with hosts on each, so that long paths share every bottleneck with short ones.
//!
//! Host h is on switch h / hosts_per_switch. Ports: hosts, the cable from the previous switch, the cable to the next.

use super::Topology;
use crate::wiring::{LinkSettings, Wiring};
use weft_core::Problem;
use weft_core::Rate;

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "A chain of switches with hosts on each: several bottlenecks in a row";

weft_core::settings! {
    /// Parking lot.
    pub struct ParkingLotSettings {
        /// Number of switches in the chain; one more than the number of bottlenecks.
        switches: u32 [2, 65535] = 4,
        /// Hosts on each switch.
        hosts_per_switch: u32 [1, 65533] = 1,
        /// Cable from host to switch.
        host_link: LinkSettings = LinkSettings::of(Rate::from_gbps(10)),
        /// Cable from switch to switch.
        bottleneck: LinkSettings = LinkSettings::of(Rate::from_gbps(10)),
    }
}

/// A chain of switches.
pub struct ParkingLot(ParkingLotSettings);

impl ParkingLot {
    /// A chain of this length.
    #[must_use]
    pub fn new(settings: &ParkingLotSettings, _site: ()) -> ParkingLot {
        ParkingLot(settings.clone())
    }
}

impl Topology for ParkingLot {
    fn cables(&self) -> u64 {
        u64::from(self.0.switches) * (u64::from(self.0.hosts_per_switch) + 1) - 1
    }

    fn wire(&self, wiring: &mut Wiring) -> Vec<Problem> {
        let mut problems = Vec::new();
        self.0.host_link.check("host_link", &mut problems);
        self.0.bottleneck.check("bottleneck", &mut problems);
        let switches = wiring.switches("switch", self.0.switches);
        for &switch in &switches {
            wiring.hosts_on(switch, self.0.hosts_per_switch, &self.0.host_link);
        }
        for pair in switches.windows(2) {
            wiring.cable(pair[0], pair[1], &self.0.bottleneck);
        }
        problems
    }
}
