//! Rules on the shapers of ports.

use weft_topology::{Link, Node};

use super::levels::exactly;
use super::{Facts, Finding};

/// A shaper passes something, holds back something, and names queues that its ports have.
pub(super) fn shapers_hold_their_ports_back(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(graph) = facts.graph else { return };
    for level in facts.settings.switch.levels() {
        let Some(shaper) = &level.shaper else { continue };
        let path = |name: &str| format!("{}.shaper.{name}", level.path);
        if shaper.rate.0 == 0 {
            let message = "a shaper that passes nothing; a link that carries nothing is a failure";
            found.push(exactly(&path("rate"), message.to_owned(), false));
            continue;
        }
        let covered = |link: &&Link| matches!(link.from, Node::Switch(_)) && level.covers_port(graph, link);
        let ports: Vec<&Link> = graph.links().iter().filter(covered).collect();
        if !ports.is_empty() && ports.iter().all(|link| link.rate <= shaper.rate) {
            let message = "no link of these ports is faster than that";
            found.push(exactly(&path("rate"), format!("`{}` has no effect: {message}", path("rate")), true));
        }
        let queues = |link: &&Link| match link.from {
            Node::Switch(switch) => facts.queues_of(switch),
            Node::Host(_) => 0,
        };
        let most = ports.iter().map(queues).max().unwrap_or(u32::MAX);
        for queue in shaper.queues.iter().filter(|queue| **queue >= most) {
            let message = format!("queue {queue}: these ports have {most}, from 0 on");
            found.push(exactly(&path("queues"), message, false));
        }
    }
}
