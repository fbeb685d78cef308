//! Rules on classes and controllers in a scenario, where the classes of payload and answers, the delays of cards and
//! the marking controllers are known; and rules that only a scenario can break.

use super::marking::{holds, limit};
use crate::formula::{at_most, bandwidth_delay, incasts, queue_at_xoff, size, time};
use crate::rule::{Findings, Rule, Severity};
use weft_core::{Bytes, Rate, Span};
use weft_device_config::model::{
    Held, HostConfig, MarkingProfile, Network, PortConfig, Profile, SwitchConfig, Threshold,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "controller-after-pfc",
        level: Severity::Warning,
        title: "A controller holds the queue above XOFF.",
        checks: "Scenarios: the reference of PI, or the target of PIE and CoDel times the port's rate, against what the queue holds when \
                 its ingress groups reach XOFF (see ecn-after-pfc). Error: above it for all other ports; warning: for two.",
        why: "The controller aims at a longer queue than PFC allows: it never marks enough, and pauses do its work.",
        fix: "Lower the reference or target below the figure for two ports, or raise switch.pfc.alpha or xoff.",
        source: "Hollot et al., INFOCOM 2001 (PI holds the queue at its reference); thresholds by Choudhury and Hahne 1998.",
        look: |network, findings| network.switches.iter().for_each(|switch| controller(switch, findings)),
    },
    Rule {
        id: "controller-above-drop",
        level: Severity::Error,
        title: "A controller holds the queue above its limit.",
        checks: "Scenarios: the reference of PI, or the target of PIE and CoDel times the port's rate, against the limit of a queue that \
                 does not pause (see ecn-above-drop). Error: not below the limit of a queue alone. Note: not below the limit when all ports are \
                 congested.",
        why: "The queue never reaches the length that the controller aims at: it hardly marks, and packets are dropped instead.",
        fix: "Lower the reference or target below the figure, or raise the limit of the queue.",
        source: "Hollot et al., INFOCOM 2001 (PI holds the queue at its reference); thresholds by Choudhury and Hahne 1998.",
        look: |network, findings| network.switches.iter().for_each(|switch| above_drop(switch, findings)),
    },
    Rule {
        id: "pauses-before-feedback",
        level: Severity::Note,
        title: "Enough senders cause pauses before the first notification can act.",
        checks: "Scenarios with DCQCN: n senders at line rate C to one port put at least K_min + (n - 1) C (RTT + t_CNP) / 8 \
                 into its queue before the first notification is back, with n K_min in place of K_min if marks are set on arrival; \
                 this is compared with the queue at XOFF with n ports. The finding gives the smallest such n.",
        why: "Thresholds in the right order are not enough: packets in flight, and the time the card takes to make a notification, make up the \
              difference. That is why a laboratory shows pauses where a model without these delays has none.",
        fix: "Lower K_min, mark on departure, shorten cnp_delay, or give the class more memory; or accept pauses in such incasts.",
        source: "aliyun/ns-3-alibabacloud issue 12 (55 us); Zhu et al., SIGCOMM 2015, section 4.",
        look: before_feedback,
    },
    Rule {
        id: "answers-behind-lossless",
        level: Severity::Warning,
        title: "A lossless queue crowds out the other queues of its port.",
        checks: "Scenarios with a dynamic XOFF and static sharing: per_port, in which all queues of the port count, against what the \
                 lossless queue holds when all other ports feed it up to XOFF.",
        why: "The lossless queue may exceed the limit, the others may not: acknowledgements and notifications are dropped while their own \
              queue is empty.",
        fix: "Set sharing = \"dynamic\", or a per_port above the figure.",
        source: "The simulated switch; in a leaf-spine run of DCQCN with the default of 1 MB, some hundred acknowledgements were lost this way.",
        look: |network, findings| network.switches.iter().for_each(|switch| crowded_out(switch, findings)),
    },
    Rule {
        id: "buffer-out-of-reach",
        level: Severity::Warning,
        title: "The ports together cannot fill the buffer.",
        checks: "Scenarios with static sharing and without PFC: per_port times the ports of the switch against switch.buffer.",
        why: "Every port has its own share and no more: the size of the buffer has no effect, and bursts are lost although \
              most of it is empty.",
        fix: "Set sharing = \"dynamic\", raise per_port, or omit switch.buffer.",
        source: "The simulated switch.",
        look: out_of_reach,
    },
];

/// The bytes that the ports of a switch may hold, individually and in total, with static sharing and without PFC, and
/// the buffer for them.
fn reach(switch: &SwitchConfig) -> Option<(Bytes, Bytes, Bytes)> {
    // Limits of lossless classes are parts of the buffer, whatever the other classes may hold.
    let lossless = switch.profiles.iter().any(|profile| profile.lossless);
    let profile = switch.profiles.iter().find(|profile| profile.name == "switch.sharing")?;
    match profile.threshold.as_ref()?.value {
        Threshold::Static(limit) if !lossless => {
            Some((limit, limit * switch.degree() as u64, switch.pool_of(profile)?))
        }
        _ => None,
    }
}

fn out_of_reach(network: &Network, findings: &mut Findings) {
    for switch in &network.switches {
        let Some((limit, most, pool)) = reach(switch) else { continue };
        let at = switch.pools[0].at;
        // A setting may be out of reach for the switches of one tier, and have an effect in those of another.
        let shares = |other: &&SwitchConfig| other.pools.first().is_some_and(|pool| pool.at == at);
        let nearer =
            |other: &SwitchConfig| reach(other).is_some_and(|(_, own, pool)| own >= pool || own > most);
        if most >= pool || network.switches.iter().filter(shares).any(nearer) {
            continue;
        }
        let says = format!(
            "switch.buffer = {} has no effect: {} ports of {} hold {} each (sharing = \"static\"), {} in all",
            size(pool.0 as f64),
            switch.degree(),
            switch.name,
            size(limit.0 as f64),
            size(most.0 as f64)
        );
        let fix = "set sharing = \"dynamic\", raise per_port, or omit switch.buffer".to_owned();
        findings.add(at, &switch.name, (says, fix));
    }
}

/// The limits of the lossless classes of a switch.
fn lossless(switch: &SwitchConfig) -> Option<(&Profile, Threshold, Bytes)> {
    let profile = switch.profiles.iter().find(|profile| profile.lossless)?;
    let threshold = profile.threshold.as_ref()?.value;
    let pool = match threshold {
        Threshold::Static(_) => Bytes::ZERO,
        Threshold::Dynamic(_) => switch.pool_of(profile)?,
    };
    Some((profile, threshold, pool))
}

fn controller(switch: &SwitchConfig, findings: &mut Findings) {
    let (Some(held), Some((profile, threshold, pool))) = (&switch.held, lossless(switch)) else { return };
    let (least, most, words) = incasts(threshold, pool, (switch.degree() - 1).max(1));
    for port in switch.up() {
        let length = length(held.value, port);
        let level = match length {
            length if length >= most => Severity::Error,
            length if length >= least => Severity::Warning,
            _ => continue,
        };
        let says = format!(
            "the controller holds the queue at {}, but {} pauses when it holds {words}",
            size(length),
            profile.name
        );
        findings.add_as(level, (held.at, &port.name), (says, format!("hold less than {}", at_most(least))));
    }
}

/// The queue length at which a controller aims at a port.
fn length(held: Held, port: &PortConfig) -> f64 {
    match held {
        Held::Length(length) => length.0 as f64,
        Held::Delay(wait) => bandwidth_delay(port.speed.unwrap_or_default(), wait),
    }
}

fn above_drop(switch: &SwitchConfig, findings: &mut Findings) {
    let Some(held) = &switch.held else { return };
    for port in switch.up() {
        let lossless = port.lossless_queues();
        for (number, queue) in port.queues.iter().filter(|(number, _)| !lossless.contains(number)) {
            let Some(profile) = queue.profile.map(|number| &switch.profiles[number]) else { continue };
            let limit = |sharing| limit(switch, profile, sharing);
            let (Some(alone), Some(together)) = (limit(1), limit(switch.degree())) else { continue };
            let length = length(held.value, port);
            let (level, bound) = match length {
                length if length >= alone => (Severity::Error, alone),
                length if length >= together => (Severity::Note, together),
                _ => continue,
            };
            let limits = holds(switch, profile, (alone, together));
            let says = format!("the controller holds the queue at {}, but {limits}", size(length));
            let fix = format!("hold less than {}, or raise the queue's limit", size(bound));
            findings.add_as(level, (held.at, &format!("{} queue {number}", port.name)), (says, fix));
        }
    }
}

/// The parameters of DCQCN's loop: switch, marking and hosts.
struct Loop<'a> {
    switch: &'a SwitchConfig,
    marking: &'a MarkingProfile,
    rate: Rate,
    /// Round trip without queueing, plus the card's time.
    delay: Span,
}

fn before_feedback(network: &Network, findings: &mut Findings) {
    for host in &network.hosts {
        let (Some(told), Some(rate), Some(rtt)) = (&host.notifications, host.rate, host.rtt) else {
            continue;
        };
        let delay = rtt + told.value.delay;
        for switch in network.switches.iter().filter(|switch| !switch.markings.is_empty()) {
            early_pauses(&Loop { switch, marking: &switch.markings[0], rate, delay }, findings);
        }
    }
}

fn early_pauses(of: &Loop<'_>, findings: &mut Findings) {
    let Some((_, threshold, pool)) = lossless(of.switch) else { return };
    let min = of.marking.min.value.0 as f64;
    let on_its_way = bandwidth_delay(of.rate, of.delay);
    let filled = |senders: usize| {
        let marked = if of.marking.at_enqueue { senders as f64 * min } else { min };
        marked + (senders - 1) as f64 * on_its_way
    };
    let pauses = |senders: &usize| filled(*senders) >= queue_at_xoff(threshold, pool, *senders);
    let Some(senders) = (2..of.switch.degree()).find(pauses) else { return };
    let says = format!(
        "{senders} senders at {} that start together put {} into one queue before the first notification is back ({} after the \
         first mark), and pauses begin at {}",
        of.rate,
        size(filled(senders)),
        time(of.delay),
        size(queue_at_xoff(threshold, pool, senders)),
    );
    let fix = "lower K_min or cnp_delay, mark on departure, or accept pauses in such incasts".to_owned();
    findings.add(of.marking.min.at, &of.switch.name, (says, fix));
}

fn crowded_out(switch: &SwitchConfig, findings: &mut Findings) {
    let (Some(limit), Some((_, threshold, pool))) = (&switch.port_limit, lossless(switch)) else { return };
    let most = queue_at_xoff(threshold, pool, (switch.degree() - 1).max(1));
    if (limit.value.0 as f64) < most {
        let says = format!(
            "a port may hold {} over all its queues (per_port), but its lossless queue alone may hold {}: the others then drop everything",
            size(limit.value.0 as f64),
            size(most)
        );
        let fix = format!("set sharing = \"dynamic\", or a per_port above {}", size(most));
        findings.add(limit.at, &switch.name, (says, fix));
    }
}

/// Payload only in queues without PFC, although there is PFC. If some is in a lossless class, the rest may be lossy
/// on purpose.
pub(super) fn payload_is_lossless(network: &Network, findings: &mut Findings) {
    let list = |queues: &mut dyn Iterator<Item = u8>| {
        queues.map(|queue| queue.to_string()).collect::<Vec<_>>().join(", ")
    };
    for switch in &network.switches {
        let Some(carried) = switch.carried.as_ref().filter(|carried| !carried.is_empty()) else { continue };
        let used = |port: &PortConfig| port.pfc.iter().any(|class| carried.contains(&class.value));
        let Some(port) = switch.up().find(|port| !port.pfc.is_empty() && !used(port)) else { continue };
        let (payload, lossless) =
            (list(&mut carried.iter().copied()), list(&mut port.pfc.iter().map(|class| class.value)));
        let says = format!("payload is in queue {payload}, and only {lossless} is lossless");
        let fix = format!(
            "name {payload} in switch.pfc.classes, or set class = {} in the entry of [[traffic]] that is to be lossless",
            port.pfc[0].value
        );
        findings.add(port.pfc[0].at, "", (says, fix));
    }
}

/// Notifications in a queue with PFC, or behind payload.
pub(super) fn notifications_go_first(network: &Network, findings: &mut Findings) {
    each_pair(network, |host, switch| {
        let (Some(told), Some(port)) = (&host.notifications, switch.up().next()) else { return };
        let paused = port.pfc.iter().any(|class| class.value == told.value.queue);
        let what = match (paused, told.value.behind_payload) {
            (true, _) => "is lossless and pauses",
            (false, true) => "is not served before payload",
            (false, false) => return,
        };
        let says = format!("congestion notifications are in queue {}, which {what}", told.value.queue);
        let fix = "set switch.queues to 2 or more and schedule = \"strict\", and keep class 0 out of switch.pfc.classes";
        findings.add(told.at, "", (says, fix.to_owned()));
    });
}

fn each_pair<'a>(network: &'a Network, mut look: impl FnMut(&'a HostConfig, &'a SwitchConfig)) {
    for host in &network.hosts {
        network.switches.iter().for_each(|switch| look(host, switch));
    }
}
