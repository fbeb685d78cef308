//! Rules on priority flow control: it must be enabled where classes are lossless, and only there, and be guarded by a
//! watchdog.

use crate::formula::{at_most, share, size};
use crate::rule::{Findings, Rule, Severity};
use weft_core::Span;
use weft_device_config::model::{
    GroupBinding, Network, PortConfig, PriorityGroup, Profile, SwitchConfig, Threshold,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "pfc-without-lossless-profile",
        level: Severity::Error,
        title: "PFC is on for a class whose buffer is not lossless.",
        checks: "Each priority with PFC maps to a priority group whose profile has headroom or is computed by the switch.",
        why: "The switch sends pauses too late, if at all: packets in flight are dropped. The class looks lossless but is not.",
        fix: "Bind a lossless profile to the priority group, or remove the priority from `pfc_enable`.",
        source: "IEEE 802.1Qbb; SONiC's BUFFER_PG table.",
        look: |network, findings| each_priority(network, |place| without_profile(place, findings)),
    },
    Rule {
        id: "lossless-profile-without-pfc",
        level: Severity::Error,
        title: "A class has a lossless buffer but PFC is off.",
        checks: "Each priority group with a lossless profile belongs to a priority with PFC on the same port. In EOS a priority with \
                 `no-drop` needs `priority-flow-control on`.",
        why: "Nothing is paused: the group fills its headroom, which other ports could use, and then drops.",
        fix: "Add the priority to `pfc_enable`, or bind a lossy profile; in EOS turn priority-flow-control on.",
        source: "IEEE 802.1Qbb; SONiC's BUFFER_PG and PORT_QOS_MAP tables; the EOS manual.",
        look: profile_without_pfc,
    },
    Rule {
        id: "xon-order",
        level: Severity::Error,
        title: "XON is not below XOFF.",
        checks: "With a static limit: xon < limit. With a dynamic one, an `xon_offset` of 0 and no `xon` leave no gap between \
                 pause and resume (warning), and one above alpha B, the largest possible XOFF, keeps the group from resuming before it \
                 is empty. A fixed `xon` must lie below XOFF, which falls as memory fills: it is alpha B / (1 + n alpha) with n \
                 groups at XOFF. Error: xon is not below it for a single group; warning: not for all lossless groups of the switch.",
        why: "The group resumes while it should pause: one pause and one resume frame per packet, or a class that never \
              resumes.",
        fix: "Set XON two packets below XOFF: enough to keep the link busy, little enough to resume in time.",
        source: "Reference model of shared memory: resume below XOFF minus an offset of 2 MTU (TLT), 3 kB (HPCC).",
        look: |network, findings| each_priority(network, |place| xon_order(place, findings)),
    },
    Rule {
        id: "watchdog-off",
        level: Severity::Warning,
        title: "PFC runs without a watchdog.",
        checks: "Each port with PFC has an entry for the PFC watchdog, or the file turns it on for all ports.",
        why: "One network card that never stops pausing, or a cycle of waiting buffers, stops a fabric for good.",
        fix: "Turn the watchdog on; 200 ms to detect and 400 ms to restore are usual.",
        source: "Guo et al., SIGCOMM 2016, section 4.3; SONiC's PFC_WD table.",
        look: watchdog_off,
    },
    Rule {
        id: "watchdog-times",
        level: Severity::Warning,
        title: "The watchdog's times are inconsistent.",
        checks: "Detection is at least 100 ms, and restoration not shorter than detection. In SONiC neither is shorter than POLL_INTERVAL.",
        why: "A shorter detection takes congestion for a storm and drops lossless packets; a shorter restoration lets a storm \
              through more than half of the time. A watchdog that polls less often than these times acts late, and SONiC's schema \
              refuses such times.",
        fix: "Detection 100 ms to 400 ms, restoration once or twice that, and a POLL_INTERVAL of at most the shorter one.",
        source: "SONiC's PFC_WD defaults (200 ms) and its YANG model sonic-pfcwd; Guo et al., SIGCOMM 2016.",
        look: watchdog_times,
    },
];

/// A shorter time before the watchdog acts may be congestion.
const LEAST_DETECTION: Span = Span::from_ms(100);

/// A priority with PFC of a port that is up.
struct PausedPriority<'a> {
    switch: &'a SwitchConfig,
    port: &'a PortConfig,
    priority: u8,
    group: Option<&'a PriorityGroup>,
}

fn each_priority<'a>(network: &'a Network, mut look: impl FnMut(PausedPriority<'a>)) {
    for switch in network.switches.iter().filter(|switch| switch.knows_groups) {
        for port in switch.up() {
            for priority in &port.pfc {
                let group = port.groups.get(&port.group_of(priority.value));
                look(PausedPriority { switch, port, priority: priority.value, group });
            }
        }
    }
}

fn without_profile(place: PausedPriority<'_>, findings: &mut Findings) {
    let PausedPriority { switch, port, priority, group } = place;
    let number = port.group_of(priority);
    let found = match group.map(|group| group.bound) {
        None => format!("priority group {number} has no buffer profile"),
        Some(GroupBinding::Profile(profile)) if !switch.profiles[profile].lossless => {
            format!("priority group {number} has {}, which has no headroom", switch.profiles[profile].name)
        }
        Some(_) => return,
    };
    let at = group.map_or(port.pfc[0].at, |group| group.at);
    let fix =
        format!("bind a lossless profile to {}|{number}, or remove {priority} from pfc_enable", port.name);
    findings.add(at, &port.name, (format!("PFC is on for priority {priority}, but {found}"), fix));
}

fn profile_without_pfc(network: &Network, findings: &mut Findings) {
    for switch in network.switches.iter().filter(|switch| !switch.lacks_pfc) {
        for port in switch.up() {
            for priority in &port.meant_lossless {
                let says =
                    format!("priority {} is no-drop, but priority-flow-control is not on", priority.value);
                let fix = "add `priority-flow-control on` to the interface or its QoS profile".to_owned();
                findings.add(priority.at, &port.name, (says, fix));
            }
            let paused: Vec<u8> = port.pfc.iter().map(|priority| port.group_of(priority.value)).collect();
            for (number, group) in port.groups.iter().filter(|(number, _)| !paused.contains(number)) {
                if is_lossless(switch, group) {
                    let says = format!(
                        "priority group {number} has a lossless profile, but no priority with PFC maps to it"
                    );
                    let fix =
                        format!("add the priority to pfc_enable of {}, or bind a lossy profile", port.name);
                    findings.add(group.at, &port.name, (says, fix));
                }
            }
        }
    }
}

fn is_lossless(switch: &SwitchConfig, group: &PriorityGroup) -> bool {
    match group.bound {
        GroupBinding::Profile(profile) => switch.profiles[profile].lossless,
        GroupBinding::Computed => true,
        GroupBinding::Nothing => false,
    }
}

fn xon_order(place: PausedPriority<'_>, findings: &mut Findings) {
    let Some(GroupBinding::Profile(number)) = place.group.map(|group| group.bound) else { return };
    let profile = &place.switch.profiles[number];
    match (profile.threshold.as_ref().map(|placed| placed.value), &profile.xon) {
        (Some(Threshold::Static(limit)), Some(xon)) if xon.value >= limit => {
            let (on, off) = (size(xon.value.0 as f64), size(limit.0 as f64));
            let says =
                format!("{} resumes below {on} (xon), but pauses above {off} (static_th)", profile.name);
            findings.add(xon.at, &place.port.name, (says, format!("set xon two packets below {off}")));
        }
        (Some(Threshold::Dynamic(alpha)), _) if never_resumes(place.switch, profile, alpha).is_some() => {
            let most = never_resumes(place.switch, profile, alpha).unwrap_or_default();
            let says = format!(
                "{} resumes too far below XOFF (xon_offset): XOFF is at most {}",
                profile.name,
                size(most)
            );
            let at = profile.xon_offset.as_ref().map_or(profile.at, |offset| offset.at);
            findings.add(at, &place.port.name, (says, "set xon_offset to two packets".to_owned()));
        }
        (Some(Threshold::Dynamic(alpha)), Some(xon))
            if resumes_at_once(place.switch, number, alpha).is_some() =>
        {
            let (level, least, groups) =
                resumes_at_once(place.switch, number, alpha).unwrap_or((Severity::Note, 0.0, 0));
            let groups = if groups == 1 {
                "a single group".to_owned()
            } else {
                format!("all {groups} lossless groups")
            };
            let says = format!(
                "{} resumes below {} (xon), but {groups} at XOFF pause above {}",
                profile.name,
                size(xon.value.0 as f64),
                size(least)
            );
            let fix = format!("set xon below {}, or only xon_offset", at_most(least));
            findings.add_as(level, (xon.at, &place.port.name), (says, fix));
        }
        (Some(Threshold::Dynamic(_)), xon)
            if place.switch.knows_headroom && profile.lossless && no_gap(profile, xon.is_none()) =>
        {
            let says = format!(
                "{} has neither xon nor xon_offset: it resumes as soon as one packet has left",
                profile.name
            );
            let fix = "set xon_offset to two packets".to_owned();
            findings.add_as(Severity::Warning, (profile.at, &place.port.name), (says, fix));
        }
        _ => {}
    }
}

/// The largest XOFF of a dynamic limit, if the offset is not below it.
fn never_resumes(switch: &SwitchConfig, profile: &Profile, alpha: f64) -> Option<f64> {
    let most = alpha * switch.pool_of(profile)?.0 as f64;
    profile.xon_offset.as_ref().filter(|offset| offset.value.0 as f64 >= most).map(|_| most)
}

/// The severity of a fixed `xon` that is not below a dynamic XOFF, the XOFF that it is not below, and the number of groups
/// that have it: one, or all lossless ones of the pool.
fn resumes_at_once(switch: &SwitchConfig, number: usize, alpha: f64) -> Option<(Severity, f64, usize)> {
    let profile = &switch.profiles[number];
    let (xon, pool) = (profile.xon.as_ref()?.value.0 as f64, switch.pool_of(profile)?);
    let is_lossless = |group: &&PriorityGroup| match group.bound {
        GroupBinding::Profile(other) => {
            switch.profiles[other].lossless && switch.profiles[other].pool == profile.pool
        }
        _ => false,
    };
    let all = switch.up().flat_map(|port| port.groups.values()).filter(is_lossless).count().max(1);
    let at = |groups: usize| share(alpha, pool, groups);
    match () {
        () if xon >= at(1) => Some((Severity::Error, at(1), 1)),
        () if xon >= at(all) => Some((Severity::Warning, at(all), all)),
        () => None,
    }
}

fn no_gap(profile: &Profile, no_xon: bool) -> bool {
    no_xon && profile.xon_offset.as_ref().is_none_or(|offset| offset.value.0 == 0)
}

fn watchdog_off(network: &Network, findings: &mut Findings) {
    for switch in network.switches.iter().filter(|switch| switch.knows_watchdog) {
        for port in switch.up().filter(|port| !port.pfc.is_empty() && port.watchdog.is_none()) {
            let says = "PFC is on without a watchdog".to_owned();
            findings.add(
                port.pfc[0].at,
                &port.name,
                (says, "turn the PFC watchdog on for these ports".to_owned()),
            );
        }
    }
}

fn watchdog_times(network: &Network, findings: &mut Findings) {
    let watched = network
        .switches
        .iter()
        .flat_map(|switch| switch.up().filter(|port| switch.lacks_pfc || !port.pfc.is_empty()));
    for port in watched {
        let Some(watchdog) = &port.watchdog else { continue };
        let Some(detection) = watchdog.detection else { continue };
        if detection < LEAST_DETECTION {
            let says = format!("the watchdog acts after {detection}, which ordinary congestion can reach");
            findings.add(watchdog.at, &port.name, (says, "detect after 100 ms to 400 ms".to_owned()));
        }
        let shortest = watchdog.restoration.map_or(detection, |restoration| restoration.min(detection));
        if let Some(poll) =
            watchdog.poll.as_ref().filter(|poll| poll.value > shortest && detection >= LEAST_DETECTION)
        {
            let says = format!(
                "the watchdog looks every {} (POLL_INTERVAL), but is to act after {shortest}",
                poll.value
            );
            let fix = format!("set POLL_INTERVAL to {} or less", shortest);
            findings.add(poll.at, &port.name, (says, fix));
        }
        if let Some(restoration) = watchdog.restoration.filter(|restoration| *restoration < detection) {
            let says =
                format!("the watchdog restores after {restoration}, sooner than it detects ({detection})");
            findings.add(
                watchdog.at,
                &port.name,
                (says, "restore after at least the detection time".to_owned()),
            );
        }
    }
}
