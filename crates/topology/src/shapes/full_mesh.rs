//! Full mesh: every switch connected to every other, as inside a cluster router (RouteBricks, SOSP 2009).
//!
//! Host h is on switch h / hosts_per_switch. Ports: hosts, then the other switches in ascending order.

use super::Topology;
use crate::wiring::{LinkSettings, Wiring};
use weft_core::Problem;
use weft_core::Rate;

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "Every switch is connected to every other";

weft_core::settings! {
    /// Full mesh.
    pub struct FullMeshSettings {
        /// Number of switches (N): N(N-1)/2 cables between them.
        switches: u32 [2, 2000] = 4,
        /// Hosts on each switch.
        hosts_per_switch: u32 [1, 60000] = 1,
        /// Cable from host to switch.
        host_link: LinkSettings = LinkSettings::of(Rate::from_gbps(10)),
        /// Cable between switches; two-phase balancing of hosts at rate R needs 2R/N.
        fabric_link: LinkSettings = LinkSettings::of(Rate::from_gbps(10)),
    }
}

/// A full mesh.
pub struct FullMesh(FullMeshSettings);

impl FullMesh {
    /// A mesh of this size.
    #[must_use]
    pub fn new(settings: &FullMeshSettings, _site: ()) -> FullMesh {
        FullMesh(settings.clone())
    }
}

impl Topology for FullMesh {
    fn cables(&self) -> u64 {
        let switches = u64::from(self.0.switches);
        switches * u64::from(self.0.hosts_per_switch) + switches * (switches - 1) / 2
    }

    fn wire(&self, wiring: &mut Wiring) -> Vec<Problem> {
        let mut problems = Vec::new();
        self.0.host_link.check("host_link", &mut problems);
        self.0.fabric_link.check("fabric_link", &mut problems);
        let switches = wiring.switches("switch", self.0.switches);
        for &switch in &switches {
            wiring.hosts_on(switch, self.0.hosts_per_switch, &self.0.host_link);
        }
        for (index, &a) in switches.iter().enumerate() {
            switches[index + 1..].iter().for_each(|&b| wiring.cable(a, b, &self.0.fabric_link));
        }
        problems
    }
}
