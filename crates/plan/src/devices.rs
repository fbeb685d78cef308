//! Switches with settings that differ from the rest of the network.

use weft_core::SwitchId;
use weft_switch::{BalancerSettings, SwitchSettings};

/// The settings of one kind of switch.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceKind {
    /// All but the balancer.
    pub switch: SwitchSettings,
    /// Of every forwarding engine.
    pub balancer: BalancerSettings,
}

/// The switches that differ from the rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceKinds {
    kinds: Vec<DeviceKind>,
    /// For each switch, one more than the index of its kind; 0: as the rest. Empty: no switch differs.
    of: Vec<u16>,
}

impl DeviceKinds {
    /// Gives these switches a kind, replacing an earlier one.
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
