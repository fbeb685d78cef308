//! Builds switches from a run's setup.

use std::sync::Arc;

use weft_core::{Bytes, LinkId, PortId, SwitchId};
use weft_switch::{ForwardingTable, Observer, Switch, SwitchSite};
use weft_topology::{Node, Routes};
use weft_transport::Transport;

use super::PlacedSwitch;
use crate::plan::RunPlan;

/// The switches of a domain, each at its number.
pub(super) fn switches(plan: &RunPlan, number: usize) -> Box<[Option<PlacedSwitch>]> {
    let own = |switch: &SwitchId| plan.partition.of_switch(*switch) == number;
    let all = (0..plan.setup.graph.switches().len()).map(|number| SwitchId(number as u32));
    all.map(|switch| own(&switch).then(|| placed(plan, switch, foreseeing(plan, switch)))).collect()
}

/// A switch with an observer, and an event per departure.
pub(super) fn observed(plan: &RunPlan, switch: SwitchId, observer: Box<dyn Observer>) -> PlacedSwitch {
    let mut bare = bare_switch(plan, switch);
    bare.observe(observer);
    placed(plan, switch, bare)
}

fn placed(plan: &RunPlan, switch: SwitchId, built: Switch) -> PlacedSwitch {
    let first_link = plan.setup.graph.first_link(Node::Switch(switch)).0;
    PlacedSwitch { switch: built, first_link }
}

/// A switch with foresight on all ports whose links do not change.
fn foreseeing(plan: &RunPlan, switch: SwitchId) -> Switch {
    let mut built = bare_switch(plan, switch);
    for port in (0..built.ports()).map(|port| PortId(port as u16)) {
        if plan.is_steady(plan.setup.graph.link_at(Node::Switch(switch), port)) {
            built.foresee(port);
        }
    }
    built
}

/// A switch with an event per departure.
fn bare_switch(plan: &RunPlan, switch: SwitchId) -> Switch {
    let setup = &plan.setup;
    let links = setup.graph.links_of(Node::Switch(switch));
    let rates = links.iter().map(|link| link.rate).collect();
    let cables = links.iter().map(|link| link.delay).collect();
    let wire = |transport: &Arc<Transport>| {
        if setup.pauses() { transport.largest_wire() } else { transport.full_wire() }
    };
    let full = setup.transports().map(wire).max().unwrap_or_default();
    let full_packet = Bytes(u64::from(full));
    let site = SwitchSite { seed: setup.seed, switch, rates, cables, full_packet };
    let table = table(&setup.timeline.states[0], switch);
    let mut built = Switch::new(setup.switch_at(switch), setup.balancer_at(switch), &site, table);
    let first = setup.graph.first_link(Node::Switch(switch));
    for (link, own) in setup.ports.range(first..LinkId(first.0 + links.len() as u32)) {
        built.set_up(setup.graph.links()[link.index()].port, own);
    }
    built
}

/// The forwarding table of a switch.
fn table(routes: &Routes, switch: SwitchId) -> ForwardingTable {
    let own = &routes.switches[switch.index()];
    let hosts = (Arc::clone(&routes.leaf_of_host), Arc::clone(&routes.port_of_host));
    ForwardingTable::new(hosts, own.leaf, own.group_of_leaf.clone(), own.groups.clone())
}
