//! Rules on priority flow control.

use crate::{Facts, Finding, impossible};
use weft_core::{Bytes, SwitchId};
use weft_model::ScenarioSettings;
use weft_model::{TransportInUse, stacks};
use weft_switch::SwitchSite;
use weft_switch::pause::{FRAME, set_aside};
use weft_switch::share::SharingSettings;
use weft_topology::{Graph, graph::Node};
use weft_transport::Transport;

/// Maximum memory that priority flow control reserves in any switch; zero without a network.
pub(crate) fn most_set_aside(facts: &Facts<'_>) -> Bytes {
    let Some(graph) = facts.graph else { return Bytes::ZERO };
    let needs = |switch: &SwitchId| set_aside(facts.switch, &switch_site(facts.settings, graph, *switch));
    facts.device.switches.iter().map(needs).max().unwrap_or(Bytes::ZERO)
}

/// The largest packet of a transport, in bytes.
fn largest(stack: &TransportInUse) -> u64 {
    u64::from(Transport::new(&stack.transport).largest_wire())
}

/// The site of a switch in the scenario's network.
#[must_use]
pub fn switch_site(settings: &ScenarioSettings, graph: &Graph, switch: SwitchId) -> SwitchSite {
    let links = graph.links_of(Node::Switch(switch));
    SwitchSite {
        seed: 0,
        switch,
        rates: links.iter().map(|link| link.rate).collect(),
        cables: links.iter().map(|link| link.delay).collect(),
        full_packet: Bytes(stacks(settings, graph).all.iter().map(largest).max().unwrap_or(0)),
        tree: None,
    }
}

/// Settings of a mechanism that is off have no effect.
pub(crate) fn pauses_are_on_where_they_are_set(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let pfc = &facts.switch.pfc;
    let idle = |names: &[&str], why: &str, found: &mut Vec<Finding>| {
        names.iter().for_each(|name| facts.idle(&format!("switch.pfc.{name}"), why, found));
    };
    if !pfc.is_on() {
        facts.idle("switch.pfc", "no class pauses (switch.pfc.classes)", found);
        facts.idle("pause_storm", "no class pauses (switch.pfc.classes)", found);
        return;
    }
    if pfc.xoff.is_some() {
        idle(&["alpha"], "XOFF is static (xoff)", found);
    }
    if pfc.watchdog.is_none() {
        idle(&["watchdog_restore", "watchdog_action"], "there is no watchdog", found);
    }
    let divides = matches!(facts.switch.sharing, SharingSettings::Mmu(_));
    if !divides && pfc.all_lossless(facts.switch.queues) {
        facts.idle("switch.sharing", "every class is lossless, and XOFF divides the memory", found);
    }
}

/// A class that pauses has a queue of its own.
pub(crate) fn lossless_classes_have_queues(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let switch = facts.switch;
    for (index, class) in switch.pfc.classes.iter().enumerate() {
        let path = format!("switch.pfc.classes[{index}]");
        if *class >= switch.queues {
            let message = format!(
                "class {class} has no queue of its own: ports have {} (switch.queues), numbered from 0",
                switch.queues
            );
            found.push(impossible(path, message));
        } else if switch.pfc.classes[..index].contains(class) {
            found.push(impossible(path, format!("class {class} is listed twice")));
        }
    }
}

/// The reserved memory must exist, and a dynamic threshold needs memory to divide.
pub(crate) fn headroom_fits_the_memory(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let switch = facts.switch;
    // memory management has its own rules
    if !switch.pfc.is_on() || matches!(switch.sharing, SharingSettings::Mmu(_)) {
        return;
    }
    let Some(buffer) = switch.buffer else {
        if switch.pfc.xoff.is_none() {
            let message = "a dynamic XOFF is a fraction of the free memory: give switch.buffer, or a static switch.pfc.xoff";
            found.push(impossible("switch.pfc", message));
        }
        return;
    };
    let needed = most_set_aside(facts);
    if needed >= buffer {
        let message = format!(
            "headroom, XOFF and one packet per port and lossless class need {needed}; the buffer has {buffer}"
        );
        found.push(impossible("switch.buffer", message));
    }
}

/// XON lies below XOFF, and a pause lasts until it can be refreshed.
pub(crate) fn pauses_end_and_last(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let pfc = &facts.switch.pfc;
    if !pfc.is_on() {
        return;
    }
    if let Some(xoff) = pfc.xoff.filter(|xoff| *xoff <= pfc.xon_offset) {
        let message =
            format!("XON would be {} below an XOFF of {xoff}, which is not above zero", pfc.xon_offset);
        found.push(impossible("switch.pfc.xon_offset", message));
    }
    let full = facts.stacks.iter().map(largest).max().unwrap_or(0);
    let least = (full + u64::from(FRAME)).div_ceil(32);
    if u64::from(pfc.quanta) < least {
        let message = format!(
            "a pause of {} quanta expires before the next pause frame, which may wait for a packet of {full} B: at least {least}",
            pfc.quanta
        );
        found.push(impossible("switch.pfc.quanta", message));
    }
    for name in ["watchdog", "watchdog_restore", "deadlock_every"] {
        let zero = match name {
            "watchdog" => pfc.watchdog.is_some_and(|span| span.0 == 0),
            "watchdog_restore" => pfc.watchdog_restore.is_some_and(|span| span.0 == 0),
            _ => pfc.deadlock_every.0 == 0,
        };
        if zero {
            found.push(impossible(format!("switch.pfc.{name}"), "this time must be greater than 0"));
        }
    }
}

/// Storms come from hosts of the network, at most one from each, and have a length.
pub(crate) fn storms_come_from_hosts(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(graph) = facts.graph else { return };
    let storms = &facts.settings.pause_storm;
    for (index, storm) in storms.iter().enumerate() {
        let path = |field: &str| format!("pause_storm[{index}].{field}");
        if !matches!(graph.node_named(&storm.host), Some(Node::Host(_))) {
            let names: Vec<String> = (0..graph.hosts().min(10_000))
                .map(|host| graph.name(Node::Host(weft_core::HostId(host))))
                .collect();
            let hint = weft_core::units::did_you_mean(&storm.host, names.iter().map(String::as_str));
            found.push(impossible(path("host"), format!("there is no host called `{}`{hint}", storm.host)));
        } else if storms[..index].iter().any(|other| other.host == storm.host) {
            found.push(impossible(
                path("host"),
                format!("`{}` already has a storm in another entry", storm.host),
            ));
        }
        if storm.until.is_none() && facts.settings.measure.until.is_none() {
            let message = "with an endless storm the run never ends: give `until` here or in [measure]";
            found.push(impossible(path("until"), message));
        }
        if let Some(end) = facts.settings.measure.until.filter(|end| *end <= storm.at) {
            let message =
                format!("a storm from {} on has no effect: the run ends at {end} (measure.until)", storm.at);
            found.push(impossible(path("at"), message));
        }
        if storm.until.is_some_and(|until| until <= storm.at) {
            found.push(impossible(path("until"), "the storm must end after it starts"));
        }
    }
}

/// Static and dynamic sharing beside a lossless class divide the remaining memory.
pub(crate) fn uses_the_buffer(facts: &Facts<'_>) -> bool {
    let switch = facts.switch;
    switch.pfc.is_on() || !matches!(switch.sharing, SharingSettings::Infinite(_))
}
