//! Rules on headroom: it must hold what may still arrive after XOFF.

use crate::formula::{headroom, size};
use crate::rule::{Findings, Rule, Severity};
use weft_device_config::model::{
    GroupBinding, MemoryPool, Metres, Network, PortConfig, PriorityGroup, Profile, SwitchConfig,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "headroom-too-small",
        level: Severity::Error,
        title: "Headroom is too small for what arrives after XOFF.",
        checks: "xoff >= 2 (MTU + 18 B) + 84 B + C/8 (2 t_cable + t_response): a frame ahead of the pause frame, the pause \
                 frame, the cable both ways at 5 ns/m, the sender's response time by IEEE 802.3 annex 31B, and a frame \
                 of the sender. Transceivers and cells add to it, so this is a lower bound. Scenarios: `switch.pfc.headroom` against the formula \
                 of the simulated switch, which includes its latency and, with switch.cell, counts packets in cells.",
        why: "A lossless class drops packets in exactly the bursts it exists for.",
        fix: "Raise xoff to the figure, with some margin for transceivers and rounding to cells; in a scenario omit switch.pfc.headroom or set it to \
              the figure.",
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
        checks: "What all lossless groups need (as for headroom-too-small; their xoff where speed or cable is unknown) against the \
                 pool's shared headroom: a note above 1, a warning above 2 times (SONiC's usual ratio), an error if a single group \
                 does not fit. A note if what they need fits, but their xoff is above 2 times the pool.",
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

/// The bytes that may arrive at a port after XOFF, or the facts that are lacking.
fn needed(network: &Network, port: &PortConfig) -> Result<f64, &'static str> {
    match (port.needs, port.speed, cable(network, port)) {
        (Some(needed), ..) => Ok(needed.0 as f64),
        (None, Some(speed), Some(metres)) => Ok(headroom(speed, metres, port.mtu)),
        (None, None, Some(_)) => Err("the speeds of ports (in SONiC the table PORT)"),
        (None, Some(_), None) => Err("the lengths of cables (--cable)"),
        (None, None, None) => {
            Err("the speeds of ports (in SONiC the table PORT) and the lengths of cables (--cable)")
        }
    }
}

fn too_small(network: &Network, place: &ProfiledGroup<'_>, findings: &mut Findings) {
    let ProfiledGroup { port, profile, .. } = place;
    let Some(xoff) = profile.headroom.as_ref().filter(|xoff| xoff.value.0 > 0) else { return };
    let needed = match needed(network, port) {
        Ok(needed) => needed,
        Err(lacking) => return findings.lacks(lacking),
    };
    let (name, over) = match (port.needs, port.speed, cable(network, port)) {
        (None, Some(speed), Some(metres)) => ("xoff", format!("at {speed} over {metres}")),
        _ => ("headroom", "over this cable".to_owned()),
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
            let groups = promised(network, switch, number);
            let Some((level, words)) = overcommitted(network, pool, shared.value.0 as f64, &groups) else {
                continue;
            };
            findings.add_as(level, (shared.at, ""), words);
        }
    }
}

/// How far groups overcommit the headroom of a pool, measured by what they need where that is known, and in words.
fn overcommitted(
    network: &Network,
    pool: &MemoryPool,
    room: f64,
    groups: &[Promise],
) -> Option<(Severity, (String, String))> {
    let sum = |of: fn(&Promise) -> f64| groups.iter().map(of).sum::<f64>();
    let (configured, needed) = (sum(|group| group.configured), sum(Promise::needed));
    let most = groups.iter().map(Promise::needed).fold(0.0, f64::max);
    // A scenario without a common pool reserves what its groups have.
    if network.case.is_some() && configured <= room {
        return None;
    }
    let (level, enough) = match needed / room {
        _ if most > room => (Severity::Error, needed),
        ratio if ratio > 2.0 => (Severity::Warning, needed),
        ratio if ratio > 1.0 => (Severity::Note, needed),
        _ if configured / room > 2.0 => (Severity::Note, configured),
        _ => return None,
    };
    let says = match needed > room {
        true => short_of(pool, (room, groups.len()), (configured, needed, most)),
        false => generous(pool, (room, groups.len()), (configured, needed)),
    };
    Some((level, (says, format!("{} is enough for all groups at once", size(enough)))))
}

/// A pool smaller than what its groups need.
fn short_of(
    pool: &MemoryPool,
    (room, count): (f64, usize),
    (configured, needed, most): (f64, f64, f64),
) -> String {
    let profiles = match size(configured) {
        same if same == size(needed) => String::new(),
        other => format!("; their profiles have {other} (xoff)"),
    };
    format!(
        "{} shares {} of headroom (xoff) among {count} lossless groups that may together need {}, {:.1} times as much, and up to {} \
         each{profiles}",
        pool.name,
        size(room),
        size(needed),
        needed / room,
        size(most)
    )
}

/// A pool that covers what its groups need, but much less than their profiles have.
fn generous(pool: &MemoryPool, (room, count): (f64, usize), (configured, needed): (f64, f64)) -> String {
    format!(
        "the profiles of {count} lossless groups have {} of headroom (xoff), {:.1} times what {} shares ({}), but speeds and cables \
         need {}, which fits",
        size(configured),
        configured / room,
        pool.name,
        size(room),
        size(needed)
    )
}

/// The headroom of a group: what its profile has, and what its port needs if that is known.
struct Promise {
    configured: f64,
    needed: Option<f64>,
}

impl Promise {
    fn needed(&self) -> f64 {
        self.needed.unwrap_or(self.configured)
    }
}

/// The headroom of each group that draws from a pool.
fn promised(network: &Network, switch: &SwitchConfig, pool: usize) -> Vec<Promise> {
    let groups = switch.up().flat_map(|port| port.groups.values().map(move |group| (port, group)));
    let promise = |(port, group): (&PortConfig, &PriorityGroup)| {
        let GroupBinding::Profile(number) = group.bound else { return None };
        let profile = Some(&switch.profiles[number]).filter(|profile| profile.pool == Some(pool))?;
        let configured = profile.headroom.as_ref().filter(|xoff| xoff.value.0 > 0)?.value.0 as f64;
        Some(Promise { configured, needed: needed(network, port).ok() })
    };
    groups.filter_map(promise).collect()
}
