//! What a scenario must not ask of a lab: features that real hosts and cables lack.

use weft_core::segment::ports;
use weft_core::{FlowId, HostId, SwitchId};
use weft_plan::Setup;
use weft_router::app::switch::not_on_the_wire;
use weft_transport::Transport;
use weft_transport::card::{CardPlan, CardSettings};
use weft_transport::settings::Tcp;

/// The largest IP packet that a buffer of the router holds.
const MOST_MTU: u64 = 2_048;
/// Maximum number of flows: each has a port of its own.
const MOST_FLOWS: usize = 60_000;
/// Bytes that a frame occupies on an Ethernet link beyond the IP packet.
const FRAMING: u64 = 38;

/// Why a lab cannot run this setup; empty if it can.
#[must_use]
pub fn misfits(setup: &Setup) -> Vec<String> {
    let mut reasons: Vec<String> = of_switches(setup).collect();
    reasons.extend(of_network(setup).into_iter().map(str::to_owned));
    reasons.extend(setup.transports().filter_map(|transport| of_transport(transport)));
    reasons.extend(of_flows(setup).into_iter().map(str::to_owned));
    if let Some(first) = setup.transports().find_map(|transport| transport.tcp()) {
        // Each host has its own switch for ECN.
        let alike = |own: &Tcp| Tcp { ecn: first.ecn, ..own.clone() } == *first;
        let differs = |transport: &Transport| transport.tcp().is_some_and(|own| !alike(own));
        if setup.transports().any(|transport| differs(transport)) {
            reasons.push("hosts differ in the settings that all congestion laws share".to_owned());
        }
    }
    if (0..setup.graph.hosts()).any(|host| differs_in_ecn(setup, HostId(host))) {
        reasons
            .push("traffic entries of a host differ in ecn, which is one setting of the kernel".to_owned());
    }
    reasons.sort();
    reasons.dedup();
    reasons
}

fn differs_in_ecn(setup: &Setup, host: HostId) -> bool {
    let mut all = setup.transports_of(host).filter_map(|own| own.tcp()).map(|tcp| tcp.ecn);
    let first = all.next();
    all.any(|ecn| Some(ecn) != first)
}

fn of_switches(setup: &Setup) -> impl Iterator<Item = String> + '_ {
    let switches = (0..setup.graph.switches().len()).map(|number| SwitchId(number as u32));
    switches.filter_map(|switch| {
        let why = not_on_the_wire(setup.switch_at(switch), setup.balancer_at(switch))?;
        Some(format!("a switch {why}"))
    })
}

fn of_network(setup: &Setup) -> Vec<&'static str> {
    let links = setup.graph.links();
    let plain = |card: &CardSettings| matches!(card.plan(), CardPlan::Turns);
    let found = [
        (!setup.timeline.changes.is_empty(), "cables fail or return during the run"),
        (links.iter().any(|link| link.loss > 0.0), "a cable loses packets at random"),
        (links.iter().any(|link| link.stalls.is_some()), "a host stalls"),
        (!setup.storms.is_empty(), "hosts send pause storms"),
        (!plain(&setup.card) || !setup.cards.values().all(plain), "a network card has a queue of its own"),
    ];
    found.into_iter().filter(|(is, _)| *is).map(|(_, why)| why).collect()
}

fn of_transport(transport: &Transport) -> Option<String> {
    let Some(tcp) = transport.tcp() else {
        return Some(format!("a transport is not TCP but {}", transport.protocol()));
    };
    let why = if tcp.mtu.0 > MOST_MTU {
        format!("packets of {} (at most {MOST_MTU} B)", tcp.mtu)
    } else if tcp.framing.0 != FRAMING {
        "frames are not Ethernet's (framing = 38 B)".to_owned()
    } else if tcp.pias.is_on() {
        "flows are demoted through priority classes (pias)".to_owned()
    } else if tcp.tlt.is_some() {
        "packets have colours (tlt)".to_owned()
    } else if tcp.reorder_shim {
        "a buffer below TCP restores the order of packets (reorder_shim)".to_owned()
    } else {
        return None;
    };
    Some(why)
}

fn of_flows(setup: &Setup) -> Vec<&'static str> {
    let one_class = |flow: &weft_workload::Flow| {
        let classes = setup.sender(flow).classes(setup.class_of(flow), None);
        classes.sender.iter().count() == 1 && classes.sender == classes.receiver
    };
    let last = setup.flows.len().saturating_sub(1) as u32;
    let found = [
        (!setup.flows.jobs().is_empty(), "jobs of clusters start flows during the run"),
        (setup.flows.take_turns(), "flows wait for their turn"),
        (
            setup.flows.len() > MOST_FLOWS || ports(FlowId(last)) & 0xffff != u32::from(crate::ends::PORT),
            "more than 60 000 flows",
        ),
        (setup.flows.is_empty(), "no flows"),
        (
            setup.flows.iter().any(|flow| flow.constant_rate().is_some()),
            "flows of datagrams at a constant rate",
        ),
        (!setup.flows.iter().all(|flow| one_class(&flow)), "both ends of a flow send in several classes"),
    ];
    found.into_iter().filter(|(is, _)| *is).map(|(_, why)| why).collect()
}
