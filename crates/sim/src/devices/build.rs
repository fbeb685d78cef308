//! Builds switches from a run's setup.

use weft_core::{PortId, SwitchId};
use weft_switch::{Observer, Switch};
use weft_topology::Node;

use super::PlacedSwitch;
use crate::plan::RunPlan;

/// The switches of a domain, each at its number.
pub(super) fn switches(plan: &RunPlan, number: usize) -> Box<[Option<PlacedSwitch>]> {
    let own = |switch: &SwitchId| plan.partition.of_switch(*switch) == number;
    let all = (0..plan.setup.graph.switches().len()).map(|number| SwitchId(number as u32));
    all.map(|switch| own(&switch).then(|| placed(plan, switch, foreseeing(plan, switch)))).collect()
}

/// A switch with an observer and one event per departure.
pub(super) fn observed(plan: &RunPlan, switch: SwitchId, observer: Box<dyn Observer>) -> PlacedSwitch {
    let mut bare = plan.setup.build_switch(switch);
    bare.observe(observer);
    placed(plan, switch, bare)
}

fn placed(plan: &RunPlan, switch: SwitchId, built: Switch) -> PlacedSwitch {
    let first_link = plan.setup.graph.first_link(Node::Switch(switch)).0;
    PlacedSwitch { switch: built, first_link }
}

/// A switch with foresight on all ports whose links do not change.
fn foreseeing(plan: &RunPlan, switch: SwitchId) -> Switch {
    let mut built = plan.setup.build_switch(switch);
    for port in (0..built.reading().ports()).map(|port| PortId(port as u16)) {
        let link = plan.setup.graph.link_at(Node::Switch(switch), port);
        if plan.is_steady(link) && !built.foresee(port) && plan.can_take_back(link) {
            built.foresee_in_lulls(port);
        }
    }
    built
}
