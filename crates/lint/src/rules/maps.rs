//! Rules on maps: from a packet's DSCP to traffic class, priority group and queue, and from a pause frame's priority
//! back.

use super::scenario;
use crate::rule::{Findings, Rule, Severity};
use weft_config::place::Spot;
use weft_device_config::model::{MapKind, Network, PortConfig, SwitchConfig};

/// The default code point of network cards for congestion notification packets (CS6).
const NOTIFICATIONS: u8 = 48;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "pause-stops-wrong-queue",
        level: Severity::Error,
        title: "A pause frame stops a queue other than the one that sends.",
        checks: "For each priority with PFC: the traffic classes whose packets fill its group at the neighbour go to the queue \
                 that a pause of this priority stops. The neighbour is taken to have the same maps (see peers-disagree).",
        why: "The neighbour asks for a pause but the queue keeps sending: its headroom overflows. Another queue stops needlessly.",
        fix: "Make the map from PFC priority to queue agree with the one from traffic class to queue.",
        source: "IEEE 802.1Qbb; SONiC's TC_TO_QUEUE_MAP and MAP_PFC_PRIORITY_TO_QUEUE.",
        look: |network, findings| each_priority(network, |place| wrong_queue(place, findings)),
    },
    Rule {
        id: "classes-share-group",
        level: Severity::Warning,
        title: "Several traffic classes share a lossless group.",
        checks: "Each traffic class in the priority group of a priority with PFC has a queue that pauses of the group stop: those of all \
                 priorities with PFC that map to the group.",
        why: "The group counts the bytes of all of them, but its pauses stop some queues: the others' packets hold the group above XOFF.",
        fix: "Give each lossless class its own priority group in the map from traffic class to priority group.",
        source: "Reference model of shared memory: a packet is charged to its priority group at ingress and its queue at egress.",
        look: |network, findings| each_priority(network, |place| shared_group(place, findings)),
    },
    Rule {
        id: "lossless-class-unreached",
        level: Severity::Warning,
        title: "No packet can reach a lossless class.",
        checks: "Some DSCP maps to a traffic class of each priority with PFC. Scenarios: payload is in a lossless queue.",
        why: "The class is lossless on paper: its traffic is in another queue, and its headroom is wasted.",
        fix: "Map the DSCP of the lossless traffic to the class.",
        source: "SONiC's DSCP_TO_TC_MAP table.",
        look: |network, findings| {
            each_priority(network, |place| unreached(place, findings));
            scenario::payload_is_lossless(network, findings);
        },
    },
    Rule {
        id: "class-without-queue",
        level: Severity::Error,
        title: "A DSCP maps to a traffic class that has no queue.",
        checks: "A traffic class above 7 is in the map from traffic class to queue. There are eight priorities, and most chips have \
                 eight classes.",
        why: "The switch refuses the map or treats the packets arbitrarily: they are not in the intended queue.",
        fix: "Map the DSCP to a class from 0 to 7.",
        source: "IEEE 802.1Q (eight traffic classes); SONiC's DSCP_TO_TC_MAP and TC_TO_QUEUE_MAP tables.",
        look: without_queue,
    },
    Rule {
        id: "default-traffic-lossless",
        level: Severity::Warning,
        title: "Ordinary traffic is in a lossless class.",
        checks: "DSCP 0 does not map to a priority with PFC.",
        why: "TCP fills queues until it sees losses or marks: in a lossless class it fills them until everything pauses. In the \
              LINE Yahoo tests, with default traffic in a no-drop class, PFC alone made jobs slower and sent 3.5 million pauses.",
        fix: "Keep lossless classes for traffic with its own rate control (RoCE) and its own DSCP.",
        source: "Fukazawa and Kobayashi, JANOG (no-drop priorities 0 and 1, DSCP 0 in traffic class 1).",
        look: |network, findings| each_priority(network, |place| default_traffic(place, findings)),
    },
    Rule {
        id: "notifications-paused",
        level: Severity::Warning,
        title: "Congestion notifications wait behind the traffic they report on.",
        checks: "DSCP 48, which network cards give to CNPs, does not map to a lossless class. Scenarios with DCQCN: CNPs (class 0) have a \
                 queue served before that of payload, without PFC.",
        why: "CNPs wait in the congested queue or are paused with it: DCQCN's control loop slows down as the queue grows, and \
              oscillates.",
        fix: "Map DSCP 48 to a class with strict priority and without PFC.",
        source: "Zhu et al., SIGCOMM 2015: CNPs travel with high priority.",
        look: |network, findings| {
            each_priority(network, |place| notifications(place, findings));
            scenario::notifications_go_first(network, findings);
        },
    },
];

/// A priority with PFC of a port that is up, and its position in the file.
struct MappedPriority<'a> {
    port: &'a PortConfig,
    priority: u8,
    at: Spot,
    /// The traffic classes of its group.
    classes: Vec<u8>,
}

fn each_priority<'a>(network: &'a Network, mut look: impl FnMut(MappedPriority<'a>)) {
    for port in network.switches.iter().flat_map(SwitchConfig::up) {
        for placed in &port.pfc {
            let (priority, at) = (placed.value, placed.at);
            let classes = port.sources(MapKind::Group, port.group_of(priority));
            look(MappedPriority { port, priority, at, classes });
        }
    }
}

/// The position of a map's entry for a value.
fn said(port: &PortConfig, kind: MapKind, value: u8) -> Option<Spot> {
    Some(port.maps.get(&kind)?.get(&value)?.at)
}

fn wrong_queue(place: MappedPriority<'_>, findings: &mut Findings) {
    let MappedPriority { port, priority, at, classes } = place;
    let stopped = port.mapped(MapKind::Pause, priority);
    let alone = classes.len() == 1;
    for class in classes {
        let queue = port.mapped(MapKind::Queue, class);
        // Classes that share the group of another class are left to the next rule.
        if queue != stopped && (class == priority || alone) {
            let says = format!(
                "traffic class {class} uses queue {queue}, but a pause of priority {priority} stops queue {stopped}"
            );
            let at = said(port, MapKind::Queue, class).or(said(port, MapKind::Pause, priority)).unwrap_or(at);
            findings.add(at, &port.name, (says, format!("map PFC priority {priority} to queue {queue}")));
        }
    }
}

/// The queues that stop when the group of a priority pauses: a switch then names every priority of the group that has PFC.
fn stopped_with(port: &PortConfig, priority: u8) -> Vec<u8> {
    let alike = port.pfc.iter().filter(|other| port.group_of(other.value) == port.group_of(priority));
    alike.map(|other| port.mapped(MapKind::Pause, other.value)).collect()
}

fn shared_group(place: MappedPriority<'_>, findings: &mut Findings) {
    let MappedPriority { port, priority, at, classes } = place;
    let paused = stopped_with(port, priority);
    if classes.iter().any(|class| !paused.contains(&port.mapped(MapKind::Queue, *class))) && classes.len() > 1
    {
        let names: Vec<String> = classes.iter().map(u8::to_string).collect();
        let group = port.group_of(priority);
        let says = format!(
            "traffic classes {} fill priority group {group}, and a pause of priority {priority} stops queue {} only",
            names.join(", "),
            paused.iter().map(u8::to_string).collect::<Vec<_>>().join(" and ")
        );
        let other = classes.iter().find(|class| **class != priority);
        let at = other.and_then(|class| said(port, MapKind::Group, *class)).unwrap_or(at);
        findings.add(at, &port.name, (says, "give each of them its own priority group".to_owned()));
    }
}

fn unreached(place: MappedPriority<'_>, findings: &mut Findings) {
    let MappedPriority { port, priority, at, classes } = place;
    let Some(map) = port.maps.get(&MapKind::Dscp) else { return };
    if !map.values().any(|class| classes.contains(&class.value)) {
        let says = format!("no DSCP maps to a traffic class of priority {priority}, which has PFC");
        findings.add(
            at,
            &port.name,
            (says, format!("map the DSCP of the lossless traffic to class {priority}")),
        );
    }
}

fn without_queue(network: &Network, findings: &mut Findings) {
    for port in network.switches.iter().flat_map(SwitchConfig::up) {
        let Some(map) = port.maps.get(&MapKind::Dscp) else { continue };
        let has_queue = |class: u8| class < 8 || said(port, MapKind::Queue, class).is_some();
        for (dscp, class) in map.iter().filter(|(_, class)| !has_queue(class.value)) {
            let says = format!("DSCP {dscp} maps to traffic class {}, which has no queue", class.value);
            findings.add(class.at, &port.name, (says, "map it to a class from 0 to 7".to_owned()));
        }
    }
}

fn default_traffic(place: MappedPriority<'_>, findings: &mut Findings) {
    lossless_code_point(
        &place,
        0,
        |class, priority| {
            let says = format!(
                "DSCP 0 maps to traffic class {class}, whose group has PFC (priority {priority}): all ordinary traffic is lossless"
            );
            (says, "map DSCP 0 to a class without PFC".to_owned())
        },
        findings,
    );
}

fn notifications(place: MappedPriority<'_>, findings: &mut Findings) {
    lossless_code_point(
        &place,
        NOTIFICATIONS,
        |class, priority| {
            let says = format!(
                "DSCP 48 (CNPs) maps to traffic class {class}, whose group has PFC (priority {priority})"
            );
            (says, "map DSCP 48 to a strict-priority class without PFC".to_owned())
        },
        findings,
    );
}

fn lossless_code_point(
    place: &MappedPriority<'_>,
    dscp: u8,
    words: impl Fn(u8, u8) -> (String, String),
    findings: &mut Findings,
) {
    let Some(class) = place.port.maps.get(&MapKind::Dscp).and_then(|map| map.get(&dscp)) else { return };
    if place.classes.contains(&class.value) {
        findings.add(class.at, &place.port.name, words(class.value, place.priority));
    }
}
