//! Hosts on one switch: the smallest network with a queue; for incast and scheduling studies.

use super::Topology;
use crate::wiring::{LinkSettings, Wiring};
use weft_core::Problem;
use weft_core::Rate;

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "All hosts on one switch";

weft_core::settings! {
    /// One switch.
    pub struct SingleSwitchSettings {
        /// Number of hosts; host h is on port h.
        hosts: u32 [2, 65535] = 8,
        /// Cable from host to switch.
        host_link: LinkSettings = LinkSettings::of(Rate::from_gbps(10)),
    }
}

/// One switch with hosts.
pub struct SingleSwitch(SingleSwitchSettings);

impl SingleSwitch {
    /// A switch with this many hosts.
    #[must_use]
    pub fn new(settings: &SingleSwitchSettings, _site: ()) -> SingleSwitch {
        SingleSwitch(settings.clone())
    }
}

impl Topology for SingleSwitch {
    fn cables(&self) -> u64 {
        self.0.hosts.into()
    }

    fn wire(&self, wiring: &mut Wiring) -> Vec<Problem> {
        let mut problems = Vec::new();
        self.0.host_link.check("host_link", &mut problems);
        let switch = wiring.switch("switch0");
        wiring.hosts_on(switch, self.0.hosts, &self.0.host_link);
        problems
    }
}
