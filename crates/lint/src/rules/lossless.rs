//! Rules on lossless queues: they mark, and nothing at the egress drops their packets.

use super::hosts::enable_marks;
use crate::formula::{at_least, incasts, size};
use crate::rule::{Findings, Rule, Severity};
use weft_device_config::model::{
    GroupBinding, MapKind, MarkingProfile, Network, PortConfig, Profile, QueueConfig, SwitchConfig, Threshold,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "lossless-without-ecn",
        level: Severity::Warning,
        title: "A lossless class has no marking.",
        checks: "Each queue of a priority with PFC has an enabled marking profile with ECN. Scenarios: where hosts send payload in it.",
        why: "Pauses are the only brake. In the LINE Yahoo tests PFC alone sent 3.5 million pauses where PFC with ECN sent two.",
        fix: "Bind a marking profile to the queue, with K_min below the figures of ecn-after-pfc. In a scenario set switch.ecn, with a \
              transport that reads marks.",
        source: "Fukazawa and Kobayashi, JANOG; Zhu et al., SIGCOMM 2015, section 2.",
        look: lossless_without_ecn,
    },
    Rule {
        id: "early-drops-lossless",
        level: Severity::Error,
        title: "A lossless queue drops packets early.",
        checks: "No queue of a priority with PFC has a profile that drops instead of marking: in SONiC `wred_green_enable` with an `ecn` that \
                 leaves green out (`ecn_none` by default), in EOS `random-detect drop`.",
        why: "Pauses keep the buffer from overflowing, and the switch drops packets of the class all the same, as soon as the queue is \
              longer than the threshold. RoCE answers each such loss by going back.",
        fix: "Set ecn to \"ecn_all\", or remove the profile from the queue.",
        source: "SONiC's YANG model sonic-wred-profile: thresholds of drops, and `ecn` with the default ecn_none; the EOS manual.",
        look: |network, findings| each_queue(network, |place| drops_early(&place, findings)),
    },
    Rule {
        id: "lossless-queue-lossy",
        level: Severity::Error,
        title: "A lossless queue has the buffer profile of lossy queues.",
        checks: "The egress profile of a queue of a priority with PFC: it is lossy by name, or serves queues without PFC at the same port, and \
                 limits the queue to less than its pool; or its fixed limit lies below the queue at which the first ports that send to it pause: \
                 an error if two ports do, a note if only all others together do (some templates divide the limit among parts of the memory).",
        why: "The priority group pauses, but the queue reaches its own limit at the egress and drops: the class is not lossless.",
        fix: "Bind a profile whose limit is the whole pool, such as egress_lossless_profile.",
        source: "SONiC's BUFFER_QUEUE table and buffer templates: static_th of egress_lossless_profile is the size of its pool.",
        look: |network, findings| each_queue(network, |place| lossy_profile(&place, findings)),
    },
];

/// A queue of a lossless class.
struct LosslessQueue<'a> {
    switch: &'a SwitchConfig,
    port: &'a PortConfig,
    number: u8,
    queue: &'a QueueConfig,
    lossless: &'a [u8],
}

fn each_queue(network: &Network, mut look: impl FnMut(LosslessQueue<'_>)) {
    for switch in &network.switches {
        for port in switch.up().filter(|port| !port.pfc.is_empty()) {
            let lossless = port.lossless_queues();
            for number in &lossless {
                let Some(queue) = port.queues.get(number) else { continue };
                look(LosslessQueue { switch, port, number: *number, queue, lossless: &lossless });
            }
        }
    }
}

fn drops_early(place: &LosslessQueue<'_>, findings: &mut Findings) {
    let LosslessQueue { switch, port, number, queue, .. } = place;
    let Some(marking) = queue.marking.map(|marking| &switch.markings[marking]) else { return };
    if marking.drops_early {
        let says = format!(
            "queue {number} is lossless, but {} drops its packets from {}",
            marking.name,
            size(marking.min.value.0 as f64)
        );
        let fix = "mark instead (ecn), or remove the profile from the queue".to_owned();
        findings.add(marking.at, &port.name, (says, fix));
    }
}

fn lossy_profile(place: &LosslessQueue<'_>, findings: &mut Findings) {
    let LosslessQueue { switch, port, number, queue, lossless } = place;
    let Some(bound) = queue.profile else { return };
    let profile = &switch.profiles[bound];
    let shared =
        || port.queues.iter().any(|(other, at)| !lossless.contains(other) && at.profile == Some(bound));
    if limits(switch, profile) && (profile.name.contains("lossy") || shared()) {
        let says = format!("queue {number} is lossless, but has {}, whose limit drops packets", profile.name);
        let fix = format!("bind a profile whose limit is the whole pool to queue {number}");
        return findings.add(profile.at, &port.name, (says, fix));
    }
    limit_below_pauses(place, profile, findings);
}

/// The fixed limit of a lossless queue is reached before its senders are paused.
fn limit_below_pauses(place: &LosslessQueue<'_>, profile: &Profile, findings: &mut Findings) {
    let LosslessQueue { switch, port, number, .. } = place;
    let Some(Threshold::Static(limit)) = profile.threshold.as_ref().map(|placed| placed.value) else {
        return;
    };
    let Some((group, threshold)) = pausing(switch, port, *number) else { return };
    let Some(pool) = switch.pool_of(group) else { return };
    let (least, most, words) = incasts(threshold, pool, (switch.degree() - 1).max(1));
    let level = match limit.0 as f64 {
        limit if limit < least => Severity::Error,
        limit if limit < most => Severity::Note,
        _ => return,
    };
    let says = format!(
        "queue {number} is lossless, but {} drops from {}, and ingress groups with {} pause when it holds {words}",
        profile.name,
        size(limit.0 as f64),
        group.name
    );
    let fix = format!("raise the limit to {} or more", at_least(most));
    findings.add_as(level, (profile.at, &port.name), (says, fix));
}

/// The profile and limit of the group that pauses the senders to a queue.
fn pausing<'a>(switch: &'a SwitchConfig, port: &PortConfig, queue: u8) -> Option<(&'a Profile, Threshold)> {
    let stops = |priority: &u8| {
        let classes = port.sources(MapKind::Group, port.group_of(*priority));
        classes.iter().any(|class| port.mapped(MapKind::Queue, *class) == queue)
    };
    let priority = port.pfc.iter().map(|placed| placed.value).find(stops)?;
    let GroupBinding::Profile(number) = port.groups.get(&port.group_of(priority))?.bound else { return None };
    let profile = &switch.profiles[number];
    Some((profile, profile.threshold.as_ref()?.value))
}

/// Whether a profile limits a queue to less than its pool.
fn limits(switch: &SwitchConfig, profile: &Profile) -> bool {
    match profile.threshold.as_ref().map(|placed| placed.value) {
        Some(Threshold::Static(limit)) => switch.pool_of(profile).is_some_and(|pool| limit < pool),
        Some(Threshold::Dynamic(_)) => true,
        None => false,
    }
}

/// The remedy for a lossless queue that does not mark; `None` if it marks, or no host of a scenario sends in it.
fn brake(
    (network, switch): (&Network, &SwitchConfig),
    queue: u8,
    marking: Option<&MarkingProfile>,
) -> Option<String> {
    match (&network.case, marking) {
        (_, Some(marking)) if marking.ecn => None,
        (None, Some(marking)) => Some(format!("have {} mark instead of drop", marking.name)),
        (None, None) => Some(format!("bind a marking profile to queue {queue}")),
        (Some(_), _) => {
            let here = |class: &u8| switch.class_queues.get(usize::from(*class)) == Some(&queue);
            let senders = || network.hosts.iter().filter(|host| host.payload.iter().any(here));
            if senders().all(|host| host.needs_no_marks) {
                return None;
            }
            let asking = senders().find(|host| host.asks_for_marks());
            asking.or(senders().next()).map(|host| enable_marks(network, host))
        }
    }
}

fn lossless_without_ecn(network: &Network, findings: &mut Findings) {
    for switch in network.switches.iter().filter(|switch| switch.held.is_none()) {
        if switch.lacks_queues {
            if switch.up().any(|port| !port.pfc.is_empty()) {
                findings
                    .lacks("the marking of some queues (their table, or the speed of their ports: --rate)");
            }
            continue;
        }
        for port in switch.up().filter(|port| !port.pfc.is_empty()) {
            for queue in port.lossless_queues() {
                let marking = port.queues.get(&queue).and_then(|queue| queue.marking);
                let marking = marking.map(|number| &switch.markings[number]);
                let Some(fix) = brake((network, switch), queue, marking) else { continue };
                let says = format!("queue {queue} is lossless and marks nothing: pauses are its only brake");
                findings.add(port.pfc[0].at, &port.name, (says, fix));
            }
        }
    }
}
