//! Rules on profiles and their pools: both are of one side of the switch. Their modes may differ: SAI lets that of a
//! profile override its pool's.

use crate::rule::{Findings, Rule, Severity};
use std::collections::BTreeSet;
use weft_device_config::model::{GroupBinding, MemoryPool, SwitchConfig};

pub(super) const RULES: &[Rule] = &[Rule {
    id: "pool-of-other-side",
    level: Severity::Error,
    title: "A priority group draws from an egress pool, or a queue from an ingress pool.",
    checks: "The `type` of the pool of each profile: profiles of priority groups have an ingress pool, those of queues an egress pool. A \
                 pool of type `both` fits both.",
    why: "The switch refuses the binding, so that the port keeps its former buffers, or counts packets in the wrong pool.",
    fix: "Name a pool of the right side in the profile.",
    source: "SONiC's BUFFER_POOL, BUFFER_PG and BUFFER_QUEUE tables (`type`).",
    look: |network, findings| network.switches.iter().for_each(|switch| wrong_side(switch, findings)),
}];

/// The profiles of priority groups and those of queues, by number.
fn bound(switch: &SwitchConfig) -> (BTreeSet<usize>, BTreeSet<usize>) {
    let groups = switch.ports.iter().flat_map(|port| port.groups.values());
    let groups = groups.filter_map(|group| match group.bound {
        GroupBinding::Profile(number) => Some(number),
        GroupBinding::Computed | GroupBinding::Nothing => None,
    });
    let queues = switch.ports.iter().flat_map(|port| port.queues.values()).filter_map(|queue| queue.profile);
    (groups.collect(), queues.collect())
}

fn wrong_side(switch: &SwitchConfig, findings: &mut Findings) {
    let (groups, queues) = bound(switch);
    let mut look = |bound: BTreeSet<usize>,
                    fits: fn(&MemoryPool) -> bool,
                    (users, wrong, right): (&str, &str, &str)| {
        for profile in bound.into_iter().map(|number| &switch.profiles[number]) {
            let Some(pool) = profile.pool.map(|number| &switch.pools[number]) else { continue };
            if !fits(pool) {
                let says =
                    format!("{users} have {}, which draws from {}, an {wrong} pool", profile.name, pool.name);
                findings.add(profile.at, "", (says, format!("name an {right} pool in {}", profile.name)));
            }
        }
    };
    look(groups, |pool| pool.ingress, ("priority groups", "egress", "ingress"));
    look(queues, |pool| pool.egress, ("queues", "ingress", "egress"));
}
