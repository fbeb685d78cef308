//! Switches with settings that differ from the rest of the network.

use weft_core::SwitchId;
use weft_switch::{BalancerSettings, SwitchSettings};

/// The settings of one kind of switch.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceKind {
    /// Its settings, except for the balancer.
    pub switch: SwitchSettings,
    /// The balancer of each forwarding engine.
    pub balancer: BalancerSettings,
}

/// The switches that differ from the rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceKinds {
    kinds: Vec<DeviceKind>,
    /// For each switch, the index of its kind plus one; 0: no kind of its own. Empty: no switch differs.
    of: Vec<u16>,
}

impl DeviceKinds {
    /// Assigns a kind to these switches, replacing an earlier one.
    pub fn add(&mut self, kind: DeviceKind, switches: &[SwitchId]) {
        self.kinds.push(kind);
        for switch in switches {
            if switch.index() >= self.of.len() {
                self.of.resize(switch.index() + 1, 0);
            }
            self.of[switch.index()] = self.kinds.len() as u16;
        }
    }

    /// The kind of a switch that differs.
    #[inline]
    #[must_use]
    pub fn of(&self, switch: SwitchId) -> Option<&DeviceKind> {
        let kind = self.of.get(switch.index()).copied().unwrap_or(0);
        self.kinds.get(usize::from(kind).wrapping_sub(1))
    }

    /// All kinds.
    #[must_use]
    pub fn kinds(&self) -> &[DeviceKind] {
        &self.kinds
    }
}
