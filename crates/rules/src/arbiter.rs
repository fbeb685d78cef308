//! Rules on the arbiters of links, and on the transports that depend on them.

use crate::{Facts, Finding, impossible};
use std::collections::BTreeSet;
use weft_core::{Bytes, HostId, Span};
use weft_model::Device;
use weft_switch::arbiter::ArbiterSettings;
use weft_topology::{Graph, Ideal, LinkState, Train};
use weft_transport::{Transport, TransportSettings};

/// Arbiters need a transport that asks them, and such a transport needs its arbiters.
pub(crate) fn arbiters_are_asked(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let (name, asked, there) =
        (facts.stack.name(), facts.stack.stack().arbiter(), facts.switch.arbiter.name());
    let is_on = facts.switch.arbiter != ArbiterSettings::default();
    if let Some(asked) = asked.filter(|asked| *asked != there) {
        let message = format!("{name} needs arbiters at the links: set switch.arbiter = \"{asked}\"");
        found.push(impossible("transport", message));
    } else if is_on && asked.is_none() {
        facts.idle("switch.arbiter", &format!("packets of {name} carry no requests to arbiters"), found);
    }
}

/// The bounds of the list are in order.
pub(crate) fn lists_have_bounds(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let ArbiterSettings::PdqArbiter(pdq) = &facts.switch.arbiter else { return };
    if pdq.least_list > pdq.most_list {
        let message = format!("exceeds most_list = {}, the longest list", pdq.most_list);
        found.push(impossible("switch.arbiter.pdq.least_list", message));
    }
}

/// PASE's links assign the classes that its ends have, and switches serve them by priority.
pub(crate) fn classes_are_served(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let TransportSettings::Pase(pase) = facts.stack else { return };
    if !pase.arbitration {
        let names = ["queues", "interval", "round_trip", "low_rto"];
        return facts.idle_transport(&names, "links do not arbitrate (arbitration = false)", found);
    }
    let ArbiterSettings::PaseArbiter(links) = &facts.switch.arbiter else { return };
    let (queues, classes) = (facts.switch.queues, pase.class + pase.queues);
    if links.queues != pase.queues {
        let message = format!("links assign {} classes, the ends have {}", links.queues, pase.queues);
        found.push(impossible("switch.arbiter.pase.queues", message));
    } else if classes > 8 {
        let message =
            format!("{} classes from class {} on exceed the eight there are", pase.queues, pase.class);
        found.push(impossible(facts.transport("queues"), message));
    } else if queues < classes {
        let message = format!("{classes} classes share {queues} queues: give switch.queues = {classes}");
        found.push(impossible(facts.transport("queues"), message));
    } else if facts.switch.schedule.in_order(queues) < classes {
        let message = "all classes would be served equally: give switch.schedule = \"strict\"";
        found.push(impossible(facts.transport("queues"), message));
    }
}

/// Time-outs that do not grow, or no further: one that fires before any answer can arrive would resend everything forever.
pub(crate) fn time_outs_outlast_a_round_trip(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(graph) = facts.graph else { return };
    let time_outs = match (facts.stack, facts.stack.tcp()) {
        (TransportSettings::Pase(pase), _) => {
            let low = pase.arbitration.then_some(("low_rto", pase.low_rto));
            [Some(("rto", pase.rto)), low]
        }
        (_, Some(tcp)) => [Some(("initial_rto", tcp.initial_rto)), Some(("max_rto", tcp.max_rto))],
        _ => return,
    };
    let round_trip = round_trip(graph, facts.devices, facts.stack);
    for (name, _) in time_outs.into_iter().flatten().filter(|(_, time_out)| *time_out <= round_trip) {
        let round_trip = Span::from_ns(round_trip.0.div_ceil(1_000));
        let message = format!("no answer can arrive that soon: an unloaded round trip takes {round_trip}");
        found.push(impossible(facts.transport(name), message));
    }
}

/// The longest time of a full packet and its answer from the first host to another and back in the empty network.
pub(crate) fn round_trip(graph: &Graph, devices: &[Device], transport: &TransportSettings) -> Span {
    let mut latencies = vec![Span::ZERO; graph.switches().len()];
    for device in devices {
        device.switches.iter().for_each(|switch| latencies[switch.index()] = device.switch.latency);
    }
    let mut ideal = Ideal::with_latencies(graph, &LinkState::all_up(graph), latencies);
    let frames = Transport::new(transport).frames();
    let [full, least] = [frames.full_wire(), frames.wire(0)].map(|wire| Bytes(u64::from(wire)));
    let train = |wire| Train { count: 1, full_wire: wire, last_wire: wire, handshake: None };
    let mut leaves = BTreeSet::new();
    let others = (1..graph.hosts()).map(HostId).filter(|host| leaves.insert(graph.switch_of_host(*host)));
    let round = |host| ideal.fct(HostId(0), host, &train(full)) + ideal.fct(host, HostId(0), &train(least));
    others.map(round).max().unwrap_or(Span::ZERO)
}

/// Delegation concerns links that several leaves share, and takes part everywhere.
pub(crate) fn leaves_share_what_is_delegated(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let ArbiterSettings::PaseArbiter(pase) = &facts.switch.arbiter else { return };
    let path = |name: &str| format!("switch.arbiter.pase.{name}");
    if !pase.delegation {
        let why = "leaves decide for no other link (delegation = false)";
        return ["delegation_interval", "least_slice"]
            .iter()
            .for_each(|name| facts.idle(&path(name), why, found));
    }
    let delegates =
        |arbiter: &ArbiterSettings| matches!(arbiter, ArbiterSettings::PaseArbiter(pase) if pase.delegation);
    if pase.delegation_interval == Span::ZERO {
        found.push(impossible(
            path("delegation_interval"),
            "reports need time in between: give 100 us, for example",
        ));
    } else if !facts.devices.iter().all(|device| delegates(&device.switch.arbiter)) {
        let message = "leaves report to the switches above them: delegate at all switches or at none";
        found.push(impossible(path("delegation"), message));
    } else if facts.graph.is_some_and(|graph| !graph.has_shared_upper_links()) {
        let why = "no link between higher switches serves several leaves: this takes three tiers";
        facts.idle(&path("delegation"), why, found);
    }
}
