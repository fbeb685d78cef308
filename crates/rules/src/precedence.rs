//! Rules on precedence and shaping: demotion through classes, ranks, shapers.

use crate::classes::is_mapped;
use crate::levels::exactly;
use crate::{Facts, Finding, impossible};
use weft_core::{Bytes, Span};
use weft_model::{TransportsInUse, payload_queues, stacks};
use weft_switch::BalancerSettings;
use weft_switch::order::AnyOrder;
use weft_topology::{Link, Node};
use weft_transport::settings::Tcp;
use weft_transport::{Transport, TransportSettings};

/// Thresholds ascend, and each class has a queue served by priority.
pub(crate) fn flows_fall_through_queues(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(tcp) = facts.stack.tcp() else { return };
    let (pias, path) = (&tcp.pias, facts.transport("pias.thresholds"));
    if !pias.is_on() {
        let names = ["pias.by", "pias.message", "pias.reset_idle", "pias.reset_timeouts"];
        return facts.idle_transport(&names, "there are no thresholds (pias.thresholds)", found);
    }
    if pias.thresholds.len() > 7 {
        let message = format!(
            "{} thresholds: eight classes have at most seven thresholds between them",
            pias.thresholds.len()
        );
        found.push(impossible(path.clone(), message));
    }
    if let Some(pair) = pias.thresholds.windows(2).find(|pair| pair[0] >= pair[1]) {
        found.push(impossible(
            path.clone(),
            format!("{} does not exceed {}, the threshold before it", pair[1], pair[0]),
        ));
    }
    classes_are_reached(facts, &tcp, found);
    if pias.reset_idle == Some(Span::ZERO) {
        let message = "must be greater than 0: every packet would return its flow to the first class";
        found.push(impossible(facts.transport("pias.reset_idle"), message));
    }
    if pias.reset_timeouts == Some(0) {
        let message = "must be at least 1: a flow starves when it has had time-outs";
        found.push(impossible(facts.transport("pias.reset_timeouts"), message));
    }
    let (queues, classes) = (facts.switch.queues, u32::from(pias.classes()));
    if queues < classes {
        let message = format!("{classes} classes share {queues} queues: give switch.queues = {classes}");
        found.push(impossible(path, message));
    } else if facts.switch.schedule.in_order(queues) < classes {
        let message = "demoted flows would be served like all others: give switch.schedule = \"strict\"";
        found.push(impossible(path, message));
    } else {
        entries_fall_through_queues(facts, classes, found);
    }
}

/// The classes of a traffic entry begin at its own.
fn entries_fall_through_queues(facts: &Facts<'_>, classes: u32, found: &mut Vec<Finding>) {
    let (Some(graph), queues) = (facts.graph, facts.switch.queues) else { return };
    let TransportsInUse { all, of, .. } = stacks(facts.settings, graph);
    for (index, entry) in facts.settings.flows().iter().enumerate() {
        let first = entry.class.filter(|class| *class < queues && class + classes > queues);
        let falls = of.iter().any(|group| all[usize::from(group[index])] == *facts.stack_of);
        if let Some(first) = first.filter(|_| falls) {
            let message = format!(
                "flows fall through {classes} classes from class {first} on, but ports have {queues} queues: give switch.queues = {}",
                first + classes
            );
            found.push(impossible(format!("traffic[{index}].class"), message));
        }
    }
}

/// Some packet of a long flow, or of a message, lies between any two thresholds, and some beyond the last.
fn classes_are_reached(facts: &Facts<'_>, tcp: &Tcp, found: &mut Vec<Finding>) {
    let pias = &tcp.pias;
    let beyond = |message: &Bytes| pias.thresholds.iter().find(|threshold| *threshold >= message);
    if let Some((message, threshold)) = pias.message.and_then(|size| Some((size, beyond(&size)?))) {
        let message =
            format!("{message} does not exceed the threshold {threshold}: no message is demoted there");
        found.push(impossible(facts.transport("pias.message"), message));
    }
    // Without messages, packets start at multiples of their payload.
    let mss = Transport::new(facts.stack).mss();
    let apart = |pair: &&[Bytes]| pair[0] >= pair[1] || pair[0].0 / mss != pair[1].0 / mss;
    let same = pias.thresholds.windows(2).find(|pair| !apart(pair));
    if let Some(pair) = same.filter(|_| pias.message.is_none() && pias.thresholds.len() <= 7) {
        let message = format!(
            "no packet of {mss} B begins between {} and {}: the class in between stays empty",
            pair[0], pair[1]
        );
        found.push(impossible(facts.transport("pias.thresholds"), message));
    }
}

/// A class that a transport is given has a queue of its own.
pub(crate) fn classes_of_transports_have_queues(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let classes = match facts.stack {
        TransportSettings::Pfabric(own) => [("class", own.class), ("control_class", own.control_class)],
        TransportSettings::Pdq(own) => [("class", own.class), ("control_class", own.control_class)],
        TransportSettings::Pase(own) => [("class", own.class), ("control_class", own.control_class)],
        TransportSettings::Ndp(own) => [("class", own.class), ("control_class", own.control_class)],
        other => match other.roce() {
            Some(pairs) => [("class", pairs.class), ("ack_class", pairs.ack_class)],
            None => return,
        },
    };
    let queues = facts.devices.iter().map(|device| device.switch.queues).max().unwrap_or(1);
    for (name, class) in classes {
        let shared = format!(
            "class {class} has no queue of its own: ports have {queues} (switch.queues), numbered from 0"
        );
        match queues {
            1 => facts.idle_transport(&[name], "switches have one queue per port (switch.queues)", found),
            _ if class >= queues && !is_mapped(facts, class) => facts.idle_transport(&[name], &shared, found),
            _ => {}
        }
    }
}

/// Ranks written by transports are read by switches, and vice versa.
pub(crate) fn ranks_are_written_and_read(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let name = facts.stack.name();
    let written = facts.stack.stack().ranks_packets();
    let read = AnyOrder::new(&facts.switch.order, ()).reads_ranks();
    if read && !written {
        facts.idle("switch.order", &format!("packets of {name} carry no rank"), found);
        unranked_payload_has_queues_of_its_own(facts, found);
    }
    if written && !read {
        let message = format!("{name} needs switches that order by rank: set switch.order = \"ranked\"");
        found.push(impossible("transport", message));
    }
    if written && matches!(facts.balance, BalancerSettings::Conga(_) | BalancerSettings::Presto(_)) {
        let balancer = facts.balance.name();
        let message = format!("{balancer} uses the packet field in which {name} carries ranks");
        found.push(impossible("balance", message));
    }
}

/// Payload without a rank has rank 0, and would be served before all payload with one.
fn unranked_payload_has_queues_of_its_own(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(graph) = facts.graph else { return };
    let queues = |ranked: bool| {
        payload_queues(
            (facts.settings, graph),
            |class| facts.switch.queue_of(class),
            |stack| stack.is_some_and(|stack| stack.stack().ranks_packets()) == ranked,
        )
    };
    let name = facts.stack.name();
    if let Some(other) = facts.stacks.iter().find(|stack| stack.transport.stack().ranks_packets())
        && queues(true) & queues(false) != 0
    {
        let message = format!(
            "packets of {name} carry no rank, and would precede all payload of {} in its queue: give them a class of their own \
             (switch.queues, traffic.class)",
            other.transport.name()
        );
        found.push(impossible("switch.order", message));
    }
}

/// A shaper passes something, limits something, and names queues that its ports have.
pub(crate) fn shapers_hold_their_ports_back(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(graph) = facts.graph else { return };
    for level in facts.settings.switch.levels() {
        let Some(shaper) = &level.shaper else { continue };
        let path = |name: &str| format!("{}.shaper.{name}", level.path);
        if shaper.rate.0 == 0 {
            let message =
                "a shaper of rate zero passes nothing; use a failure for a link that carries nothing";
            found.push(exactly(&path("rate"), message.to_owned(), false));
            continue;
        }
        let covered = |link: &&Link| matches!(link.from, Node::Switch(_)) && level.covers_port(graph, link);
        let ports: Vec<&Link> = graph.links().iter().filter(covered).collect();
        if !ports.is_empty() && ports.iter().all(|link| link.rate <= shaper.rate) {
            let message = "no link of these ports is faster";
            found.push(exactly(&path("rate"), format!("`{}` has no effect: {message}", path("rate")), true));
        }
        let own =
            |link: &&Link| facts.device.switches.iter().any(|switch| link.from == Node::Switch(*switch));
        let most = if ports.iter().any(own) { facts.switch.queues } else { u32::MAX };
        for queue in shaper.queues.iter().filter(|queue| **queue >= most) {
            let message = format!("queue {queue}: these ports have {most}, numbered from 0");
            found.push(exactly(&path("queues"), message, false));
        }
    }
}
