//! Rules on headroom: what may still arrive after XOFF must fit.

use crate::formula::{headroom, size};
use crate::rule::{Findings, Rule, Severity};
use weft_device_config::model::{GroupBinding, Metres, Network, PortConfig, Profile, SwitchConfig};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "headroom-too-small",
        level: Severity::Error,
        title: "Headroom is too small for what arrives after XOFF.",
        checks: "xoff >= 2 (MTU + 18 B) + 84 B + C/8 (2 t_cable + t_response): a frame ahead of the pause frame, the pause \
                 frame, the cable both ways at 5 ns/m, the sender's response time by IEEE 802.3 annex 31B, and a frame \
                 of the sender. Transceivers and cells add to it, so this is a lower bound. Scenarios: `switch.pfc.headroom` against the formula \
                 of the simulated switch, which includes its latency.",
        why: "A lossless class drops packets in exactly the bursts it exists for.",
        fix: "Raise xoff to the figure, with some margin for transceivers and rounding to cells.",
        source: "IEEE 802.1Qbb annex O; response by IEEE 802.3 annex 31B.3.7 as quoted in sonic-net/sonic-mgmt issue 6223 and, for 800 Gb/s, \
                 sonic-net/sonic-swss pull request 2860; the standard itself was not available.",
        look: |network, findings| each_group(network, |place| too_small(network, &place, findings)),
    },
    Rule {
        id: "headroom-missing",
        level: Severity::Error,
        title: "A lossless class has no headroom.",
        checks: "A profile that is lossless by name or use has an `xoff` above 0.",
        why: "The first packet after XOFF is dropped.",
        fix: "Set xoff, or let the switch compute the profile (dynamic buffer model).",
        source: "IEEE 802.1Qbb annex O.",
        look: |network, findings| each_group(network, |place| missing(&place, findings)),
    },
    Rule {
        id: "profile-for-another-port",
        level: Severity::Error,
        title: "A buffer profile is used at a speed or cable length it was not made for.",
        checks: "Names such as `pg_lossless_100000_40m_profile` against the port's speed (equal) and cable (not longer).",
        why: "Its headroom was computed for other figures: it is too small for a faster port or a longer cable.",
        fix: "Bind the profile of this speed and length, or compute one.",
        source: "SONiC's names of lossless profiles.",
        look: |network, findings| each_group(network, |place| for_another(network, &place, findings)),
    },
    Rule {
        id: "headroom-pool-oversubscribed",
        level: Severity::Warning,
        title: "Shared headroom is overcommitted.",
        checks: "The sum of xoff over all lossless groups against the pool's shared headroom: a note above 1, a warning above 2 \
                 times (SONiC's usual ratio), an error if a single group does not fit.",
        why: "If more groups than fit pause at the same time, lossless packets are dropped.",
        fix: "Raise the pool's xoff, or make fewer ports lossless.",
        source: "SONiC's shared headroom pool (`over_subscribe_ratio` 2).",
        look: pool_oversubscribed,
    },
];

/// A priority group that has a profile.
struct ProfiledGroup<'a> {
    switch: &'a SwitchConfig,
    port: &'a PortConfig,
    profile: &'a Profile,
    /// Whether a priority with PFC maps to the group.
    paused: bool,
}

fn each_group<'a>(network: &'a Network, mut look: impl FnMut(ProfiledGroup<'a>)) {
    for switch in &network.switches {
        for port in switch.up() {
            let paused: Vec<u8> = port.pfc.iter().map(|priority| port.group_of(priority.value)).collect();
            for (number, group) in &port.groups {
                if let GroupBinding::Profile(profile) = group.bound {
                    let profile = &switch.profiles[profile];
                    look(ProfiledGroup { switch, port, profile, paused: paused.contains(number) });
                }
            }
        }
    }
}

fn cable(network: &Network, port: &PortConfig) -> Option<Metres> {
    port.cable.or(network.site.cable)
}

fn too_small(network: &Network, place: &ProfiledGroup<'_>, findings: &mut Findings) {
    let ProfiledGroup { port, profile, .. } = place;
    let Some(xoff) = profile.headroom.as_ref().filter(|xoff| xoff.value.0 > 0) else { return };
    let (needed, name, over) = match (port.needs, port.speed, cable(network, port)) {
        (Some(needed), ..) => (needed.0 as f64, "headroom", "over this cable".to_owned()),
        (None, Some(speed), Some(metres)) => {
            (headroom(speed, metres, port.mtu), "xoff", format!("at {speed} over {metres}"))
        }
        _ => return findings.lacks("port speeds and cable lengths (--cable)"),
    };
    if (xoff.value.0 as f64) < needed {
        let says = format!(
            "{} has {} of headroom ({name}), but {} may arrive after XOFF {over} with an MTU of {}",
            profile.name,
            size(xoff.value.0 as f64),
            size(needed),
            port.mtu
        );
        findings.add(xoff.at, &port.name, (says, format!("set {name} to at least {} bytes", needed.ceil())));
    }
}

fn missing(place: &ProfiledGroup<'_>, findings: &mut Findings) {
    let ProfiledGroup { switch, profile, port, .. } = place;
    let none = profile.headroom.as_ref().is_none_or(|xoff| xoff.value.0 == 0);
    if none && switch.knows_headroom && profile.lossless && place.paused {
        let at = profile.headroom.as_ref().map_or(profile.at, |xoff| xoff.at);
        let says = format!("{} serves a lossless class and has no headroom (xoff)", profile.name);
        findings.add(at, &port.name, (says, "set xoff to what headroom-too-small computes".to_owned()));
    }
}

fn for_another(network: &Network, place: &ProfiledGroup<'_>, findings: &mut Findings) {
    let ProfiledGroup { profile, port, .. } = place;
    let Some((rate, metres)) = profile.made_for else { return };
    let at = port.groups.values().find(|group| matches!(group.bound, GroupBinding::Profile(number) if std::ptr::eq(&place.switch.profiles[number], *profile)));
    let at = at.map_or(profile.at, |group| group.at);
    let mut wrong = Vec::new();
    if let Some(speed) = port.speed.filter(|speed| *speed != rate) {
        wrong.push(format!("the port runs at {speed}"));
    }
    if let Some(length) = cable(network, port).filter(|length| *length > metres) {
        wrong.push(format!("its cable is {length} long"));
    }
    if !wrong.is_empty() {
        let says = format!("{} was made for {rate} and {metres}, but {}", profile.name, wrong.join(" and "));
        findings.add(at, &port.name, (says, "bind the profile for this speed and length".to_owned()));
    }
}

fn pool_oversubscribed(network: &Network, findings: &mut Findings) {
    for switch in &network.switches {
        for (number, pool) in switch.pools.iter().enumerate() {
            let Some(shared) = pool.headroom.as_ref().filter(|shared| shared.value.0 > 0) else { continue };
            let promised = promised(switch, number);
            let (sum, most) =
                (promised.iter().sum::<f64>(), promised.iter().fold(0.0, |a: f64, b| a.max(*b)));
            let room = shared.value.0 as f64;
            let level = match sum / room {
                _ if most > room => Severity::Error,
                ratio if ratio > 2.0 => Severity::Warning,
                ratio if ratio > 1.0 => Severity::Note,
                _ => continue,
            };
            let says = format!(
                "{} shares {} of headroom (xoff) among {} lossless groups that may together need {}, {:.1} times as much, \
                 and up to {} each",
                pool.name,
                size(room),
                promised.len(),
                size(sum),
                sum / room,
                size(most)
            );
            findings.add_as(
                level,
                (shared.at, ""),
                (says, format!("{} is enough for all groups at once", size(sum))),
            );
        }
    }
}

/// The headroom of each group that draws from a pool.
fn promised(switch: &SwitchConfig, pool: usize) -> Vec<f64> {
    let groups = switch.up().flat_map(|port| port.groups.values());
    let xoff = |bound| match bound {
        GroupBinding::Profile(number) => {
            Some(&switch.profiles[number]).filter(|profile| profile.pool == Some(pool))?.headroom.as_ref()
        }
        _ => None,
    };
    groups
        .filter_map(|group| xoff(group.bound))
        .map(|xoff| xoff.value.0 as f64)
        .filter(|xoff| *xoff > 0.0)
        .collect()
}
