//! Rules on trimming, and on the transports that depend on it.

use crate::{Facts, Finding, impossible};
use weft_core::stack::ClassSet;
use weft_core::{Bytes, Class};
use weft_transport::{Transport, TransportSettings};

/// Trimmed headers need a transport that uses them, and such a transport needs switches that trim.
pub(crate) fn trimming_serves_somebody(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let (trim, name) = (&facts.switch.trim, facts.stack.name());
    let trimmable = facts.stack.stack().is_trimmable();
    if !trim.is_on() {
        let why = "nothing is trimmed (switch.trim.queue)";
        ["header", "class", "returns"]
            .iter()
            .for_each(|own| facts.idle(&format!("switch.trim.{own}"), why, found));
    } else if !trimmable {
        facts.idle("switch.trim", &format!("{name} sends nothing that may be trimmed"), found);
    }
    if trimmable && !trim.is_on() {
        let message = format!(
            "{name} needs switches that trim: set switch.trim.queue = \"8 pkt\", switch.queues = 2 and \
             switch.schedule = {{ wrr = {{ weights = [10, 1] }} }}"
        );
        found.push(impossible("transport", message));
    }
}

/// Headers and control packets overtake payload: they have their own queue.
pub(crate) fn headers_have_a_queue_of_their_own(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let (switch, transport) = (facts.switch, Transport::new(facts.stack));
    if !switch.trim.is_on() || !transport.stack().is_trimmable() {
        return;
    }
    let queue = |class: Class| switch.queue_of(class);
    let classes = transport.classes(None, None);
    let ahead = ClassSet(classes.receiver.0).and(Class(switch.trim.class as u8));
    let in_the_way = |payload: Class| ahead.iter().find(|class| queue(*class) == queue(payload));
    let mut check = |path: &str, payload: Class| {
        if let Some(class) = in_the_way(payload) {
            let message = format!(
                "payload of class {} would share a queue with headers or control packets of class {}: ports have \
                 {} (switch.queues)",
                payload.0, class.0, switch.queues
            );
            found.push(impossible(path.to_owned(), message));
        }
    };
    classes.sender.iter().for_each(|payload| check("switch.queues", payload));
    for (index, entry) in facts.settings.flows().iter().enumerate() {
        if let Some(class) = entry.class {
            check(&format!("traffic[{index}].class"), Class(class as u8));
        }
    }
}

/// A queue holds a full packet, and a header is smaller.
pub(crate) fn trimming_leaves_less(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let trim = &facts.switch.trim;
    let full = Bytes(u64::from(Transport::new(facts.stack).full_wire()));
    if let Some(most) = trim.queue.map(|queue| queue.bytes(full)).filter(|most| *most < full) {
        let message =
            format!("no packet of {full} fits into a queue of {most}: every packet would be trimmed");
        found.push(impossible("switch.trim.queue", message));
    }
    if trim.is_on() && trim.header >= full {
        let message = format!("a header of {} is not smaller than a full packet of {full}", trim.header);
        found.push(impossible("switch.trim.header", message));
    }
}

/// The time-outs of NDP are in order.
pub(crate) fn pulls_are_waited_for(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let TransportSettings::Ndp(ndp) = facts.stack else { return };
    if ndp.rto > ndp.pull_timeout {
        let message = format!("exceeds pull_timeout = {}, the longest time-out", ndp.pull_timeout);
        found.push(impossible(facts.transport("rto"), message));
    }
}
