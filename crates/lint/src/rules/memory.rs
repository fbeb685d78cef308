//! Rules on packet memory: allotted memory must exist.

use crate::formula::size;
use crate::rule::{Findings, Rule, Severity};
use weft_config::place::Placed;
use weft_core::Bytes;
use weft_device_config::model::{GroupBinding, MemoryPool, Network, Profile, SwitchConfig, Threshold};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "pool-oversubscribed",
        level: Severity::Error,
        title: "More memory is guaranteed than the pool has.",
        checks: "The sum of the guaranteed sizes of all groups (or queues) of a pool, and of their headroom unless the pool \
                 shares headroom or the sizes include it (size at least xoff), against the pool's size.",
        why: "The switch refuses the last ports' profile, or a guarantee does not hold.",
        fix: "Lower the guaranteed sizes, remove lossless classes from ports that need none, or share headroom.",
        source: "SONiC's BUFFER_POOL and BUFFER_PROFILE tables.",
        look: |network, findings| each_pool(network, |place| oversubscribed(place, findings)),
    },
    Rule {
        id: "memory-oversubscribed",
        level: Severity::Error,
        title: "The pools are larger than the switch's memory.",
        checks: "The sum of the ingress pools with their shared headroom, and the headroom of groups that share none, against \
                 the memory given by --memory. Egress pools likewise.",
        why: "Thresholds are computed from memory that does not exist: XOFF and drops come when the memory is full, in no particular order.",
        fix: "Shrink the pools; headroom comes first.",
        source: "Zhu et al., SIGCOMM 2015, section 4: the shared memory is the memory less the headroom of all ports.",
        look: memory_oversubscribed,
    },
    Rule {
        id: "static-above-pool",
        level: Severity::Warning,
        title: "The static limits of all ports exceed the pool.",
        checks: "Static limit of a lossy profile times the ports that use it against the pool's size: a note, because statistical \
                 sharing is often intended; a warning when one limit alone is above the pool. A limit equal to the pool means none \
                 and is left alone. Virtual output queues of a scenario: a warning when switch.voq.limit is above the memory they have.",
        why: "The limit never takes effect: the pool fills first.",
        fix: "Use a dynamic threshold, or a limit of the pool's size divided by the ports.",
        source: "SONiC's BUFFER_PROFILE table.",
        look: |network, findings| each_pool(network, |place| static_above(place, findings)),
    },
];

type PoolOfSwitch<'a> = (&'a SwitchConfig, usize, &'a MemoryPool);

fn each_pool<'a>(network: &'a Network, mut look: impl FnMut(PoolOfSwitch<'a>)) {
    for switch in &network.switches {
        for (number, pool) in switch.pools.iter().enumerate() {
            look((switch, number, pool));
        }
    }
}

/// The profiles of all groups or queues that draw from a pool, one entry for each.
fn users(switch: &SwitchConfig, pool: usize) -> Vec<&Profile> {
    let groups = switch.up().flat_map(|port| port.groups.values()).filter_map(|group| match group.bound {
        GroupBinding::Profile(number) => Some(number),
        _ => None,
    });
    let queues = switch.up().flat_map(|port| port.queues.values()).filter_map(|queue| queue.profile);
    let profiles = groups.chain(queues).map(|number| &switch.profiles[number]);
    profiles.filter(|profile| profile.pool == Some(pool)).collect()
}

fn headroom_of(profile: &Profile) -> f64 {
    profile.headroom.as_ref().map_or(0.0, |xoff| xoff.value.0 as f64)
}

/// Headroom beyond the guaranteed size: a size as large as the headroom includes it (xon + xoff, as SONiC's tables for
/// chips without shared headroom have it).
fn headroom_beyond(profile: &Profile) -> f64 {
    let (headroom, reserved) = (headroom_of(profile), profile.reserved.0 as f64);
    if reserved >= headroom { 0.0 } else { headroom }
}

fn oversubscribed((switch, number, pool): PoolOfSwitch<'_>, findings: &mut Findings) {
    let Some(room) = pool.size else { return };
    let users = users(switch, number);
    let reserved: f64 = users.iter().map(|profile| profile.reserved.0 as f64).sum();
    let shared = pool.headroom.as_ref().is_some_and(|shared| shared.value.0 > 0);
    let headroom: f64 = if shared { 0.0 } else { users.iter().map(|profile| headroom_beyond(profile)).sum() };
    if reserved + headroom > room.0 as f64 {
        let says = format!(
            "{} has {}, but its {} groups and queues are guaranteed {} and {} of headroom",
            pool.name,
            size(room.0 as f64),
            users.len(),
            size(reserved),
            size(headroom)
        );
        findings.add(pool.at, "", (says, format!("bring the sum below {}", size(room.0 as f64))));
    }
}

fn memory_oversubscribed(network: &Network, findings: &mut Findings) {
    let described =
        network.switches.iter().filter(|switch| switch.pools.iter().any(|pool| pool.size.is_some()));
    for switch in described {
        let Some(memory) = switch.memory.or(network.site.memory) else {
            findings.lacks("the packet memory of the switch (--memory)");
            continue;
        };
        for ingress in [true, false] {
            let pools = switch.pools.iter().enumerate().filter(|(_, pool)| pool.ingress == ingress);
            // Egress pools cover memory that ingress pools cover as well; several of them may overlap on purpose.
            let sizes = pools.clone().map(|(number, pool)| claimed(switch, number, pool));
            let total = if ingress { sizes.sum() } else { sizes.fold(0.0, f64::max) };
            if total > memory.0 as f64 {
                let side = if ingress { "ingress pools with headroom" } else { "the largest egress pool" };
                let take = if ingress { "take" } else { "takes" };
                let says = format!(
                    "{side} of {} {take} {}, but the switch has {}",
                    switch.name,
                    size(total),
                    size(memory.0 as f64)
                );
                let at = pools.map(|(_, pool)| pool.at).next().unwrap_or(switch.at);
                findings.add(
                    at,
                    "",
                    (
                        says,
                        format!(
                            "bring {} below {}",
                            if ingress { "them" } else { "it" },
                            size(memory.0 as f64)
                        ),
                    ),
                );
            }
        }
    }
}

fn claimed(switch: &SwitchConfig, number: usize, pool: &MemoryPool) -> f64 {
    let own = pool.size.map_or(0.0, |size| size.0 as f64);
    let headroom = match &pool.headroom {
        Some(shared) if shared.value.0 > 0 => shared.value.0 as f64,
        // Headroom is memory at the ingress.
        _ if !pool.ingress => 0.0,
        _ => users(switch, number).iter().map(|profile| headroom_of(profile)).sum(),
    };
    own + headroom
}

fn static_above((switch, number, pool): PoolOfSwitch<'_>, findings: &mut Findings) {
    let Some(room) = pool.size else { return };
    let users = users(switch, number);
    for profile in switch.profiles.iter().filter(|profile| profile.pool == Some(number) && !profile.lossless)
    {
        let Some(placed) = &profile.threshold else { continue };
        let Threshold::Static(limit) = placed.value else { continue };
        if profile.name == "switch.voq" {
            virtual_queue_above((switch, number, pool), (limit, placed), findings);
            continue;
        }
        // The limit of a scenario is per port, whatever its queues.
        let of_ports = profile.name == "switch.sharing";
        let count = match of_ports {
            true => switch.degree() as u64,
            false => users.iter().filter(|user| std::ptr::eq(**user, profile)).count() as u64,
        };
        let level = match () {
            () if limit > room => Severity::Warning,
            () if limit < room && limit.0.saturating_mul(count) > room.0 => Severity::Note,
            () => continue,
        };
        let says = format!(
            "{} may hold {} at each of {count} {}, and {} has {}",
            profile.name,
            size(limit.0 as f64),
            if of_ports { "ports" } else { "groups or queues" },
            pool.name,
            size(room.0 as f64)
        );
        let fix = if of_ports {
            "set sharing = \"dynamic\", or a smaller per_port"
        } else {
            "use dynamic_th, or a smaller static_th"
        };
        findings.add_as(level, (placed.at, ""), (says, fix.to_owned()));
    }
}

/// A virtual output queue whose limit is above the memory of all queues.
fn virtual_queue_above(
    (switch, _, pool): PoolOfSwitch<'_>,
    (limit, placed): (Bytes, &Placed<Threshold>),
    findings: &mut Findings,
) {
    let Some(room) = pool.size.filter(|room| limit > *room) else { return };
    let (limit, room) = (size(limit.0 as f64), size(room.0 as f64));
    let says =
        format!("a virtual output queue may hold {limit} (switch.voq.limit), and {} has {room}", pool.name);
    let fix = format!("lower switch.voq.limit to {room} or less, or raise {}", pool.name);
    findings.add(placed.at, &switch.name, (says, fix));
}
