//! Rules on the map from classes to queues.

use weft_core::Class;
use weft_transport::Transport;

use crate::{Facts, Finding, impossible};

/// Classes: a priority has three bits.
const CLASSES: usize = 8;

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
    if map.len() > CLASSES {
        let message = format!("{} entries, but there are {CLASSES} classes", map.len());
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
