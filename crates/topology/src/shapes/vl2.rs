//! VL2 (Greenberg et al., SIGCOMM 2009): racks connect to two aggregation switches each, and every aggregation switch
//! to every intermediate switch.
//!
//! With D_A ports per aggregation and D_I per intermediate switch there are D_A·D_I/4 racks, D_I aggregations and
//! D_A/2 intermediates. Switches: `tor0`.., `agg0`.., `int0`..; rack t connects to aggregations 2⌊t/(D_A/2)⌋ and the
//! next. Ports: rack: hosts, aggregations; aggregation: racks, intermediates; intermediate: aggregations.

use super::Topology;
use crate::wiring::{LinkSettings, Wiring};
use weft_core::Problem;
use weft_core::Rate;

/// Summary shown by `weft list`.
pub const SUMMARY: &str =
    "Racks on two aggregation switches each; every aggregation switch connects to every intermediate switch";

weft_core::settings! {
    /// VL2; the defaults are the instance of the DRILL paper (Fig. 10).
    pub struct Vl2Settings {
        /// Ports of an aggregation switch (the paper's D_A), even.
        aggregation_ports: u32 [2, 1024] = 8,
        /// Ports of an intermediate switch (the paper's D_I), even; also the number of aggregation switches.
        intermediate_ports: u32 [2, 1024] = 8,
        /// Hosts of a rack.
        hosts_per_rack: u32 [1, 65533] = 20,
        /// Cable from host to rack switch.
        host_link: LinkSettings = LinkSettings::of(Rate::from_gbps(1)),
        /// Cable between switches.
        fabric_link: LinkSettings = LinkSettings::of(Rate::from_gbps(10)),
    }
}

/// A VL2 network.
pub struct Vl2(Vl2Settings);

impl Vl2 {
    /// A network of this size.
    #[must_use]
    pub fn new(settings: &Vl2Settings, _site: ()) -> Vl2 {
        Vl2(settings.clone())
    }

    fn racks(&self) -> u32 {
        self.0.aggregation_ports * self.0.intermediate_ports / 4
    }

    fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        self.0.host_link.check("host_link", &mut problems);
        self.0.fabric_link.check("fabric_link", &mut problems);
        let ports = [
            ("aggregation_ports", self.0.aggregation_ports),
            ("intermediate_ports", self.0.intermediate_ports),
        ];
        for (name, ports) in ports.into_iter().filter(|(_, ports)| !ports.is_multiple_of(2)) {
            let message =
                format!("{ports} ports cannot be halved; give an even number such as {}", ports + 1);
            problems.push(Problem::new(name, message));
        }
        problems
    }
}

impl Topology for Vl2 {
    fn cables(&self) -> u64 {
        let (racks, core) =
            (u64::from(self.racks()), u64::from(self.0.aggregation_ports * self.0.intermediate_ports / 2));
        racks * (u64::from(self.0.hosts_per_rack) + 2) + core
    }

    fn wire(&self, wiring: &mut Wiring) -> Vec<Problem> {
        let problems = self.check();
        if !problems.is_empty() {
            return problems;
        }
        let Vl2Settings { aggregation_ports, intermediate_ports, hosts_per_rack, host_link, fabric_link } =
            &self.0;
        let racks = wiring.tier(("tor", "tor"), self.racks());
        let aggregations = wiring.tier(("agg", "aggregation"), *intermediate_ports);
        let intermediates = wiring.tier(("int", "intermediate"), aggregation_ports / 2);
        racks.iter().for_each(|&rack| wiring.hosts_on(rack, *hosts_per_rack, host_link));
        let sharing = (aggregation_ports / 2) as usize;
        for (t, &rack) in racks.iter().enumerate() {
            let pair = &aggregations[t / sharing * 2..][..2];
            pair.iter().for_each(|&aggregation| wiring.cable(rack, aggregation, fabric_link));
        }
        for &aggregation in &aggregations {
            intermediates.iter().for_each(|&above| wiring.cable(aggregation, above, fabric_link));
        }
        Vec::new()
    }
}
