//! Rules on virtual output queues.

use crate::{Facts, Finding, impossible};
use weft_core::Bytes;
use weft_switch::VoqSettings;
use weft_switch::order::OrderSettings;
use weft_switch::schedule::SchedulerSettings;
use weft_topology::Node;
use weft_transport::Transport;

/// Why `[switch.voq]` excludes other mechanisms, or makes settings ineffective.
pub(crate) fn virtual_output_queues_stand_alone(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let switch = facts.switch;
    if switch.voq.is_none() {
        return;
    }
    let mut excludes = |on: bool, path: &str, what: &str| {
        if on {
            found.push(impossible(path.to_owned(), format!("switches with virtual output queues {what}")));
        }
    };
    excludes(switch.pfc.is_on(), "switch.pfc", "do not pause: name no lossless classes for them");
    excludes(switch.trim.is_on(), "switch.trim", "do not trim packets");
    excludes(
        matches!(switch.order, OrderSettings::Ranked(_)),
        "switch.order",
        "serve packets in order of arrival",
    );
    excludes(
        matches!(switch.schedule, SchedulerSettings::StrictDrr(_) | SchedulerSettings::StrictWrr(_)),
        "switch.schedule",
        "grant credits by strict priority or by weight, not by both",
    );
    let limits = "virtual output queues are limited by switch.voq.limit, on_chip and deep";
    facts.idle("switch.buffer", limits, found);
    facts.idle("switch.sharing", limits, found);
    facts.idle("switch.cell", "virtual output queues count bytes", found);
    let sees = "an engine sees the virtual output queues of its own group at once";
    facts.idle("switch.visibility", sees, found);
    facts.idle("switch.count_in_service", sees, found);
}

/// Memories and credits are not zero, and all of them are usable.
pub(crate) fn virtual_output_queues_hold_and_send(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(voq) = &facts.switch.voq else { return };
    if voq.credit.0 == 0 {
        found.push(impossible("switch.voq.credit", "holds no packet, so none passes"));
    }
    if voq.output < voq.credit {
        let message =
            format!("{} is less than one credit of {}: none is ever granted", voq.output, voq.credit);
        found.push(impossible("switch.voq.output", message));
    }
    if voq.spill < voq.limit && voq.deep_rate.0 == 0 {
        found.push(impossible("switch.voq.deep_rate", "deep memory needs a bandwidth above 0"));
    }
    if voq.spill >= voq.limit {
        for name in ["deep", "deep_rate"] {
            let why = "no queue spills (switch.voq.spill is not below switch.voq.limit)";
            facts.idle(&format!("switch.voq.{name}"), why, found);
        }
    }
    let Some(graph) = facts.graph else { return };
    let ports = |switch: &weft_core::SwitchId| graph.links_of(Node::Switch(*switch)).len();
    if let Some(least) =
        facts.device.switches.iter().map(ports).min().filter(|least| *least < voq.groups as usize)
    {
        let message = format!("{} groups of ports in a switch that has {least}", voq.groups);
        found.push(impossible("switch.voq.groups", message));
    }
    if let Some(message) = wrong_groups(voq, facts.device.switches.iter().map(ports)) {
        found.push(impossible("switch.voq.port_groups", message));
    }
}

/// Memory that cannot hold a full packet would drop them all, and the run would never end.
pub(crate) fn memory_of_virtual_output_queues_holds_a_packet(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(voq) = &facts.switch.voq else { return };
    let full = Bytes(u64::from(Transport::new(facts.stack).full_wire()));
    for (name, room) in [("limit", voq.limit), ("on_chip", voq.on_chip)] {
        if room < full {
            let message = format!("{room} holds no packet of {full}: all of them would be dropped");
            found.push(impossible(format!("switch.voq.{name}"), message));
        }
    }
}

/// Problems with the groups of ports, if they are given.
fn wrong_groups(voq: &VoqSettings, mut ports: impl Iterator<Item = usize>) -> Option<String> {
    let given = voq.port_groups.len();
    if given == 0 {
        return None;
    }
    if let Some(ports) = ports.find(|ports| *ports != given) {
        return Some(format!("{given} ports have groups, but the switch has {ports}"));
    }
    if let Some(group) = voq.port_groups.iter().find(|group| **group >= voq.groups) {
        return Some(format!("there is no group {group}: `groups` is {}, and they count from 0", voq.groups));
    }
    let empty = (0..voq.groups).find(|group| !voq.port_groups.contains(group));
    empty.map(|group| format!("group {group} has no port"))
}
