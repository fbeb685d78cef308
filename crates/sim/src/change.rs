//! Changes of the network: cables that fail and come back, ports that are removed, routes that are installed.

use std::sync::Arc;

use weft_core::{PortId, SwitchId};
use weft_topology::Change;

use crate::domain::Domain;

impl Domain {
    /// Applies a change of the network's timeline to this domain.
    pub(crate) fn change(&mut self, number: usize) {
        let plan = Arc::clone(&self.cx.plan);
        let (time, change) = &plan.setup.timeline.changes[number];
        self.cx.now = *time;
        match change {
            Change::CableDown(cable) => self.set_cable(*cable, false),
            Change::CableUp(cable) => self.set_cable(*cable, true),
            Change::LocalDown { switch, port } => self.set_port(*switch, *port, false),
            Change::LocalUp { switch, port } => self.set_port(*switch, *port, true),
            Change::Install { switch, state } => {
                let routes = &plan.setup.timeline.states[*state].switches[switch.index()];
                self.hosts.installed(&plan.setup, *switch, *state, *time);
                if let Some(own) = self.devices.get_mut(*switch) {
                    own.switch.install(routes.group_of_leaf.clone(), routes.groups.clone());
                }
            }
        }
    }

    /// A cable goes down, which loses the packets in flight on it, or comes back.
    fn set_cable(&mut self, cable: usize, up: bool) {
        let plan = Arc::clone(&self.cx.plan);
        for link in plan.setup.graph.links_of_cable(cable) {
            self.cx.wires.of(link).set_up(up);
            if !up {
                self.forget_pauses(link);
                self.cx.lose_all(link);
            }
        }
    }

    fn set_port(&mut self, switch: SwitchId, port: PortId, up: bool) {
        self.devices.tell(&mut self.cx, switch, |own, turn| own.set_port(turn, port, up));
    }
}
