//! A rule on two switches whose files name each other as neighbours: both treat the packets of their cable alike.

use crate::rule::{Findings, Rule, Severity};
use std::collections::BTreeSet;
use weft_device_config::model::{MapKind, Network, PortConfig, SwitchConfig};

pub(super) const RULES: &[Rule] = &[Rule {
    id: "peers-disagree",
    level: Severity::Warning,
    title: "The two ends of a cable classify or pause packets differently.",
    checks: "Two SONiC files that name each other in DEVICE_NEIGHBOR, by the ports that lead to each other: the priorities with PFC; and for \
             each DSCP that is lossless where it arrives, that the pauses sent for it stop the queue of the other end in which it waits.",
    why: "A packet is lossless on one hop and dropped on the next, or the pause for it stops another queue and its headroom overflows.",
    fix: "Give both ends the same maps (DSCP_TO_TC_MAP, TC_TO_QUEUE_MAP, MAP_PFC_PRIORITY_TO_QUEUE) and the same pfc_enable.",
    source: "IEEE 802.1Q, clause 36 (PFC acts on one link); RFC 2474 (a DSCP means what each hop makes of it).",
    look: each_cable,
}];

/// One end of a cable.
#[derive(Clone, Copy)]
struct CableEnd<'a> {
    switch: &'a SwitchConfig,
    port: &'a PortConfig,
}

fn each_cable(network: &Network, findings: &mut Findings) {
    for (place, second) in network.switches.iter().enumerate() {
        for first in &network.switches[..place] {
            for [a, b] in cables(first, second) {
                pauses(a, b, findings);
                unstopped(a, b, findings);
                unstopped(b, a, findings);
            }
        }
    }
}

/// The cables between two switches. Several of them are told apart as far as the files name the port at the other end.
fn cables<'a>(first: &'a SwitchConfig, second: &'a SwitchConfig) -> impl Iterator<Item = [CableEnd<'a>; 2]> {
    let known = !first.lacks_pfc && !second.lacks_pfc && first.name != second.name;
    let ends = first.up().filter(move |port| known && leads_to(port, second));
    let others: Vec<&PortConfig> = second.up().filter(|other| known && leads_to(other, first)).collect();
    ends.filter_map(move |port| {
        let named = others.iter().find(|other| port.neighbour_port.as_ref() == Some(&other.name));
        let other = named.or(others.first())?;
        Some([CableEnd { switch: first, port }, CableEnd { switch: second, port: other }])
    })
}

fn leads_to(port: &PortConfig, switch: &SwitchConfig) -> bool {
    port.neighbour.as_ref().is_some_and(|(name, _)| *name == switch.name)
}

fn pauses(a: CableEnd<'_>, b: CableEnd<'_>, findings: &mut Findings) {
    let of = |end: CableEnd<'_>| end.port.pfc.iter().map(|priority| priority.value).collect::<BTreeSet<u8>>();
    let (own, other) = (of(a), of(b));
    let Some(at) = a.port.pfc.first().or(b.port.pfc.first()).filter(|_| own != other) else { return };
    let says = format!(
        "PFC is on for {} at {}, and for {} at {}",
        listed(&own),
        a.switch.name,
        listed(&other),
        b.switch.name
    );
    let subject = if a.port.pfc.is_empty() { &b.port.name } else { &a.port.name };
    findings.add(at.at, subject, (says, "enable the same priorities at both ends".to_owned()));
}

fn listed(priorities: &BTreeSet<u8>) -> String {
    let numbers: Vec<String> = priorities.iter().map(u8::to_string).collect();
    match numbers.len() {
        0 => "no priority".to_owned(),
        1 => format!("priority {}", numbers[0]),
        _ => format!("priorities {}", numbers.join(",")),
    }
}

/// Packets from one end that are lossless at the other, but wait in a queue that its pauses do not stop.
fn unstopped(from: CableEnd<'_>, to: CableEnd<'_>, findings: &mut Findings) {
    let Some(map) = from.port.maps.get(&MapKind::Dscp) else { return };
    if !to.port.maps.contains_key(&MapKind::Dscp) {
        return;
    }
    let lost: Vec<u8> = map.keys().copied().filter(|dscp| !stops(from.port, to.port, *dscp)).collect();
    let Some(first) = lost.first() else { return };
    let names: Vec<String> = lost.iter().map(u8::to_string).collect();
    let says = format!(
        "{} pauses for DSCP {}, but {} sends these packets in queues that the pauses do not stop",
        to.switch.name,
        names.join(", "),
        from.switch.name
    );
    let fix = format!("give {} and {} the same maps and priorities", from.switch.name, to.switch.name);
    findings.add(map[first].at, &from.port.name, (says, fix));
}

/// Whether a DSCP is lossy where it arrives, or the pauses sent for it stop its queue at the sender.
fn stops(sender: &PortConfig, receiver: &PortConfig, dscp: u8) -> bool {
    let group = receiver.mapped(MapKind::Group, receiver.mapped(MapKind::Dscp, dscp));
    let sent = receiver.pfc.iter().filter(|priority| receiver.group_of(priority.value) == group);
    let priorities: Vec<u8> = sent.map(|priority| priority.value).collect();
    let queue = sender.mapped(MapKind::Queue, sender.mapped(MapKind::Dscp, dscp));
    let obeyed = |priority: &u8| sender.pfc.iter().any(|own| own.value == *priority);
    let stopped = |priority: &u8| obeyed(priority) && sender.mapped(MapKind::Pause, *priority) == queue;
    priorities.is_empty() || priorities.iter().any(stopped)
}
