//! Builds switches from the setup of a run.

use std::sync::Arc;

use weft_core::{Bytes, LinkId, Rate, SwitchId};
use weft_switch::{ForwardingTable, Switch, SwitchSite};
use weft_topology::{Node, Routes};
use weft_transport::Transport;

use crate::Setup;

impl Setup {
    /// A switch of the network, empty, in its initial state. Every engine, the router and the replay of a trace build
    /// it here.
    #[must_use]
    pub fn build_switch(&self, switch: SwitchId) -> Switch {
        let links = self.graph.links_of(Node::Switch(switch));
        let cables = links.iter().map(|link| link.delay).collect();
        let site = SwitchSite {
            seed: self.seed,
            switch,
            rates: self.port_rates(switch),
            cables,
            full_packet: self.full_packet(),
            tree: self.switch_at(switch).arbiter.looks_at_tree().then(|| self.graph.tree_site(switch)),
        };
        let table = table(&self.timeline.states[0], switch);
        let mut built = Switch::new(self.switch_at(switch), self.balancer_at(switch), &site, table);
        let first = self.graph.first_link(Node::Switch(switch));
        for (link, own) in self.ports.range(first..LinkId(first.0 + links.len() as u32)) {
            built.set_up(self.graph.links()[link.index()].port, own);
        }
        built
    }

    /// The line rate of each port of a switch.
    #[must_use]
    pub fn port_rates(&self, switch: SwitchId) -> Vec<Rate> {
        self.graph.links_of(Node::Switch(switch)).iter().map(|link| link.rate).collect()
    }

    /// The largest packet on the wire that a switch may receive.
    fn full_packet(&self) -> Bytes {
        let wire = |transport: &Arc<Transport>| {
            if self.pauses() { transport.largest_wire() } else { transport.full_wire() }
        };
        Bytes(u64::from(self.transports().map(wire).max().unwrap_or_default()))
    }
}

/// The forwarding table of a switch.
fn table(routes: &Routes, switch: SwitchId) -> ForwardingTable {
    let own = &routes.switches[switch.index()];
    let hosts = (Arc::clone(&routes.leaf_of_host), Arc::clone(&routes.port_of_host));
    ForwardingTable::new(hosts, own.leaf, Arc::clone(&own.group_of_leaf), Arc::clone(&own.groups))
}
