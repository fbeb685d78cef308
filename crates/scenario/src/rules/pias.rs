//! Rules on PIAS: thresholds that make classes, and switches that tell the classes apart.

use super::{Facts, Finding, impossible};
use weft_switch::schedule::SchedulerSettings;

/// Thresholds ascend, and each class has a queue that is served by priority.
pub(super) fn flows_fall_through_queues(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(tcp) = facts.stack.tcp() else { return };
    let (pias, path) = (&tcp.pias, facts.transport("pias.thresholds"));
    if !pias.is_on() {
        let names = ["pias.by", "pias.reset_idle", "pias.reset_timeouts"];
        return facts.idle_transport(&names, "there are no thresholds (pias.thresholds)", found);
    }
    if pias.thresholds.len() > 7 {
        let message = format!(
            "{} thresholds: there are eight classes, and seven steps between them",
            pias.thresholds.len()
        );
        found.push(impossible(path.clone(), message));
    }
    if let Some(pair) = pias.thresholds.windows(2).find(|pair| pair[0] >= pair[1]) {
        found.push(impossible(path.clone(), format!("{} does not exceed {} before it", pair[1], pair[0])));
    }
    let (queues, classes) = (facts.switch.queues, u32::from(pias.classes()));
    if queues < classes {
        let message = format!("{classes} classes share {queues} queues: give switch.queues = {classes}");
        found.push(impossible(path, message));
    } else if !matches!(facts.switch.schedule, SchedulerSettings::Strict(_)) {
        let message = "flows that fall behind are served like all others: give switch.schedule = \"strict\"";
        found.push(impossible(path, message));
    }
}
