//! Pods and planes: Facebook's data-centre fabric (Andreyev, 2014). Every rack of a pod connects to all fabric
//! switches of the pod, one in each plane; a fabric switch connects to all spines of its plane.
//!
//! Switches: `tor0`.. by (pod, position), `fabric0`.. by (pod, plane), `spine0`.. by (plane, position). Ports: rack: hosts,
//! planes; fabric switch: racks, spines; spine: pods.

use super::Topology;
use crate::wiring::{LinkSettings, Wiring};
use weft_core::Problem;
use weft_core::Rate;

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "Three tiers: pods of racks, connected by planes of spines (Facebook's fabric)";

weft_core::settings! {
    /// Pods and planes; the defaults are the three pods of the DRILL paper's example (Fig. 5).
    pub struct PodsAndPlanesSettings {
        /// Number of pods.
        pods: u32 [1, 1024] = 3,
        /// Racks per pod (Facebook: 48).
        racks_per_pod: u32 [1, 1024] = 2,
        /// Planes, each with one fabric switch per pod (Facebook: 4).
        planes: u32 [1, 1024] = 2,
        /// Spines per plane (Facebook: up to 48).
        spines_per_plane: u32 [1, 1024] = 2,
        /// Hosts per rack (Facebook: up to 48).
        hosts_per_rack: u32 [1, 65535] = 4,
        /// Cable from host to rack switch.
        host_link: LinkSettings = LinkSettings::of(Rate::from_gbps(10)),
        /// Cable from rack to fabric switch.
        rack_link: LinkSettings = LinkSettings::of(Rate::from_gbps(40)),
        /// Cable from fabric switch to spine.
        spine_link: LinkSettings = LinkSettings::of(Rate::from_gbps(40)),
    }
}

/// A fabric of pods and planes.
pub struct PodsAndPlanes(PodsAndPlanesSettings);

impl PodsAndPlanes {
    /// A fabric of this size.
    #[must_use]
    pub fn new(settings: &PodsAndPlanesSettings, _site: ()) -> PodsAndPlanes {
        PodsAndPlanes(settings.clone())
    }
}

impl Topology for PodsAndPlanes {
    fn cables(&self) -> u64 {
        let PodsAndPlanesSettings { pods, racks_per_pod, planes, spines_per_plane, hosts_per_rack, .. } =
            self.0;
        let [pods, racks, planes] = [pods, racks_per_pod, planes].map(u64::from);
        pods * (racks * (u64::from(hosts_per_rack) + planes) + planes * u64::from(spines_per_plane))
    }

    fn wire(&self, wiring: &mut Wiring) -> Vec<Problem> {
        let PodsAndPlanesSettings { pods, racks_per_pod, planes, spines_per_plane, .. } = self.0;
        let PodsAndPlanesSettings { hosts_per_rack, host_link, rack_link, spine_link, .. } = &self.0;
        let mut problems = Vec::new();
        for (name, link) in [("host_link", host_link), ("rack_link", rack_link), ("spine_link", spine_link)] {
            link.check(name, &mut problems);
        }
        if !problems.is_empty() {
            return problems;
        }
        let racks = wiring.tier(("tor", "tor"), pods * racks_per_pod);
        let fabric = wiring.tier(("fabric", "fabric"), pods * planes);
        let spines = wiring.tier(("spine", "spine"), planes * spines_per_plane);
        racks.iter().for_each(|&rack| wiring.hosts_on(rack, *hosts_per_rack, host_link));
        for (racks, fabric) in racks.chunks(racks_per_pod as usize).zip(fabric.chunks(planes as usize)) {
            for &rack in racks {
                fabric.iter().for_each(|&above| wiring.cable(rack, above, rack_link));
            }
            for (&below, plane) in fabric.iter().zip(spines.chunks(spines_per_plane as usize)) {
                plane.iter().for_each(|&spine| wiring.cable(below, spine, spine_link));
            }
        }
        Vec::new()
    }
}
