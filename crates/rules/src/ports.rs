//! Rules on settings of single ports.

use weft_core::Bytes;
use weft_model::Level;
use weft_switch::share::SharingSettings;
use weft_transport::Transport;

use crate::levels::exactly;
use crate::{Facts, Finding};

/// A setting that a port has once: its name, and whether a level gives it.
type Once = (&'static str, fn(&Level) -> bool);

const ONCE: [Once; 2] =
    [("queue_limit", |level| level.queue_limit.is_some()), ("shaper", |level| level.shaper.is_some())];

/// Of two entries for one port the later wins: a limit or a shaper that later entries replace at each of its ports does nothing.
pub(crate) fn limits_and_shapers_are_in_force(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(graph) = facts.graph else { return };
    let levels: Vec<Level> = facts.settings.switch.levels().into_iter().filter(Level::is_of_ports).collect();
    for (number, level) in levels.iter().enumerate() {
        for (name, gives) in ONCE.iter().filter(|(_, gives)| gives(level)) {
            let own: Vec<_> = graph.links().iter().filter(|link| level.covers_port(graph, link)).collect();
            let later = || levels[number + 1..].iter().filter(|other| gives(other));
            let replaced = |link| later().any(|other| other.covers_port(graph, link));
            if !own.is_empty() && own.into_iter().all(replaced) {
                let path = format!("{}.{name}", level.path);
                let message = format!(
                    "`{path}` has no effect: a port has one {name}, and later entries give each of its ports another"
                );
                found.push(exactly(&path, message, true));
            }
        }
    }
}

/// A queue that cannot hold a full packet would drop them all.
pub(crate) fn queue_limits_hold_a_packet(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let full = Bytes(u64::from(Transport::new(facts.stack).full_wire()));
    for level in facts.settings.switch.levels() {
        if let Some(limit) = level.queue_limit.filter(|limit| *limit < full) {
            let message = format!("{limit} holds no packet of {full}: all of them would be dropped");
            found.push(exactly(&format!("{}.queue_limit", level.path), message, false));
        }
    }
}

/// A queue is never longer than what its port may hold.
pub(crate) fn queue_limits_come_before_those_of_ports(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let most = facts.devices.iter().map(|device| match &device.switch.sharing {
        SharingSettings::Fixed(own) if device.switch.voq.is_none() => own.per_port,
        _ => Bytes(u64::MAX),
    });
    let most = most.max().unwrap_or(Bytes(u64::MAX));
    for level in facts.settings.switch.levels() {
        if let Some(limit) = level.queue_limit.filter(|limit| *limit >= most) {
            let path = format!("{}.queue_limit", level.path);
            let message = format!(
                "`{path}` has no effect: a port holds {most} in all (switch.sharing.static.per_port), and no queue {limit}"
            );
            found.push(exactly(&path, message, true));
        }
    }
}
