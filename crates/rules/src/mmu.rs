//! Rules on the memory management of chips.

use crate::pause::switch_site;
use crate::{Facts, Finding, impossible};
use weft_core::{Bytes, SwitchId};
use weft_switch::PriorityGroups;
use weft_switch::pause::{MemoryNeeds, needs};
use weft_switch::share::SharingSettings;
use weft_switch::share::mmu::MmuSettings;

fn chosen<'a>(facts: &'a Facts<'_>) -> Option<&'a MmuSettings> {
    match &facts.switch.sharing {
        SharingSettings::Mmu(own) => Some(own),
        _ => None,
    }
}

/// The memory needs of each switch of the network, with its number of ports.
fn each(facts: &Facts<'_>, own: &MmuSettings) -> Vec<(MemoryNeeds, u64)> {
    let Some(graph) = facts.graph else { return Vec::new() };
    let needs_of = |switch: &SwitchId| {
        let site = switch_site(facts.settings, graph, *switch);
        (needs(own, facts.switch, &site), site.rates.len() as u64)
    };
    facts.device.switches.iter().map(needs_of).collect()
}

/// The buffer exists and is larger than what either side reserves.
pub(crate) fn minima_and_headroom_fit_the_buffer(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(own) = chosen(facts) else { return };
    let switch = facts.switch;
    let Some(buffer) = switch.buffer else {
        found.push(impossible(
            "switch.sharing",
            "memory management needs switch.buffer, the memory to manage",
        ));
        return;
    };
    let needs = each(facts, own);
    let most = needs.iter().max_by_key(|(needs, _)| needs.minima + needs.headroom);
    if let Some((needs, ports)) = most.filter(|(needs, _)| needs.minima + needs.headroom >= buffer) {
        let message = format!(
            "ingress minima of {} and headroom of {} on {ports} ports leave nothing of the buffer of {buffer}",
            needs.minima, needs.headroom
        );
        found.push(impossible("switch.sharing.mmu", message));
    }
    let queues = needs.iter().map(|(_, ports)| ports * u64::from(switch.queues)).max().unwrap_or(0);
    if own.queue_minimum * queues >= buffer {
        let message = format!(
            "{queues} queues with a minimum of {} leave nothing of the buffer of {buffer}",
            own.queue_minimum
        );
        found.push(impossible("switch.sharing.mmu.queue_minimum", message));
    }
}

/// A headroom pool has room for at least one class of one port.
pub(crate) fn pooled_headroom_serves_somebody(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some((own, pool)) = chosen(facts).and_then(|own| Some((own, own.headroom_pool?))) else { return };
    if !facts.switch.pfc.is_on() {
        facts.idle("switch.sharing.mmu.headroom_pool", "no class pauses (switch.pfc.classes)", found);
        return;
    }
    let largest = each(facts, own).iter().map(|(needs, _)| needs.largest).max().unwrap_or(Bytes::ZERO);
    if pool < largest {
        let message = format!(
            "a pool of {pool} is too small for one paused class of one port, which may need {largest}"
        );
        found.push(impossible("switch.sharing.mmu.headroom_pool", message));
    }
}

/// Every class has one pool, and all pools together do not exceed the memory.
pub(crate) fn service_pools_divide_classes_and_memory(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(own) = chosen(facts).filter(|own| !own.pools.is_empty()) else { return };
    let queues = facts.switch.queues;
    let mut named = Vec::new();
    for (number, pool) in own.pools.iter().enumerate() {
        for (index, class) in pool.classes.iter().enumerate() {
            let path = format!("switch.sharing.mmu.pools[{number}].classes[{index}]");
            if *class >= queues {
                let message = format!(
                    "class {class} has no queue: ports have {queues} (switch.queues), numbered from 0"
                );
                found.push(impossible(path, message));
            } else if named.contains(class) {
                found.push(impossible(path, format!("class {class} is listed twice")));
            }
            named.push(*class);
        }
        if pool.share.0 == 0.0 {
            found
                .push(impossible(format!("switch.sharing.mmu.pools[{number}].share"), "a pool of size zero"));
        }
    }
    if let Some(class) = (0..queues).find(|class| !named.contains(class)) {
        found.push(impossible("switch.sharing.mmu.pools", format!("class {class} has no pool")));
    }
    let all: f64 = own.pools.iter().map(|pool| pool.share.0).sum();
    if all > 1.0 + 1e-9 {
        let message = format!("the pools add up to {} % of the memory", (all * 1000.0).round() / 10.0);
        found.push(impossible("switch.sharing.mmu.pools", message));
    }
}

/// Limits of lossy classes have an effect only if there are any.
pub(crate) fn lossy_limits_have_lossy_classes(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(own) = chosen(facts) else { return };
    let switch = facts.switch;
    let idle = |names: &[&str], why: &str, found: &mut Vec<Finding>| {
        names.iter().for_each(|name| facts.idle(&format!("switch.sharing.mmu.{name}"), why, found));
    };
    if switch.pfc.all_lossless(switch.queues) {
        let names = ["lossy_alpha", "lossy_limit", "queue_minimum", "queue_alpha", "port_limit"];
        idle(&names, "every class is lossless (switch.pfc.classes)", found);
    } else if own.lossy_limit.is_some() {
        idle(&["lossy_alpha"], "the limit is fixed (lossy_limit)", found);
    }
    if own.port_minimum > Bytes::ZERO
        && own.port_minimum <= own.group_minimum * PriorityGroups::new(switch).all().count() as u64
    {
        idle(&["port_minimum"], "the group minima already use it up", found);
    }
}
