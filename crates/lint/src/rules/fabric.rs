//! Rules that compare several switches: equal hashes, and lossless links that close a cycle.

use crate::rule::{Findings, Rule, Severity};
use weft_device_config::model::{Network, SwitchConfig};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "hash-polarisation",
        level: Severity::Warning,
        title: "Successive stages use the same hash.",
        checks: "Switches of different stages (roles) have different hash functions or seeds. In SONiC the seed is `ecmp_hash_seed` of \
                 DEVICE_METADATA, otherwise it follows from `type`: ToRRouter 0, LeafRouter 10, every kind of SpineRouter 25, none 0. A Weft scenario has `seeding`. \
                 With `crc16` and `crc32` seeds do not help.",
        why: "All flows that reach a switch of the second stage have the same hash there: they take one of its paths and leave the \
              others idle.",
        fix: "Give each stage its own seed; with a CRC, whose seed changes all hashes by the same bits, its own hash function.",
        source: "RFC 2992 and common practice; sonic-net/sonic-buildimage issues 11880 and 25441.",
        look: polarisation,
    },
    Rule {
        id: "lossless-peer-link",
        level: Severity::Warning,
        title: "A lossless class runs between switches of the same stage.",
        checks: "No port with PFC leads to a neighbour of the switch's own role: lossless paths go up and then down (valley-free). In SONiC \
                 neighbours and roles come from DEVICE_NEIGHBOR and DEVICE_NEIGHBOR_METADATA.",
        why: "Sideways paths can close a cycle of buffers that wait for each other. Everything in the cycle stops, and only a \
              watchdog that drops packets ends it.",
        fix: "Turn PFC off on links between peers, or keep the lossless class off them by routing.",
        source: "Dally and Seitz 1987 (cyclic buffer dependency); Guo et al., SIGCOMM 2016, section 4.2.",
        look: peer_link,
    },
    Rule {
        id: "cyclic-buffer-dependency",
        level: Severity::Error,
        title: "Lossless links wait for each other in a cycle.",
        checks: "Scenarios with priority flow control: the routes from every leaf to every other, at the start and after each failure and \
                 repair, with the random failures of the first seed. A link depends on the next link of a route; a cycle of links \
                 between switches can deadlock. A warning if a watchdog is on.",
        why: "When all buffers of the cycle are above XOFF, each waits for the next: nothing moves, and pauses spread from there. \
              In a leaf-spine network two failed cables are enough, because detours pass through leaves.",
        fix: "Route packets only up, then down (drop routes through leaves after failures), or set switch.pfc.watchdog.",
        source: "Dally and Seitz 1987; Guo et al., SIGCOMM 2016, section 4.2; Hu et al., HotNets 2016.",
        look: circles,
    },
];

fn polarisation(network: &Network, findings: &mut Findings) {
    let hashing: Vec<&SwitchConfig> =
        network.switches.iter().filter(|switch| switch.hash.is_some()).collect();
    for (place, second) in hashing.iter().enumerate() {
        for first in &hashing[..place] {
            if let Some(level) = alike(first, second) {
                let hash = second.hash.as_ref().expect("only those that hash");
                let both = format!(
                    "{} ({}) and {} ({}) both hash with {}",
                    first.name,
                    role(first),
                    second.name,
                    role(second),
                    hash.function
                );
                let says = match are_linear(first, second) {
                    true => (
                        format!("{both}, whose seed changes all hashes by the same bits"),
                        format!("give {} another hash function", second.name),
                    ),
                    false => (
                        format!("{both} and seed {} ({})", hash.seed, hash.origin),
                        format!("give {} another seed", second.name),
                    ),
                };
                findings.add_as(level, (hash.at, ""), says);
            }
        }
    }
}

/// The severity of two switches with equal hashes.
fn alike(first: &SwitchConfig, second: &SwitchConfig) -> Option<Severity> {
    let (a, b) = (first.hash.as_ref()?, second.hash.as_ref()?);
    let same = a.function == b.function && (a.seed == b.seed || are_linear(first, second));
    match (&first.role, &second.role) {
        _ if !same => None,
        (Some(one), Some(other)) if one == other => None,
        (Some(_), Some(_)) => Some(Severity::Warning),
        // It is unknown whether they belong to one tier.
        _ => Some(Severity::Note),
    }
}

/// Whether two switches hash with the same CRC: it is linear, so a seed, its initial value, affects all packets
/// equally.
fn are_linear(first: &SwitchConfig, second: &SwitchConfig) -> bool {
    let crc =
        |switch: &SwitchConfig| switch.hash.as_ref().is_some_and(|hash| hash.function.starts_with("crc"));
    crc(first) && crc(second)
}

fn role(switch: &SwitchConfig) -> &str {
    switch.role.as_deref().unwrap_or("stage unknown")
}

fn peer_link(network: &Network, findings: &mut Findings) {
    for switch in &network.switches {
        for port in switch.up().filter(|port| !port.pfc.is_empty()) {
            let Some((name, Some(role))) = &port.neighbour else { continue };
            if switch.role.as_ref() == Some(role) {
                let says = format!("PFC is on towards {name}, a {role} as {} is", switch.name);
                findings.add(
                    port.pfc[0].at,
                    &port.name,
                    (says, "turn PFC off on links between peers".to_owned()),
                );
            }
        }
    }
}

fn circles(network: &Network, findings: &mut Findings) {
    if network.too_large {
        findings.lacks("a smaller network: there are too many routes to follow");
    }
    for circle in &network.circles {
        let level = if circle.watched { Severity::Warning } else { Severity::Error };
        let first = circle.switches.first().map_or("", String::as_str);
        let around = format!("{} -> {first}", circle.switches.join(" -> "));
        let says = format!("lossless links wait for each other in a cycle {}: {around}", circle.when);
        let fix = "avoid routes that go up again after going down, or set switch.pfc.watchdog".to_owned();
        findings.add_as(level, (circle.at, ""), (says, fix));
    }
}
