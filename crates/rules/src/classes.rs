//! Rules on the maps from classes to queues and from queues to priority groups.

use weft_core::Class;
use weft_switch::PriorityGroups;
use weft_switch::share::SharingSettings;
use weft_transport::Transport;

use crate::{Facts, Finding, impossible};

/// Whether some switch names the queue of a class in its map.
pub(crate) fn is_mapped(facts: &Facts<'_>, class: u32) -> bool {
    facts.devices.iter().any(|device| device.switch.class_map.len() > class as usize)
}

/// A map names queues that exist, for classes that exist, and sends some class elsewhere than without it.
pub(crate) fn maps_name_queues(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let (map, queues) = (&facts.switch.class_map, facts.switch.queues);
    if map.is_empty() {
        return;
    }
    if queues == 1 {
        return facts.idle("switch.class_map", "there is only one queue per port (switch.queues)", found);
    }
    if map.len() > Class::COUNT {
        let message = format!("{} entries, but there are {} classes", map.len(), Class::COUNT);
        return found.push(impossible("switch.class_map", message));
    }
    for (class, queue) in map.iter().enumerate().filter(|(_, queue)| **queue >= queues) {
        let message = format!(
            "class {class} has no queue {queue}: ports have {queues} (switch.queues), numbered from 0"
        );
        found.push(impossible(format!("switch.class_map[{class}]"), message));
    }
    let same = |(class, queue): (usize, &u32)| *queue == (class as u32).min(queues - 1);
    if facts.devices.len() == 1 && map.iter().enumerate().all(same) {
        facts.idle("switch.class_map", "every class goes to this queue without it", found);
    }
}

/// A map to priority groups names groups that exist, for queues that exist, and lets some share limits that exist.
pub(crate) fn priority_groups_share_limits(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let (map, switch) = (&facts.switch.group_map, facts.switch);
    if map.is_empty() {
        return;
    }
    if map.len() > switch.queues as usize {
        let message =
            format!("{} entries, but ports have {} queues (switch.queues)", map.len(), switch.queues);
        return found.push(impossible("switch.group_map", message));
    }
    if let Some((queue, group)) = map.iter().enumerate().find(|(_, group)| **group as usize >= Class::COUNT) {
        let message =
            format!("queue {queue} has no group {group}: there are {}, numbered from 0", Class::COUNT);
        return found.push(impossible(format!("switch.group_map[{queue}]"), message));
    }
    let groups = PriorityGroups::new(switch);
    if facts.devices.len() == 1
        && let Some(why) = changes_nothing(facts, &groups)
    {
        facts.idle("switch.group_map", why, found);
    }
    groups.all().for_each(|group| members_are_alike(facts, &groups, group, found));
}

/// Why no limit depends on which queues share a group.
fn changes_nothing(facts: &Facts<'_>, groups: &PriorityGroups) -> Option<&'static str> {
    let switch = facts.switch;
    let lossless = switch.pfc.lossless(switch.queues as usize);
    let divides = matches!(switch.sharing, SharingSettings::Mmu(_));
    let has_limit = |group: usize| divides || groups.members(group).any(|queue| lossless >> queue & 1 == 1);
    let is_shared = |group: usize| groups.members(group).count() > 1;
    match () {
        () if !groups.are_shared() => Some("no two queues share a group"),
        () if groups.all().any(|group| is_shared(group) && has_limit(group)) => None,
        () => Some("only lossy queues share a group, and only `sharing.mmu` limits them at their input"),
    }
}

/// The queues of a group are all lossless or all lossy, and use one service pool.
fn members_are_alike(facts: &Facts<'_>, groups: &PriorityGroups, group: usize, found: &mut Vec<Finding>) {
    let switch = facts.switch;
    let lossless = switch.pfc.lossless(switch.queues as usize);
    let is_lossless = |queue: usize| lossless >> queue & 1 == 1;
    let mut refuse = |message| found.push(impossible("switch.group_map", message));
    let members = || groups.members(group);
    if let Some(other) = members().find(|queue| is_lossless(*queue) != is_lossless(group)) {
        let (on, off) = if is_lossless(group) { (group, other) } else { (other, group) };
        refuse(format!(
            "queues {on} and {off} share a group, but only queue {on} is lossless (switch.pfc.classes)"
        ));
    }
    let SharingSettings::Mmu(own) = &switch.sharing else { return };
    let pools = own.pool_of();
    if let Some(other) = members().find(|queue| pools[*queue] != pools[group]) {
        refuse(format!(
            "queues {group} and {other} share a group, but not a service pool (switch.sharing.mmu.pools)"
        ));
    }
}

/// Flows that fall through classes, or are given one of several, count on queues in the order of the classes.
pub(crate) fn maps_keep_the_order_of_classes(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    if facts.switch.class_map.is_empty() {
        return;
    }
    let transport = Transport::new(facts.stack);
    let entries = facts.settings.flows();
    let own = entries.iter().map(|entry| entry.class.map(|class| Class(class.min(7) as u8)));
    for class in own {
        let classes: Vec<Class> = transport.classes(class, None).sender.iter().collect();
        let queues: Vec<usize> = classes.iter().map(|class| facts.switch.queue_of(*class)).collect();
        if !queues.is_sorted_by(|before, next| before < next) {
            let message = format!(
                "flows of {} use classes {} to {}, which need a queue each, in this order; their queues are {queues:?}",
                facts.stack.name(),
                classes[0].0,
                classes[classes.len() - 1].0
            );
            return found.push(impossible("switch.class_map", message));
        }
    }
}
