//! Rules on marking profiles: the order of their thresholds, and their position relative to empty queue, pause and
//! drop.

use crate::formula::{at_most, incasts, marking_before_xoff, queue_at_xoff, share, size};
use crate::rule::{Findings, Rule, Severity};
use std::collections::BTreeSet;
use weft_core::Bytes;
use weft_device_config::model::{
    GroupBinding, MarkingProfile, Network, PortConfig, Profile, SwitchConfig, Threshold,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "ecn-after-pfc",
        level: Severity::Error,
        title: "Pauses begin before marks.",
        checks: "K_min of a lossless queue against what the queue holds when its ingress groups reach XOFF. With k ingress \
                 ports that feed it equally this is k T for a static limit T, and k alpha B / (1 + k alpha) for a \
                 dynamic one in a pool of B bytes. Error: K_min is above it even if all other n - 1 ports send to this \
                 one. Warning: above it for two ports. Note: above the bound for every load of ports, T / n or \
                 alpha B / (n (1 + c alpha)) with c lossless classes, where one ingress port feeds all n queues.",
        why: "Senders learn of congestion from pauses, which stop ports, not flows: victims wait, pauses spread up the \
              tree, and the congestion control above never learns its rate.",
        fix: "Lower K_min below the figure for two ports, or give the group a larger alpha or static limit.",
        source: "Zhu et al., SIGCOMM 2015, section 4 (with beta = 8 alpha for 8 classes); thresholds by Choudhury and Hahne 1998.",
        look: |network, findings| lossless_markings(network, |place| ecn_after_pfc(place, findings)),
    },
    Rule {
        id: "ramp-beyond-pfc",
        level: Severity::Warning,
        title: "The marking ramp ends well above the start of pauses.",
        checks: "K_max of a lossless queue against what the queue holds when all other ports feed it and its ingress groups reach XOFF.",
        why: "The queue never reaches the end of the ramp: marks stay rare, the probability at K_max is never reached, and pauses do the \
              rest.",
        fix: "Lower K_max below the figure, or raise the group's alpha or limit.",
        source: "Zhu et al., SIGCOMM 2015, sections 4 and 5.",
        look: |network, findings| lossless_markings(network, |place| ramp_beyond_pfc(&place, findings)),
    },
    Rule {
        id: "ecn-above-drop",
        level: Severity::Error,
        title: "Packets are dropped before they are marked.",
        checks: "K_min and K_max against the limit of the queue: its static limit, or alpha B / (1 + n alpha) with n equally \
                 congested queues. Error: K_min is not below the limit of a queue alone (n = 1). Warning: K_max is above \
                 it. Note: K_min is above the limit when all ports are congested. Where no limit is known: error if K_min is not \
                 below the memory of the switch (--memory).",
        why: "Without marks below the limit, ECN has no effect and flows learn of congestion from losses.",
        fix: "Lower K_min (and K_max) below the figure, or raise the queue's alpha or limit.",
        source: "Choudhury and Hahne 1998; sonic-net/sonic-swss issue 4718 asks for the same check.",
        look: ecn_above_drop,
    },
    Rule {
        id: "ramp-order",
        level: Severity::Error,
        title: "The marking ramp runs backwards.",
        checks: "K_min <= K_max.",
        why: "Switches refuse such a profile or mark everything above the smaller threshold.",
        fix: "Swap the two, or make them equal for step marking.",
        source: "Floyd and Jacobson 1993.",
        look: |network, findings| each_marking(network, |_, marking| ramp_order(marking, findings)),
    },
    Rule {
        id: "ramp-flat",
        level: Severity::Error,
        title: "The marking probability is zero.",
        checks: "The marking probability at K_max is above 0.",
        why: "Nothing is marked up to K_max, everything above it. The queue settles at K_max, and K_min does nothing.",
        fix: "Set a probability: 1 % is DCQCN's, 100 % a steep ramp; or set K_min = K_max if a step is meant.",
        source: "Zhu et al., SIGCOMM 2015, table 14.",
        look: |network, findings| each_marking(network, |_, marking| ramp_flat(marking, findings)),
    },
    Rule {
        id: "marking-off",
        level: Severity::Error,
        title: "Marking has thresholds but is not enabled.",
        checks: "In SONiC a profile with `ecn` needs `wred_<colour>_enable = true` for the colours it should mark. Error: green, the \
                 colour of every packet that no policer has coloured, is not marked or has no thresholds. Note: yellow or red is not marked.",
        why: "The profile is accepted and bound, but marks nothing.",
        fix: "Set `wred_green_enable` to true.",
        source: "SONiC's WRED_PROFILE table; sonic-net/sonic-buildimage issue 4545.",
        look: |network, findings| each_marking(network, |_, marking| marking_off(marking, findings)),
    },
    Rule {
        id: "marking-unbound",
        level: Severity::Warning,
        title: "A marking profile is bound to no queue.",
        checks: "Some entry of the QUEUE table names the profile.",
        why: "The profile has no effect.",
        fix: "Name it as `wred_profile` of the queues that should mark, or remove it.",
        source: "SONiC's QUEUE table.",
        look: marking_unbound,
    },
];

fn each_marking(network: &Network, mut look: impl FnMut(&SwitchConfig, &MarkingProfile)) {
    for switch in &network.switches {
        for marking in &switch.markings {
            look(switch, marking);
        }
    }
}

/// A marking that works on a queue of a lossless class, and the profile of the class's priority group.
struct Lossless<'a> {
    switch: &'a SwitchConfig,
    port: &'a PortConfig,
    queue: u8,
    marking: &'a MarkingProfile,
    profile: &'a Profile,
    classes: usize,
}

fn lossless_markings<'a>(network: &'a Network, mut look: impl FnMut(Lossless<'a>)) {
    for switch in &network.switches {
        for port in switch.up() {
            let classes = lossless_classes(port);
            let count = classes.len();
            for (queue, group) in classes {
                if let Some((marking, profile)) = bound(switch, port, (queue, group)) {
                    look(Lossless { switch, port, queue, marking, profile, classes: count });
                }
            }
        }
    }
}

/// Queue and group of each lossless class of a port.
fn lossless_classes(port: &PortConfig) -> BTreeSet<(u8, u8)> {
    use weft_device_config::model::MapKind::{Group, Queue};
    let groups = port.pfc.iter().map(|priority| port.group_of(priority.value));
    let classes =
        groups.flat_map(|group| port.sources(Group, group).into_iter().map(move |class| (class, group)));
    classes.map(|(class, group)| (port.mapped(Queue, class), group)).collect()
}

fn bound<'a>(
    switch: &'a SwitchConfig,
    port: &PortConfig,
    (queue, group): (u8, u8),
) -> Option<(&'a MarkingProfile, &'a Profile)> {
    let marking = &switch.markings[port.queues.get(&queue)?.marking?];
    match port.groups.get(&group)?.bound {
        GroupBinding::Profile(number) if marking.ecn => Some((marking, &switch.profiles[number])),
        _ => None,
    }
}

fn ecn_after_pfc(place: Lossless<'_>, findings: &mut Findings) {
    let Lossless { switch, port, queue, marking, profile, classes } = place;
    let Some(threshold) = profile.threshold.as_ref().map(|placed| placed.value) else { return };
    let pool = match (threshold, switch.pool_of(profile)) {
        (Threshold::Static(_), pool) => pool.unwrap_or_default(),
        (Threshold::Dynamic(_), Some(pool)) => pool,
        (Threshold::Dynamic(_), None) => return findings.lacks("the size of the ingress pool"),
    };
    let ports = switch.degree();
    let (least, most, words) = incasts(threshold, pool, (ports - 1).max(1));
    let always = marking_before_xoff(threshold, pool, (ports, classes.max(1)));
    let min = marking.min.value.0 as f64;
    let level = match min {
        min if min >= most => Severity::Error,
        min if min >= least => Severity::Warning,
        min if min >= always => Severity::Note,
        _ => return,
    };
    let says = format!(
        "marks begin at {} ({}), but ingress groups with {} reach XOFF when the queue holds {words}, and \
         {} under the worst load of {ports} ports",
        size(min),
        min_words(marking),
        limit_words(profile),
        size(always),
    );
    let fix = format!(
        "set K_min below {} for every incast; {} guarantees that marks come first under every load",
        at_most(least),
        at_most(always)
    );
    findings.add_as(level, (marking.min.at, &format!("{} queue {queue}", port.name)), (says, fix));
}

fn ramp_beyond_pfc(place: &Lossless<'_>, findings: &mut Findings) {
    let Lossless { switch, port, queue, marking, profile, .. } = place;
    let Some(threshold) = profile.threshold.as_ref().map(|placed| placed.value) else { return };
    let pool = match threshold {
        Threshold::Static(_) => Bytes::ZERO,
        Threshold::Dynamic(_) => match switch.pool_of(profile) {
            Some(pool) => pool,
            None => return findings.lacks("the size of the ingress pool"),
        },
    };
    let ports = (switch.degree() - 1).max(1);
    let most = queue_at_xoff(threshold, pool, ports);
    let (min, max) = (marking.min.value.0 as f64, marking.max.value.0 as f64);
    if min < most && max > most {
        let says = format!(
            "the ramp of {} ends at {} (K_max), but the queue holds {} while {} it up to XOFF",
            marking.name,
            size(max),
            size(most),
            if ports == 1 { "one port feeds".to_owned() } else { format!("{ports} ports feed") }
        );
        let fix = format!("end the ramp below {}", at_most(most));
        findings.add(marking.max.at, &format!("{} queue {queue}", port.name), (says, fix));
    }
}

/// The lower threshold of a marking, in the file's own terms.
fn min_words(marking: &MarkingProfile) -> String {
    match marking.name.as_str() {
        "switch.ecn.step" => "switch.ecn.step.threshold".to_owned(),
        "switch.ecn.red" => "switch.ecn.red.min".to_owned(),
        name => format!("K_min of {name}"),
    }
}

fn limit_words(profile: &Profile) -> String {
    match profile.threshold.as_ref().map(|placed| placed.value) {
        Some(Threshold::Dynamic(alpha)) => format!("alpha {alpha} ({})", profile.name),
        Some(Threshold::Static(limit)) => format!("a limit of {} ({})", size(limit.0 as f64), profile.name),
        None => profile.name.clone(),
    }
}

fn ecn_above_drop(network: &Network, findings: &mut Findings) {
    for switch in &network.switches {
        for port in switch.up() {
            let lossless = port.lossless_queues();
            for (number, queue) in port.queues.iter().filter(|(number, _)| !lossless.contains(number)) {
                let (Some(marking), Some(profile)) = (queue.marking, queue.profile) else { continue };
                let subject = format!("{} queue {number}", port.name);
                let (marking, profile) = (&switch.markings[marking], &switch.profiles[profile]);
                drop_of_queue((switch, marking, profile), &subject, findings);
            }
        }
        if let Some(memory) = switch.memory.or(network.site.memory) {
            above_memory((switch, memory), findings);
        }
    }
}

/// Marking that begins above the whole memory of the switch, where no nearer limit is known.
fn above_memory((switch, memory): (&SwitchConfig, Bytes), findings: &mut Findings) {
    for number in switch.used_markings() {
        let marking = &switch.markings[number];
        let told =
            findings.list.iter().any(|found| found.at == marking.min.at && found.level == Severity::Error);
        if marking.works() && marking.min.value >= memory && !told {
            let min = size(marking.min.value.0 as f64);
            let says = format!(
                "marks begin at {min} ({}), but {} has {} of packet memory",
                min_words(marking),
                switch.name,
                size(memory.0 as f64)
            );
            let fix = "keep K_min well below what one queue may hold".to_owned();
            findings.add(marking.min.at, "", (says, fix));
        }
    }
}

fn drop_of_queue(
    (switch, marking, profile): (&SwitchConfig, &MarkingProfile, &Profile),
    subject: &str,
    findings: &mut Findings,
) {
    let alone = limit(switch, profile, 1);
    let together = limit(switch, profile, switch.degree());
    let (Some(alone), Some(together)) = (alone, together) else { return };
    let (min, max) = (marking.min.value.0 as f64, marking.max.value.0 as f64);
    let limits = holds(switch, profile, (alone, together));
    let (level, at, what) = match () {
        () if min >= alone => (
            Severity::Error,
            marking.min.at,
            format!("marks begin at {} ({})", size(min), min_words(marking)),
        ),
        () if max > alone => (
            Severity::Warning,
            marking.max.at,
            format!("the ramp of {} ends at {} (K_max)", marking.name, size(max)),
        ),
        () if min >= together => {
            (Severity::Note, marking.min.at, format!("marks begin at {} ({})", size(min), min_words(marking)))
        }
        () => return,
    };
    let bound = if level == Severity::Note { together } else { alone };
    let fix = format!("keep the thresholds below {}, or raise the queue's limit", size(bound));
    findings.add_as(level, (at, subject), (format!("{what}, but {limits}"), fix));
}

/// The contents of a queue with these limits, in words.
pub(super) fn holds(switch: &SwitchConfig, profile: &Profile, (alone, together): (f64, f64)) -> String {
    let words = limit_words(profile);
    if alone <= together {
        return format!("a queue with {words} never holds more");
    }
    let (alone, together, ports) = (size(alone), size(together), switch.degree());
    format!("a queue with {words} holds {alone} alone and {together} when all {ports} ports are congested")
}

/// The limit of a queue when `sharing` queues are equally congested; `None` if the size of the pool is unknown or the
/// limit is the whole pool, as for lossless classes.
pub(super) fn limit(switch: &SwitchConfig, profile: &Profile, sharing: usize) -> Option<f64> {
    match profile.threshold.as_ref()?.value {
        Threshold::Static(limit) => Some(limit.0 as f64),
        Threshold::Dynamic(alpha) => switch.pool_of(profile).map(|pool: Bytes| share(alpha, pool, sharing)),
    }
}

fn ramp_order(marking: &MarkingProfile, findings: &mut Findings) {
    let (min, max) = (marking.min.value, marking.max.value);
    if min > max {
        let says = format!(
            "K_min of {} is {}, above K_max, {}",
            marking.name,
            size(min.0 as f64),
            size(max.0 as f64)
        );
        findings.add(marking.min.at, "", (says, "set K_min <= K_max".to_owned()));
    }
}

fn ramp_flat(marking: &MarkingProfile, findings: &mut Findings) {
    if marking.probability.value == 0.0 && marking.min.value < marking.max.value {
        let says = format!(
            "{} marks with probability 0 between {} and {}",
            marking.name,
            size(marking.min.value.0 as f64),
            size(marking.max.value.0 as f64)
        );
        findings.add(
            marking.probability.at,
            "",
            (says, "set a probability above 0, such as 1 % to 100 %".to_owned()),
        );
    }
}

fn marking_off(marking: &MarkingProfile, findings: &mut Findings) {
    if !marking.ecn {
        return;
    }
    if let Some(off) = &marking.disabled {
        let says = format!("{} asks for ECN, but {}", marking.name, off.why);
        return findings.add(off.at, "", (says, off.fix.to_owned()));
    }
    for (colour, at) in &marking.unmarked {
        let says = format!(
            "{} asks for ECN on {colour} packets, but wred_{colour}_enable is not true: packets that a policer colours {colour} are not marked",
            marking.name
        );
        let fix = format!("set wred_{colour}_enable to \"true\", or remove {colour} from ecn");
        findings.add_as(Severity::Note, (*at, ""), (says, fix));
    }
}

fn marking_unbound(network: &Network, findings: &mut Findings) {
    for switch in network.switches.iter().filter(|switch| !switch.lacks_queues) {
        let used = switch.used_markings();
        let unused = switch.markings.iter().enumerate().filter(|(number, _)| !used.contains(number));
        for (_, marking) in unused {
            let says = "no queue uses this marking profile".to_owned();
            let fix = "bind it to the queues that should mark, or remove it".to_owned();
            findings.add(marking.at, &marking.name, (says, fix));
        }
    }
}
